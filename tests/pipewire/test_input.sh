#!/bin/bash
# Cameras of PipeWire as the input, with a real daemon: which one, and what it does.
# Usage: test_input.sh READER BILATCAM CAMERA CROWD [FUNCTION]...
# shellcheck disable=SC2015 # "A && ok || bad" is right here: ok never fails
camera=$(realpath "$3") crowd=$(realpath "$4")
# shellcheck source=tests/pipewire/session.sh
. "$(dirname "$0")/session.sh"
make_pictures yuy2 $((64 * 48 * 2)) 20

reads=(--size auto --filter none --threads 1)

# --- which camera ---

# serial_of NODE
serial_of() {
    pw-dump | python3 -c 'import json, sys
for o in json.load(sys.stdin):
    p = (o.get("info") or {}).get("props") or {}
    if p.get("node.name") == sys.argv[1] and o["type"].endswith("Node"): print(p["object.serial"])' "$1"
}

test_names() {
    local serial
    plug_in cam yuy2 64x48 yuy2 --description "Front Camera"
    serial=$(serial_of cam)
    for name in "" cam "Front Camera" "$serial"; do
        run 0 "$bilatcam" -i "pipewire:$name" "${reads[@]}" --frames 2 -o null:
        expect err 'Front Camera \(PipeWire\), 64x48' "camera '$name'"
    done
    refused 1 "no camera called 'Front'; it has Front Camera" \
        "$bilatcam" -i pipewire:Front "${reads[@]}" -o null:
    unplug
    refused 1 'PipeWire has no camera$' "$bilatcam" -i pipewire: "${reads[@]}" -o null:
    refused 1 "no camera called 'cam'; it has none" \
        "$bilatcam" -i pipewire:cam "${reads[@]}" -o null:
}

# That of the highest priority, but cameras before what is none, and no virtual one.
test_best() {
    local other other_pid
    plug_in cam yuy2 64x48 yuy2 --property priority.session=10
    for other in priority.session=5 "priority.session=50 media.role=Screen" \
        "priority.session=50 api.v4l2.cap.driver=v4l2 loopback"; do
        mkfifo others
        "$camera" other yuy2 32x24 yuy2 --property "${other%% *}" \
            --property "${other#* }" <others >other.log 2>&1 &
        other_pid=$!
        exec 8>others
        wait_until has_node other && ok || bad "no second camera"
        run 0 "$bilatcam" -i pipewire: "${reads[@]}" --frames 2 -o null:
        expect err 'cam \(PipeWire\), 64x48' "not $other"
        run 0 "$bilatcam" -i pipewire:other "${reads[@]}" --frames 2 -o null:
        expect err 'other \(PipeWire\), 32x24' "the one that is named"
        echo quit >&8
        exec 8>&-
        wait "$other_pid"
        rm others
    done
    unplug
}

# A screen is shown only where it is asked for.
test_screen_alone() {
    plug_in screen yuy2 64x48 yuy2 --property media.role=Screen
    refused 1 'PipeWire has no camera to choose by itself; name one of: screen' \
        "$bilatcam" -i pipewire: "${reads[@]}" -o null:
    run 0 "$bilatcam" -i pipewire:screen "${reads[@]}" --frames 2 -o null:
    unplug
}

# Named by a number that it has only once, it comes back all the same.
test_back_by_name() {
    local serial
    plug_in cam yuy2 64x48 yuy2
    serial=$(serial_of cam)
    start_camera -i "pipewire:$serial" "${reads[@]}" -o null:
    unplug
    wait_for said 'waiting for the camera' && ok || bad "the loss is not told"
    plug_in cam yuy2 64x48 yuy2
    [ "$(serial_of cam)" != "$serial" ] && ok || bad "the number is the same"
    wait_for said 'cam \(PipeWire\) is back' && ok || bad "the camera does not come back"
    stop_camera
    unplug
}

