#!/bin/bash
# Films and pictures whose samples have more than 8 bits, as they are read and written.
# Usage: test_video_deep.sh PATH/TO/bilatcam
# shellcheck disable=SC2015 # "A && ok || bad" is right here: ok never fails
bilatcam=$(realpath "$1")
# shellcheck source=tests/lib/checks.sh
. "$(dirname "$0")/../lib/checks.sh"
# shellcheck source=tests/program/video_lib.sh
. "$here/video_lib.sh"

echo leak:libx265 >leaks # of its tables
export LSAN_OPTIONS=suppressions=$PWD/leaks:print_suppressions=0

# Samples of more than 8 bits are all there where nothing is filtered.
test_read() {
    local codec options pixels shown
    while read -r codec pixels shown options; do
        # shellcheck disable=SC2086 # several options
        make -i film.mp4 -an -frames:v 5 -c:v $codec -pix_fmt $pixels $options deep.mkv
        run 0 "$bilatcam" -i deep.mkv -o ours.y4m --filter none
        expect err "deep.mkv' \\([a-z0-9]+\\), 160x90 $shown ->" "a film in $pixels"
        make -i deep.mkv -f yuv4mpegpipe -strict -1 theirs.y4m
        [ -s theirs.y4m ] && cmp <(samples ours.y4m) <(samples theirs.y4m) >err && ok || bad "pictures in $pixels"
        [ "$(colour_space ours.y4m)" = "$(colour_space theirs.y4m)" ] && ok ||
            bad "colour space of $pixels: $(colour_space ours.y4m)"
    done <<'END'
libx264 yuv420p10le 420p16
libx265 yuv420p10le 420p16 -x265-params log-level=none
libvpx-vp9 yuv422p12le 422p16 -deadline realtime -cpu-used 8
prores_ks yuv422p10le 422p16
ffv1 yuv420p9le 420p16
ffv1 yuv444p14le 444p16
ffv1 yuv422p16le 422p16
ffv1 gray16le y16
END
    make -i film.mp4 -an -c:v libx264 -pix_fmt yuv420p10le deep.mp4
    turn deep.mp4 90 turned.mp4
    run 0 "$bilatcam" -i turned.mp4 -o ours.y4m --filter none
    make -i turned.mp4 -f yuv4mpegpipe -strict -1 theirs.y4m
    cmp <(samples ours.y4m) <(samples theirs.y4m) >err && ok || bad "10 bits on their side"
    make -i film.mp4 -frames:v 1 -pix_fmt rgb48be deep.png
    run 0 "$bilatcam" -i deep.png -o ours.y4m --filter none
    expect err "deep.png' \\(png\\), 160x90 444p16 ->" "a picture of 48 bits"
    same_pixels ours.y4m deep.png 1 "colours of a picture of 48 bits"
}
colour_space() { head -n 1 "$1" | grep -o ' C[0-9a-z]*'; }

# Pictures of a sensor that fills few of its 16 bits do not show in 8, which is told once, if they go
# on for a while and nobody chose.
test_narrow_levels() {
    local options n most wanted file
    while read -r n most wanted options; do
        python3 - "$n" "$most" <<'END'
import struct, sys
n, most = map(int, sys.argv[1:])
with open("sensor.y4m", "wb") as f:
    f.write(b"YUV4MPEG2 W64 H48 F25:1 Cmono16\n")
    for i in range(n):
        if i == 0:
            f.write(b"FRAME\n" + bytes(6144))
        f.write(b"FRAME\n" + struct.pack("<3072H", *((20000 + (x * 37 + i) % most) for x in range(3072))))
END
        make -i sensor.y4m -c:v ffv1 -pix_fmt gray16le sensor.mkv
        for file in sensor.y4m sensor.mkv; do
            # shellcheck disable=SC2086 # several options
            run 0 "$bilatcam" -i $file --filter none $options
            [ "$(grep -c 'hardly show in 8 bits: try --levels auto$' err)" = "$wanted" ] && ok ||
                bad "a hint of $n pictures of $most levels in $file with $options"
        done
    done <<'END'
60 1000 1 -o out.y4m --output-format yu12
60 1000 1 -o out.y4m -o out.mkv --output-format yu12 --encoder ffv1
49 1000 0 -o out.y4m --output-format yu12
60 9000 0 -o out.y4m --output-format yu12
60 1000 0 -o out.y4m --output-format yu12 --levels auto
60 1000 0 -o out.y4m --output-format yu12 --depth 8
60 1000 0 -o out.y4m
60 1000 0 -o null:
END
}

