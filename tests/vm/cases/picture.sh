# The picture that clients get is, byte for byte, the one that the filter makes.
# shellcheck shell=bash

add list-devices           "0.12.7 0.15.0" list_devices
add yuyv-320x180-ffmpeg    all             picture yuyv 320x180 ffmpeg
add yuyv-640x480-ffmpeg    0.15.0          picture yuyv 640x480 ffmpeg
add yuyv-320x180-gstreamer "0.12.7 0.15.0" picture yuyv 320x180 gstreamer
add yuyv-320x180-v4l2ctl   0.15.0          picture yuyv 320x180 v4l2ctl
add uyvy-320x180-v4l2ctl   0.15.0          picture uyvy 320x180 v4l2ctl
add nv12-320x180-v4l2ctl   0.15.0          picture nv12 320x180 v4l2ctl
add grey-320x180-v4l2ctl   0.15.0          picture grey 320x180 v4l2ctl
add yu12-output-ffmpeg     0.15.0          picture nv12 320x180 ffmpeg yu12

list_devices() {
    "$bilatcam" --list-devices > devices.log 2>&1
    grep -q "^$camera .*vivid.*(camera" devices.log || fail "the camera is not listed"
    grep -q "^$loopback .*bilatcam.*(virtual camera" devices.log ||
        fail "the virtual camera is not listed"
    detail "$(grep -c ^/dev devices.log) devices"
}

# picture FORMAT SIZE CLIENT [OUTPUT_FORMAT]
picture() {
    local format=$1 size=$2 client=$3 output=${4:-yuyv} compared
    still_picture
    make_expected "$format" "$size" "$output"
    start_picture "$format" "$size" --set "output-format=$output"
    run_client "$client" "$size" "$output" 40
    compared=$(pixels compare expected.raw client.raw 30)
    stop_bilatcam
    detail "$client: $compared"
}
