#!/bin/bash
# What --doctor says of cameras that only libcamera reads: machines that are folders.
# Usage: test_sensors.sh PATH/TO/doctor-under
# shellcheck disable=SC2015,SC2034 # "A && ok || bad" is right here; variables of doctor_lib.sh
under=$(realpath "$1")
# shellcheck source=tests/lib/checks.sh
. "$(dirname "$0")/../lib/checks.sh"
evidence+=(different)
root=$dir/root
kernel=6.1.0-9

# shellcheck source=tests/doctor/doctor_lib.sh
. "$here/doctor_lib.sh"

# found_once WHAT: the report has the lines of stdin, and the finding once.
found_once() {
    tells "$1"
    [ "$(grep -c "$said" out)" = 1 ] && ok || bad "$1: more than one finding"
}

# A bare sensor behind an image processor: dozens of nodes, one finding, whoever may open them.
test_sensors() {
    local said='a camera is here that only libcamera reads, as on laptops with Intel'\''s IPU6'
    local fix='    fix: have PipeWire read it by libcamera (from Debian 13 on: libspa-0.2-libcamera and libcamera-ipa), and use --input pipewire: (docs/troubleshooting.md)'
    whole
    rm "$root/dev/video0"
    rm -r "$root/sys/class/video4linux/video0"
    for i in 20 21 22; do node $i "Intel IPU6 ISYS Capture $i" 'error EACCES' 'group 44'; done
    node 23 unicam-image 'kind sensor' 'format YUYV'
    put sys/class/video4linux/video24/name 'Intel IPU6 ISYS Capture 24'
    says 1 'a sensor alone' << END
ok       v4l2loopback 0.13.2 is loaded
ok       virtual camera /dev/video9 'bilatcam' is free
PROBLEM  camera to virtual camera cannot work yet: no usable camera
END
    found_once 'a sensor alone' << END
PROBLEM  $said
$fix
END
    camera
    says 0 'a sensor beside a camera' << END
ok       v4l2loopback 0.13.2 is loaded
ok       camera /dev/video0 'HD Webcam' gives yuyv, nv12
ok       virtual camera /dev/video9 'bilatcam' is free
$works
END
    found_once 'a sensor beside a camera' << END
note     $said
$fix
END
    bare
    mkdir -p "$root/sys/module/intel_ipu6"
    status 1 'a sensor without nodes'
    tells 'a sensor without nodes' <<< "PROBLEM  $said"
}

run_tests
summary
