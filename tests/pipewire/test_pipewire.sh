#!/bin/bash
# The virtual camera of PipeWire, with a real daemon.
# Usage: test_pipewire.sh READER BILATCAM; SLOW_LOOP names the library of slow_loop.c
# shellcheck disable=SC2015 # "A && ok || bad" is right here: ok never fails
# shellcheck source=tests/pipewire/session.sh
. "$(dirname "$0")/session.sh"

# same_pictures FORMAT Y4M: all that the reader got, after a card, is in this file, in its order.
same_pictures() {
    python3 - "$1" "$2" pictures <<'END' && ok || bad "the bytes of $1 pictures are not those of $2"
import sys
form, y4m, got = sys.argv[1], open(sys.argv[2], "rb"), open(sys.argv[3], "rb").read()
y4m.readline()
size = len(got)
places, n, area = {}, 0, 64 * 48
size = area * 3 // 2 if form == "i420" else area * 2
while y4m.readline():
    places[y4m.read(size)] = n
    n += 1
def planes(p):
    return p if form == "i420" else p[::2] + p[1::4] + p[3::4]
order = [places.get(planes(got[i:i + size]), -1) for i in range(0, len(got), size)]
while order and order[0] < 0:
    order.pop(0)
print(order)
sys.exit(len(order) < 5 or order != sorted(order) or order[0] < 0 or order[0] == order[-1])
END
}

# The scene is the same each time, picture by picture, so a file of it tells what is to come.
test_pictures() {
    local format option
    for format in yuy2 i420; do
        [ "$format" = i420 ] && option=(--output-format yu12) || option=()
        run 0 "$bilatcam" "${scene[@]:0:2}" "${scene[@]:4}" "${option[@]}" --frames 2000 -o clip.y4m
        start_camera "${scene[@]}" -o pipewire:
        gets 40 --format "$format" --out pictures
        expect got "^format $format 64x48 30/1 matrix 4 range 2 transfer 5 primaries 4" "format"
        same_pictures "$format" clip.y4m
        stop_camera
    done
    rm clip.y4m pictures
}

test_only_format() {
    start_camera "${scene[@]}" --output-format yu12 -o pipewire:
    gets 2
    expect got '^format i420' "the format asked for"
    stop_camera
    refused 2 'carries yuyv or yu12, not rgb24' \
        "$bilatcam" "${scene[@]}" --output-format rgb24 -o pipewire:
}

test_names() {
    start_camera "${scene[@]}" -o pipewire:
    wait_until camera_is bilatcam && ok || bad "node.name: $(property node.name)"
    [ "$(property node.description)" = bilatcam ] && ok || bad "node.description"
    [ "$(property media.role)" = Camera ] && ok || bad "media.role"
    stop_camera
    echo 'radius = 1' >config/front.conf
    start_camera --config config/front.conf "${scene[@]}" -o pipewire:
    wait_until camera_is bilatcam.front && ok || bad "node.name: $(property node.name)"
    [ "$(property node.description)" = 'bilatcam front' ] && ok || bad "its description"
    stop_camera
    start_camera "${scene[@]}" -o 'pipewire:Kamera "ä" = { }'
    wait_until camera_is bilatcam && ok || bad "node.name: $(property node.name)"
    [ "$(property node.description)" = 'Kamera "ä" = { }' ] && ok ||
        bad "node.description: $(property node.description)"
    stop_camera
    refused 2 'more than 127 bytes' "$bilatcam" "${scene[@]}" -o "pipewire:$(printf '%128s' x)"
    refused 2 'only one pipewire output' "$bilatcam" "${scene[@]}" -o pipewire: -o pipewire:two
}

# Beside a camera of PipeWire, auto is not another one.
test_auto_beside() {
    [ -z "$(compgen -G '/dev/video*')" ] || return 0
    start_camera "${scene[@]}" --wait -o auto -o pipewire:
    gets 5
    camera_is bilatcam && ok || bad "cameras: $(property node.name)"
    stop_camera
    start_camera "${scene[@]}" -o auto
    gets 5
    expect said 'no v4l2loopback node found: the virtual camera is one of PipeWire' "auto alone"
    stop_camera
}

# Readers can neither change what others see nor cut it off.
test_sealed() {
    start_camera "${scene[@]}" -o pipewire:
    gets 10 --scribble
    expect_not got 'scribbled|cut off' "memory of the pictures"
    stop_camera
}

# Nobody reads: the source rests until somebody does.
test_on_demand() {
    start_camera "${scene[@]}" --on-demand on -o pipewire:
    wait_for said ': idle' && ok || bad "the camera is not released"
    gets 10
    wait_for said ': idle' 2 && ok || bad "the camera is not released again"
    stop_camera
}

