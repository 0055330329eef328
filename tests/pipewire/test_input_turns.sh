#!/bin/bash
# Cameras of PipeWire that hang upside down or lie on their side, and say so.
# Usage: test_input_turns.sh READER BILATCAM CAMERA [FUNCTION]...
# shellcheck disable=SC2015 # "A && ok || bad" is right here: ok never fails
camera=$(realpath "$3")
# shellcheck source=tests/pipewire/session.sh
. "$(dirname "$0")/session.sh"

reads=(--size auto --filter none --threads 1)

export PYTHONPATH=$here PYTHONDONTWRITEBYTECODE=1 # for turns.py

# is_upright KIND WIDTH HEIGHT TRANSFORM: all of out.y4m is the picture in the file picture, upright.
is_upright() {
    python3 - "$@" <<'END' && ok || bad "$1 of $2x$3, transform $4"
import sys
from turns import *
kind, w, h, transform = sys.argv[1], *map(int, sys.argv[2:])
want = shown(kind, open("picture", "rb").read(), w, h, transform)
head, frames = y4m(len(want))
print(head)
assert head.startswith(b"YUV4MPEG2 W%d H%d " % ((h, w) if transform % 2 else (w, h)))
assert frames and all(f == want for f in frames)
END
}

# Each transform, each layout, and an odd height where it does not become the width.
test_turns() {
    local kind size transform
    while read -r kind size transform; do
        make_pictures picture $((${size%x*} * ${size#*x} * 4)) 1
        case $kind in
            grey) truncate -s $((${size%x*} * ${size#*x})) picture ;;
            yuy2) truncate -s $((${size%x*} * ${size#*x} * 2)) picture ;;
            *) truncate -s $((${size%x*} * ${size#*x} * 3 / 2)) picture ;;
        esac
        plug_in cam "$kind" "$size" picture --transform "$transform"
        run 0 "$bilatcam" -i pipewire: "${reads[@]}" --frames 3 -o out.y4m
        expect err ' 0 damaged' "$kind $size, transform $transform"
        is_upright "$kind" "${size%x*}" "${size#*x}" "$transform"
        unplug
    done <<'END'
nv12 64x48 0
nv12 64x48 1
nv12 64x48 2
nv12 64x48 3
nv12 64x48 4
nv12 64x48 5
nv12 64x48 6
nv12 64x48 7
i420 64x46 1
i420 66x50 7
yuy2 64x48 1
yuy2 64x48 4
yuy2 64x48 7
yuy2 64x47 6
grey 64x47 2
grey 64x48 3
END
}

# ends_with TRANSFORM: the newest picture in out.y4m is turned by it.
ends_with() {
    python3 - "$1" <<'END'
import sys
from turns import *
want = shown("nv12", open("picture", "rb").read(), 64, 48, int(sys.argv[1]))
assert y4m(len(want))[1][-1] == want
END
}

# A turn that keeps the size is followed; one that does not is another camera's picture.
test_turn_changes() {
    make_pictures picture $((64 * 48 * 3 / 2)) 1
    plug_in cam nv12 64x48 picture --transform 0
    start_camera -i pipewire: "${reads[@]}" -o out.y4m
    wait_until test -s out.y4m
    tell transform 2
    wait_until ends_with 2 && ok || bad "upside down in the middle is not followed"
    tell transform 8
    wait_for said "'cam' says in an unknown way \(8\) how its pictures are turned: ignored" && ok ||
        bad "nonsense is not told"
    expect_growth out.y4m
    ends_with 2 && ok || bad "nonsense is not ignored"
    [ "$(grep -c 'in an unknown way' said)" = 1 ] && ok || bad "nonsense is told more than once"
    expect_not said 'have changed' "the same size"
    tell transform 1
    wait_for said "the pictures of 'cam' have changed" && ok || bad "a new size is not told"
    wait_for said 'cam \(PipeWire\) is back' && ok || bad "it does not come back"
    expect_growth out.y4m
    [ "$(grep -c 'have changed' said)" = 1 ] && ok || bad "opened more than once: $(cat said)"
    tell transform 0
    wait_until ends_with 0 && ok || bad "not upright again"
    stop_camera
    unplug
}

# What people ask for is the upright size.
test_turned_size() {
    make_pictures picture $((96 * 64 * 2)) 1
    plug_in cam yuy2 96x64,64x96 picture --transform 1
    run 0 "$bilatcam" -i pipewire: --size 96x64 --filter none --frames 3 -o null:
    expect err 'cam \(PipeWire\), 96x64' "the upright size"
    expect_not err 'gives no' "the upright size"
    unplug
    plug_in cam yuy2 64x47 picture --transform 1
    refused 1 'gives 47x64, which cannot be used: the width must be even' \
        "$bilatcam" -i pipewire: "${reads[@]}" -o null:
    unplug
}

# A camera that says how it is turned, and gives nothing.
test_silent() {
    make_pictures picture $((64 * 48 * 2)) 1
    plug_in cam yuy2 64x48 picture --transform 1
    tell stall
    start_camera -i pipewire: "${reads[@]}" -o out.y4m
    tell go on
    wait_for said "the pictures of 'cam' have changed" && ok || bad "the turn is not seen late"
    wait_for said 'cam \(PipeWire\) is back' && ok || bad "it does not come back"
    stop_camera
    tell stall
    "$bilatcam" -i pipewire: "${reads[@]}" -o null: >out 2>said </dev/null &
    camera_pid=$!
    wait_for camera.log 'streaming' && sleep 0.5
    kill "$camera_pid"
    wait "$camera_pid" 2>/dev/null
    expect_not said 'forced exit|gives no' "a stop while it waits for the first picture"
    unplug
}

start_session
run_tests "${@:4}"
[ $# -gt 3 ] || summary
leave $((failed != 0))
