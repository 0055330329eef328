#!/bin/bash
# GStreamer takes pictures from a PipeWire camera, whole and in each format.
# Usage: test_gstreamer.sh READER BILATCAM
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

# GStreamer's own rows are longer than packed ones where the width is no multiple of 8.
test_odd_sizes() {
    start_camera "${scene[@]}" --size 322x180 -o pipewire:
    gst ! video/x-raw,format=I420 ! videoconvert ! video/x-raw,format=GRAY8 && ok ||
        bad "322x180: $(cat got)"
    stop_camera
}

run_tests
summary