# Our own pictures never come in again.
test_own() {
    start_camera "${scene[@]}" -o pipewire:
    wait_until has_node bilatcam && ok || bad "no node"
    refused 1 'PipeWire has no camera$' "$bilatcam" -i pipewire: "${reads[@]}" -o null:
    refused 1 "'bilatcam' is a camera that bilatcam itself makes" \
        "$bilatcam" -i pipewire:bilatcam "${reads[@]}" -o null:
    stop_camera
    # Also where its name was changed.
    plug_in cam yuy2 64x48 yuy2
    PIPEWIRE_PROPS='{ node.name = changed }' start_camera -i pipewire: "${reads[@]}" \
        --on-demand off -o pipewire:
    wait_until has_node changed && ok || bad "the name is not changed"
    unplug
    wait_for said 'waiting for the camera' && ok || bad "the loss is not told"
    sleep 4
    expect_not said 'is back' "its own camera"
    plug_in cam yuy2 64x48 yuy2
    wait_for said 'cam \(PipeWire\) is back' && ok || bad "the camera does not come back"
    stop_camera
    unplug
}

test_auto() {
    plug_in cam yuy2 64x48 yuy2
    if ls /dev/video* >/dev/null 2>&1; then
        echo "not tested: auto, as there are devices of Video4Linux"
    else
        run 0 "$bilatcam" "${reads[@]}" --frames 2 -o null:
        expect err 'no camera of Video4Linux found: the camera is one of PipeWire' "auto"
        start_camera "${reads[@]}" -o null:
        comes_back
        stop_camera
    fi
    unplug
    refused 1 'no camera found: plug one in' "$bilatcam" "${reads[@]}" -o null:
}

# What is no device is listed, with the words to ask for it.
test_list() {
    plug_in cam yuy2 64x48 yuy2 --description 'A camera'
    run 0 "$bilatcam" --list-devices
    expect out '^pipewire:cam  A camera  \(camera\)$' "a camera of PipeWire"
    expect_not out 'no cameras found' "a list with a camera"
    unplug
    plug_in cam yuy2 64x48 yuy2 --property api.v4l2.path=/dev/null
    run 0 "$bilatcam" --list-devices
    expect_not out '^pipewire:' "a device that is here is not one of PipeWire alone"
    unplug
    plug_in cam yuy2 64x48 yuy2 --property api.v4l2.path=/dev/video99
    run 0 "$bilatcam" --list-devices
    expect out '^pipewire:cam ' "a device that is not here, as in a container"
    unplug
    plug_in screen yuy2 64x48 yuy2 --property media.role=Screen
    run 0 "$bilatcam" --list-devices
    expect out '^pipewire:screen .*\(video source\)$' "a screen"
    expect out 'no cameras found' "a list with no camera"
    unplug
    start_camera "${scene[@]}" -o pipewire:
    run 0 "$bilatcam" --list-devices
    expect_not out '^pipewire:' "a camera of bilatcam"
    stop_camera
}

# However many there are before it, and whatever they are called.
test_crowd() {
    mkfifo others
    "$crowd" 100 <others &
    exec 8>others
    wait_until has_crowd || bad "no crowd"
    plug_in cam yuy2 64x48 yuy2
    run 0 "$bilatcam" --list-devices
    [ "$(grep -c ' many  (camera)$' out)" = 100 ] && ok || bad "some are not listed"
    expect out '^pipewire:cam ' "the last one"
    expect_not out '[^ -~]' "a control character"
    run 0 "$bilatcam" -i pipewire:cam "${reads[@]}" --frames 2 -o null:
    unplug
    exec 8>&-
    wait_until lacks_crowd || bad "the crowd stays"
    rm others
}
has_crowd() { [ "$(pw-dump 2>/dev/null | grep -c '"media.class": "Video/Source"')" = 100 ]; }
lacks_crowd() { ! pw-dump 2>/dev/null | grep -q '"media.class": "Video/Source"'; }

# --- sizes ---

