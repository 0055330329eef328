#!/bin/bash
# What --doctor says of broken machines, each of them a folder, line by line, and its exit status.
# Usage: test_doctor.sh PATH/TO/doctor-under PATH/TO/bilatcam
# shellcheck disable=SC2015 # "A && ok || bad" is right here: ok never fails
under=$(realpath "$1")
bilatcam=$(realpath "$2")
# shellcheck source=tests/lib/checks.sh
. "$(dirname "$0")/../lib/checks.sh"
evidence+=(different)
root=$dir/root
kernel=6.1.0-9
boot=8be4df61-93ca-11d2-aa0d-00e098032b8c
modprobe='sudo modprobe v4l2loopback exclusive_caps=1 card_label=bilatcam'

export XDG_CONFIG_HOME=$root/home/.config XDG_CONFIG_DIRS=/nonexistent
export XDG_DATA_HOME=$root/home/.local/share XDG_RUNTIME_DIR=$root/run/user/1
unset DBUS_SESSION_BUS_ADDRESS WAYLAND_DISPLAY DISPLAY

# shellcheck source=tests/doctor/doctor_lib.sh
. "$here/doctor_lib.sh"

# --- the kernel module ---------------------------------------------------------------

test_module() {
    bare
    says 1 'nothing installed' << END
PROBLEM  v4l2loopback is not installed for the running kernel $kernel
    fix: sudo apt-get install v4l2loopback-dkms linux-headers-$kernel && $modprobe
$no_devices
END
    rm "$root/usr/bin/apt-get"
    says 1 'nothing installed, without apt' << END
PROBLEM  v4l2loopback is not installed for the running kernel $kernel
    fix: install what this system calls v4l2loopback-dkms linux-headers-$kernel, then: $modprobe
$no_devices
END
    bare
    headers
    put usr/src/headers/v4l2loopback.ko
    says 1 'headers only' << END
PROBLEM  v4l2loopback is not installed for the running kernel $kernel
    fix: sudo apt-get install v4l2loopback-dkms && $modprobe
$no_devices
END
    rmdir "$root/lib/modules/$kernel/kernel"
    rm -r "$root/lib/modules/$kernel"
    put lib/modules/6.1.0-10/updates/dkms/v4l2loopback.ko
    says 1 'kernel replaced' << END
PROBLEM  the modules of the running kernel $kernel are gone, as after an update
    fix: restart the computer
$no_devices
END
    rm -r "$root/lib/modules"
    says 1 'no modules' << END
PROBLEM  v4l2loopback is not installed for the running kernel $kernel
    fix: sudo apt-get install v4l2loopback-dkms linux-headers-$kernel && $modprobe
$no_devices
END
    bare
    put lib/modules/6.1.0-8/updates/dkms/v4l2loopback.ko.xz
    put usr/src/v4l2loopback-0.12.7/dkms.conf
    says 1 'another kernel, no headers' << END
note     v4l2loopback is installed for kernel 6.1.0-8, but $kernel is running
PROBLEM  v4l2loopback 0.12.7 cannot be built for the running kernel $kernel: the kernel's headers are missing
    fix: sudo apt-get install linux-headers-$kernel && $modprobe
$no_devices
END
}

test_dkms() {
    bare
    headers
    put usr/src/v4l2loopback-0.12.7/dkms.conf
    says 1 'not built' << END
PROBLEM  v4l2loopback 0.12.7 is not built for the running kernel $kernel
    fix: sudo dkms install v4l2loopback/0.12.7 -k $kernel && $modprobe
$no_devices
END
    put var/lib/dkms/v4l2loopback/0.12.7/build/make.log
    says 1 'failed to build' << END
PROBLEM  v4l2loopback 0.12.7 failed to build for the running kernel $kernel: /var/lib/dkms/v4l2loopback/0.12.7/build/make.log tells why
    fix: install a newer v4l2loopback-dkms, or try again: sudo dkms install v4l2loopback/0.12.7 -k $kernel
$no_devices
END
    rm -r "$root/usr/src/v4l2loopback-0.12.7"
    status 1 'source known to DKMS alone'
    tells 'source known to DKMS alone' <<< "PROBLEM  v4l2loopback 0.12.7 failed to build"
}

