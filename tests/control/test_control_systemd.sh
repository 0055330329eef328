#!/bin/bash
# What the daemon tells systemd, which is made up here.
# Usage: test_control_systemd.sh CONTROL-HOST BILATCAMCTL
# shellcheck disable=SC2015 # "A && ok || bad" is right here: ok never fails
# shellcheck source=tests/control/control_lib.sh
. "$(dirname "$0")/control_lib.sh"

test_systemd() {
    start_systemd
    WATCHDOG_USEC=600000000 start_host # fed every 5 minutes at most
    on_the_bus $name
    tell 'reloading 1' # before it is ready
    tell ready
    tell ready
    wait_for notified '^READY=1$' && ok || bad "READY"
    wait_for notified '^STATUS=running, 30\.0 frames/s, latency 12\.5 ms, 2\.5 ms of it added, radius 3 of 5$' && ok || bad "STATUS"
    notified 1 READY
    notified 0 RELOADING
    notified 0 WATCHDOG
    for _ in 1 2 3 4 5; do tell progress; done
    tell 'reason no camera here'
    tell 'state waiting'
    tell notify
    tell notify
    wait_for notified '^STATUS=waiting: no camera here$' && ok || bad "STATUS with a reason"
    notified 1 '^WATCHDOG=1$'
    notified 1 '^STATUS=waiting'
    "$ctl" pause
    wait_for notified '^STATUS=paused' && ok || bad "STATUS of a pause"
    tell 'reloading 1'
    tell 'reloading 0'
    wait_for notified '^READY=1$' 2 && ok || bad "READY after a reload"
    notified 1 '^RELOADING=1\|MONOTONIC_USEC=[0-9]+$'
    notified 0 STOPPING
    stop_host
    wait_for notified '^STOPPING=1$' && ok || bad "STOPPING"

    : >notified
    WATCHDOG_USEC=2 start_host # any progress feeds it, and nothing else
    tell 'readers 2'
    tell ready
    tell 'state waiting'
    tell notify
    wait_for notified '^STATUS=waiting, .* radius 3 of 5, 2 readers$' && ok || bad "STATUS"
    notified 0 WATCHDOG
    for _ in 1 2 3; do tell progress; done
    stop_host
    wait_for notified '^STOPPING=1$'
    notified 3 '^WATCHDOG=1$'

    : >notified
    start_host # no watchdog
    tell 'readers 1'
    tell ready
    wait_for notified '^STATUS=running, .* radius 3 of 5, 1 reader$' && ok || bad "STATUS"
    for _ in 1 2 3; do tell progress; done
    stop_host
    wait_for notified '^STOPPING=1$'
    notified 0 WATCHDOG
    stop_systemd
}

run_tests
summary