# What a film of a high dynamic range says of its light is in the new one: of the file and, by
# libx265, of its pictures, beside what else libx265 is told.
test_light() {
    local file told=log-level=none:hdr10=1:max-cll=1000,400
    told+=':master-display=G(13250,34500)B(7500,3000)R(34000,16000)WP(15635,16450)L(10000000,1)'
    make -i film.mp4 -an -frames:v 5 -c:v libx265 -pix_fmt yuv420p10le \
        -vf setparams=color_primaries=bt2020:color_trc=smpte2084:colorspace=bt2020nc -x265-params "$told" light.mkv
    run 0 "$bilatcam" -i light.mkv -o ours.mp4 --radius 1
    run 0 "$bilatcam" -i ours.mp4 -o ours.mkv --radius 1 --encoder libx264
    run 0 "$bilatcam" -i light.mkv -o faster.mkv --radius 1 --fps 50
    [[ $(probe faster.mkv stream=color_transfer,color_primaries) = smpte2084,bt2020* ]] && ok || bad "tags with --fps"
    for file in ours.mp4 ours.mkv faster.mkv; do
        ffprobe -v error -select_streams v -show_streams "$file" >light
        is_light "what $file says of its light"
    done
    ffprobe -v error -select_streams v -show_frames ours.mp4 >light
    is_light "what pictures say of their light"
    run 0 "$bilatcam" -i light.mkv -o ours.mp4 --radius 1 --encoder libx265:preset=ultrafast:x265-params=log-level=none
    ffprobe -v error -select_streams v -show_frames ours.mp4 >light
    is_light "what pictures say beside other options"
    run 0 "$bilatcam" -i film.mp4 -o ours.mp4 --radius 1
    ffprobe -v error -select_streams v -show_streams ours.mp4 | grep -q side_data_type && bad "light of a plain film" || ok
}
is_light() {
    python3 - <<'END' && ok || bad "$1: $(grep -E '^(max|min|red|green|blue|white)_' light | tr '\n' ' ')"
from fractions import Fraction
said = {}
for line in open("light"):
    key, _, value = line.strip().partition("=")
    if value != "N/A" and key.startswith(("max_", "min_", "red_", "green_", "blue_", "white_")):
        said[key] = Fraction(value)
wanted = dict(red_x=34000, red_y=16000, green_x=13250, green_y=34500, blue_x=7500, blue_y=3000, white_point_x=15635, white_point_y=16450)
assert all(abs(said[k] - Fraction(v, 50000)) < Fraction(1, 50000) for k, v in wanted.items())
assert said["max_content"] == 1000 and said["max_average"] == 400
assert said["max_luminance"] == 1000 and abs(said["min_luminance"] - Fraction(1, 10000)) < Fraction(1, 100000)
END
}

# Films are taken to 8 bits where nothing that is written can hold more, if nothing else is asked for.
test_depth() {
    local options shown
    make -i film.mp4 -an -c:v ffv1 -pix_fmt yuv420p10le -chroma_sample_location left deep.mkv
    make -i deep.mkv -f yuv4mpegpipe -strict -1 deep.y4m
    while IFS=: read -r options shown; do
        # shellcheck disable=SC2086 # several options
        run 0 "$bilatcam" -i deep.mkv $options
        expect err "deep.mkv' \\(ffv1$shown -> " "a deep film with $options"
    done <<'END'
-o ours.y4m --depth 8:, taken to 8 bits\), 160x90 yu12
-o ours.y4m:\), 160x90 420p16
-o ours.mkv --filter gaussian:\), 160x90 420p16
-o ours.webm:\), 160x90 420p16
END
    # What is filtered is the same as in words of a y4m file.
    for options in 'reference -r 2' 'simd -r 2' 'simd --temporal 1' 'simd --temporal-mode window'; do
        # shellcheck disable=SC2086 # several options
        set -- --frames 3 -e $options
        run 0 "$bilatcam" -i deep.mkv -o ours.y4m "$@"
        run 0 "$bilatcam" -i deep.y4m -o theirs.y4m "$@"
        cmp <(samples ours.y4m) <(samples theirs.y4m) >err && ok || bad "a deep film with $options"
        cmp -s <(samples ours.y4m) <(samples deep.y4m) && bad "nothing is filtered with $options" || ok
    done
    run 0 "$bilatcam" -i deep.mkv -o ours.y4m --filter none --depth 8
    [ "$(colour_space ours.y4m)" = ' C420mpeg2' ] && ok || bad "siting of a film that is taken to 8 bits"
    make -i deep.mkv -pix_fmt yuv420p -f yuv4mpegpipe theirs.y4m
    python3 - <<'END' && ok || bad "samples of a film that is taken to 8 bits"