test_secure_boot() {
    local file="lib/modules/$kernel/updates/dkms/v4l2loopback.ko"
    bare
    secure_boot '\001'
    status 1 'before anything is installed'
    tells 'before anything is installed' <<< 'note     Secure Boot is on: v4l2loopback needs its key enrolled once'
    bare
    put "$file" 'code that is longer than the mark of a signature'
    secure_boot '\000'
    says 1 'not loaded' << END
PROBLEM  v4l2loopback is installed but not loaded
    fix: $modprobe
$no_devices
END
    secure_boot '\001'
    put usr/src/v4l2loopback-0.12.7/dkms.conf
    says 1 'unsigned' << END
PROBLEM  v4l2loopback is installed but not loaded
    fix: $modprobe
PROBLEM  Secure Boot is on and v4l2loopback is not signed: the kernel will refuse it
    fix: sudo dkms install --force v4l2loopback/0.12.7 -k $kernel && sudo mokutil --import /var/lib/dkms/mok.pub, then restart and choose "Enroll MOK"
$no_devices
END
    put "$file" 'code' '~Module signature appended~'
    put var/lib/shim-signed/mok/MOK.der
    says 1 'signed' << END
PROBLEM  v4l2loopback is installed but not loaded
    fix: $modprobe
note     Secure Boot is on: it refuses v4l2loopback ("Key was rejected by service") as long as it does not know the key that signed it
    fix: sudo mokutil --import /var/lib/shim-signed/mok/MOK.der, then restart and choose "Enroll MOK"
$no_devices
END
}

test_next_start() {
    whole
    put etc/modules-load.d/bilatcam.conf '# v4l2loopback' v4l2loopback2
    put etc/modprobe.d/bilatcam.conf 'options v4l2loopback_other exclusive_caps=1' \
        'options v4l2loopback card_label=bilatcam'
    says 0 'not loaded at the next start' << END
ok       v4l2loopback 0.13.2 is loaded
note     v4l2loopback will not be loaded by itself after a restart
    fix: echo v4l2loopback | sudo tee /etc/modules-load.d/bilatcam.conf
note     v4l2loopback will come without exclusive_caps after a restart
    fix: echo options v4l2loopback exclusive_caps=1 card_label=bilatcam | sudo tee /etc/modprobe.d/bilatcam.conf
ok       camera /dev/video0 'HD Webcam' gives yuyv, nv12
ok       virtual camera /dev/video9 'bilatcam' is free
$works
END
}

test_container() {
    bare
    put .dockerenv
    says 1 'container of a host without the module' << END
PROBLEM  v4l2loopback is not loaded, and a container cannot load it
    fix: on the host: $modprobe; then start the container with --device /dev/videoN
PROBLEM  no camera found
    fix: start the container with --device /dev/video0
PROBLEM  camera to virtual camera cannot work yet: no usable camera, no usable virtual camera
END
    put "lib/modules/$kernel/extra/v4l2loopback.ko"
    status 1 'container with the modules'
    tells 'container with the modules' <<< 'PROBLEM  v4l2loopback is installed but not loaded'
    whole
    put .dockerenv
    rm "$root/dev/video9" "$root"/etc/mod*/bilatcam.conf
    says 1 'node not given to the container' << END
ok       v4l2loopback 0.13.2 is loaded
ok       camera /dev/video0 'HD Webcam' gives yuyv, nv12
note     virtual camera /dev/video9 'bilatcam' is known to the kernel, but /dev/video9 is not there
    fix: start the container with --device /dev/video9
PROBLEM  v4l2loopback is loaded, but no virtual camera is there
    fix: start the container with --device /dev/videoN
PROBLEM  camera to virtual camera cannot work yet: no usable virtual camera
END
}

