#!/bin/bash
# Video files and pictures that are written, by what ffprobe and ffmpeg find in them.
# Usage: test_video_output.sh PATH/TO/bilatcam [FULL_DISK.so SLOW_RENAME.so]
# shellcheck disable=SC2015 # "A && ok || bad" is right here: ok never fails
bilatcam=$(realpath "$1")
full_disk=${2:+$(realpath "$2")} slow_rename=${3:+$(realpath "$3")}
# shellcheck source=tests/lib/checks.sh
. "$(dirname "$0")/../lib/checks.sh"
# shellcheck source=tests/program/video_lib.sh
. "$here/video_lib.sh"

# times FILE: of its frames.
times() { probe "$1" frame=pts_time -select_streams v; }

# sound FILE: what it sounds like, as it is coded.
sound() { ffmpeg -v error -nostdin -i "$1" -map 0:a -c copy -f md5 -; }

# Nothing but whole files is left in the folder.
no_remains() {
    local left
    left=$(find . -name '.bilatcam-*')
    [ -z "$left" ] && ok || bad "left: $left"
}

test_endings() {
    local ending codec
    while read -r ending codec; do
        run 0 "$bilatcam" -i film.mp4 -o out."$ending" --radius 1
        says out."$ending" "$codec,160,90,yuv420p,25" stream=codec_name,width,height,pix_fmt,nb_read_frames \
            -count_frames -select_streams v
        [ "$ending" = webm ] || { [ "$(sound out."$ending")" = "$(sound film.mp4)" ] && ok || bad "sound of .$ending"; }
    done <<'END'
mp4 h264
mkv h264
mov h264
webm vp9
END
    run 0 "$bilatcam" -i film.mp4 -o out.webm --radius 1
    expect err "'out.webm' cannot hold all that is in 'film.mp4'; left out: aac" 'sound that does not fit'
    no_remains
}

test_encoders() {
    local options codec
    echo leak:libx265 >leaks # of its tables
    while read -r options codec; do
        LSAN_OPTIONS=suppressions=$PWD/leaks:print_suppressions=0 run 0 "$bilatcam" -i film.mp4 -o out.mkv --radius 1 --encoder "$options"
        says out.mkv "$codec,25" stream=codec_name,nb_read_frames -count_frames -select_streams v
    done <<'END'
libx265:preset=ultrafast:x265-params=log-level=none hevc
mjpeg mjpeg
png png
END
}

# What is not filtered and coded without loss is what it was, at the same times.
test_lossless() {
    local options
    make -i film.mp4 -vf "setpts='(N+N*N/10)/25/TB'" -fps_mode vfr -an -c:v libx264 varying.mkv
    make -i varying.mkv -c copy varying.mp4
    make -f lavfi -i testsrc2=s=160x90:r=0.01:d=1000 -c:v libx264 -bf 2 -b_strategy 0 -pix_fmt yuv420p slow.mkv
    for file in film.mp4 varying.mkv varying.mp4 slow.mkv; do
        run 0 "$bilatcam" -i "$file" -o out.mkv --filter none --encoder ffv1
        [ "$(pixels out.mkv)" = "$(pixels "$file")" ] && ok || bad "pixels of $file"
        run 0 "$bilatcam" -i "$file" -o out.mp4 --filter none --encoder libx264:qp=0:preset=ultrafast
        [ "$(pixels out.mp4)" = "$(pixels "$file")" ] && ok || bad "pixels of $file"
        [ "$(times out.mp4)" = "$(times "$file")" ] && ok || bad "times of $file: $(times out.mp4)"
    done
    # Another rate is another time for each frame, and sound would no longer fit.
    run 0 "$bilatcam" -i film.mp4 -o out.mp4 --filter none --fps 50
    says out.mp4 "video,50/1,0.500000" stream=codec_type,r_frame_rate,duration
    expect err "'out.mp4' gets no sound \(fps gives its pictures other times\)$" 'sound that does not fit'
    make -i film.mp4 -an -c copy mute.mp4
    for options in '-i mute.mp4 -o out.mp4' '-i film.mp4 -o null:' '-i film.mp4 -o out.png --frames 1'; do
        # shellcheck disable=SC2086 # several options
        run 0 "$bilatcam" $options --filter none --fps 50
        grep -q 'gets no' err && bad "a warning with $options" || ok
    done
}

