# How runs begin and end: closed descriptors, signals, terminals, pipes that nobody reads. Sourced
# by test_program.sh, whose functions it uses.
# shellcheck shell=bash
# shellcheck disable=SC2015 # "A && ok || bad" is right here: ok never fails

# Without some of the standard descriptors nothing that is opened takes their numbers: messages
# would go into it, and what it says would be taken for input.
test_closed_descriptors() {
    local closed pid fd
    for closed in '0<&-' '1>&-' '2>&-' '0<&- 1>&-' '0<&- 2>&-' '1>&- 2>&-' '0<&- 1>&- 2>&-'; do
        rm -f stats.json trace.csv
        eval '"$bilatcam" -v -i test: --fps 100 --size 64x48 -o out.y4m --stats stats.json \
            --trace trace.csv </dev/null >out 2>err' "$closed &"
        pid=$!
        wait_until_ready "$pid"
        for fd in 0 1 2; do
            [[ $closed != *$fd[\<\>]* ]] || [ "$(readlink "/proc/$pid/fd/$fd")" = /dev/null ] && ok ||
                bad "descriptor $fd of $closed is $(readlink "/proc/$pid/fd/$fd")"
        done
        terminate "$pid" && ok || bad "exit status $? with $closed"
        expect stats.json '"frames_bad": 0' "statistics with $closed"
    done
    for closed in --help '-i test: --size 64x48 -o - --frames 1'; do
        # shellcheck disable=SC2086 # several words
        timeout 60 "$bilatcam" $closed 2>err >&-
        [ $? -eq 1 ] && ok || bad "standard output is closed: $closed"
        expect err 'standard output' "standard output is closed: $closed"
    done
    timeout 60 "$bilatcam" -i - -o null: 2>err <&-
    [ $? -eq 1 ] && ok || bad "standard input is closed"
    expect err 'standard input' "standard input is closed"
}
