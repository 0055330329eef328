# What --doctor says of real devices, and that it disturbs none of them.
# shellcheck shell=bash

add doctor-devices  "0.12.7 0.15.0" doctor_devices
add doctor-stuck    0.12.7          doctor_stuck
add doctor-unloaded 0.15.0          doctor_unloaded

# doctor STATUS PATTERN...: its exit status, and lines that it prints
doctor() {
    local want=$1 status=0 pattern
    shift
    "$bilatcam" --doctor > doctor.log 2>&1 || status=$?
    [ "$status" = "$want" ] || fail "exit status $status, want $want"
    for pattern; do
        grep -q "^$pattern" doctor.log || fail "it does not say '$pattern'"
    done
}

has_writer() {
    v4l2-ctl -d "$loopback" -D 2>&1 | grep -q 'Video Capture'
}

doctor_devices() {
    local busy_pid
    local loaded="v4l2loopback $version is loaded"
    [ "$version" != 0.12.7 ] || loaded='v4l2loopback is loaded' # it does not tell its version
    doctor 0 "ok       $loaded" "ok       camera $camera '.*' gives yuyv" \
        "ok       virtual camera $loopback 'bilatcam' is free$" \
        "ok       camera to virtual camera can work: $camera to $loopback"

    v4l2-ctl -d "$camera" --stream-mmap --stream-to=busy.raw > busy.log 2>&1 &
    busy_pid=$!
    wait_for "the other program to get frames" test -s busy.raw
    doctor 1 "PROBLEM  camera $camera is taken by v4l2-ctl (pid $busy_pid)" \
        "PROBLEM  camera to virtual camera cannot work yet: no usable camera$"
    kill "$busy_pid"
    wait_exit v4l2-ctl "$busy_pid" || true

    start_camera yuyv 320x180
    start_reader
    wait_for "a picture" test -s reader.raw
    doctor 0 "ok       camera $camera is used by bilatcam (pid $bilatcam_pid)" \
        "ok       virtual camera $loopback 'bilatcam' is written to by bilatcam; open in .*v4l2-ctl"
    stop_bilatcam
    kill "$reader_pid"
    wait_exit v4l2-ctl "$reader_pid" || true

    ffmpeg -nostdin -v error -re -f lavfi -i color=size=320x180 -pix_fmt yuyv422 -f v4l2 \
        "$loopback" 2> ffmpeg.log &
    wait_for "the other writer" has_writer
    doctor 1 "PROBLEM  virtual camera $loopback 'bilatcam' has another program writing to it: ffmpeg"
}

# As a writer that used write() leaves it.
doctor_stuck() {
    ffmpeg -nostdin -v error -f lavfi -i color=size=320x180 -frames:v 3 \
        -pix_fmt yuyv422 -f v4l2 "$loopback" 2> ffmpeg.log
    doctor 0 "note     virtual camera $loopback 'bilatcam' is stuck after its last writer"
}

doctor_unloaded() {
    modprobe -r v4l2loopback
    doctor 1 "PROBLEM  v4l2loopback is installed but not loaded" \
        "    fix: sudo modprobe v4l2loopback exclusive_caps=1 card_label=bilatcam"
    modprobe v4l2loopback exclusive_caps=0
    doctor 0 "PROBLEM  virtual camera $loopback 'bilatcam' lacks exclusive_caps" \
        "ok       camera to virtual camera can work"
}