test_other_streams() {
    printf '1\n00:00:00,100 --> 00:00:00,900\nhello\n' >words.srt
    printf ';FFMETADATA1\ntitle=A film\n[CHAPTER]\nTIMEBASE=1/1000\nSTART=0\nEND=500\ntitle=one\n[CHAPTER]\nTIMEBASE=1/1000\nSTART=500\nEND=1000\ntitle=two\n' >chapters
    make -i film.mp4 -i words.srt -i chapters -map 0 -map 1 -map_metadata 2 -map_chapters 2 -c copy -c:s srt full.mkv
    run 0 "$bilatcam" -i full.mkv -o out.mkv --radius 1
    says out.mkv "h264 aac subrip" stream=codec_name
    says out.mkv "A film" format_tags=title
    says out.mkv "one two" chapter_tags=title
    [ "$(ffmpeg -v error -i out.mkv -f srt - | sed -n 3p)" = hello ] && ok || bad "subtitles"
    # What the pictures are called is kept, and not how they were coded.
    make -i film.mp4 -c copy -metadata:s:v title=scene -metadata:s:v encoder=another -metadata:s:v BPS-eng=5 \
        -metadata:s:v NUMBER_OF_FRAMES=5 -disposition:v default -disposition:a 0 named.mkv
    run 0 "$bilatcam" -i named.mkv -o out.mkv --radius 1
    says out.mkv "1,scene" stream_tags=title,BPS-eng,NUMBER_OF_FRAMES,encoder:stream_disposition=default -select_streams v
    run 0 "$bilatcam" -i full.mkv -o out.mp4 --radius 1
    expect err "left out: subrip$" 'subtitles that do not fit'
    [ "$(sound out.mp4)" = "$(sound full.mkv)" ] && ok || bad "sound beside subtitles"
    # What ends early ends for all.
    run 0 "$bilatcam" -i film.mp4 -o out.mp4 --radius 1 --frames 5
    python3 - "$(probe out.mp4 stream=duration)" <<'END' && ok || bad "the sound of 5 frames"
import sys
video, sound = map(float, sys.argv[1].split())
assert abs(video - 0.2) < 0.001 and 0.1 < sound < 0.35, (video, sound)
END
}

# Fonts and a cover go to the files that have a place for them, and one line says where they do not.
test_attached() {
    local from to
    head -c 20000 /dev/urandom >odd.ttf
    make -i film.mp4 -frames:v 1 picture.png
    make -i film.mp4 -c copy -attach odd.ttf -metadata:s:t mimetype=application/x-truetype-font \
        -metadata:s:t filename=odd.ttf fonts.mkv
    make -i film.mp4 -i picture.png -map 0 -map 1 -c copy -disposition:v:1 attached_pic cover.mp4
    make -i film.mp4 -c copy -attach picture.png -metadata:s:t mimetype=image/png -metadata:s:t filename=cover.png cover.mkv
    run 0 "$bilatcam" -i fonts.mkv -o out.mkv --radius 1
    says out.mkv "h264,video aac,audio ttf,attachment" stream=codec_name,codec_type
    make -dump_attachment:t back.ttf -i out.mkv -f null - && cmp odd.ttf back.ttf && ok || bad "a font"
    run 0 "$bilatcam" -i fonts.mkv -o out.mp4 --radius 1
    expect err "'out.mp4' cannot hold all that is in 'fonts.mkv'; left out: fonts$" 'fonts that do not fit'
    for from in cover.mp4 cover.mkv; do
        for to in out.mp4 out.mkv; do
            run 0 "$bilatcam" -i "$from" -o "$to" --radius 1
            says "$to" "h264,0 aac,0 png,1" stream=codec_name:stream_disposition=attached_pic
            make -i "$to" -map 0:v:1 -c copy back.png
            cmp picture.png back.png && ok || bad "the cover of $from in $to"
        done
        run 0 "$bilatcam" -i "$from" -o out.webm --radius 1
        expect err "left out: aac, the cover$" 'a cover that does not fit'
    done
    make -i film.mp4 -c copy -attach picture.png -attach picture.png -metadata:s:t mimetype=image/png \
        -metadata:s:t:0 filename=cover.png -metadata:s:t:1 filename=small_cover.png covers.mkv
    run 0 "$bilatcam" -i covers.mkv -o out.mkv --radius 1
    says out.mkv "h264 aac png,cover.png png,small_cover.png" stream=codec_name:stream_tags=filename
    make -i film.mp4 -map 0 -map 0:a -c:v copy -c:a:0 eac3 -c:a:1 ac3 two.mkv
    run 0 "$bilatcam" -i two.mkv -o out.webm --radius 1
    expect err "left out: eac3, ac3$" 'a name that is the end of another'
    make -i film.mp4 -f data -i odd.ttf -map 0 -map 1 -c copy data.ts
    run 0 "$bilatcam" -i data.ts -o out.mkv --radius 1
    expect err "left out: data$" 'data'
    printf ';FFMETADATA1\n[CHAPTER]\nTIMEBASE=1/1\nSTART=0\nEND=1\ntitle=one\n' >chapter
    make -i film.mp4 -i chapter -map 0 -map_chapters 1 -c copy -timecode 01:00:00:00 chapter.mov
    run 0 "$bilatcam" -i chapter.mov -o out.mkv --radius 1
    grep -q 'left out' err && bad "what is told of chapters and a time of day" || ok
    make -i film.mp4 -i film.mp4 -map 0 -map 1:v -c copy two.mkv
    run 0 "$bilatcam" -i two.mkv -o out.mkv --radius 1
    expect err "left out: other pictures$" 'a second stream of pictures'
}