a, b = (open(f, "rb").read().split(b"\n", 1)[1] for f in ("ours.y4m", "theirs.y4m"))
assert len(a) == len(b)
assert max(abs(x - y) for x, y in zip(a, b)) <= 1
END
}

# ramp PIXELS: every level that samples of 10 bits have, coded without loss.
ramp() {
    [ -e ramp ] || python3 - <<'END'
from array import array
w, h, n = 1024, 16, 3
planes = [[[64 * x + i for x in range(w)] * h, [65535 - 64 * x for x in range(w)] * h,
           [(32 * x + 2048 * y + 999 * i) % 65536 for y in range(h) for x in range(w)]] for i in range(n)]
with open("ramp", "wb") as f:
    for frame in planes:
        for plane in frame:
            array("H", plane).tofile(f)
END
    make -f rawvideo -pix_fmt yuv444p16le -s 1024x16 -r 25 -i ramp -pix_fmt "$1" -c:v ffv1 ramp.mkv
}

# Each level of more than 8 bits comes through where the encoder has as many, else to the nearest.
test_written() {
    local from options to
    while read -r from options to; do
        ramp "$from"
        run 0 "$bilatcam" -i ramp.mkv -o out.mkv --filter none --encoder "$options"
        says out.mkv "$to" stream=pix_fmt
        [ "$(pixels out.mkv)" = "$(pixels ramp.mkv)" ] && ok || bad "levels of $from with $options"
    done <<'END'
yuv420p10le ffv1 yuv420p10le
yuv420p10le libx264:qp=0:preset=ultrafast yuv420p10le
yuv422p10le libx264:qp=0:preset=ultrafast yuv422p10le
yuv444p12le libvpx-vp9:lossless=1 yuv444p12le
yuv420p9le ffv1 yuv420p9le
yuv422p14le ffv1 yuv422p14le
yuv444p16le ffv1 yuv444p16le
gray12le ffv1 gray12le
gbrp10le ffv1 gbrp10le
gbrp16le ffv1 gbrp16le
END
    while read -r from options to; do
        ramp "$from"
        run 0 "$bilatcam" -i ramp.mkv -o out.mkv --filter none --encoder "$options"
        says out.mkv "$to" stream=pix_fmt
    done <<'END'
yuv420p10le libx265:preset=ultrafast:x265-params=log-level=none yuv420p10le
yuv422p12le libx265:preset=ultrafast:x265-params=log-level=none yuv422p12le
yuv444p12le libx265:preset=ultrafast:x265-params=log-level=none yuv444p12le
gray12le libx265:preset=ultrafast:x265-params=log-level=none gray12le
gbrp10le libx265:preset=ultrafast:x265-params=log-level=none gbrp10le
yuv422p12le libx264 yuv422p10le
yuv444p10le libx264 yuv444p10le
gray10le libx264 yuv420p10le
yuv422p10le libvpx-vp9:deadline=realtime:cpu-used=8 yuv422p10le
gbrp12le libvpx-vp9:deadline=realtime:cpu-used=8 gbrp12le
gray10le prores_ks yuv444p12le
yuv444p12le prores_ks yuv444p12le
yuv420p10le prores_ks yuv422p10le
yuv420p prores_ks yuv422p10le
yuv420p10le mjpeg yuvj420p
yuv420p10le png rgb48be
gbrp12le png rgb48be
END
}

