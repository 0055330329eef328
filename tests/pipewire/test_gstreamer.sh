#!/bin/bash
# GStreamer takes pictures from a PipeWire camera, whole and in each format.
# Usage: test_gstreamer.sh READER BILATCAM [odd]      odd: cameras of GStreamer with odd heights alone
# shellcheck disable=SC2015 # "A && ok || bad" is right here: ok never fails
# shellcheck source=tests/pipewire/session.sh
. "$(dirname "$0")/session.sh"
need gst-launch-1.0 gst-inspect-1.0
gst-inspect-1.0 pipewiresrc >/dev/null 2>&1 || skip "no pipewiresrc of GStreamer here"
start_session

# gst ELEMENT...: five pictures through these, to the file "taken". One that comes before the session's
# manager has seen the camera fails, and comes again. A sink that collects small pictures would keep more
# of them than there are buffers.
gst() {
    wait_until gst_once "$@"
}
gst_once() {
    timeout 30 gst-launch-1.0 -q pipewiresrc target-object=bilatcam num-buffers=5 "$@" ! \
        filesink buffer-mode=unbuffered location=taken >got 2>&1
}

# takes CAPS BYTES: five pictures of so many bytes.
takes() {
    gst ! "$1" && [ "$(stat -c %s taken)" = $((5 * $2)) ] && ok ||
        bad "$1: $(stat -c %s taken) bytes: $(cat got)"
}

test_formats() {
    start_camera "${scene[@]}" -o pipewire:
    takes video/x-raw $((64 * 48 * 2))
    takes video/x-raw,format=YUY2,width=64,height=48 $((64 * 48 * 2))
    stop_camera
    start_camera "${scene[@]}" -o pipewire:
    takes video/x-raw,format=I420 $((64 * 48 * 3 / 2))
    stop_camera
}

# one_colour NAME: five pictures in "taken", or what a camera gave as a film, are of one colour.
one_colour() {
    python3 - "$1" <<'END' && ok || bad "$1: not of one colour"
import sys
name = sys.argv[1]
if name == "taken":
    planes = [open(name, "rb").read()]
else:
    head, _, film = open(name, "rb").read().partition(b"\n")
    width, height = (int(word[1:]) for word in head.decode().split()[1:3])
    picture = film[film.rindex(b"FRAME\n") + 6:]
    luma, chroma = width * height, (len(picture) - width * height) // 2
    planes = [picture[:luma]] + ([picture[luma:luma + chroma], picture[luma + chroma:]] if chroma else [])
print(name, [sorted(set(plane))[:9] for plane in planes])
sys.exit(not all(len(set(plane)) == 1 and plane[0] > 0 for plane in planes))
END
}

# make_red WIDTH HEIGHT: a film.
make_red() {
    python3 - "$1" "$2" <<'END'
import sys
width, height = int(sys.argv[1]), int(sys.argv[2])
chroma = (width + 1) // 2 * ((height + 1) // 2)
frame = b"FRAME\n" + b"\x51" * (width * height) + b"\x5a" * chroma + b"\xf0" * chroma
open("red.y4m", "wb").write(b"YUV4MPEG2 W%d H%d F30:1 Ip A1:1 C420jpeg\n" % (width, height) + 3000 * frame)
END
}

# GStreamer's own rows are longer than packed ones where the width is no multiple of 8: what it would
# show as black is not offered to it.
test_odd_sizes() {
    local size
    for size in 324x48 320x49; do
        make_red "${size%x*}" "${size#*x}"
        start_camera -i red.y4m --filter none --threads 1 -o pipewire:
        gst ! videoconvert ! video/x-raw,format=GRAY8 && ok || bad "$size: $(cat got)"
        one_colour taken
        stop_camera
    done
    rm red.y4m
    start_camera "${scene[@]}" --size 322x180 --output-format yu12 -o pipewire:
    expect said 'use GStreamer show a PipeWire camera of 322x180 as black' "what is asked for"
    stop_camera
}

# start_gst FORMAT,WIDTHxHEIGHT: a camera that GStreamer makes; its process is $gst_pid.
start_gst() {
    local size=${1#*,}
    gst-launch-1.0 -q videotestsrc is-live=true pattern=red ! \
        "video/x-raw,format=${1%,*},width=${size%x*},height=${size#*x},framerate=15/1" ! \
        pipewiresink mode=provide stream-properties="p,media.class=Video/Source,media.role=Camera,node.name=of-gst" \
        >got 2>&1 &
    gst_pid=$!
    wait_until has_node of-gst || bad "no camera of GStreamer: $(cat got)"
}

end_gst() {
    kill "$gst_pid"
    wait "$gst_pid" 2>/dev/null
    wait_until lacks_node of-gst || bad "a camera of GStreamer stays"
}

gives_red() {
    run 0 timeout 30 "$bilatcam" -i pipewire:of-gst -o out.y4m --threads 1 --filter none --frames 3
    one_colour out.y4m
    rm -f out.y4m
}

# They tell no stride, and their rows are not packed.
test_cameras() {
    local format
    gst-inspect-1.0 pipewiresink >/dev/null 2>&1 || return 0
    for format in I420,324x48 I420,322x48 NV12,322x48 YUY2,322x48 RGB,322x48 GRAY8,322x48; do
        start_gst "$format"
        gives_red
        end_gst
    done
}

# GStreamer gets pictures from its own camera. One that it has only begun to show is asked again.
reads_itself() {
    local n
    for ((n = 0; n < 3; n++)); do
        timeout 10 gst-launch-1.0 -q pipewiresrc target-object=of-gst num-buffers=3 ! videoconvert ! \
            video/x-raw,format=GRAY8 ! filesink buffer-mode=unbuffered location=taken >got 2>&1 && return
    done
    return 1
}

# That of 1.6.9 tells a place outside of its memory, where there is no picture for anybody.
odd_heights() {
    local format broken=
    gst-inspect-1.0 pipewiresink >/dev/null 2>&1 || skip "no pipewiresink of GStreamer here"
    for format in I420,320x49 NV12,320x49; do
        start_gst "$format"
        if reads_itself; then
            end_gst # it may stop after its first reader
            start_gst "$format"
            gives_red
        else
            broken+=" $format"
            start_camera -i pipewire:of-gst --threads 1 --filter none -o out.y4m
            wait_for said 'gives no pictures; waiting' && [ ! -s out.y4m ] && ok || bad "pictures from nowhere"
            stop_camera
        fi
        end_gst
    done
    echo "$passed passed, $failed failed"
    [ -z "$broken" ] || [ "$failed" != 0 ] ||
        skip "GStreamer does not read its own cameras of$broken; they are refused"
    leave $((failed != 0))
}

if [ "${3-}" = odd ]; then odd_heights; fi
run_tests
summary