# --- cameras -------------------------------------------------------------------------

# denied WHAT LINE...: the camera cannot be opened; its lines are on stdin
denied() {
    whole
    camera 'error EACCES' "${@:2}"
    says 1 "$1" << END
ok       v4l2loopback 0.13.2 is loaded
$(cat)
ok       virtual camera /dev/video9 'bilatcam' is free
PROBLEM  camera to virtual camera cannot work yet: no usable camera
END
}

test_permission() {
    denied 'not in the group' 'group 44' << 'END'
PROBLEM  camera /dev/video0 'HD Webcam': permission denied: 'ann' is not in the group video
    fix: sudo usermod -aG video ann, then log out and in again
END
    denied 'a group without a name' 'group 45' << 'END'
PROBLEM  camera /dev/video0 'HD Webcam': permission denied: it belongs to group 45, which has no name here
    fix: sudo groupadd --gid 45 camera, then look again
END
    denied 'no group may' 'group 44' 'mode 0600' << 'END'
PROBLEM  camera /dev/video0 'HD Webcam': only its owner may open it
    fix: sudo chgrp video /dev/video0 && sudo chmod g+rw /dev/video0
END
    denied 'sandbox' 'group 1000' << 'END'
PROBLEM  camera /dev/video0 'HD Webcam': the system denies access in spite of its permissions
    fix: look for a sandbox around this program; ls -l /dev/video0
END
    put etc/group 'audio:x:29:ann' 'video:x:44:bob,ann'
    camera 'error EACCES' 'group 44'
    status 1 'group not active'
    tells 'group not active' << 'END'
PROBLEM  camera /dev/video0 'HD Webcam': permission denied: 'ann' is in the group video, but not since login
    fix: log out of every session and in again, or restart
END
    camera 'error EPERM'
    status 1 'device rules'
    tells 'device rules' <<< "PROBLEM  camera /dev/video0 'HD Webcam': the system's device rules forbid it here"
    camera 'error EIO'
    status 1 'broken'
    tells 'broken' <<< "PROBLEM  camera /dev/video0 'HD Webcam' cannot be opened: Input/output error"
    loopback 9 bilatcam 'error EACCES' 'group 44'
    status 1 'virtual camera denied'
    tells 'virtual camera denied' <<< "PROBLEM  virtual camera /dev/video9 'bilatcam': permission denied: 'ann'"
}

