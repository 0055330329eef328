#!/bin/bash
# The daemon and a logind that is made up: the machine sleeps when the camera is off.
# Usage: test_control_sleep.sh CONTROL-HOST BILATCAMCTL CONTROL-LOGIND
# shellcheck disable=SC2015 # "A && ok || bad" is right here: ok never fails
logind=$(realpath "$3")
# shellcheck source=tests/control/control_lib.sh
. "$(dirname "$0")/control_lib.sh"
export DBUS_SYSTEM_BUS_ADDRESS=unix:path=$dir/system

# The machine must not sleep before the camera is off; that it sleeps after a while anyway is
# another matter, and may happen here when the machine is busy.
check_order() {
    local i=0 early late=1
    while [ "$late" != 0 ] && [ "$i" -lt 5 ]; do
        i=$((i + 1))
        late=$(lines 'in time')
        echo 1 >&8
        wait_for host.out '^sleep 1' "$i" && ok || bad "sleep"
        tell notify
        tell progress
        early=$(count logind.out '^released')
        tell 'camera off'
        tell notify
        wait_for logind.out '^released' "$i" && ok || bad "the machine cannot sleep"
        late=$(($(lines 'in time') - late))
        echo 0 >&8
        wait_for host.out '^sleep 0' "$i" && ok || bad "wake"
        wait_for logind.out '^inhibitor' $((i + 1)) && ok || bad "not taken again"
        tell notify # the camera is a little late
        tell 'camera on'
        tell notify
    done
    n_slept=$i
    [ "$late" = 0 ] && ok || bad "that the camera is off is not told"
    [ "$early" = $((i - 1)) ] && ok || bad "the machine sleeps while the camera is on"
    [ "$(count logind.out '^released')" = "$i" ] && ok || bad "released while awake"
}

test_sleep() {
    local n
    start_bus system
    start_logind
    start_host
    on_the_bus $name
    wait_for logind.out '^inhibitor sleep delay bilatcam$' && ok || bad "no inhibitor"
    # Anybody may send such a signal; only logind's counts.
    run 0 busctl --system emit /org/freedesktop/login1 org.freedesktop.login1.Manager \
        PrepareForSleep b true
    check_order
    n=$((n_slept + 1))

    # A camera that hangs does not keep the machine awake.
    echo 1 >&8
    wait_for logind.out '^released' "$n" && ok || bad "a camera that hangs"
    expect host.err 'camera not released in time: suspending anyway' 'a camera that hangs'
    echo 0 >&8
    wait_for logind.out '^inhibitor' $((n + 1)) && ok || bad "not taken again"

    # Without the bus nobody would wake the daemon.
    echo 1 >&8
    wait_for host.out '^sleep 1' $((n + 1)) && ok || bad "sleep"
    stop "$bus_pid"
    wait_for host.err 'system bus is gone' && ok || bad "the system bus dies"
    wait_for host.out '^sleep 0' $((n + 1)) && ok || bad "asleep for ever"
    wait_for logind.out '^released' $((n + 1)) && ok || bad "holds sleep up without a bus"
    run 0 "$ctl" get radius
    [ "$(count host.out '^sleep')" = $((2 * n + 2)) ] && ok || bad "what other senders say counts"
    stop_logind
    stop_host
}

# Lost and found again, by a daemon that runs.
test_system_bus_comes_again() {
    local before i
    start_host
    wait_for host.err 'no system bus' && ok || bad "no system bus"
    sleep 1
    [ "$(lines 'system bus')" = 1 ] && ok || bad "$(lines 'system bus') lines about no system bus"
    for i in 1 2 3; do
        start_bus system
        start_logind
        wait_for logind.out '^inhibitor' && ok || bad "no inhibitor of bus $i"
        [ "$i" != 1 ] || before=$(descriptors)
        echo 1 >&8
        wait_for host.out '^sleep 1' "$i" && ok || bad "sleep on bus $i"
        echo 0 >&8
        wait_for host.out '^sleep 0' "$i" && ok || bad "wake on bus $i"
        wait_for logind.out '^(inhibitor|released)' 1 && ok || bad "not taken again"
        [ "$(descriptors)" = "$before" ] && ok || bad "$before descriptors, then $(descriptors)"
        stop "$bus_pid"
        stop_logind
        wait_for host.err 'system bus is gone' "$i" && ok || bad "bus $i dies"
    done
    stop_host

    start_bus system
    start_logind refuse
    start_host
    wait_for host.err 'sleep does not wait for the camera: not today' && ok || bad "refusal"
    echo 1 >&8
    wait_for host.out '^sleep 1' && ok || bad "sleep without an inhibitor"
    echo 0 >&8
    wait_for logind.out '^refused' 2 && ok || bad "not asked again"
    stop_logind
    stop_host
    stop "$bus_pid"
}

run_tests
summary
