#!/bin/bash
# How runs of the program begin and end: signals, closed descriptors, terminals, pipes that nobody
# reads, and what is written then. Usage: test_program_ends.sh PATH/TO/bilatcam [SLOW-IOCTL]
# shellcheck disable=SC2015 # "A && ok || bad" is right here: ok never fails
# Signals that were ignored when this was started, as under nohup, would stay so in the program.
if [ -z "${signals_are_reset:-}" ]; then
    export signals_are_reset=yes
    exec env --default-signal "$0" "$@"
fi
bilatcam=$(realpath "$1")
slow_ioctl=${2:+$(realpath "$2")} # to be preloaded
# shellcheck source=tests/lib/checks.sh
. "$(dirname "$0")/../lib/checks.sh"
export XDG_CONFIG_HOME=/nonexistent XDG_CONFIG_DIRS=/nonexistent

# Whether the program catches SIGTERM, which is one of the first things it does. Before it is the
# program, the process is a copy of this shell, which catches it too: so that is asked first.
ready() { # PID
    [ "$(cat "/proc/$1/comm")" = bilatcam ] &&
        [ $((0x$(awk '/^SigCgt/ { print $2 }' "/proc/$1/status") & 0x4000)) != 0 ]
}

# The exit status of the program after SIGTERM; 137 when that does not end it.
terminate() {
    kill -TERM "$1"
    wait_limit=30 wait_until gone "$1"
    kill -KILL "$1" 2>/dev/null
    wait "$1"
}

test_signals() {
    local signal pid
    for signal in INT TERM; do
        rm -f err stats.json
        # The shell has what it puts in the background ignore SIGINT.
        env --default-signal=INT "$bilatcam" -i test: --fps 20 --size 320x240 -o null: \
            --stats stats.json 2>err &
        pid=$!
        wait_for err '->' && ok || bad "start"
        kill -"$signal" "$pid"
        wait "$pid" && ok || bad "SIG$signal: exit status $?"
        expect stats.json '"frames_out": [0-9]+' "SIG$signal"
    done
}

# Whether more than a header waits in the pipe.
half_full() {
    python3 -c 'import array, fcntl, sys, termios
n = array.array("i", [0])
fcntl.ioctl(0, termios.FIONREAD, n)
sys.exit(n[0] < 4096)' <"$1"
}

# Stopped while it opens a source that says nothing, with a reader that takes nothing, and in a
# frame that takes long: it ends all the same.
test_stop_when_stuck() {
    local pid sleeper
    mkfifo silent stalled
    sleep 1000 >silent &
    sleeper=$!
    "$bilatcam" -i - -o null: <silent 2>err &
    pid=$!
    wait_until ready "$pid"
    terminate "$pid" && ok || bad "stopped while opening: exit status $?"
    kill "$sleeper"
    tail -f /dev/null <stalled &
    sleeper=$!
    rm -f err
    "$bilatcam" -i test: --size 640x480 -o - >stalled 2>err &
    pid=$!
    wait_for err '->' && ok || bad "start"
    wait_until half_full stalled
    terminate "$pid"
    [ $? -eq 1 ] && ok || bad "half a frame in a pipe is an error"
    expect err 'half a frame' 'half a frame'
    kill "$sleeper"
    rm -f err
    # The thread in the long frame is left behind on purpose.
    TSAN_OPTIONS=report_thread_leaks=0 \
        "$bilatcam" -i test: --size 1280x720 -e reference -r 32 -o null: 2>err &
    pid=$!
    wait_for err '->' && ok || bad "start"
    terminate "$pid" && ok || bad "stopped in a long frame: exit status $?"
}

test_reload() {
    local pid
    rm -f err
    printf 'radius = 2\n' >live.conf
    setsid "$bilatcam" -i test: --fps 20 --size 320x240 -o null: -c live.conf --frames 80 \
        --stats stats.json 2>err &
    pid=$!
    wait_for err '->' && ok || bad "start"
    printf 'radius = 99\n' >live.conf
    kill -HUP "$pid"
    wait_for err "line 1: radius = '99'.*running settings stay" && ok || bad "bad file refused"
    printf 'radius = 3\nfps = 25\nfilter = box\ntemporal = 8\n' >live.conf
    kill -HUP "$pid"
    wait_for err "^bilatcam: radius = 3" && ok || bad "live key"
    wait_for err "^bilatcam: temporal = 8 has no effect with filter = box" && ok || bad "frames and a blur"
    wait "$pid" && ok || bad "end after reload"
    expect stats.json '"radius_requested": 3' reload
}

