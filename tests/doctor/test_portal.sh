#!/bin/bash
# What the doctor says of the desktop's permission store, on a bus of its own.
# Usage: test_portal.sh PATH/TO/doctor-under PATH/TO/permission-store
# shellcheck disable=SC2015 # "A && ok || bad" is right here: ok never fails
under=$(realpath "$1") store=$(realpath "$2")
# shellcheck source=tests/lib/checks.sh
. "$(dirname "$0")/../lib/checks.sh"
need dbus-daemon
mkdir root
export DBUS_SESSION_BUS_ADDRESS=unix:path=$dir/bus
dbus-daemon --session --nofork --nopidfile --address="$DBUS_SESSION_BUS_ADDRESS" >bus.log 2>&1 &
bus_pid=$!
wait_until test -S bus || bad "no bus"
store_pid=

# store_has PROGRAM=ANSWER...
store_has() {
    rm -f ready
    "$store" "$@" >ready 2>&1 &
    store_pid=$!
    wait_for ready ready || bad "no permission store"
}

end_store() {
    kill -KILL "$store_pid"
    wait "$store_pid" 2>/dev/null
}

# examines: the report is in the file out. That nothing is set up there is another matter.
examines() {
    run 1 "$under" root
    expect out 'user bus answers' 'the bus'
}

says_nothing() {
    examines
    ! grep -q 'refuses the cameras' out && ok || bad "$1: a refusal is told"
}

test_refused() {
    store_has org.mozilla.firefox=no org.example.Good=yes =no,yes none= "it's; \$(x)"$'\n'=no
    examines
    expect out "^note +the desktop refuses the cameras of PipeWire to 'org.mozilla.firefox', without" \
        'a program'
    expect out "fix: to be asked again: busctl .* DeletePermission sss devices camera 'org.mozilla.firefox'$" \
        'what to do'
    expect out "to programs that are no Flatpaks, without asking$" 'programs without a name'
    expect out "devices camera ''$" 'what to do about these'
    expect out "to 'it's; " 'a strange name'
    [ "$(grep -c 'refuses the cameras' out)" = 3 ] && ok || bad "more than three are refused"
    [ "$(grep -c DeletePermission out)" = 2 ] && ok || bad "a strange name in a command"
    end_store
}

test_nothing_refused() {
    says_nothing 'no store'
    store_has
    says_nothing 'no camera in the store'
    end_store
    store_has org.example.Good=yes
    says_nothing 'no refusal in the store'
    end_store
}

# One that hangs holds nothing up.
test_hangs() {
    store_has a=no
    kill -STOP "$store_pid"
    says_nothing 'a store that hangs'
    end_store
    kill -STOP "$bus_pid"
    run 1 "$under" root
    ! grep -q 'refuses the cameras' out && ok || bad 'a bus that hangs'
    kill -CONT "$bus_pid"
}

run_tests
summary
