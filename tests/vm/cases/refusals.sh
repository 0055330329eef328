# What cannot work is refused with status 1 and one line that names the device.
# shellcheck shell=bash

add refuse-input-without-writer "0.12.7 0.15.0" refuse_input_without_writer
add refuse-camera-as-output     0.15.0          refuse "$camera" -i test: --fps 30 -o "$camera"
add refuse-missing-input        0.15.0          refuse /dev/video99 -i /dev/video99 -o null:
add refuse-missing-output       0.15.0          refuse /dev/video99 -i test: --fps 30 -o /dev/video99
add refuse-busy-camera          0.15.0          refuse_busy_camera
add refuse-unsupported-format   0.15.0          refuse "$camera" -i "$camera" --format mjpg -o null:
add refuse-busy-output          0.15.0          refuse_busy_output

# refuse DEVICE OPTION...
refuse() {
    local device=$1 status=0 lines
    shift
    timeout "$wait_limit" "$bilatcam" --frames 5 "$@" > refusal.out 2> refusal.log || status=$?
    [ "$status" = 1 ] || fail "exit status $status, want 1"
    [ ! -s refusal.out ] || fail "it wrote to stdout"
    lines=$(wc -l < refusal.log)
    [ "$lines" = 1 ] || fail "$lines lines on stderr, want 1"
    grep -q "^bilatcam: .*$device" refusal.log || fail "the message does not name $device"
    detail "$(cat refusal.log)"
}

# With exclusive_caps the node is no camera as long as nobody writes to it.
refuse_input_without_writer() {
    refuse "$loopback" -i "$loopback" -o null:
}

refuse_busy_camera() {
    v4l2-ctl -d "$camera" --stream-mmap --stream-to=busy.raw > busy.log 2>&1 &
    wait_for "the other program to get frames" test -s busy.raw
    refuse "$camera" -i "$camera" -o null:
}

refuse_busy_output() {
    start_bilatcam -i test: --size 320x180 --fps 30 -o "$loopback"
    wait_for "the other writer" is_camera 320x180
    refuse "$loopback" -i test: --size 320x180 --fps 30 -o "$loopback"
    stop_bilatcam
}