# What is transparent is opaque afterwards, which one line says.
test_transparent() {
    local file
    make -f lavfi -i color=red@0.5:s=64x64:r=5:d=1,format=rgba -pix_fmt rgba -frames:v 1 clear.png
    make -i clear.png -pix_fmt rgba64be clear16.png
    for file in clear8.png clear.gif; do
        make -i clear.png -vf 'split[a][b];[a]palettegen=reserve_transparent=1[p];[b][p]paletteuse=alpha_threshold=200' "$file"
    done
    make -f lavfi -i color=red@0.5:s=64x64:r=5:d=1,format=yuva420p -c:v ffv1 clear.mkv
    make -i clear.mkv -c:v libvpx-vp9 clear.webm # libav's own decoder leaves out what tells
    for file in clear.png clear16.png clear8.png clear.gif clear.mkv clear.webm; do
        run 0 "$bilatcam" -i "$file" -o null: --radius 1
        [ "$(grep -c "^bilatcam: '$file' is transparent in places" err)" = 1 ] && ok || bad "what is told of $file"
    done
    make -f lavfi -i color=red:s=64x64:r=5:d=1,format=rgba -frames:v 1 opaque.png
    make -i opaque.png -pix_fmt pal8 opaque8.png
    make -i film.mp4 -frames:v 5 opaque.gif
    for file in opaque.png opaque8.png opaque.gif; do
        run 0 "$bilatcam" -i "$file" -o null: --radius 1
        grep -q transparent err && bad "what is told of $file" || ok
    done
}

# The first 25 pictures are looked through, and then every 25th: a look takes long.
test_transparent_at_times() {
    local frame times
    while read -r frame times; do
        make -f lavfi -i color=gray:s=64x64:r=25:d=3 -c:v ffv1 \
            -vf "format=yuva420p,geq=lum=128:cb=128:cr=128:a='if(eq(N,$frame),100,255)'" "$frame.mkv"
        run 0 "$bilatcam" -i "$frame.mkv" -o null: --filter none
        [ "$(grep -c 'is transparent in places' err)" = "$times" ] && ok || bad "what is told of frame $frame"
    done <<'END'
24 1
26 0
49 0
50 1
END
}

