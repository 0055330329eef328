# shellcheck shell=bash
# shellcheck disable=SC2015 # "A && ok || bad" is right here: ok never fails
# shellcheck disable=SC2154,SC2034,SC2119,SC2120 # variables of test_doctor.sh
# Machines for test_doctor.sh, which reads this, and ways to compare what the doctor says of them.

# --- machines ------------------------------------------------------------------------

# put PATH LINE...: a file of the machine
put() {
    mkdir -p "$(dirname "$root/$1")"
    printf '%s\n' "${@:2}" > "$root/$1"
}

# node N NAME LINE...: a video device
node() {
    put "sys/class/video4linux/video$1/name" "$2"
    put "sys/class/video4linux/video$1/index" 0
    put "dev/video$1" "${@:3}"
}

# loopback N NAME LINE...
loopback() {
    mkdir -p "$root/sys/devices/virtual/video4linux/video$1"
    node "$1" "$2" 'kind loopback' "${@:3}"
}

# holder PID NAME MINOR [MAPPED]: a program that has a device open, and perhaps its buffers mapped
holder() {
    local file
    case $3 in
    3) file=/dev/null ;;
    5) file=/dev/zero ;;
    7) file=/dev/full ;;
    esac
    mkdir -p "$root/proc/$1/fd"
    put "proc/$1/comm" "$2"
    put "proc/$1/maps" '55d0-55d1 r--p 00000000 fe:00 12 /usr/bin/program' \
        ${4+"7f10-7f11 rw-s 00000000 00:05 99                       $4"}
    ln -s "$file" "$root/proc/$1/fd/4"
    ln -s /dev/tty "$root/proc/$1/fd/0"
}

secure_boot() {
    mkdir -p "$root/sys/firmware/efi/efivars"
    printf '\006\000\000\000%b' "$1" > "$root/sys/firmware/efi/efivars/SecureBoot-$boot"
}

bare() {
    rm -rf "$root"
    mkdir -p "$root"/{dev,proc,run/user/1,home/.config} "$root/lib/modules/$kernel/kernel"
    put usr/bin/apt-get
    put etc/group 'root:x:0:' 'broken:x:44' 'video:x:44:bob' 'ann:x:1000:'
    put groups 1000
}

headers() {
    put "usr/src/headers/Makefile"
    ln -sfn "$root/usr/src/headers" "$root/lib/modules/$kernel/build"
}

module() {
    put sys/module/v4l2loopback/version 0.13.2
    put etc/modules-load.d/bilatcam.conf '# the virtual camera' v4l2loopback
    put etc/modprobe.d/bilatcam.conf 'options v4l2loopback exclusive_caps=1 card_label=bilatcam'
}

camera() {
    node 0 'HD Webcam' 'kind camera' 'format YUYV' 'format NV12' 'format YUYV' 'format H264' "$@"
}

# One on which all is well.
whole() {
    bare
    module
    camera
    node 1 'HD Webcam: metadata' 'kind other'
    loopback 9 bilatcam 'caps output'
}

# --- what the doctor says ------------------------------------------------------------

# status NUMBER WHAT: of the doctor, whose words go to the file out
status() {
    local got
    "$under" "$root" > out 2> err
    got=$?
    [ "$got" = "$1" ] && [ ! -s err ] && ok || bad "$2: exit status $got, not $1"
}

# says STATUS WHAT: exactly the lines of stdin, those of engines, configuration and session left
# out: they have tests of their own.
says() {
    status "$1" "$2"
    sed '/no NVIDIA GPU/,/--preview/d' out > devices
    diff - devices > different && ok || bad "$2"
}

# tells WHAT: the lines of stdin are among those of the doctor, in a row
tells() {
    local wanted
    wanted=$(cat)
    [[ $(< out) = *"$wanted"* ]] && ok || bad "$1: not said: $wanted"
}

no_devices='PROBLEM  no camera found
    fix: plug one in; bilatcam --input test: works without
PROBLEM  camera to virtual camera cannot work yet: no usable camera, no usable virtual camera
    fix: sudo ./bilatcam --setup installs and loads the virtual camera, and asks before each step'

works='ok       camera to virtual camera can work: /dev/video0 to /dev/video9'
