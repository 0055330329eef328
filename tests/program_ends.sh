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

# A run in a terminal ends when that closes, and lets its camera go.
test_terminal() {
    rm -f err stats.json
    timeout 60 python3 - "$bilatcam" <<'END' && ok || bad "a terminal that closes: $?"
import os, pty, sys, time
pid, terminal = pty.fork()
if pid == 0:
    os.dup2(os.open("err", os.O_WRONLY | os.O_CREAT), 2)
    os.execl(sys.argv[1], "bilatcam", "-i", "test:", "--fps", "20", "--size", "64x48",
             "-o", "null:", "--stats", "stats.json")
end = time.monotonic() + 20
while "->" not in (open("err").read() if os.path.exists("err") else ""):
    assert time.monotonic() < end, "no start"
    time.sleep(0.05)
os.close(terminal)
while (ended := os.waitpid(pid, os.WNOHANG))[0] == 0 and time.monotonic() < end:
    time.sleep(0.05)
if ended[0] == 0:
    os.kill(pid, 9)
sys.exit(ended != (pid, 0))
END
    expect stats.json '"frames_bad": 0' "statistics after a terminal closed"
}

# What was ignored at the start stays ignored: the run is to outlive whoever started it.
test_ignored_signals() {
    local pid
    printf 'radius = 2\n' >live.conf
    rm -f err stats.json
    sh -c 'trap "" INT HUP; exec setsid "$@"' sh "$bilatcam" -i test: --fps 100 --size 64x48 \
        -o null: -c live.conf --frames 200 --stats stats.json 2>err &
    pid=$!
    wait_until_ready "$pid"
    wait_for '->' && ok || bad "start"
    printf 'radius = 3\n' >live.conf
    kill -INT "$pid"
    kill -HUP "$pid"
    wait "$pid" && ok || bad "exit status $? where SIGINT and SIGHUP are ignored"
    expect stats.json '"frames_out": 200,' 'an ignored SIGINT'
    expect stats.json '"radius_requested": 2,' 'an ignored SIGHUP'
}

# The plot of a trace whose last line is cut, as of a run that was killed, and of what is no trace.
test_plot() {
    local plot=$here/../tools/bilatcam-plot cut
    run 0 -i test: --size 64x48 -o null: --frames 20 --trace trace.csv
    "$plot" trace.csv >plot.svg 2>err && ok || bad "plot of a trace"
    expect plot.svg '</svg>$' plot
    for cut in 1 10 30; do
        head -c -"$cut" trace.csv >cut.csv
        "$plot" cut.csv >cut.svg 2>err && ok || bad "plot of a trace without its last $cut bytes"
        head -n 20 trace.csv >whole.csv
        "$plot" whole.csv | cmp -s - cut.svg && ok || bad "half a line is drawn"
    done
    "$plot" missing.csv >out 2>err && bad "plot of a missing file" || ok
    [ "$(cat err)" = "bilatcam-plot: cannot read 'missing.csv': No such file or directory" ] && ok ||
        bad "message of a missing file"
    for cut in "$bilatcam" "$shipped_config" "$plot"; do
        "$plot" "$cut" >out 2>err && bad "plot of $cut" || ok
        [ "$(grep -c '^bilatcam-plot: ' err)" = 1 ] && [ "$(wc -l <err)" = 1 ] && ok ||
            bad "message of what is no trace"
    done
    head -n 1 trace.csv >empty.csv
    "$plot" empty.csv 2>err && bad "plot of no frames" || ok
    expect err "holds no frames" plot
}