# Readers get a card, which is grey but for its text.
test_no_camera() {
    start_camera --wait -i "No such camera" --size 320x180 -o pipewire:
    gets 3 --format yuy2 --out pictures
    python3 - <<'END' && ok || bad "what readers get without a camera"
size, got = 320 * 180 * 2, open("pictures", "rb").read()
assert len(got) == 3 * size
assert got[:size:2].count(46) > 320 * 180 * 0.8 and got[1:size:2].count(128) == 320 * 180
END
    stop_camera
}

# has_not_grown RESOURCES: what the last reader had is given back soon.
has_not_grown() {
    python3 -c '
import sys
a, b = [list(map(int, s.split())) for s in sys.argv[1:]]
sys.exit(b[0] > a[0] + 2 or b[1] > a[1] + 4096)' "$1" "$(resources)"
}

test_many_readers() {
    local before i
    start_camera "${scene[@]}" -o pipewire:
    gets 1
    for i in $(seq 100); do
        timeout 100 "$reader" bilatcam >got 2>&1 || { bad "reader $i: $(cat got)"; break; }
        [ "$i" != 10 ] || before=$(resources)
    done
    wait_until has_not_grown "$before" && ok || bad "descriptors and memory: $before, then $(resources)"
    stop_camera
}

# Descriptors, and KiB of its own memory.
resources() {
    echo "$(descriptors) $(awk '/^RssAnon/ { print $2 }' "/proc/$camera_pid/status")"
}

test_killed_readers() {
    local i
    start_camera "${scene[@]}" -o pipewire:
    for i in 1 2 3 4 5; do
        start_reader killed --pictures 100000
        end_reader
    done
    gets 5
    stop_camera
}

# One that keeps all buffers that it gets, and one that sees nothing more at all.
test_bad_readers() {
    start_camera "${scene[@]}" -o pipewire:
    local hung stopped
    start_reader hung --hang --pictures 100000
    hung=$reader_pid
    wait_for hung '^picture 4$' && ok || bad "the hung reader has no buffers"
    gets 60
    start_reader stopped --pictures 100000
    stopped=$reader_pid
    kill -STOP "$stopped"
    gets 60
    end_reader "$hung"
    end_reader "$stopped"
    gets 60
    stop_camera
}

# One that is late at times, while another has all buffers, so that there are none for new pictures.
test_late_reader() {
    local hung late
    start_camera "${scene[@]}" -o pipewire:
    start_reader hung --hang --pictures 100000
    hung=$reader_pid
    start_reader late --pictures 100000
    late=$reader_pid
    for _ in $(seq 40); do
        kill -STOP "$late"
        sleep 0.1
        kill -CONT "$late"
        sleep 0.04
    done
    wait_for late '^picture 40$' && ok || bad "the late reader gets nothing"
    expect_not late 'not later' "late reader"
    end_reader "$hung"
    end_reader "$late"
    stop_camera
}

test_slow_reader() {
    start_camera "${scene[@]}" -o pipewire:
    start_reader slow --slow 100 --pictures 100000
    gets 60
    wait_for slow '^picture 5$' && ok || bad "the slow reader gets nothing"
    expect_not slow 'not later' "slow reader"
    end_reader
    stop_camera
}

test_two_readers() {
    start_camera "${scene[@]}" -o pipewire:
    start_reader one --pictures 100
    gets 100
    wait "$reader_pid" && ok || bad "the first reader: $(tail -n 1 one)"
    stop_camera
}

# The size and the format are the camera's.
test_other_requests() {
    start_camera "${scene[@]}" -o pipewire:
    start_reader one --format yuy2 --pictures 100000
    timeout 5 "$reader" bilatcam --size 128x96 >other 2>&1
    gets 10
    expect got '64x48' "the camera's size"
    end_reader
    stop_camera
}

test_daemon_ends() {
    local before i
    start_camera "${scene[@]}" -o pipewire:
    gets 5
    before=$(descriptors)
    for i in 1 2 3; do
        end_session
        wait_for said 'PipeWire has ended; pictures are dropped' "$i" && ok || bad "end $i is not told"
        start_session
        wait_for said 'bilatcam \(PipeWire\) can be used' "$i" && ok || bad "start $i is not told"
        gets 5
    done
    wait_until has_descriptors $((before + 2)) && ok || bad "descriptors: $before, then $(descriptors)"
    [ "$(wc -l <said)" -le 10 ] && ok || bad "too many messages"
    stop_camera
}

# Any program of the user may have the daemon do it.
test_removed() {
    start_camera "${scene[@]}" -o pipewire:
    start_reader one --pictures 100000
    pw-cli destroy "$(property object.id)" >destroyed 2>&1
    wait_for said 'PipeWire has removed the camera; pictures are dropped' && ok || bad "that is not told"
    wait_for said 'bilatcam \(PipeWire\) can be used' && ok || bad "that it is back is not told"
    end_reader
    gets 5
    stop_camera
}

# On a machine with too much to do what the library has left to call comes late, and where the stream
# was gone by then, the program crashed. The C library fills what is freed.
late() { LD_PRELOAD=$SLOW_LOOP SLOW_LOOP_WHILE=$dir/slow MALLOC_PERTURB_=165 "$@"; }

