# A camera of Video4Linux as PipeWire gives it: in buffers of the driver, not in a program's memory.
# shellcheck shell=bash

add pipewire-camera     systemd         pipewire_camera
add pipewire-replug     systemd         pipewire_replug
add pipewire-libcamera  systemd         pipewire_libcamera
add libcamera-replug    systemd         libcamera_replug
add libcamera-pipeline  systemd         libcamera_pipeline

pipewire_lists_camera() {
    pw-dump > nodes.log 2>&1 && grep -q '"api.v4l2.path": "'"$(realpath "$camera")"'"' nodes.log
}

need_pipewire() {
    command -v wireplumber > /dev/null && command -v pw-dump > /dev/null || skip "no PipeWire here"
}

# start_pipewire [COMMAND...]: a session of its own, with what udev knows of the machine's devices.
# COMMAND runs the programs.
start_pipewire() {
    export XDG_RUNTIME_DIR=$PWD/run DBUS_SESSION_BUS_ADDRESS=unix:path=$PWD/run/bus
    mkdir -m 700 run
    dbus-daemon --session --nofork --nopidfile --address="$DBUS_SESSION_BUS_ADDRESS" > bus.log 2>&1 &
    wait_for "the bus" test -S run/bus
    start_daemons "$@"
}

start_daemons() {
    "$@" pipewire > pipewire.log 2>&1 &
    pipewire_pid=$!
    wait_for "PipeWire" test -S run/pipewire-0
    "$@" wireplumber > wireplumber.log 2>&1 &
    wireplumber_pid=$!
}

