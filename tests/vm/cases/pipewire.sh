# A camera of Video4Linux as PipeWire gives it: in buffers of the driver, not in a program's memory.
# shellcheck shell=bash

add pipewire-camera     systemd         pipewire_camera

pipewire_lists_camera() {
    pw-dump > nodes.log 2>&1 && grep -q '"api.v4l2.path": "'"$(realpath "$camera")"'"' nodes.log
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
    command -v wireplumber > /dev/null && command -v pw-dump > /dev/null || skip "no PipeWire here"
    two_pictures
    start_pipewire
    wait_for "the camera in PipeWire" pipewire_lists_camera
    start_picture yuyv 320x180 -i pipewire:
    stop_bilatcam
    grep -q ' 0 damaged$' bilatcam.log || fail "damaged pictures"
    detail "$(tail -n 1 bilatcam.log)"
}
