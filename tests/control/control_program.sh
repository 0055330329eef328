# The program itself, asked and watched over the buses. Sourced by test_control_buses.sh, whose
# functions it uses.
# shellcheck shell=bash
# shellcheck disable=SC2015 # "A && ok || bad" is right here: ok never fails
# shellcheck disable=SC2154 # test_control_buses.sh assigns what is not assigned here

# fed_again WHAT: systemd hears of the watchdog three times more.
fed_again() {
    wait_for notified '^WATCHDOG=1$' $(($(count notified '^WATCHDOG=1$') + 3)) && ok || bad "$1"
}

end_bilatcam() {
    kill "$host_pid"
    wait "$host_pid" && ok || bad "exit status $? of bilatcam"
    host_pid=''
}

# A scene or a file that is no camera has no live control, and systemd is told of it all the same.
test_service_without_camera() {
    local -x WATCHDOG_USEC=1000000
    start_systemd
    "$bilatcam" -i test: --size 64x48 -o null: >host.out 2>host.err 8>&- 9>&- &
    host_pid=$!
    wait_for notified '^READY=1$' && ok || bad "READY of what is not live"
    wait_for notified '^STATUS=running' && ok || bad "STATUS of what is not live"
    fed_again "not live"
    end_bilatcam
    wait_for notified '^STOPPING=1$' && ok || bad "STOPPING of what is not live"
    kill "$systemd_pid"
    unset NOTIFY_SOCKET
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
        "$bilatcam" --wait -i /dev/video99 -o "$output" >host.out 2>host.err 8>&- 9>&- &
        host_pid=$!
        wait_for notified '^READY=1$' && ok || bad "READY without a camera, to $output"
        wait_for notified '^STATUS=no camera' && ok || bad "no camera, to $output"
        fed_again "no camera, to $output"
        end_bilatcam
    done
    : >notified
    start_bilatcam
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
    kill "$systemd_pid"
    unset NOTIFY_SOCKET
}

# Frames on their way are neither out nor lost, nor are they in yet.
test_counts_add_up() {
    # The thread in the long frame is left behind on purpose.
    TSAN_OPTIONS=report_thread_leaks=0 "$bilatcam" -v -i test: --fps 50 --size 1280x720 -e reference \
        -r 32 --latency-budget off -o null: >host.out 2>host.err 8>&- 9>&- &
    host_pid=$!
    on_the_bus $name
    timeout 30 "$ctl" watch >watched 2>watch.err 9>&- &
    wait_for watched '^state = running$' && ok || bad "does not run"
    run 0 "$ctl" stats
    python3 -c 'import json, sys
s = json.load(open("out"))
sys.exit(s["frames_in"] != s["frames_out"] + s["frames_dropped"] + s["frames_bad"])' && ok ||
        bad "frames in = out + dropped + bad"
    end_bilatcam
}