test_late_calls() {
    [ -n "${SLOW_LOOP-}" ] || return 0
    late start_camera "${scene[@]}" --wait -o pipewire:
    start_reader one --pictures 100000
    touch slow
    sleep 0.5
    end_session
    wait_for said 'PipeWire has ended; pictures are dropped' && ok || bad "the end is not told"
    end_reader
    rm slow
    start_session
    wait_for said 'bilatcam \(PipeWire\) can be used' && ok || bad "the start is not told"
    stop_camera
}

# The same where a film ends. That may take longer than an end by a signal, for which newer versions
# of the library, which wake their loop more often, take too long where it is slow.
test_late_calls_at_the_end() {
    local film_pid
    [ -n "${SLOW_LOOP-}" ] || return 0
    run 0 "$bilatcam" "${scene[@]:0:2}" "${scene[@]:4}" --frames 30 -o clip.y4m
    mkfifo endless.y4m || bad "no pipe"
    { head -n 1 clip.y4m; while tail -n +2 clip.y4m; do :; done; } >endless.y4m 2>/dev/null &
    film_pid=$!
    late start_camera -i endless.y4m "${scene[@]:6}" -o pipewire:
    start_reader one --pictures 100000
    touch slow
    kill -KILL "$film_pid" # its last second is still shown
    wait "$film_pid" 2>/dev/null
    wait_until gone "$camera_pid" || kill -KILL "$camera_pid"
    wait "$camera_pid" && ok || bad "exit status $? of bilatcam"
    end_reader
    rm slow endless.y4m clip.y4m
}

# A connection that breaks is one that is lost, whatever broke it.
test_no_descriptors() {
    local limit
    start_camera "${scene[@]}" --wait -o pipewire:
    wait_until camera_is bilatcam || bad "no camera"
    limit=$(prlimit --pid "$camera_pid" --nofile --noheadings --output SOFT,HARD --raw | tr ' ' :)
    prlimit --pid "$camera_pid" --nofile="3:${limit#*:}"
    timeout 20 "$reader" bilatcam --pictures 5 >got 2>&1 </dev/null # its memory cannot be shared
    prlimit --pid "$camera_pid" --nofile="$limit"
    wait_for said 'bilatcam \(PipeWire\) can be used' && ok || bad "no new camera"
    gets 5
    stop_camera
}

# Too few are what is said, and nothing else.
test_few_descriptors() {
    local n
    for ((n = 10; n < 26; n++)); do
        # shellcheck disable=SC2016 # of that shell
        run 1 bash -c 'ulimit -n "$1" && exec "${@:2}"' bash "$n" "$bilatcam" "${scene[@]}" --frames 5 -o pipewire:
        expect err 'Too many open files' "$n descriptors"
    done
}

test_session_manager_ends() {
    start_camera "${scene[@]}" -o pipewire:
    gets 5
    kill -KILL "$wireplumber_pid"
    wait "$wireplumber_pid" 2>/dev/null
    start_wireplumber
    gets 5
    stop_camera
}

# A daemon that hangs holds up neither the program nor its end.
test_daemon_hangs() {
    start_camera "${scene[@]}" -o pipewire: -o beside.y4m
    start_reader one --pictures 100000
    kill -STOP "$pipewire_pid"
    expect_growth beside.y4m
    stop_camera
    refused 1 'PipeWire does not answer' "$bilatcam" "${scene[@]}" -o pipewire:
    kill -CONT "$pipewire_pid"
    end_reader
}

test_no_daemon() {
    end_session
    refused 1 'PipeWire does not run in this session' "$bilatcam" "${scene[@]}" -o pipewire:
    start_camera "${scene[@]}" --wait -o pipewire: -o beside.y4m
    expect_growth beside.y4m
    start_session
    wait_for said 'bilatcam \(PipeWire\) can be used' && ok || bad "it is not found"
    gets 5
    stop_camera
    SPA_PLUGIN_DIR=/nonexistent "$bilatcam" "${scene[@]}" -o pipewire: >out 2>err
    expect err 'its plugins are not installed' "no plugins"
    env -u XDG_RUNTIME_DIR "$bilatcam" "${scene[@]}" -o pipewire: >out 2>err
    expect err 'PipeWire does not run .* no XDG_RUNTIME_DIR, as after su or sudo' "no XDG_RUNTIME_DIR"
}

# A file goes at its own rate, and the run ends with it.
test_file() {
    run 0 "$bilatcam" -i test: --size 64x48 --frames 60 -o film.y4m
    start_camera -i film.y4m --threads 1 -o pipewire:
    gets 10
    wait "$camera_pid" && ok || bad "exit status $? after a file"
    expect said '60 out' "frames of a file"
    rm film.y4m
}

start_session
run_tests "${@:3}"
[ $# -gt 2 ] || summary
leave $((failed != 0))