test_tags() {
    local options
    make -i film.mp4 -an -c:v libx264 \
        -vf "setsar=4/3,setparams=range=tv:colorspace=bt709:color_primaries=bt709:color_trc=bt709" tagged.mp4
    for options in "" "--fps 50"; do
        # shellcheck disable=SC2086 # several options
        run 0 "$bilatcam" -i tagged.mp4 -o out.mp4 --radius 1 $options
        says out.mp4 "4:3,tv,bt709,bt709,bt709" stream=sample_aspect_ratio,color_range,color_space,color_transfer,color_primaries
    done
    run 0 "$bilatcam" -i film.mp4 -o out.mp4 --radius 1
    says out.mp4 "$(probe film.mp4 stream=color_range,color_space -select_streams v | tr -d ' ')" \
        stream=color_range,color_space -select_streams v
    # What becomes of red, green and blue says its matrix, for which players take another one in HD.
    make -f lavfi -i color=red:s=1280x720:r=25:d=0.2 -c:v png rgb.mov
    run 0 "$bilatcam" -i rgb.mov -o out.mp4 --filter none
    says out.mp4 "pc,smpte170m" stream=color_range,color_space
    turn film.mp4 90 turned.mp4
    run 0 "$bilatcam" -i turned.mp4 -o out.mp4 --radius 1
    says out.mp4 "90,160" stream=width,height -select_streams v
    ffprobe -v error -show_streams turned.mp4 | grep -q '^rotation' && ok || bad "a turned film"
    ffprobe -v error -show_streams out.mp4 | grep -q '^rotation' && bad "turned twice" || ok
}

test_pictures() {
    make -i film.mp4 -frames:v 1 -pix_fmt rgb24 picture.png
    run 0 "$bilatcam" -i picture.png -o out.png --filter none
    same_pixels out.png picture.png 2 "pixels of a PNG"
    run 0 "$bilatcam" -i film.mp4 -o out.jpg --filter none --frames 1
    says out.jpg "mjpeg,160,90,yuvj420p,pc" stream=codec_name,width,height,pix_fmt,color_range
    run 1 "$bilatcam" -i film.mp4 -o two.png --filter none
    expect err "'two.png' has its picture, and more come: --frames 1 takes one" 'two pictures in a file'
    says two.png "png" stream=codec_name
    run 0 "$bilatcam" -i test: --size 64x48 -o out.png --frames 1
    says out.png "64,48,rgb24" stream=width,height,pix_fmt
}

# H.264 and HEVC have no 4:2:0 of an odd height, which other films do; it gets more rows of chroma.
test_odd_height() {
    local pixels from to
    echo leak:libx265 >leaks # of its tables
    while read -r pixels from to; do
        make -i film.mp4 -an -vf scale=160:91 -c:v ffv1 -pix_fmt "$pixels" odd.mkv
        LSAN_OPTIONS=suppressions=$PWD/leaks:print_suppressions=0 run 0 "$bilatcam" -i odd.mkv -o out.mp4 --filter none --encoder "$from"
        says out.mp4 "160,91,$to,25" stream=width,height,pix_fmt,nb_read_frames -count_frames
    done <<'END'
yuv420p libx264:qp=0:preset=ultrafast yuv422p
yuv420p10le libx265:x265-params=log-level=none yuv422p10le
yuv420p libvpx-vp9 yuv420p
END
    run 0 "$bilatcam" -i odd.mkv -o out.mkv --filter none --encoder libx264:qp=0:preset=ultrafast
    for from in odd out; do
        make -i $from.mkv -vf extractplanes=y -f rawvideo $from.luma
    done
    [ -s odd.luma ] && cmp odd.luma out.luma && ok || bad "pixels of a film of an odd height"
    run 0 "$bilatcam" -i test: --format yu12 --size 64x47 --frames 5 -o out.mp4
    says out.mp4 "64,47,yuv422p" stream=width,height,pix_fmt
}

