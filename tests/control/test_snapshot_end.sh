#!/bin/bash
# The end of the program while a snapshot is being written, slowly.
# Usage: test_snapshot_end.sh CONTROL-HOST BILATCAMCTL BILATCAM SLOW-PNG
# shellcheck disable=SC2015 # "A && ok || bad" is right here: ok never fails
bilatcam=$(realpath "$3") slow_png=$(realpath "$4")
# shellcheck source=tests/control/control_lib.sh
. "$(dirname "$0")/control_lib.sh"

# there_are N FOLDER [PATTERN]: so many files.
there_are() { [ "$(find "$2" -type f -name "${3:-*}" | wc -l)" = "$1" ]; }

# begin_snapshot NAME: of a program that has just begun, and whose log is in host.err.
begin_snapshot() {
    mkdir "$1"
    rm -f host.err
    LD_PRELOAD=$slow_png SLOW_PNG_UNTIL=$dir/until XDG_PICTURES_DIR=$dir/$1 "$bilatcam" --verbose \
        -i test: --fps 20 --size 64x480 -o null: 2>host.err &
    host_pid=$!
    on_the_bus "$name"
    "$ctl" snapshot "$1" >out 2>err &
    wait_until there_are 2 "$1"
    there_are 2 "$1" '.bilatcam-*' && ok || bad "no temporary files"
}

end() {
    wait "$host_pid" && ok || bad "exit status $? of bilatcam"
    host_pid=''
}

# One that is done in time is there, whole, also where it takes longer than all the rest may.
test_waits() {
    local kind
    begin_snapshot waits
    kill "$host_pid"
    sleep 1.5
    touch until
    end
    for kind in before after; do
        tail -c 8 "waits/waits-$kind.png" 2>/dev/null | grep -aq IEND && ok || bad "no whole $kind"
    done
    there_are 2 waits && ok || bad "more files: $(ls -A waits)"
    grep -q 'still busy\|no snapshot' host.err && bad "an end that gives up" || ok
    rm until
}

# One that would take 96 s is given up, which the log says, and leaves nothing.
test_gives_up() {
    begin_snapshot late
    kill "$host_pid"
    end
    expect host.err 'no snapshot: it could not be written in 3.2 s after the stop' 'giving up'
    there_are 0 late && ok || bad "files are left: $(ls -A late)"
}

run_tests
summary