test_size() {
    plug_in cam yuy2 64x48,128x96,320x240 yuy2
    run 0 "$bilatcam" -i pipewire: --size 128x96 --filter none --frames 2 -o null:
    expect err 'cam \(PipeWire\), 128x96' "the size that is wanted"
    run 0 "$bilatcam" -i pipewire: --size 130x100 --filter none --frames 2 -o null:
    expect err 'gives no 130x100: using 128x96' "the nearest size"
    run 0 "$bilatcam" -i pipewire: --size 64x48 --fps 10 --filter none --frames 2 -o null:
    expect err 'gives no 10 fps at 64x48: using 30 fps' "the rate"
    unplug
    plug_in cam yuy2 64x48 yuy2 --rateless
    run 0 "$bilatcam" -i pipewire: --size 64x48 --fps 10 --filter none --frames 2 -o out.y4m
    expect err 'does not tell its frame rate, which may not be 10 fps' "no rate"
    expect out.y4m 'F0:0' "what a file tells of it"
    unplug
    plug_in cam yuy2 63x48 yuy2
    refused 1 "'cam' gives no size that can be used: an even width" \
        "$bilatcam" -i pipewire: "${reads[@]}" -o null:
    unplug
}

# Another program reads already: its format stays.
test_in_use() {
    plug_in cam yuy2 64x48,128x96 yuy2
    "$reader" cam --size 64x48 --pictures 100000 >got 2>&1 &
    reader_pid=$!
    wait_for got '^picture 1$' && ok || bad "the reader gets nothing"
    run 0 "$bilatcam" -i pipewire: --size 128x96 --filter none --frames 5 -o null:
    expect err 'gives no 128x96: using 64x48' "the size of the other"
    end_reader
    unplug
}

test_size_changes() {
    plug_in cam yuy2 64x48 yuy2
    start_camera -i pipewire: "${reads[@]}" -o out.y4m
    wait_until test -s out.y4m
    tell size 128x96
    wait_for said 'cam \(PipeWire\) is back|128x96' && ok || bad "another size is not followed"
    wait_for camera.log 'format 128x96' && ok || bad "the size is not taken"
    expect_growth out.y4m
    stop_camera
    unplug
}

# --- trouble ---

# A stamp counts; that of another clock, and none, does not.
test_stamps() {
    local pts
    for pts in old none late early absent; do
        plug_in cam yuy2 64x48 yuy2 --pts "$pts"
        run 0 "$bilatcam" -i pipewire: "${reads[@]}" --frames 15 -o null: --stats stats
        python3 -c 'import json, sys
assert int(sys.argv[1]) <= json.load(open("stats"))["latency_ms"]["p50"] < 5000' \
            "$([ "$pts" = old ] && echo 900 || echo 0)" && ok || bad "stamp $pts: $(cat stats)"
        unplug
    done
}

# comes_back: the camera cam, after it went.
comes_back() {
    unplug
    wait_for said "camera 'cam' has gone; waiting" && ok ||
        bad "the loss is not told"
    plug_in cam yuy2 64x48 yuy2
    wait_for said 'cam \(PipeWire\) is back' && ok || bad "the camera does not come back"
}

test_vanishes() {
    local name before
    for name in pipewire: pipewire:cam; do
        plug_in cam yuy2 64x48 yuy2
        start_camera -i "$name" "${reads[@]}" -o out.y4m
        expect_growth out.y4m # it has all buffers
        before=$(descriptors)
        comes_back
        expect_growth out.y4m
        wait_until has_descriptors $((before + 2)) && ok ||
            bad "descriptors: $before, then $(descriptors)"
        stop_camera
        unplug
    done
}

# Where the one that was chosen stays away, another one is taken.
test_takes_other() {
    mkfifo others
    plug_in cam yuy2 64x48 yuy2 --property priority.session=10
    "$camera" other yuy2 32x24 yuy2 <others >other.log 2>&1 &
    exec 8>others
    wait_until has_node other && ok || bad "no second camera"
    start_camera -i pipewire: "${reads[@]}" -o null:
    expect said 'cam \(PipeWire\)' "the first camera"
    unplug
    wait_for said 'other \(PipeWire\) is back' && ok || bad "no other one is taken in the end"
    stop_camera
    echo quit >&8
    exec 8>&-
    wait_until lacks_node other && ok || bad "the second camera stays"
    rm others
}