# What is written where nobody names an encoder.
test_default_encoder() {
    local options
    # What is filtered reaches the encoder as it reaches a y4m file.
    set -- --temporal 1 --sigma-color 20 -r 2
    ramp yuv420p10le
    run 0 "$bilatcam" -i ramp.mkv -o out.mkv "$@" --encoder ffv1
    run 0 "$bilatcam" -i ramp.mkv -o out.y4m "$@"
    [ "$(pixels out.mkv)" = "$(pixels out.y4m)" ] && [ "$(pixels out.mkv)" != "$(pixels ramp.mkv)" ] && ok ||
        bad "a filtered ramp"
    # HEVC is what players show of more than 8, in the form that all of them know.
    run 0 "$bilatcam" -i ramp.mkv -o out.mp4
    says out.mp4 yuv420p10le stream=pix_fmt
    says out.mp4 hvc1 stream=codec_tag_string
    run 0 "$bilatcam" -i ramp.mkv -o out.mkv
    says out.mkv hevc stream=codec_name
    # It has no pictures below 16x16.
    make -f lavfi -i testsrc2=size=16x8:rate=10:duration=0.5 -pix_fmt yuv420p10le -c:v ffv1 small.mkv
    run 0 "$bilatcam" -i small.mkv -o out.mp4
    says out.mp4 yuv420p10le stream=pix_fmt
    # No bits are filtered that are not written.
    for options in "--encoder mpeg4" "--output-format yu12"; do
        # shellcheck disable=SC2086 # several options
        run 0 "$bilatcam" -i ramp.mkv -o out.mkv $options
        expect err 'ramp.mkv.*taken to 8 bits' "$options"
    done
    # Where 8 are asked for, there are 8.
    for options in "--filter none --depth 8" "--filter none --output-format yu12"; do
        # shellcheck disable=SC2086 # several options
        run 0 "$bilatcam" -i ramp.mkv -o out.mp4 $options
        says out.mp4 yuv420p stream=pix_fmt
        says out.mp4 h264 stream=codec_name
    done
    run 0 "$bilatcam" -i ramp.mkv -o out.mkv --filter none --depth 16 --output-format yu12 --encoder ffv1
    make -i ramp.mkv -f rawvideo theirs
    make -i out.mkv -f rawvideo ours
    python3 - <<'END' && ok || bad "10 bits, rounded to 8"
from array import array
a, b = array("H", open("theirs", "rb").read()), open("ours", "rb").read()
assert len(a) == len(b) > 0 and all(y == min(255, (x + 2) // 4) for x, y in zip(a, b))
END
}

test_pictures() {
    local pixels
    for pixels in gray16be rgb48be; do
        make -f lavfi -i "color=s=1024x64,format=gbrp16,geq=r='X*64+Y':g='65535-X*64-Y':b='Y*1024+X'" \
            -frames:v 1 -pix_fmt $pixels picture.png
        run 0 "$bilatcam" -i picture.png -o out.png --filter none
        says out.png "$pixels" stream=pix_fmt
        [ "$(pixels out.png)" = "$(pixels picture.png)" ] && ok || bad "levels of a PNG in $pixels"
        run 0 "$bilatcam" -i picture.png -o out.png --depth 16
        says out.png "$pixels" stream=pix_fmt
        run 0 "$bilatcam" -i picture.png -o out.png --depth 8
        says out.png "$([ $pixels = gray16be ] && echo gray || echo rgb24)" stream=pix_fmt
        run 0 "$bilatcam" -i picture.png -o out.jpg --filter none
        same_pixels out.jpg picture.png 12 "a JPEG of $pixels"
    done
}

# What says how a film of a high dynamic range is to be shown.
test_tags() {
    local transfer tags options
    for transfer in smpte2084 arib-std-b67; do
        tags=setparams=range=tv:colorspace=bt2020nc:color_primaries=bt2020:color_trc=$transfer
        make -i film.mp4 -an -vf "format=yuv420p10le,$tags" -c:v libx265 "${quiet_x265[@]}" \
            -chroma_sample_location topleft wide.mkv
        for options in "--filter none" ""; do
            # shellcheck disable=SC2086 # several options
            run 0 "$bilatcam" -i wide.mkv -o out.mkv $options
            says out.mkv "tv,bt2020nc,$transfer,bt2020" stream=color_range,color_space,color_transfer,color_primaries
        done
        run 0 "$bilatcam" -i wide.mkv -o out.mkv --filter none --encoder ffv1
        [ "$(pixels out.mkv)" = "$(pixels wide.mkv)" ] && ok || bad "pixels of $transfer"
        says out.mkv "$(probe wide.mkv stream=chroma_location | tr -d ' ')" stream=chroma_location
    done
}

run_tests
summary