# Nothing is written where it cannot be, and what was there stays.
test_refused() {
    echo old >old.mp4
    refused 2 "encoder 'nonsense': libav has none of this name" "$bilatcam" -i film.mp4 -o old.mp4 --encoder nonsense
    refused 2 "encoder 'aac': libav has none" "$bilatcam" -i film.mp4 -o old.mp4 --encoder aac
    refused 2 "encoder libx264 has no option 'colour'" "$bilatcam" -i film.mp4 -o old.mp4 --encoder libx264:colour=red
    refused 2 "must be KEY=VALUE" "$bilatcam" -i film.mp4 -o old.mp4 --encoder libx264:fast
    echo leak:libx264 >leaks # of what it was told, when it refuses
    LSAN_OPTIONS=suppressions=$PWD/leaks:print_suppressions=0 \
        refused 1 "libx264 refuses 64x47 yu12" "$bilatcam" -i test: --format yu12 --size 64x47 --frames 2 -o old.mp4 --output-format yu12
    run 1 "$bilatcam" -i film.mp4 -o old.webm --encoder libx264
    expect err "cannot begin 'old.webm' with libx264" 'an encoder that the file does not take'
    refused 1 "no/such/x.mp4': No such file" "$bilatcam" -i film.mp4 -o no/such/x.mp4
    refused 2 "output 'x.avi': must be .* a file that ends in .mp4" "$bilatcam" -i film.mp4 -o x.avi
    refused 2 "film.mp4' is read and would be overwritten" "$bilatcam" -i film.mp4 -o ./film.mp4
    mkfifo pipe.mp4
    refused 1 "'pipe.mp4': it is no file" "$bilatcam" -i film.mp4 -o pipe.mp4
    # shellcheck disable=SC2016 # it is for the other shell
    run 1 bash -c 'ulimit -f 8; exec "$@"' limited "$bilatcam" -i test: --size 640x480 --frames 50 \
        --filter none -o old.mp4
    expect err "old.mp4.*File too large; the file is as it was" 'a file that may not grow'
    [ "$(grep -c 'cannot write' err)" = 1 ] && ok || bad "what is told of a file that may not grow"
    [ "$(cat old.mp4)" = old ] && [ ! -e old.webm ] && ok || bad "what was there is gone"
    no_remains
}

# What has the name of the file beside it is not written to, nor through, nor removed: a link or a
# file. The film is written all the same. The shell that makes it has the number that the program
# gets.
test_in_the_way() {
    local what
    echo old >other
    for what in 'ln -s other' 'ln other'; do
        rm -f way.mp4
        # shellcheck disable=SC2016 # it is for the other shell
        run 0 sh -c "$what"' ".bilatcam-$$-way.mp4"; ln -s other ".bilatcam-$$-1-way.mp4"; exec "$@"' way \
            "$bilatcam" -i film.mp4 -o way.mp4
        says way.mp4 25 stream=nb_read_frames -count_frames -select_streams v
        [ "$(cat other)" = old ] && [ "$(find . -name '.bilatcam-*' | wc -l)" = 2 ] && ok ||
            bad "what was in the way ($what) is written to or gone"
        rm -f .bilatcam-*
    done
}

# A link stays one, wherever it leads to, and though nothing is there yet.
test_links() {
    local link
    mkdir -p folder/inner
    ln -s ../new.mp4 folder/near.mp4
    ln -s "$dir/new.mp4" folder/far.mp4
    ln -s inner/../far.mp4 folder/chain.mp4
    ln -s folder/chain.mp4 link.mp4
    for link in folder/near.mp4 folder/far.mp4 link.mp4; do
        rm -f new.mp4
        for _ in 1 2; do
            run 0 "$bilatcam" -i film.mp4 -o "$link" --radius 1
            [ -L "$link" ] && [ ! -L new.mp4 ] && ok || bad "the link $link is gone"
            says new.mp4 25 stream=nb_read_frames -count_frames -select_streams v
        done
    done
    ln -s ring.mp4 other_ring.mp4
    ln -s other_ring.mp4 ring.mp4
    run 1 "$bilatcam" -i film.mp4 -o ring.mp4
    expect err "ring.mp4'?: Too many levels of symbolic links" 'links that lead nowhere'
    no_remains
    # In a folder that all write to, not where somebody else wants it: whose file that is takes root.
    [ "$(id -u)" = 0 ] || return 0
    mkdir -m 1777 shared
    ln -s "$dir/mine.mp4" shared/trap.mp4
    ln -s "$dir/mine.mp4" shared/own.mp4
    chown -h 65534 shared/trap.mp4
    run 1 "$bilatcam" -i film.mp4 -o shared/trap.mp4
    expect err "trap.mp4'?: Permission denied" "a link of somebody else"
    [ ! -e mine.mp4 ] && ok || bad "a link of somebody else is followed"
    run 0 "$bilatcam" -i film.mp4 -o shared/own.mp4 --radius 1
    [ -s mine.mp4 ] && [ -L shared/own.mp4 ] && ok || bad "a link of one's own"
}

