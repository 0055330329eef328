#!/bin/bash
# Cameras of PipeWire that give JPEGs, which libav makes for this test.
# Usage: test_input_jpegs.sh READER BILATCAM CAMERA [FUNCTION]...
# shellcheck disable=SC2015 # "A && ok || bad" is right here: ok never fails
camera=$(realpath "$3")
# shellcheck source=tests/pipewire/session.sh
. "$(dirname "$0")/session.sh"
for feature in mjpeg video; do
    "$bilatcam" --version | grep -q "+$feature" || skip "bilatcam is built without $feature"
done
export PYTHONPATH=$here PYTHONDONTWRITEBYTECODE=1 # for turns.py

reads=(--size auto --filter none --threads 1)

test_mjpg() {
    run 0 "$bilatcam" -i test:noise=0 --size 64x48 --filter none --frames 1 -o picture.jpg
    run 0 "$bilatcam" -i picture.jpg --filter none -o still.y4m
    plug_in cam mjpg 64x48 picture.jpg
    run 0 "$bilatcam" -i pipewire: "${reads[@]}" --frames 3 -o out.y4m
    expect err 'mjpg -> ' "format"
    python3 - <<'END' && ok || bad "the picture of a JPEG"
def luma(name):
    f = open(name, "rb")
    f.readline(), f.readline()
    return f.read(64 * 48)
a, b = luma("still.y4m"), luma("out.y4m")
assert len(b) == 64 * 48 and sum(abs(x - y) for x, y in zip(a, b)) < 2 * len(a)
END
    unplug
    python3 -c 'd = open("picture.jpg", "rb").read(); open("bad.jpg", "wb").write(b"\0" + d[1:])'
    plug_in cam mjpg 64x48 bad.jpg
    start_camera -i pipewire: "${reads[@]}" -o null:
    wait_for said "'cam' gives no pictures; waiting" && ok || bad "what is no JPEG"
    stop_camera
    unplug
    # As of libcamera: all of the buffer, which is larger than any JPEG.
    run 0 "$bilatcam" -i test:noise=0 --size 320x240 --filter none --frames 1 -o picture.jpg
    python3 -c 'd = open("picture.jpg", "rb").read(); open("long.jpg", "wb").write(d.ljust(400000))'
    plug_in cam mjpg 320x240 long.jpg
    run 0 "$bilatcam" -i pipewire: "${reads[@]}" --frames 3 -o null:
    expect err ' 0 damaged' "a JPEG in a full buffer"
    unplug
}

# near TRANSFORM: out.y4m shows the luma of still.y4m, upright again.
near() {
    python3 - "$@" <<'END' && ok || bad "a JPEG, transform $1"
import sys
from turns import *
f = open("still.y4m", "rb")
f.readline(), f.readline()
want = b"".join(upright(rows(f.read(64 * 48), 64), int(sys.argv[1])))
head, frames = y4m(len(want) * (3 if int(sys.argv[1]) % 2 else 2))
print(head)
assert frames and all(sum(abs(a - b) for a, b in zip(f, want)) < 2 * len(want) for f in frames)
END
}

# What is damaged is counted, as of others.
test_turns() {
    local transform
    run 0 "$bilatcam" -i test:noise=0 --size 64x48 --filter none --frames 1 -o picture.jpg
    run 0 "$bilatcam" -i picture.jpg --filter none -o still.y4m
    for transform in 1 4; do
        plug_in cam mjpg 64x48 picture.jpg --transform "$transform"
        run 0 "$bilatcam" -i pipewire: "${reads[@]}" --frames 3 -o out.y4m
        near "$transform"
        unplug
    done
    python3 -c 'd = open("picture.jpg", "rb").read(); open("bad.jpg", "wb").write(d[:300])'
    plug_in cam mjpg 64x48 bad.jpg --transform 2
    start_camera -i pipewire: "${reads[@]}" -o null:
    wait_for said "'cam' gives no pictures; waiting" && ok || bad "a damaged JPEG"
    stop_camera
    unplug
}

start_session
run_tests "${@:4}"
[ $# -gt 3 ] || summary
leave $((failed != 0))
