#!/bin/bash
# Video files and pictures, made by ffmpeg and compared with what it says of them.
# Usage: test_video.sh PATH/TO/bilatcam
# shellcheck disable=SC2015 # "A && ok || bad" is right here: ok never fails
bilatcam=$(realpath "$1")
# shellcheck source=tests/lib/checks.sh
. "$(dirname "$0")/../lib/checks.sh"
# shellcheck source=tests/program/video_lib.sh
. "$here/video_lib.sh"

# same_pictures FILE: what comes out of it unfiltered is what ffmpeg decodes.
same_pictures() {
    run 0 "$bilatcam" -i "$1" -o ours.y4m --filter none
    make -i "$1" -f yuv4mpegpipe -fps_mode passthrough theirs.y4m
    [ -s theirs.y4m ] && cmp <(samples ours.y4m) <(samples theirs.y4m) >err && ok ||
        bad "pictures of $1"
}

test_codecs() {
    make -i film.mp4 -an -c:v libx265 "${quiet_x265[@]}" hevc.mkv
    make -i film.mp4 -an -c:v libvpx-vp9 -deadline realtime -cpu-used 8 vp9.webm
    make -i film.mp4 -an -c:v mjpeg mjpeg.avi
    make -i film.mp4 -an -c:v ffv1 -pix_fmt yuv422p ffv1.mkv
    make -i film.mp4 -frames:v 1 picture.jpg
    for file in film.mp4 hevc.mkv vp9.webm mjpeg.avi ffv1.mkv picture.jpg; do
        same_pictures "$file"
        run 0 "$bilatcam" -i "$dir/$file" -o null: --radius 1 --stats stats.json
        balanced stats.json
    done
    expect stats.json '"frames_out": 1,' 'a picture'
    run 0 "$bilatcam" -i film.mp4 -o null: --frames 7 --stats stats.json
    expect stats.json '"frames_out": 7,' 'the number of frames'
    head -n 1 ours.y4m | grep -q 'XCOLORRANGE=FULL' && ok || bad "range of a JPEG"
}

# Red, green and blue are within one level of what they were.
test_png() {
    make -i film.mp4 -frames:v 1 picture.png
    run 0 "$bilatcam" -i picture.png -o ours.y4m --filter none
    same_pixels ours.y4m picture.png 1 "colours of a PNG"
}

# Colours that change on the way are brought to those of the beginning.
test_changing_colours() {
    local range
    for range in tv pc; do
        make -f lavfi -i "color=0x404040:s=160x90:r=25:d=0.4" -vf "scale=out_range=$range:out_color_matrix=bt709" \
            -pix_fmt yuv420p -color_range $range -colorspace bt709 -c:v libx264 -qp 0 "$range.h264"
    done
    cat tv.h264 pc.h264 >both.h264
    run 0 "$bilatcam" -i both.h264 -o ours.y4m --filter none
    python3 - <<'END' && ok || bad "a range that changes"
data = open("ours.y4m", "rb").read().split(b"FRAME\n")[1:]
levels = [d[0] for d in data]
assert len(levels) == 20 and max(levels) - min(levels) <= 1, levels
END
}

test_turned() {
    local angle
    for angle in 90 180 270; do
        turn film.mp4 $angle turned.mp4
        same_pictures turned.mp4
    done
    make -i film.mp4 -an -c:v mjpeg -pix_fmt yuvj422p wide.mov
    turn wide.mov 90 turned.mov
    run 0 "$bilatcam" -i turned.mov -o null: --radius 1
    expect err "90x160 444p" "4:2:2 on its side"
}

