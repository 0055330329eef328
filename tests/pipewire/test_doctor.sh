#!/bin/bash
# What the doctor says of PipeWire, with a real daemon and machines that are folders.
# Usage: test_doctor.sh READER BILATCAM CAMERA DOCTOR-UNDER [FUNCTION]...; SENSORS_LIBRARY names that
# of sensors.c
# shellcheck disable=SC2015,SC2034 # "A && ok || bad" is right here; variables of doctor_lib.sh
camera=$(realpath "$3") under=$(realpath "$4")
# shellcheck source=tests/pipewire/session.sh
. "$(dirname "$0")/session.sh"
root=$dir/root kernel=6.1.0-9
# shellcheck source=tests/doctor/doctor_lib.sh
. "$here/../doctor/doctor_lib.sh"

make_pictures pictures $((64 * 48 * 2)) 1

# What can be used is said in the last line.
test_instead_of_devices() {
    bare
    status 1 'nothing but PipeWire'
    tells 'nothing but PipeWire' <<'END'
ok       PipeWire answers: bilatcam --output pipewire: is a camera of it
END
    tells 'the verdict' <<'END'
PROBLEM  camera to virtual camera cannot work yet: no usable camera
END
    expect_not out 'setup installs' 'a virtual camera that is there'
    run 0 "$under" "$root" --introduce camera loopback
    expect out '^What is missing: a camera \(plug one in\)\.$' 'the virtual camera is PipeWire'
    plug_in phone yuy2 64x48 pictures --description 'My phone'
    status 0 'a camera of PipeWire'
    tells 'a camera of PipeWire' <<'END'
ok       PipeWire lists 'My phone': bilatcam --input pipewire: reads it
END
    tells 'the verdict' <<'END'
ok       camera to virtual camera can work: pipewire: to pipewire:
END
    run 1 "$under" "$root" --introduce camera loopback
    [ ! -s out ] && ok || bad 'something is missing beside a camera of PipeWire'
    unplug
}

# It lists what its session manager has seen: cameras, and virtual ones that somebody writes to.
test_not_listed() {
    whole
    plug_in webcam yuy2 64x48 pictures --property api.v4l2.path=/dev/video0
    status 0 'a free virtual camera'
    ! grep -q 'does not list' out && ok || bad "listed, or not to be listed"
    loopback 9 bilatcam 'caps capture'
    status 0 'a virtual camera'
    tells 'a virtual camera' <<'END'
note     PipeWire does not list /dev/video9: programs that ask it alone do not find this camera
    fix: systemctl --user restart wireplumber
END
    unplug
    status 0 'a camera'
    [ "$(grep -c 'does not list' out)" = 2 ] && ok || bad "the camera is not listed either"
}

# By libcamera, a camera has no path, but numbers of devices.
test_libcamera() {
    bare
    camera 'minor 3'
    loopback 9 bilatcam 'caps output'
    plug_in other yuy2 64x48 pictures --property 'device.devids=[ 25 2590 ]'
    status 0 'another camera'
    grep -q 'does not list /dev/video0' out && ok || bad "another camera is taken for it"
    unplug
    plug_in webcam yuy2 64x48 pictures --property 'device.devids=[ 260 259 ]'
    status 0 'a camera by libcamera'
    ! grep -q 'does not list' out && ok || bad "it is listed"
    unplug
}

# Of a sensor libcamera makes a camera of several nodes.
test_sensor() {
    local what='a camera is here that only libcamera reads'
    bare
    loopback 9 bilatcam 'caps output'
    node 20 'Intel IPU6 ISYS Capture 0' 'minor 3' 'kind sensor'
    node 21 'Intel IPU6 ISYS Capture 1' 'minor 5' 'kind sensor'
    plug_in other yuy2 64x48 pictures --property 'device.devids=[ 25 2590 ]'
    status 0 'another camera than the sensor'
    tells 'another camera than the sensor' <<<"PROBLEM  $what, as on laptops with Intel's IPU6"
    unplug
    plug_in sensor yuy2 64x48 pictures --property 'device.devids=[ 260 261 ]'
    status 0 'the camera of a sensor'
    expect_not out "$what" 'a sensor that PipeWire lists'
    bare
    loopback 9 bilatcam 'caps output'
    mkdir -p "$root/sys/module/intel_ipu6"
    status 0 'a sensor without devices, as in a container'
    expect_not out "$what" 'a sensor without devices, as in a container'
    unplug
}

# The list says the same of it as the doctor. The numbers of its devices are those of /dev/null and
# /dev/zero, 259 and 261.
test_sensor_in_list() {
    local what='^a camera that only libcamera reads: have PipeWire read it'
    [ -n "${SENSORS_LIBRARY-}" ] || return 0
    mkdir sensors
    ln -s /dev/null sensors/video20
    ln -s /dev/zero sensors/video21
    list() {
        run 0 env LD_PRELOAD="$SENSORS_LIBRARY" SENSORS="$dir/sensors" \
            "$bilatcam" --list-devices
    }
    list
    expect out "$what" 'a sensor alone'
    expect_not out 'no cameras found' 'a sensor alone'
    plug_in other yuy2 64x48 pictures --property 'device.devids=[ 25 2590 ]'
    list
    expect out '^pipewire:other' 'another camera than the sensor'
    expect out "$what" 'another camera than the sensor'
    unplug
    plug_in sensor yuy2 64x48 pictures --property 'device.devids=[ 260 261 ]'
    list
    expect out '^pipewire:sensor' 'a sensor that PipeWire lists'
    expect_not out "$what" 'a sensor that PipeWire lists'
    unplug
}

test_own_camera() {
    whole
    start_camera "${scene[@]}" -o 'pipewire:My camera'
    wait_until camera_is bilatcam || bad "no camera"
    status 0 'a camera of bilatcam'
    tells 'a camera of bilatcam' <<'END'
ok       PipeWire lists 'My camera', a camera of bilatcam
note     not all ask PipeWire for cameras: Zoom does not, Firefox does with
END
    stop_camera
}

test_daemon() {
    whole
    kill -STOP "$pipewire_pid"
    status 0 'a daemon that hangs'
    tells 'a daemon that hangs' <<'END'
note     PipeWire does not answer: it has no cameras (pipewire:)
    fix: systemctl --user restart pipewire wireplumber
END
    kill -CONT "$pipewire_pid"
    end_session
    status 0 'no daemon'
    tells 'no daemon here' <<'END'
note     PipeWire does not run in this session: it has no cameras (pipewire:)
    fix: sudo apt-get install pipewire wireplumber, then log out and in again
END
    put usr/bin/pipewire
    env -u XDG_RUNTIME_DIR "$under" "$root" >out
    tells 'no session' <<'END'
note     PipeWire does not run in this session: it has no cameras (pipewire:)
    fix: log in as this user, not by su or sudo
END
    status 0 'no daemon'
    tells 'no daemon' <<'END'
note     PipeWire does not run in this session: it has no cameras (pipewire:)
    fix: systemctl --user start pipewire wireplumber
END
    start_session
}

start_session
run_tests "${@:5}"
[ $# -gt 4 ] || summary
leave $((failed != 0))