# What tells no rate is given more time, but not all time.
test_stalls() {
    local option
    for option in "--fps 30" --rateless; do
        # shellcheck disable=SC2086 # words
        plug_in cam yuy2 64x48 yuy2 $option
        start_camera -i pipewire: "${reads[@]}" -o out.y4m
        expect_growth out.y4m # the first picture has a limit of its own
        tell stall
        wait_for said "camera 'cam' gives no pictures; waiting" && ok || bad "the stall is not told"
        tell go on
        wait_for said 'cam \(PipeWire\) is back' && ok || bad "it does not go on"
        expect_growth out.y4m
        tell stall
        stop_camera
        unplug
    done
}

# What tells no rate may be as slow as a sensor in the dark, or as libcamera that computes its pictures.
test_slow() {
    plug_in cam yuy2 64x48 yuy2 --rateless --slow
    run 0 "$bilatcam" -i pipewire: "${reads[@]}" --frames 3 -o null:
    expect_not err 'gives no pictures' "a slow camera"
    unplug
}

test_no_rate() {
    plug_in cam yuy2 64x48 yuy2 --fps 0
    run 0 "$bilatcam" -i pipewire: "${reads[@]}" --frames 5 -o null:
    unplug
}

test_daemon_ends() {
    plug_in cam yuy2 64x48 yuy2
    start_camera -i pipewire: "${reads[@]}" -o out.y4m
    wait_until test -s out.y4m
    end_session
    wait_for said 'PipeWire has ended; waiting' && ok || bad "the end is not told"
    unplug
    start_session
    plug_in cam yuy2 64x48 yuy2
    wait_for said 'cam \(PipeWire\) is back' && ok || bad "it is not found again"
    expect_growth out.y4m
    stop_camera
    unplug
}

# A daemon that hangs holds up neither a start nor the end.
test_daemon_hangs() {
    plug_in cam yuy2 64x48 yuy2
    start_camera -i pipewire: "${reads[@]}" -o null:
    kill -STOP "$pipewire_pid"
    stop_camera
    refused 1 'PipeWire does not answer' "$bilatcam" -i pipewire: "${reads[@]}" -o null:
    "$bilatcam" -i pipewire: "${reads[@]}" -o null: >out 2>said </dev/null &
    camera_pid=$!
    wait_until test -e "/proc/$camera_pid/task" && sleep 0.5
    kill "$camera_pid"
    wait "$camera_pid" 2>/dev/null
    expect_not said 'forced exit|does not answer' "a stop while it opens"
    kill -CONT "$pipewire_pid"
    unplug
}

# Without a session's manager nothing is connected.
test_no_manager() {
    kill -KILL "$wireplumber_pid"
    wait "$wireplumber_pid" 2>/dev/null
    plug_in cam yuy2 64x48 yuy2
    refused 1 "does not connect 'cam': its session manager" \
        "$bilatcam" -i pipewire: "${reads[@]}" -o null:
    start_wireplumber
    run 0 "$bilatcam" -i pipewire: "${reads[@]}" --frames 2 -o null:
    unplug
}

test_stop_while_waiting() {
    start_camera -i pipewire: "${reads[@]}" --wait -o null:
    stop_camera
    plug_in cam yuy2 64x48 yuy2
    tell stall
    start_camera -i pipewire: "${reads[@]}" -o null:
    stop_camera
    unplug
}

test_no_daemon() {
    end_session
    refused 1 'PipeWire does not run in this session' \
        "$bilatcam" -i pipewire: "${reads[@]}" -o null:
    start_camera -i pipewire: --wait "${reads[@]}" -o out.y4m
    start_session
    plug_in cam yuy2 64x48 yuy2
    wait_for said 'cam \(PipeWire\) is back' && ok || bad "it is not found"
    stop_camera
    unplug
}

start_session
run_tests "${@:5}"
[ $# -gt 4 ] || summary
leave $((failed != 0))