# What may be read by one alone stays so, and what may not be written to stays as it is, as with a file
# that is written in its place.
test_rights() {
    local ending
    for ending in mp4 png; do
        : >private."$ending"
        chmod 600 private."$ending"
        run 0 "$bilatcam" -i film.mp4 -o private."$ending" --frames 1
        [ "$(stat -c %a private."$ending")" = 600 ] && [ -s private."$ending" ] && ok || bad "a private .$ending"
    done
    [ "$(id -u)" = 0 ] && command -v setpriv >/dev/null || return 0
    mkdir -m 777 open
    chmod 755 .
    cp film.mp4 open/protected.mp4
    chmod 444 open/protected.mp4
    cp "$bilatcam" open
    run 1 setpriv --reuid 65534 --regid 65534 --clear-groups open/bilatcam -i film.mp4 -o open/protected.mp4
    expect err "open/protected.mp4'?: Permission denied" 'a protected file'
    cmp film.mp4 open/protected.mp4 && ok || bad "a protected file is replaced"
    rm -r open
}

# MPEG-4 knows no rate whose parts are large.
test_large_rate() {
    run 0 "$bilatcam" -i film.mp4 --fps 120000/1001 --encoder mpeg4 --radius 1 -o out.mp4
    python3 - "$(times out.mp4)" <<'END' && ok || bad "times at a large rate: $(times out.mp4)"
import sys
t = [float(x.strip(",")) for x in sys.argv[1].split()]
assert len(t) == 25 and abs(t[-1] - 24 * 1001 / 120000) < 0.001, t
END
}

# kept ENDING WHY COMMAND...: $film fills its 600 KB, ends with what was whole, and plays.
kept() {
    local n
    rm -f full."$1"
    run 1 "${@:3}" "${film[@]}" -o full."$1"
    n=$(sed -nE "s/.*cannot write more than ([0-9]+) frames to 'full.$1': $2$/\1/p" err)
    [ "${n:-0}" -gt 2 ] && ok || bad "what is told of a full .$1"
    says full."$1" "$n" stream=nb_read_frames -count_frames -select_streams v
    ffmpeg -v warning -nostdin -i full."$1" -f null - 2>out && [ ! -s out ] && ok || bad "a full .$1 does not play"
    [ "$(stat -c %s full."$1")" -le 614400 ] && ok || bad "size of a full .$1"
    no_remains
}

test_full_disk() {
    # shellcheck disable=SC2016 # it is for the other shell
    local ending size film limited=(bash -c 'ulimit -f 600; exec "$@"' limited "$bilatcam")
    make -f lavfi -i testsrc=s=64x48:r=1:d=30 -f lavfi -i anoisesrc=r=48000:d=30 -c:a flac loud.mkv
    film=(-i loud.mkv --radius 1) # the sound of a frame takes more than what is kept for the end
    kept mkv 'File too large' "${limited[@]}"
    for size in 320x240 400x300; do # in the latter a frame itself does
        film=(-i test:noise=40 --size "$size" --frames 400 --filter none)
        for ending in mp4 mkv mov webm; do
            kept "$ending" 'File too large' "${limited[@]}"
        done
    done
    [ -n "$full_disk" ] || return
    for ending in mp4 mkv; do
        kept "$ending" 'No space left on device' env LD_PRELOAD="$full_disk" "$bilatcam"
        kept "$ending" 'No space left on device' env LD_PRELOAD="$full_disk" CLAIMS=no "$bilatcam"
    done
    # What fits is whole, however little is left.
    run 0 env LD_PRELOAD="$full_disk" "$bilatcam" -i film.mp4 --radius 1 -o full.mp4
    says full.mp4 25 stream=nb_read_frames -count_frames -select_streams v
}