# What is turned in another way from some frame on is upright all the same: from where that is said,
# with a frame that needs no others, until the next such frame.
test_turned_on_the_way() {
    local pixels angle upright
    for pixels in yuv420p yuv422p yuv444p10le; do
        make -f lavfi -i testsrc2=s=96x96:r=25:d=0.2 -c:v libx264 -qp 0 -pix_fmt $pixels first.h264
        make -i first.h264 -pix_fmt gray a.y4m
        for angle in 90 180; do
            [ $angle = 90 ] && upright=transpose=cclock || upright=hflip,vflip
            make -i first.h264 -c copy -bsf:v "h264_metadata=display_orientation=insert:rotate=$angle" second.h264
            cat first.h264 second.h264 first.h264 >mixed.h264
            run 0 "$bilatcam" -i mixed.h264 -o ours.y4m --filter none
            make -i first.h264 -vf "$upright" -pix_fmt gray b.y4m
            make -i ours.y4m -pix_fmt gray ours.y4m.gray.y4m
            python3 - <<'END' && ok || bad "$pixels that is turned by $angle degrees on the way"
frames = {f: open(f, "rb").read().split(b"FRAME\n")[1:] for f in ("a.y4m", "b.y4m", "ours.y4m.gray.y4m")}
wanted = frames["a.y4m"] + frames["b.y4m"] + frames["a.y4m"]
ours = frames["ours.y4m.gray.y4m"]
assert len(wanted) == len(ours) == 15, (len(wanted), len(ours))
assert frames["a.y4m"] != frames["b.y4m"]
assert all(abs(a - b) <= 1 for f, g in zip(wanted, ours) for a, b in zip(f, g))
END
        done
    done
    # On its side it gets the size of what there was.
    make -i film.mp4 -an -c:v libx264 -bsf:v h264_metadata=display_orientation=insert:rotate=90 second.h264
    make -i film.mp4 -an -c copy -bsf:v h264_mp4toannexb first.h264
    cat second.h264 first.h264 >mixed.h264
    run 0 "$bilatcam" -i mixed.h264 -o ours.y4m --filter none
    [ "$(head -n 1 ours.y4m | grep -c 'W90 H160')" = 1 ] && [ "$(grep -ac FRAME ours.y4m)" = 50 ] && ok ||
        bad "a film that was on its side: $(head -n 1 ours.y4m)"
}

test_tags() {
    make -i film.mp4 -vf setsar=16/15 -frames:v 2 wide.mp4
    run 0 "$bilatcam" -i wide.mp4 -o ours.y4m --radius 1
    head -n 1 ours.y4m >out
    expect out ' Ip A16:15 C420mpeg2 XCOLORRANGE=LIMITED$' 'pixel aspect and siting'
}

test_colours() {
    local matrix says luma
    while read -r matrix says; do
        make -f lavfi -i color=red:s=64x64:d=0.1 \
            -vf "scale=out_color_matrix=bt709,format=yuv444p,setparams=colorspace=$matrix" \
            -c:v libx264 tagged.mp4
        run 0 "$bilatcam" -i tagged.mp4 -o red.y4m --filter none
        luma=$(samples red.y4m | tail -n +2 | head -c 1 | od -An -tu1)
        [ "$luma" -eq "$says" ] && ok || bad "luma of red with $matrix: $luma"
    done <<'END'
bt709 81
smpte170m 62
bt2020nc 71
END
}