test_holders() {
    whole
    camera 'minor 3'
    holder 12 zoom 3 /dev/video0
    holder 13 'evil?[31m' 5 /dev/video0
    says 1 'camera taken' << END
ok       v4l2loopback 0.13.2 is loaded
ok       camera /dev/video0 'HD Webcam' gives yuyv, nv12
PROBLEM  camera /dev/video0 is taken by zoom (pid 12)
    fix: end that program (kill 12), and let it use the virtual camera
ok       virtual camera /dev/video9 'bilatcam' is free
PROBLEM  camera to virtual camera cannot work yet: no usable camera
END
    node 2 Second 'kind camera' 'format NV12'
    status 0 'another camera'
    tells 'another camera' <<< 'ok       camera to virtual camera can work: /dev/video2 to /dev/video9'
    rm -r "$root"/proc/*
    status 0 'two cameras'
    tells 'two cameras' <<< "$works"
    whole
    camera 'minor 3'
    holder 12 $'dials\033[31m\302\233\377' 3 /dev/video1
    status 0 'camera open'
    tells 'camera open' <<< 'note     camera /dev/video0 is open in dials?[31m??? (pid 12): if that takes pictures, bilatcam cannot'
    rm -r "$root/proc/12"
    holder 14 bilatcam 3 /dev/video0
    status 0 'camera used by bilatcam'
    tells 'camera used by bilatcam' <<< 'ok       camera /dev/video0 is used by bilatcam (pid 14)'
    camera 'minor 5' 'error EBUSY'
    status 1 'busy for another user'
    tells 'busy for another user' << 'END'
PROBLEM  camera /dev/video0 'HD Webcam' is busy, with a program of another user, which only root sees
    fix: sudo fuser -v /dev/video0
END
    camera 'minor 3' 'error EBUSY'
    status 1 'busy'
    tells 'busy' <<< "PROBLEM  camera /dev/video0 'HD Webcam' is busy: bilatcam (pid 14)"
}

test_other_cameras() {
    local formats
    whole
    node 0 Sensor 'kind camera' 'format pRAA' 'format pRAA' 'format H264'
    says 1 'no known format' << END
ok       v4l2loopback 0.13.2 is loaded
note     camera /dev/video0 'Sensor' gives no format that bilatcam reads (pRAA, pRAA, H264)
ok       virtual camera /dev/video9 'bilatcam' is free
PROBLEM  camera to virtual camera cannot work yet: no usable camera
END
    whole
    "$bilatcam" --version | grep -q '+mjpeg' && formats=mjpg || formats=
    node 0 Jpeg 'kind camera' 'format MJPG' 'format JPEG'
    status $((${#formats} == 0)) 'MJPG'
    if [ "$formats" ]; then
        tells 'MJPG' <<< "ok       camera /dev/video0 'Jpeg' gives mjpg"
    else
        tells 'MJPG' << 'END'
note     camera /dev/video0 'Jpeg' gives no format that bilatcam reads (MJPG, JPEG)
    fix: install libturbojpeg's development files and build bilatcam again
END
    fi
    rm "$root"/dev/video[01]
    rm -r "$root"/sys/class/video4linux/video[01]
    put sys/bus/usb/devices/1-1:1.0/bInterfaceClass 0e
    status 1 'no driver'
    tells 'no driver' << 'END'
PROBLEM  a USB camera is plugged in, but the driver uvcvideo has not taken it
    fix: sudo modprobe uvcvideo
END
    put sys/bus/usb/devices/1-1:1.0/driver/bind
    status 1 'no camera'
    tells 'no camera' <<< 'PROBLEM  no camera found'
    node 3 'Quick Cam' 'kind camera'
    rm "$root/dev/video3"
    status 1 'no node'
    tells 'no node' << 'END'
note     camera /dev/video3 'Quick Cam' is known to the kernel, but /dev/video3 is not there
    fix: sudo udevadm trigger --subsystem-match=video4linux # for /dev/video3
END
}

# --- virtual cameras -----------------------------------------------------------------

test_loopback() {
    whole
    loopback 9 bilatcam
    says 0 'stuck' << END
ok       v4l2loopback 0.13.2 is loaded
ok       camera /dev/video0 'HD Webcam' gives yuyv, nv12
note     virtual camera /dev/video9 'bilatcam' is stuck after its last writer; bilatcam frees it when it starts
$works
END
    loopback 9 Dummy 'caps output capture'
    says 0 'no exclusive_caps' << END
ok       v4l2loopback 0.13.2 is loaded
ok       camera /dev/video0 'HD Webcam' gives yuyv, nv12
PROBLEM  virtual camera /dev/video9 'Dummy' lacks exclusive_caps: Chrome and others do not list it
    fix: close what uses it, then: sudo modprobe -r v4l2loopback && $modprobe
$works
END
    rm -r "$root/sys/class/video4linux/video9" "$root/dev/video9"
    status 1 'loaded without a node'
    tells 'loaded without a node' << END
PROBLEM  v4l2loopback is loaded, but no virtual camera is there
    fix: sudo modprobe -r v4l2loopback && $modprobe
END
}

test_writers() {
    whole
    loopback 9 bilatcam 'caps capture' 'minor 7'
    rm "$root/sys/module/v4l2loopback/version"
    status 0 '0.12 without a visible writer'
    tells '0.12' <<< 'ok       v4l2loopback is loaded'
    tells '0.12 without a visible writer' <<< "note     virtual camera /dev/video9 'bilatcam' seems to have a writer, but no program of this user has it open: if none has, bilatcam frees it when it starts"
    put sys/class/video4linux/video9/state capture
    status 1 'hidden writer'
    tells 'hidden writer' << 'END'
PROBLEM  virtual camera /dev/video9 'bilatcam' has another program writing to it: one of another user, which only root sees
    fix: end that program (sudo fuser -v /dev/video9 tells which)
END
    holder 20 obs 7
    status 1 'another writer'
    tells 'another writer' <<< "PROBLEM  virtual camera /dev/video9 'bilatcam' has another program writing to it: obs (pid 20)"
    holder 21 bilatcam 7
    status 0 'bilatcam writes'
    tells 'bilatcam writes' <<< "ok       virtual camera /dev/video9 'bilatcam' is written to by bilatcam; open in "
    loopback 9 bilatcam 'caps output' 'minor 7'
    status 0 'a reader waits'
    tells 'a reader waits' <<< "ok       virtual camera /dev/video9 'bilatcam' is free; open in "
}

# --- engines, configuration, session -------------------------------------------------

nvidia() {
    put sys/bus/pci/devices/0000:01:00.0/vendor 0x10de
    put sys/bus/pci/devices/0000:01:00.0/class 0x030000
}

test_engines() {
    whole
    nvidia
    put gpu 'works NVIDIA H200'
    put sys/module/nvidia/version 580.1
    status 0 'GPU'
    tells 'GPU' << 'END'
ok       GPU: NVIDIA H200, driver 580.1
ok       CPU: 2 threads, AVX2
END
    put gpu 'the NVIDIA driver supports CUDA 11.4, this program needs 13.0'
    status 0 'old driver'
    tells 'old driver' << 'END'
note     an NVIDIA GPU with driver 580.1 is here but not used: the NVIDIA driver supports CUDA 11.4, this program needs 13.0
    fix: nvidia-smi tells whether the driver works; a newer one may be needed, then restart
END
    put .dockerenv
    status 0 'GPU not given to the container'
    tells 'GPU not given to the container' <<< '    fix: start the container with --gpus all (NVIDIA Container Toolkit)'
    put dev/nvidiactl
    status 0 'old driver in a container'
    tells 'old driver in a container' <<< '    fix: nvidia-smi tells whether the driver works'
    rm -r "$root/sys/module/nvidia" "$root/.dockerenv"
    mkdir "$root/sys/module/nouveau"
    put gpu 'no NVIDIA driver'
    status 0 'no driver'
    tells 'no driver' << 'END'
note     an NVIDIA GPU is here but not used: no NVIDIA driver (nouveau has no CUDA)
    fix: sudo apt-get install nvidia-driver, then restart
END
    rm "$root/gpu"
    status 0 'built without CUDA'
    tells 'built without CUDA' <<< 'note     an NVIDIA GPU is here, but this bilatcam is built without CUDA'
    rm -r "$root/sys/bus/pci"
    put no-cpu 'BILATCAM_CPU=x: unknown'
    status 1 'no engine'
    tells 'no engine' << 'END'
ok       no NVIDIA GPU: the CPU filters
PROBLEM  the CPU engine does not work: BILATCAM_CPU=x: unknown
END
    tells 'no engine' <<< 'PROBLEM  camera to virtual camera cannot work yet: no engine'
}

test_configuration() {
    local file=home/.config/bilatcam/bilatcam.conf
    whole
    status 0 'no configuration'
    tells 'no configuration' <<< 'ok       no configuration file: every setting has its default'
    put "$file" 'radius = 3'
    status 0 'configuration'
    tells 'configuration' <<< "ok       configuration '$root/$file' is valid"
    put "$file" 'radius = 99'
    status 1 'bad configuration'
    tells 'bad configuration' <<< "PROBLEM  configuration '$root/$file', line 1: radius = '99': must be an integer from 0 to 32"
    tells 'bad configuration' <<< 'PROBLEM  camera to virtual camera cannot work yet: bad configuration'
    rm "$root/$file"
    mkdir "$root/$file"
    status 1 'unreadable configuration'
    tells 'unreadable configuration' << END
PROBLEM  configuration '$root/$file': Is a directory
    fix: make it a file that this user can read, or remove it
END
    rmdir "$root/$file"
    put "$file" 'input = /dev/video7'
    status 1 'missing input'
    tells 'missing input' << END
PROBLEM  configuration '$root/$file': the device of input = /dev/video7 is not there
    fix: connect it, or set input = auto in that file
END
    put "$file" 'input = /dev/video0' 'output = /dev/video8'
    status 1 'missing output'
    tells 'missing output' <<< "PROBLEM  configuration '$root/$file': the device of output = /dev/video8 is not there"
}

test_session() {
    local units=home/.config/systemd/user
    whole
    status 0 'no service'
    tells 'no service' <<< 'note     bilatcam.service is not installed: bilatcam runs when started by hand'
    put usr/lib/systemd/user/bilatcam.service
    status 0 'service not enabled'
    tells 'service not enabled' << 'END'
note     the service '/usr/lib/systemd/user/bilatcam.service' does not start by itself
    fix: systemctl --user enable --now bilatcam
END
    put "$units/default.target.wants/bilatcam@door.service"
    status 0 'service'
    tells 'service' <<< "ok       the service '/usr/lib/systemd/user/bilatcam.service' starts at login"
    put "$units/bilatcam.service"
    status 0 'own service'
    tells 'own service' <<< "ok       the service '$root/$units/bilatcam.service' starts at login"
    "$bilatcam" --version | grep -q '+preview' || return
    tells 'no display' <<< 'note     no display (WAYLAND_DISPLAY, DISPLAY): --preview needs a graphical session'
    DISPLAY=:7 status 0 'display'
    tells 'display' <<< 'ok       display for --preview: :7'
}

# A socket that listens, for as long as the command runs: listening ADDRESS COMMAND...
listening() {
    python3 -c 'import socket, subprocess, sys
s = socket.socket(socket.AF_UNIX)
s.bind(sys.argv[1].replace("@", "\0", 1) if sys.argv[1][0] == "@" else sys.argv[1])
s.listen()
sys.exit(subprocess.call(sys.argv[2:]))' "$@"
}

test_bus() {
    local answers='ok       the user bus answers: bilatcamctl can control bilatcam'
    whole
    status 0 'no bus'
    grep -q 'built without libsystemd' out && return
    tells 'no bus' << 'END'
note     the user bus does not answer: No such file or directory
    fix: sudo apt-get install dbus-user-session, then log out and in again
END
    XDG_RUNTIME_DIR='' status 0 'no session'
    tells 'no session' <<< 'note     no user bus in this session (DBUS_SESSION_BUS_ADDRESS, XDG_RUNTIME_DIR): bilatcamctl'
    command -v python3 > /dev/null || return
    listening "$XDG_RUNTIME_DIR/bus" "$under" "$root" > out
    tells 'bus' <<< "$answers"
    DBUS_SESSION_BUS_ADDRESS="unix:path=$root/bus,guid=1" \
        listening "$root/bus" "$under" "$root" > out
    tells 'bus by its address' <<< "$answers"
    DBUS_SESSION_BUS_ADDRESS="unix:abstract=bilatcam-$$;unix:path=/x" \
        listening "@bilatcam-$$" "$under" "$root" > out
    tells 'abstract bus' <<< "$answers"
}

# On this machine, whatever it is: a verdict that the exit status agrees with, and no error.
test_here() {
    local got
    timeout 60 "$bilatcam" --doctor > out 2> err
    got=$?
    case $got:$(grep -v '^ ' out | tail -n 1) in
    '0:ok       camera to virtual camera can work: '* | \
        '1:PROBLEM  camera to virtual camera cannot work yet: '*) ok ;;
    *) bad "on this machine: exit status $got" ;;
    esac
    [ ! -s err ] || bad "on this machine: $(cat err)"
}

run_tests
summary