# restart_pipewire [COMMAND...]: as the user's services do, whatever has become of it.
restart_pipewire() {
    kill -KILL "$wireplumber_pid" "$pipewire_pid" 2> /dev/null || true
    wait "$wireplumber_pid" "$pipewire_pid" || true
    rm run/pipewire-0
    start_daemons "$@"
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

# --- libcamera -----------------------------------------------------------------------

# Sets $root, which has a newer PipeWire. libcamera names a camera by what the firmware calls the
# controller that it is plugged into, and usbip's controller is unknown to the firmware.
need_libcamera() {
    # shellcheck disable=SC1091
    root=$(. /run/vm/settings && printf '%s\n' "$machine/libcamera")
    [ -d "$root" ] || skip "no PipeWire with libcamera: prepare could not get it from Debian 13"
    mkdir -p "$root$PWD" "$root"/sys/{bus,class,dev,devices,firmware_node}
    printf '%s\n' '\_SB_.PCI0.XHC_' > "$root/sys/firmware_node/path"
}

# in_root PROGRAM: with its own files, and this machine's devices and folder of the case.
in_root() {
    # shellcheck disable=SC2016 # the inner shell expands these
    exec unshare --mount bash -ec 'for dir in /dev /proc /run /sys/{bus,class,dev,devices} "$PWD"; do
            mount --rbind "$dir" "$1$dir"
        done
        exec unshare --root="$1" --wd="$PWD" "$2"' bash "$root" "$1"
}

# Or the session manager would take a camera of Video4Linux by that.
prefer_libcamera() {
    export XDG_CONFIG_HOME=$PWD/config
    mkdir -p config/wireplumber/wireplumber.conf.d
    echo 'wireplumber.profiles = { main = { monitor.v4l2 = disabled } }' \
        > config/wireplumber/wireplumber.conf.d/cameras.conf
}

pipewire_lists_libcamera() {
    pw-dump > nodes.log 2>&1 && grep -q '"factory.name": "api.libcamera.source"' nodes.log
}

# What people see of it, and sets $name.
check_libcamera_shown() {
    "$bilatcam" --list-devices > list.log 2>&1
    name=$(sed -n 's/^\(pipewire:libcamera_input[^ ]*\)  USB test camera  (camera)$/\1/p' list.log)
    [ -n "$name" ] || fail "the camera is not in the list"
    "$bilatcam" --doctor > doctor.log 2>&1 || true
    grep -q "^ok  *PipeWire lists 'USB test camera': bilatcam --input pipewire: reads it" doctor.log ||
        fail "the doctor does not show the camera"
    ! grep -q "does not list $camera" doctor.log || fail "the doctor misses $camera in PipeWire"
}

# Plugs the camera in, and waits until PipeWire has it.
start_libcamera() {
    need_pipewire
    need_libcamera
    usb_start one
    usb_pictures 640x480
    usb one picture 1
    usb_plug one
    prefer_libcamera
    start_pipewire in_root
    wait_for "the camera in PipeWire" pipewire_lists_libcamera
}

pipewire_libcamera() {
    local name jpeg
    start_libcamera
    check_libcamera_shown
    start_picture mjpg 640x480 -i "pipewire:USB test camera"
    stop_bilatcam
    jpeg=$(tail -n 1 bilatcam.log)
    wait_for "the camera to rest" grep -q '^stopped' one.log
    start_picture yuyv 640x480 -i "$name"
    stop_bilatcam
    ! grep -q ' [1-9][0-9]* damaged' bilatcam.log || fail "damaged pictures"
    detail "$name; mjpg: ${jpeg#*: }; yuyv: $(tail -n 1 bilatcam.log | cut -d ' ' -f 2-)"
}

# libcamera 0.4 may end the daemon when a camera that gives pictures goes away: in any case a new one
# is started.
libcamera_replug() {
    start_libcamera
    start_picture mjpg 640x480 -i "pipewire:USB test camera"
    usb one unplug
    wait_for "the loss" says 1 'waiting for the camera'
    usb one picture 2
    cp 2.raw expected.raw
    restart_pipewire in_root
    usb_plug one
    wait_for "the camera's return" says 1 'is back'
    wait_for "the other picture" shows_expected
    stop_bilatcam
    detail "$(tail -n 1 bilatcam.log)"
}

# --- a camera that is a chain of devices ---------------------------------------------

# A bare sensor, what makes colours of it, what scales them, and nodes that give nothing until
# libcamera has set all of that up. The camera of Video4Linux is away. Debian does not build the driver,
# so that modprobe does not know it.
start_pipeline() {
    local driver
    need_pipewire
    need_libcamera
    driver=${root%/*}/vimc/vimc.ko
    [ -e "$driver" ] || skip "no vimc: prepare could not get its source from Debian 12"
    modprobe -r vivid
    modinfo -F depends "$driver" | tr , '\n' | xargs modprobe -a
    insmod "$driver"
    "$bilatcam" --list-devices > before.log 2>&1
    grep -q '^a camera that only libcamera reads' before.log || fail "the list passes over the sensor"
    ! grep 'no cameras found' before.log || fail "the list contradicts itself"
    sensor=$(media-ctl -d platform:vimc -e "Sensor B")
    v4l2-ctl -d "$sensor" -c test_pattern=1 # full colours
    prefer_libcamera
    start_pipewire in_root
    wait_for "the camera in PipeWire" pipewire_lists_libcamera
}

# shows_bars LUMA COLOUR...: has the newest frame of the reader these, from left to right? LUMA is that
# of the first one. It is looked at first, because to start Python takes seconds here.
shows_bars() {
    local size frames
    count_frames
    [ "$frames" -gt 0 ] &&
        [ "$(od -An -tu1 -j $((frames * size - size / 2)) -N 2 reader.raw)" = " $(printf '%3d 128' "$1")" ] &&
        [ "$(pixels bars reader.raw 320x240)" = "${*:2}" ]
}

# What people see of it, and sets $name.
check_pipeline_shown() {
    "$bilatcam" --list-devices > list.log 2>&1
    name=$(sed -n 's/^\(pipewire:libcamera_input[^ ]*\)  Sensor B  (camera)$/\1/p' list.log)
    [ -n "$name" ] || fail "the camera is not in the list"
    ! "$bilatcam" -i "$(media-ctl -d platform:vimc -e "RGB/YUV Capture")" --frames 1 -o null: 2> named.log ||
        fail "a device of the chain gives pictures by itself"
    grep -q 'of a camera that only libcamera reads: have PipeWire' named.log ||
        fail "that a device of the chain gives nothing is not explained"
    "$bilatcam" --doctor > doctor.log 2>&1 || fail "the doctor has found a problem"
    grep -q "^ok  *PipeWire lists 'Sensor B': bilatcam --input pipewire: reads it" doctor.log ||
        fail "the doctor does not show the camera"
    grep -q "^ok  *camera to virtual camera can work: pipewire: to $loopback" doctor.log ||
        fail "the doctor does not know what works"
    ! grep -h 'only libcamera reads' list.log doctor.log || fail "PipeWire is said not to read it"
}

# The processor of this machine makes a picture in a second or two, and who reads a file for the first time
# waits for a whole picture. So "pixels" runs once before pictures begin. That the bars turn round shows
# that pictures go on.
libcamera_pipeline() {
    local sensor name
    start_pipeline
    check_pipeline_shown
    head -c $((320 * 240 * 2)) /dev/zero > expected.raw # as long as a picture
    pixels bars expected.raw 320x240 > bars.log
    start_bilatcam -i pipewire: -o "$loopback" --size 320x240 --on-demand off --filter none
    wait_for "the virtual camera" is_camera 320x240
    grep -q 'Sensor B (PipeWire), 320x240 rgb24 -> ' bilatcam.log || fail "another size or format"
    start_reader
    wait_for "the bars" shows_bars 235 white yellow cyan green magenta red blue black
    v4l2-ctl -d "$sensor" -c horizontal_flip=1
    wait_for "the bars turned round" shows_bars 16 black blue red magenta green cyan yellow white
    stop_reader
    stop_bilatcam
    ! grep -q ' [1-9][0-9]* damaged' bilatcam.log || fail "damaged pictures"
    detail "$name; $(tail -n 1 bilatcam.log | cut -d ' ' -f 2-)"
}