# in_picture PID: has its filter been at work for half a second?
in_picture() {
    awk '$2 == "(filter)" && $14 > 50 { found = 1 } END { exit !found }' "/proc/$1"/task/*/stat 2>/dev/null
}

expect_not_ended() { kill -0 "$1" 2>/dev/null && ok || bad "the end does not wait for a file"; }

# What takes longer than the end of others is waited for.
test_slow_end() {
    [ -n "$slow_rename" ] || return 0
    LD_PRELOAD=$slow_rename SLOW_RENAME_UNTIL=$dir/until "$bilatcam" -i test: --size 64x48 -o slow.mkv 2>err &
    wait_until begun_slow && ok || bad "no film is being written"
    kill $!
    wait_for err 'another signal ends it all' && ok || bad "nothing is told of a slow end"
    touch until
    wait $! && ok || bad "status $? after a slow end"
    rm until
    [ -s slow.mkv ] && ok || bad "no film after a slow end"
    no_remains
}
# The head alone is 540 bytes, and a film without a frame is not kept.
begun_slow() { [ -n "$(find . -name '.bilatcam-*-slow.mkv' -size +2k)" ]; }

# A stop in a picture that takes for ever waits for its file, and another one does not: it leaves the file
# as it is, and says so.
test_forced_end() {
    local status
    # The thread with that picture is left behind on purpose.
    TSAN_OPTIONS=report_thread_leaks=0 "$bilatcam" -i test: --size 1280x720 -e reference -r 32 \
        --latency-budget off -o long.mkv 2>err &
    wait_until in_picture $! && ok || bad "no picture is being filtered"
    kill $!
    wait_for err 'another signal ends it all' && ok || bad "nothing is told of a file to finish"
    sleep 2
    expect_not_ended $!
    kill $!
    wait $!
    status=$?
    [ "$status" = 1 ] && [ ! -e long.mkv ] && ok || bad "status $status after a stop in a long picture"
    expect err 'forced exit' 'a long picture'
    expect err 'a file is not finished' 'a long picture'
    rm -f .bilatcam-*
}

# A stop finishes the file, which takes the name then and not before; a link to it stays one.
test_stopped() {
    local signal status
    for signal in TERM INT; do
        rm -f real.mp4 link.mp4
        echo old >real.mp4
        ln -s real.mp4 link.mp4
        # A shell has SIGINT ignored in what runs in the background.
        env --default-signal=INT "$bilatcam" -i test: --size 640x480 --fps 100 -r 1 -o link.mp4 2>err &
        wait_until large_beside && ok || bad "no file is being written"
        [ "$(cat real.mp4)" = old ] && ok || bad "half a file has the name"
        kill -"$signal" $!
        wait $!
        status=$?
        [ "$status" = 0 ] && [ -L link.mp4 ] && ok || bad "status $status after SIG$signal"
        [ "$(probe real.mp4 stream=nb_read_frames -count_frames)" -gt 2 ] && ok || bad "the film that SIG$signal stopped"
        grep -q 'forced exit' err && bad "a forced exit" || ok
        no_remains
    done
}
large_beside() { [ -n "$(find . -name '.bilatcam-*-real.mp4' -size +100k)" ]; }

# threads OPTION...: how many there are once all run, and nobody reads standard output.
threads() {
    rm -f pipe said
    mkfifo pipe
    "$bilatcam" "$@" --engine reference -o - >pipe 2>said </dev/null &
    exec 4<pipe
    wait_until all_run $!
    find "/proc/$!/task" -mindepth 1 -maxdepth 1 | wc -l
    kill $!
    exec 4<&-
    wait $!
}

all_run() { grep -qsx capture "/proc/$1/task"/*/comm; } # the last one that starts

# A number of threads is one for the decoder and the encoder, too.
test_threads() {
    local one six encoder
    make -f lavfi -i testsrc2=s=640x480:r=25:d=8 -c:v libx264 -pix_fmt yuv420p long.mp4
    one=$(threads -i long.mp4 --threads 1)
    six=$(threads -i long.mp4 --threads 6)
    [ "$six" -ge $((one + 5)) ] && ok || bad "threads that decode: $one and $six"
    for encoder in libx264 libx265:x265-params=log-level=none; do
        one=$(threads -i test: --threads 1 -o out.mkv --encoder "$encoder")
        six=$(threads -i test: --threads 6 -o out.mkv --encoder "$encoder")
        [ "$six" -ge $((one + 3)) ] && ok || bad "threads of $encoder: $one and $six"
    done
}

# A live picture keeps the times of the camera: frames 50 ms apart are in a film that runs as long. A
# busy machine may have two of them in a millisecond.
test_live() {
    run 0 "$bilatcam" -i test: --size 64x48 --fps 20 --frames 20 -o out.mkv
    python3 - "$(times out.mkv)" <<'END' && ok || bad "times of a live film: $(times out.mkv)"
import sys
t = [float(x.strip(",")) for x in sys.argv[1].split()]
assert len(t) == 20 and t[0] == 0 and t == sorted(t) and t[-1] >= 0.9, t
END
    says out.mkv yuv420p stream=pix_fmt
}

run_tests
summary