# What is whole comes through, and the rest is told.
test_damaged() {
    make -i film.mp4 -c copy -movflags faststart fast.mp4
    head -c $(($(stat -c %s fast.mp4) / 2)) fast.mp4 >cut.mp4
    run 1 "$bilatcam" -i cut.mp4 -o cut.y4m --filter none --stats stats.json
    expect err "^bilatcam: 'cut.mp4' ends too early: after [0-9]+ frames$" 'a cut file'
    balanced stats.json
    make -i film.mp4 -f yuv4mpegpipe theirs.y4m
    python3 - <<'END' && ok || bad "the whole frames of a cut file"
a, b = (open(f, "rb").read().split(b"FRAME\n")[1:] for f in ("cut.y4m", "theirs.y4m"))
assert 5 < len(a) < len(b) and set(a) <= set(b), (len(a), len(set(a) - set(b)))
END
    make -i film.mp4 -c copy -an film.mkv
    head -c $(($(stat -c %s film.mkv) / 2)) film.mkv >cut.mkv
    run 1 "$bilatcam" -i cut.mkv -o null: --radius 1
    expect err "^bilatcam: 'cut.mkv' ends too early: after [0-9]+ frames$" 'a cut file'
    make -i film.mp4 -an -c:v png film.avi
    python3 - <<'END'
data = bytearray(open("film.avi", "rb").read())
for at in (len(data) // 3, len(data) // 2):
    data[at:at + 64] = bytes(64)
open("bad.avi", "wb").write(data)
END
    run 1 "$bilatcam" -i bad.avi -o null: --radius 1 --stats stats.json
    expect err "^bilatcam: 'bad.avi' is damaged; frames that are left out: 2$" 'a damaged file'
    expect stats.json '"frames_in": 25, "frames_out": 23, "frames_dropped": 0, "frames_bad": 2' 'a damaged file'
    make -i film.mp4 -c copy -an -output_ts_offset 3 late.mkv
    make -itsoffset 5 -i film.mp4 -c copy -an late.mp4
    for file in late.mkv late.mp4; do
        run 0 "$bilatcam" -i "$file" -o null: --radius 1
    done
    make -f lavfi -i testsrc2=s=160x90:r=25:d=3 -f lavfi -i sine=d=12 -c:v libx264 -pix_fmt yuv420p -c:a aac \
        -movflags faststart sound.mp4
    run 0 "$bilatcam" -i sound.mp4 -o null: --filter none
    head -c $(($(stat -c %s sound.mp4) * 9 / 10)) sound.mp4 >cut.mp4
    run 1 "$bilatcam" -i cut.mp4 -o null: --filter none --stats stats.json
    expect err "^bilatcam: 'cut.mp4' ends too early: after 75 frames$" 'a file whose sound is cut'
    expect stats.json '"frames_out": 75,' 'a file whose sound is cut'
    make -i film.mp4 -c copy end.mp4
    head -c $(($(stat -c %s end.mp4) / 2)) end.mp4 >headless.mp4
    refused 1 "cannot read 'headless.mp4'" "$bilatcam" -i headless.mp4 -o null:
}

# Where packets are missing what is whole is decoded; where recordings were only joined all is.
test_gaps() {
    make -f lavfi -i testsrc2=s=160x90:r=25:d=3 -c:v libx264 -pix_fmt yuv420p -g 25 whole.ts
    run 0 "$bilatcam" -i whole.ts -o theirs.y4m --filter none
    cat whole.ts whole.ts whole.ts >joined.ts
    run 0 "$bilatcam" -i joined.ts -o ours.y4m --filter none --stats stats.json
    expect stats.json '"frames_in": 225, "frames_out": 225,' 'recordings that were joined'
    cmp <({ samples theirs.y4m && samples theirs.y4m && samples theirs.y4m; }) <(samples ours.y4m) >out && ok ||
        bad "pictures of recordings that were joined"
    python3 - <<'END'
data = open("whole.ts", "rb").read()
at = [i for i in range(0, len(data), 188) if data[i + 1] & 0x5f == 0x41 and data[i + 2] == 0][40]
open("gap.ts", "wb").write(data[:at] + data[at + 188:])
END
    run 1 "$bilatcam" -i gap.ts -o null: --filter none --stats stats.json
    expect err "^bilatcam: 'gap.ts' is damaged; " 'a file that lacks a packet'
    expect stats.json '"frames_out": 7[45],' 'a file that lacks a packet'
}

# edit FROM TO SECONDS FIRST: an MP4 whose list of edits shows these, beginning at tick FIRST.
edit() {
    python3 - "$@" <<'END'
import struct, sys
data = bytearray(open(sys.argv[1], "rb").read())
at = data.find(b"elst")
while at >= 0:
    data[at + 12:at + 20] = struct.pack(">Ii", int(1000 * float(sys.argv[3])), int(sys.argv[4]))
    at = data.find(b"elst", at + 4)
open(sys.argv[2], "wb").write(data)
END
}

# What a list of edits leaves out is not missed.
test_edits() {
    local first
    make -f lavfi -i testsrc2=s=160x90:r=25:d=4 -f lavfi -i sine=d=4:r=12800 -c:v libx264 -bf 0 -g 10 \
        -pix_fmt yuv420p -c:a aac -video_track_timescale 12800 -movie_timescale 1000 long.mp4
    for first in 0 3072 25600; do
        edit long.mp4 edited.mp4 1.2 $first
        run 0 "$bilatcam" -i edited.mp4 -o edited.mkv --filter none --stats stats.json
        expect stats.json '"frames_in": 30, "frames_out": 30, "frames_dropped": 0' "a list of edits from $first on"
        python3 - "$(probe edited.mkv packet=pts_time -select_streams a)" <<'END' && ok || bad "sound of a list of edits"
import sys
times = [float(t.strip(",")) for t in sys.argv[1].split()]
assert 1 < times[-1] - times[0] < 1.5, times
END
    done
    make -i long.mp4 -c copy -movflags faststart -movie_timescale 1000 fast.mp4
    edit fast.mp4 edited.mp4 3 3072
    head -c $(($(stat -c %s edited.mp4) / 2)) edited.mp4 >cut.mp4
    run 1 "$bilatcam" -i cut.mp4 -o null: --filter none
    expect err "^bilatcam: 'cut.mp4' ends too early: after [0-9]+ frames$" 'a cut file with a list of edits'
}

# refer FROM TO KIND NAME: the same movie, whose tracks of the kind (vide, soun) say that file NAME has
# their samples, in the way of QuickTime and in that of MP4.
refer() {
    python3 - "$@" <<'END'
import struct, sys
data = open(sys.argv[1], "rb").read()
kind, name = sys.argv[3].encode(), sys.argv[4].encode()
if name.endswith(b".mov"):
    ref = (struct.pack(">HH27s", 0, 2, bytes([4]) + b"disk" + bytes(22)) + bytes(19) + bytes(100))[:150]
    ref += struct.pack(">HH", 2, len(name)) + name + bytes(len(name) % 2) + struct.pack(">HH", 0xffff, 0)
    ref = b"alis" + bytes(4) + ref
else:
    ref = b"url " + bytes(4) + name + b"\0"
ref = struct.pack(">I", len(ref) + 4) + ref

def rebuilt(part, of_kind=False):
    out, at = b"", 0
    while at < len(part):
        size, what = struct.unpack(">I4s", part[at:at + 8])
        body = part[at + 8:at + size]
        if what == b"mdia":
            of_kind = body[body.find(b"hdlr") + 12:][:4] == kind
        if what == b"dref" and of_kind:
            body = body[:4] + struct.pack(">I", 1) + ref
        elif what == b"stco" and of_kind and name:
            n = len(body) // 4 - 2
            body = body[:8] + struct.pack(f">{n}I", *(x + 1000000 for x in struct.unpack(f">{n}I", body[8:])))
        elif what in (b"moov", b"trak", b"mdia", b"minf", b"dinf", b"stbl"):
            body = rebuilt(body, of_kind)
        out += struct.pack(">I4s", len(body) + 8, what) + body
        at += size
    return out
open(sys.argv[2], "wb").write(rebuilt(data))
END
}

# A movie may keep in other files what it shows. None is opened, and nothing is called cut or damaged.
test_elsewhere() {
    local name
    make -i film.mp4 -c copy end.mov
    for name in other.mov file:///tmp/other.mp4; do
        refer end.mov refers.mov vide $name
        refused 1 "'refers.mov' keeps its pictures in another file, which is not opened for it; give that one" \
            "$bilatcam" -i refers.mov -o null:
        refer end.mov refers.mov soun $name
        run 0 "$bilatcam" -i refers.mov -o ours.mkv --filter none
        [ "$(grep -c "^bilatcam: 'refers.mov' keeps sound in another file, which is not opened for it$" err)" = 1 ] && ok ||
            bad "what is told of sound in another file"
        says ours.mkv h264,25 stream=codec_name,nb_read_frames -count_frames
    done
    refer end.mov refers.mov soun ''
    run 0 "$bilatcam" -i refers.mov -o ours.mkv --filter none
    says ours.mkv 'h264 aac' stream=codec_name
}

# read_slowly COMMAND...: after the first of its pictures, while copy.mkv is read into ours.y4m.
read_slowly() {
    local header
    rm -f pipe
    mkfifo pipe
    cp large.mkv copy.mkv
    "$bilatcam" -i copy.mkv -o - --filter none >pipe 2>err &
    exec 4<pipe
    IFS= read -r -u 4 header
    "$@"
    { echo "$header" && cat; } <&4 >ours.y4m
    exec 4<&-
    wait $!
}

# The file that was opened is read, whatever has its name since; what is cut off is told.
test_changed() {
    local status
    make -i film.mp4 -an -vf noise=alls=60:allf=t -c:v ffv1 large.mkv
    run 0 "$bilatcam" -i large.mkv -o theirs.y4m --filter none
    read_slowly cp --remove-destination film.mp4 copy.mkv
    status=$?
    [ "$status" = 0 ] && cmp ours.y4m theirs.y4m >out && ok || bad "a file that was replaced: status $status"
    read_slowly truncate -s 4000 copy.mkv
    status=$?
    [ "$status" = 1 ] && ok || bad "status $status of a file that was cut while it was read"
    expect err "^bilatcam: 'copy.mkv' ends too early: after [0-9]+ frames$" 'a file that was cut'
}

test_wrong_files() {
    make -f lavfi -i sine=d=1 sound.wav
    refused 1 "'sound.wav' has no video" "$bilatcam" -i sound.wav -o null:
    make -i sound.wav -i film.mp4 -map 0:a -map 1:v -c:v png -frames:v 1 -disposition:v attached_pic cover.m4a
    refused 1 "'cover.m4a' has no video" "$bilatcam" -i cover.m4a -o null:
    printf 'this is no film, %d\n' {1..500} >noise.mp4
    refused 1 "cannot read 'noise.mp4'" "$bilatcam" -i noise.mp4 -o null:
    refused 1 "'./none.mp4': No such file" "$bilatcam" -i ./none.mp4 -o null:
    make -i film.mp4 -frames:v 1 -vf scale=161:90 odd.png
    refused 1 "'odd.png' is 161x90: the width must be even" "$bilatcam" -i odd.png -o null:
    make -i film.mp4 -flags +ilme+ildct -vf setfield=tff -c:v mpeg2video interlaced.mpg
    refused 1 "'interlaced.mpg' is interlaced" "$bilatcam" -i interlaced.mpg -o null:
    make -f lavfi -i testsrc2=s=720x576:r=25:d=0.2 -flags +ilme+ildct -c:v dvvideo -pix_fmt yuv420p told.dv
    refused 1 "'told.dv' is interlaced" "$bilatcam" -i told.dv -o null:
    refused 1 "film.mp4' is 160x90, not 320x180" "$bilatcam" -i film.mp4 -o null: --size 320x180
    cp film.mp4 film.y4m
    refused 2 "film.y4m' is read and would be overwritten" "$bilatcam" -i ./film.y4m -o film.y4m
}

# A film that becomes interlaced on the way is filtered to its end, and one line says so.
test_fields() {
    local kind options
    while read -r kind options; do
        # shellcheck disable=SC2086 # several options
        make -f lavfi -i testsrc2=s=160x96:r=25:d=1 -pix_fmt yuv420p $options "whole.$kind"
        # shellcheck disable=SC2086
        make -f lavfi -i testsrc2=s=160x96:r=25:d=1 -pix_fmt yuv420p -vf setfield=tff $options -flags +ilme+ildct "fields.$kind"
        cat "whole.$kind" "fields.$kind" "whole.$kind" "fields.$kind" >"mixed.$kind"
        run 0 "$bilatcam" -i "mixed.$kind" -o null: --filter none --stats stats.json
        expect stats.json '"frames_out": 100,' "a film that becomes interlaced, in $kind"
        [ "$(grep -c "^bilatcam: 'mixed.$kind' is interlaced from frame 26 on" err)" = 1 ] && ok ||
            bad "what is told of a film that becomes interlaced, in $kind"
    done <<'END'
h264 -c:v libx264 -g 25
m2v -c:v mpeg2video
END
}

# A playlist opens nothing else, neither files nor places in a network.
test_playlist() {
    local name
    for name in "$dir/film.mp4" film.mp4 file:film.mp4 http://127.0.0.1:9/film.mp4; do
        printf '#EXTM3U\n#EXT-X-TARGETDURATION:1\n#EXTINF:1,\n%s\n#EXT-X-ENDLIST\n' "$name" >list.m3u8
        refused 1 "cannot read 'list.m3u8': it is a list of other files, none of which is opened" "$bilatcam" -i list.m3u8 -o null:
        printf "ffconcat version 1.0\nfile '%s'\n" "$name" >list.ffconcat
        refused 1 "cannot read 'list.ffconcat': it is a list of other files, none of which is opened" "$bilatcam" -i list.ffconcat -o null:
    done
}

# On a terminal a line says how far it is, in place of the one before; nowhere else.
test_progress() {
    python3 - "$bilatcam" <<'END' >said && ok || bad "progress: $(cat said)"
import os, pty, re, subprocess, sys
ours, theirs = pty.openpty()
p = subprocess.Popen([sys.argv[1], "-i", "test:", "--size", "64x48", "-o", "null:", "--frames", "100000000"],
                     stderr=theirs, stdin=subprocess.DEVNULL)
os.close(theirs)
said = b""
line = rb"\r\x1b\[K\d+ frames, [\d.]+ frames/s, \d+:\d\d:\d\d left"
try:
    while len(re.findall(line, said)) < 3:
        said += os.read(ours, 1000)
    p.terminate()
    while b"frames in" not in said:
        said += os.read(ours, 1000)
finally:
    print(said)
    p.kill()
assert re.search(line + rb"\r\x1b\[Kbilatcam: \d+ frames in", said)
END
    run 0 "$bilatcam" -i film.mp4 -o null: -e reference -r 4 --temporal 1
    [ "$(wc -l <err)" = 2 ] && ! grep -q left err && ok || bad "progress without a terminal"
}

# The shape of samples is kept in pictures, too.
test_shape() {
    make -i film.mp4 -vf setsar=4/3 -frames:v 2 wide.mp4
    run 0 "$bilatcam" -i wide.mp4 --frames 1 -o wide.png
    says wide.png 4:3 stream=sample_aspect_ratio
}

run_tests
summary
