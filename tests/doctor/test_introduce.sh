#!/bin/bash
# What bilatcam says at a terminal where nothing is set up: of machines that are folders, and of
# this one. Usage: test_introduce.sh PATH/TO/doctor-under PATH/TO/bilatcam
# shellcheck disable=SC2015,SC2034 # "A && ok || bad" is right here; variables of doctor_lib.sh
under=$(realpath "$1")
bilatcam=$(realpath "$2")
# shellcheck source=tests/lib/checks.sh
. "$(dirname "$0")/../lib/checks.sh"
root=$dir/root
kernel=6.1.0-9
boot=8be4df61-93ca-11d2-aa0d-00e098032b8c

# shellcheck source=tests/doctor/doctor_lib.sh
. "$here/doctor_lib.sh"

set_up='To set it up: sudo ./bilatcam --setup'
look='To see why, and what to do: ./bilatcam --doctor'

# introduces NEEDED MISSING COMMAND: three lines, the last two are these.
introduces() {
    # shellcheck disable=SC2086 # several words
    run 0 "$under" "$root" --introduce $1
    [ "$(wc -l < out)" = 3 ] && ok || bad "$1: not three lines"
    [[ $(head -n 1 out) = 'bilatcam removes the noise of your camera, '* ]] && ok || bad "$1: what it does"
    [ "$(sed -n 2p out)" = "What is missing: $2." ] && ok || bad "$1: what is missing"
    [ "$(sed -n 3p out)" = "$3" ] && ok || bad "$1: the command"
}

test_nothing_set_up() {
    bare
    introduces 'camera loopback' 'a camera (plug one in), the virtual camera' "$set_up"
    introduces loopback 'the virtual camera' "$set_up"
    introduces camera 'a camera (plug one in)' "$look"
    secure_boot '\001'
    introduces loopback \
        'the virtual camera (Secure Boot is on, so it takes a password and a restart)' "$set_up"
    put .dockerenv
    introduces loopback \
        'the virtual camera (Secure Boot is on, so it takes a password and a restart)' "$look"
}

# Setup would not help here.
test_set_up_already() {
    whole
    run 1 "$under" "$root" --introduce camera loopback
    [ ! -s out ] && ok || bad 'nothing is missing, but something is said'
    camera 'error EACCES' 'group 44'
    introduces 'camera loopback' 'a camera that can be used' "$look"
    run 1 "$under" "$root" --introduce loopback
    rm -r "$root"/dev/video9 "$root"/sys/devices/virtual "$root"/sys/class/video4linux/video9
    introduces loopback 'the virtual camera' "$look"
    whole
    loopback 9 bilatcam 'error EACCES'
    introduces loopback 'a virtual camera that can be used' "$look"
}

# The camera of some laptops: nothing is to be plugged in, something is to be set up.
test_sensor() {
    bare
    node 20 'Intel IPU6 ISYS Capture 0' 'kind sensor'
    introduces camera 'a camera that can be used' "$look"
    bare
    mkdir -p "$root/sys/module/intel_ipu6"
    introduces camera 'a camera that can be used' "$look"
}

# Only at a terminal: a log gets the error itself.
test_here() {
    need script
    [ -z "$(compgen -G '/dev/video*')" ] || return 0
    script -qec "$bilatcam" /dev/null < /dev/null > out
    [ $? = 1 ] && ok || bad 'exit status at a terminal'
    [ "$(wc -l < out)" = 3 ] && ok || bad 'three lines at a terminal'
    refused 1 'no camera found: plug one in' "$bilatcam"
    script -qec "$bilatcam -i /nowhere" /dev/null < /dev/null > out
    grep -q "cannot open '/nowhere'" out && ok || bad 'an input that was named is not introduced'
    script -qec "$bilatcam -i test: -e cuda" /dev/null < /dev/null > out
    ! grep -q 'What is missing' out && ok || bad 'an engine that was named is what is missing'
}

run_tests
summary
