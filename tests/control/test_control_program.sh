#!/bin/bash
# The program itself, asked and watched over the buses.
# Usage: test_control_program.sh CONTROL-HOST BILATCAMCTL CONTROL-LOGIND BILATCAM
# shellcheck disable=SC2015 # "A && ok || bad" is right here: ok never fails
logind=$(realpath "$3") bilatcam=$(realpath "$4")
# shellcheck source=tests/control/control_lib.sh
. "$(dirname "$0")/control_lib.sh"

# start_bilatcam ARGUMENT...
start_bilatcam() {
    rm -f host.out host.err
    "$bilatcam" "$@" >host.out 2>host.err 8>&- 9>&- &
    host_pid=$!
}

# A scene for a camera.
start_scene() {
    XDG_PICTURES_DIR=$dir start_bilatcam --verbose --set on-demand=off -i test: --fps 20 \
        --size 64x48 -o null:
}

end_bilatcam() {
    kill "$host_pid"
    wait "$host_pid" && ok || bad "exit status $? of bilatcam"
    host_pid=''
}

# Each after the one before, so that each would take the whole second between two looks.
check_answered_at_once() {
    local start best=9999999
    for _ in 1 2 3 4 5; do
        start=$(date +%s%3N)
        run 0 "$ctl" snapshot
        start=$(($(date +%s%3N) - start))
        [ "$start" -ge "$best" ] || best=$start
    done
    [ "$best" -lt 700 ] && ok || bad "a snapshot takes $best ms at least"
}

# A picture that was on its way when the camera was released may still come.
no_picture() {
    ! "$ctl" snapshot >out 2>err && grep -qE 'there are no pictures now|built without libpng' err
}

test_program() {
    start_bus system
    local -x DBUS_SYSTEM_BUS_ADDRESS=unix:path=$dir/system
    start_logind
    start_scene
    on_the_bus $name
    wait_for logind.out '^inhibitor' && ok || bad "no inhibitor"
    wait_for host.err ' running$|^bilatcam: ' && ok || bad "does not run"
    start_watch
    echo 1 >&8
    wait_for logind.out '^released' && ok || bad "the machine cannot sleep"
    grep -q 'in time' host.err && bad "the camera does not tell that it is off" || ok
    wait_for watched '^state = asleep$' && ok || bad "not asleep"
    wait_until no_picture && ok || bad "a snapshot of a camera that is off"
    echo 0 >&8
    wait_for watched '^state = running$' 2 && ok || bad "does not run again"
    wait_for logind.out '^inhibitor' 2 && ok || bad "not taken again"
    if "$ctl" snapshot cat >out 2>err; then
        expect out "^$dir/cat-after.png$" snapshot
        [ "$(head -c 4 cat-before.png | tail -c 3)" = PNG ] && ok || bad "no PNG"
        refused 1 "no snapshot 'cat' in '$dir': File exists" "$ctl" snapshot cat
        check_answered_at_once
    else
        expect err 'built without libpng' snapshot
    fi
    refused 1 'the name has 70 bytes, at most 64 are allowed' "$ctl" snapshot "$(printf '%070d' 0)"
    end_bilatcam
    stop_logind
    stop "$bus_pid"
}

# fed_again WHAT: systemd hears of the watchdog three times more.
fed_again() {
    wait_for notified '^WATCHDOG=1$' $(($(count notified '^WATCHDOG=1$') + 3)) && ok || bad "$1"
}

# A scene or a file that is no camera has no live control, and systemd is told of it all the same.
test_service_without_camera() {
    local -x WATCHDOG_USEC=1000000
    start_systemd
    start_bilatcam -i test: --size 64x48 -o null:
    wait_for notified '^READY=1$' && ok || bad "READY of what is not live"
    wait_for notified '^STATUS=running' && ok || bad "STATUS of what is not live"
    fed_again "not live"
    end_bilatcam
    wait_for notified '^STOPPING=1$' && ok || bad "STOPPING of what is not live"
    stop_systemd
}

# systemd is told that the program is ready and alive, whatever the output is, and while there are
# no pictures: with no camera, paused and asleep.
test_watchdog_without_pictures() {
    local output
    start_bus system
    local -x DBUS_SYSTEM_BUS_ADDRESS=unix:path=$dir/system WATCHDOG_USEC=1000000
    start_logind
    start_systemd
    for output in null: out.y4m; do
        : >notified
        start_bilatcam --wait -i /dev/video99 -o "$output"
        wait_for notified '^READY=1$' && ok || bad "READY without a camera, to $output"
        wait_for notified '^STATUS=no camera' && ok || bad "no camera, to $output"
        fed_again "no camera, to $output"
        end_bilatcam
    done
    : >notified
    start_scene
    on_the_bus $name
    wait_for logind.out '^inhibitor' && ok || bad "no inhibitor"
    run 0 "$ctl" pause
    wait_for notified '^STATUS=paused' && ok || bad "paused"
    fed_again paused
    run 0 "$ctl" resume
    wait_for notified '^STATUS=running' && ok || bad "running"
    echo 1 >&8
    wait_for notified '^STATUS=asleep' && ok || bad "asleep"
    fed_again asleep
    end_bilatcam
    stop_logind
    stop "$bus_pid"
    stop_systemd
}

# Frames on their way are neither out nor lost, nor are they in yet.
test_counts_add_up() {
    # The thread in the long frame is left behind on purpose.
    TSAN_OPTIONS=report_thread_leaks=0 start_bilatcam -v -i test: --fps 50 --size 1280x720 \
        -e reference -r 32 --latency-budget off -o null:
    on_the_bus $name
    start_watch
    run 0 "$ctl" stats
    balanced out
    end_bilatcam
}

run_tests
summary