# Without some of the standard descriptors nothing that is opened takes their numbers: messages
# would go into it, and what it says would be taken for input.
test_closed_descriptors() {
    local closed pid fd
    for closed in '0<&-' '1>&-' '2>&-' '0<&- 1>&-' '0<&- 2>&-' '1>&- 2>&-' '0<&- 1>&- 2>&-'; do
        rm -f stats.json trace.csv
        eval '"$bilatcam" -v -i test: --fps 100 --size 64x48 -o out.y4m --stats stats.json \
            --trace trace.csv </dev/null >out 2>err' "$closed &"
        pid=$!
        wait_until ready "$pid"
        for fd in 0 1 2; do
            [[ $closed != *${fd}[\<\>]* ]] || [ "$(readlink "/proc/$pid/fd/$fd")" = /dev/null ] && ok ||
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

# A limit on the size of files is a full disk: what fits is whole, and statistics tell.
test_file_size_limit() {
    local pid
    run 0 "$bilatcam" -i test: --size 64x48 -o limit-in.y4m --frames 20
    (ulimit -f 20 && exec env --default-signal=XFSZ timeout 60 "$bilatcam" -i limit-in.y4m \
        -o limited.y4m --stats limit.json 2>err)
    [ $? -eq 1 ] && ok || bad "exit status with a limit on files"
    expect err "frame [0-9]* to 'limited.y4m': File too large; the frames before it are whole" limit
    expect limit.json '"frames_bad": 0' 'statistics with a limit on files'
    run 0 "$bilatcam" -i limited.y4m -o null:
    # Not every kernel sends the signal.
    rm -f err
    env --default-signal=XFSZ "$bilatcam" -i test: --fps 20 --size 64x48 -o null: 2>err &
    pid=$!
    wait_for err '-> '
    (((0x$(sed -n 's/^SigIgn:[[:space:]]*//p' "/proc/$pid/status") >> 24) & 1)) && ok ||
        bad "SIGXFSZ is not ignored"
    terminate "$pid" && ok || bad "exit status $?"
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
    wait_until ready "$pid"
    wait_for err '->' && ok || bad "start"
    printf 'radius = 3\n' >live.conf
    kill -INT "$pid"
    kill -HUP "$pid"
    wait "$pid" && ok || bad "exit status $? where SIGINT and SIGHUP are ignored"
    expect stats.json '"frames_out": 200,' 'an ignored SIGINT'
    expect stats.json '"radius_requested": 2,' 'an ignored SIGHUP'
}

# whole_lines FILE [LINES]: a trace of nothing but whole lines, so many of them.
whole_lines() {
    awk -F , 'NF != n && NR > 1 { exit bad = 1 } { n = NF } END { exit bad || NR < 1 }' "$1" &&
        [ "$(head -n 1 "$1" | cut -d , -f 1-2)" = t_ms,seq ] && [ -z "$(tail -c 1 "$1")" ] && ok ||
        bad "a line of $1 is not whole: $(tail -n 2 "$1")"
    [ "$(wc -l <"$1")" = "${2:-$(wc -l <"$1")}" ] && ok || bad "not $2 lines in $1: $(wc -l <"$1")"
}

# Nobody reads the pipes that are written to: neither the start nor the end waits for them.
test_pipes_without_reader() {
    local pid options
    mkfifo stats.pipe trace.pipe
    for options in '--stats stats.pipe' '--trace trace.pipe' '--stats stats.pipe --trace trace.pipe'; do
        rm -f err
        # shellcheck disable=SC2086 # several words
        "$bilatcam" -i test: --fps 100 --size 64x48 -o null: $options 2>err &
        pid=$!
        wait_for err '->' && ok || bad "start with $options"
        terminate "$pid"
        [ $? = "$([[ $options = *stats* ]] && echo 1 || echo 0)" ] && ok || bad "exit status with $options"
        [[ $options != *stats* ]] ||
            expect err "^bilatcam: statistics 'stats.pipe': nobody reads this pipe$" "$options"
        [[ $options != *trace* ]] ||
            expect err "^bilatcam: trace 'trace.pipe': [0-9]+ of its lines are left out" "$options"
    done
}

# A reader that stands still holds up no frame and no end, and what it does not get is counted.
test_pipe_reader_stands_still() {
    local pid sleeper
    sleep 1000 <>trace.pipe &
    sleeper=$!
    run 0 "$bilatcam" -i test: --size 64x48 --filter none -o null: --frames 8000 --trace trace.pipe --stats stats.json
    expect stats.json '"frames_out": 8000,' 'a trace that nobody takes'
    [ "$(grep -c 'lines are left out' err)" = 1 ] && ok || bad "lines left out are told once"
    # shellcheck disable=SC2216 # it is to read nothing
    timeout 300 "$bilatcam" -i test: --size 64x48 --filter none -o null: --frames 8000 --trace - 2>err |
        sleep 2
    [ "${PIPESTATUS[0]}" -eq 0 ] && ok || bad "a trace to a pipe that closes"
    expect err "trace 'standard output': [0-9]+ of its lines are left out" 'a pipe that closes'
    # Statistics do not fit into a pipe that is full.
    rm -f err
    "$bilatcam" -i test: --fps 100 --size 64x48 -o null: --stats trace.pipe 2>err &
    pid=$!
    wait_for err '->' && ok || bad "start"
    terminate "$pid"
    [ $? -eq 1 ] && ok || bad "exit status with a full pipe"
    expect err "statistics 'trace.pipe': the reader of this pipe takes nothing" 'a full pipe'
    kill "$sleeper"
}

# Messages go to a pager that waits, or to a terminal that is paused.
test_messages_that_nobody_takes() {
    local pid sleeper
    mkfifo err.pipe
    sleep 1000 <>err.pipe &
    sleeper=$!
    dd if=/dev/zero of=err.pipe bs=4096 oflag=nonblock 2>/dev/null
    rm -f stats.json
    "$bilatcam" -i test: --fps 100 --size 64x48 -o null: --stats stats.json 2>err.pipe &
    pid=$!
    wait_until ready "$pid"
    terminate "$pid" && ok || bad "nobody takes messages: exit status $?"
    balanced stats.json
    kill "$sleeper"
}

# A reader gets all that was written before it came, and whole lines.
test_pipe_reader_comes_late() {
    local pid reader
    rm -f err
    "$bilatcam" -i test: --fps 50 --size 64x48 -o null: --trace trace.pipe --stats stats.pipe \
        --frames 200 2>err &
    pid=$!
    wait_for err '->' && ok || bad "start"
    cat stats.pipe >stats.json &
    reader=$!
    timeout 60 cat trace.pipe >trace.csv
    wait "$pid" && ok || bad "exit status $? with pipes"
    wait "$reader"
    whole_lines trace.csv 201
    balanced stats.json
}

test_trace() {
    local pid
    run 0 "$bilatcam" -i test: --size 64x48 --filter none -o null: --frames 5000 --trace trace.csv
    whole_lines trace.csv 5001
    run 0 "$bilatcam" -i test: --size 64x48 --filter none -o null: --frames 50 --trace -
    whole_lines out 51
    rm -f err
    "$bilatcam" -i test: --fps 200 --size 64x48 -o null: --trace trace.csv --stats stats.json 2>err &
    pid=$!
    wait_for err '->' && ok || bad "start"
    terminate "$pid" && ok || bad "exit status $? with a trace"
    balanced stats.json
    whole_lines trace.csv $(($(sed -E 's/.*"frames_out": ([0-9]+).*/\1/' stats.json) + 1))
    run 1 "$bilatcam" -i test: --size 64x48 -o null: --frames 5 --trace .
    if [ -e /dev/full ]; then
        run 1 "$bilatcam" -i test: --size 64x48 -o null: --frames 5 --trace /dev/full
        expect err "trace '/dev/full': No space left" 'full disk'
    fi
}

# What cannot be written is told before anything else is done, and a start that fails destroys
# nothing.
test_stats_path() {
    refused 1 "statistics 'no/such/dir/x': No such file" "$bilatcam" -i test: -o null: --frames 1 --stats no/such/dir/x
    refused 1 "statistics '.': Is a directory" "$bilatcam" -i test: -o null: --frames 1 --stats .
    echo kept >kept.json
    cp kept.json kept.csv
    refused 1 "missing.y4m" "$bilatcam" -i missing.y4m -o null: --stats kept.json --trace kept.csv
    [ "$(cat kept.json kept.csv)" = $'kept\nkept' ] && ok || bad "a start that fails destroys files"
    refused 1 "missing.y4m" "$bilatcam" -i missing.y4m -o null: --stats new.json --trace new.csv
    [ ! -e new.json ] && [ ! -e new.csv ] && ok || bad "a start that fails leaves files"
    run 0 "$bilatcam" -i test: --size 64x48 -o null: --frames 1 --stats kept.json
    balanced kept.json
}

# Frames are fast at first, so that the trace has lines, and then one takes very long.
stop_in_long_frame() {
    local pid lines=0
    rm -f err stats.json trace.csv
    printf 'filter = none\n' >live.conf
    # The thread in the long frame is left behind on purpose.
    TSAN_OPTIONS=report_thread_leaks=0 setsid "$bilatcam" -c live.conf -i test:noise=0 --fps 20 \
        --size 640x360 -e reference --latency-budget off -o null: --stats stats.json \
        --trace trace.csv 2>err &
    pid=$!
    wait_for trace.csv '' 5
    printf 'radius = 32\n' >live.conf
    kill -HUP "$pid"
    wait_for err 'radius = 32' && ok || bad "reload"
    until [ "$(wc -l <trace.csv)" = "$lines" ]; do
        lines=$(wc -l <trace.csv)
        sleep 1
    done
    terminate "$pid" && ok || bad "stopped in a long frame: exit status $?"
    expect err 'forced exit' 'a long frame'
    balanced stats.json
    expect stats.json "\"frames_out\": $((lines - 1))," 'a long frame'
    whole_lines trace.csv "$lines"
}

# What failed before is not forgotten when the end is forced, as it is unless the frame is still to come.
stop_with_failed_trace() {
    local pid
    [ -e /dev/full ] || return
    rm -f err
    TSAN_OPTIONS=report_thread_leaks=0 \
        "$bilatcam" -i test: --size 1280x720 -e reference -r 32 -o null: --trace /dev/full 2>err &
    pid=$!
    wait_for err 'No space left' && ok || bad "no error in the trace"
    terminate "$pid"
    [ $? -eq 1 ] && ok || bad "a trace that failed and a long frame"
}

# Stopped while a large scene is painted, in a frame that takes long and while a driver does not
# answer: it ends, and tells all the same.
test_stop_in_time() {
    local pid
    rm -f err stats.json
    "$bilatcam" -i test: --size 64x16384 -o null: --stats stats.json 2>err &
    pid=$!
    wait_until ready "$pid"
    terminate "$pid" && ok || bad "stopped while a scene is painted: exit status $?"
    balanced stats.json
    stop_in_long_frame
    stop_with_failed_trace
    [ -n "$slow_ioctl" ] || return
    rm -f err stats.json
    LD_PRELOAD=$slow_ioctl "$bilatcam" -i /dev/null -o null: --stats stats.json --trace trace.csv 2>err &
    pid=$!
    wait_for err slow && ok || bad "no question to the driver"
    terminate "$pid" && ok || bad "stopped while a driver does not answer: exit status $?"
    balanced stats.json
}

run_tests test_signals test_stop_when_stuck test_reload test_closed_descriptors test_terminal \
    test_ignored_signals test_pipes_without_reader test_pipe_reader_stands_still \
    test_messages_that_nobody_takes test_pipe_reader_comes_late test_trace test_stats_path \
    test_stop_in_time test_file_size_limit
summary
