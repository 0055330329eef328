# A camera of Video4Linux as PipeWire gives it: in buffers of the driver, not in a program's memory.
# shellcheck shell=bash

add pipewire-camera     systemd         pipewire_camera
add pipewire-replug     systemd         pipewire_replug

pipewire_lists_camera() {
    pw-dump > nodes.log 2>&1 && grep -q '"api.v4l2.path": "'"$(realpath "$camera")"'"' nodes.log
}

need_pipewire() {
    command -v wireplumber > /dev/null && command -v pw-dump > /dev/null || skip "no PipeWire here"
}

# A session of its own, with what udev knows of the machine's devices.
start_pipewire() {
    export XDG_RUNTIME_DIR=$PWD/run DBUS_SESSION_BUS_ADDRESS=unix:path=$PWD/run/bus
    mkdir -m 700 run
    dbus-daemon --session --nofork --nopidfile --address="$DBUS_SESSION_BUS_ADDRESS" > bus.log 2>&1 &
    wait_for "the bus" test -S run/bus
    pipewire > pipewire.log 2>&1 &
    wait_for "PipeWire" test -S run/pipewire-0
    wireplumber > wireplumber.log 2>&1 &
}

pipewire_camera() {
    need_pipewire
    two_pictures
    start_pipewire
    wait_for "the camera in PipeWire" pipewire_lists_camera
    start_picture yuyv 320x180 -i pipewire:
    stop_bilatcam
    grep -q ' 0 damaged$' bilatcam.log || fail "damaged pictures"
    detail "$(tail -n 1 bilatcam.log)"
}

# Of a USB camera, JPEGs; plugged in again it is a new node of PipeWire, with the same name.
pipewire_replug() {
    need_pipewire
    usb_start one
    usb_pictures 640x480
    usb one picture 1
    usb_plug one
    start_pipewire
    wait_for "the camera in PipeWire" pipewire_lists_camera
    start_picture mjpg 640x480 -i "pipewire:USB test camera (V4L2)"
    usb one unplug
    wait_for "the loss" says 1 'waiting for the camera'
    usb one picture 2
    cp 2.raw expected.raw
    usb_plug one
    wait_for "the camera's return" says 1 'is back'
    wait_for "the other picture" shows_expected
    stop_bilatcam
    detail "$(tail -n 1 bilatcam.log)"
}
