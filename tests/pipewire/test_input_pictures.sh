#!/bin/bash
# Pictures that cameras of PipeWire give, in every format, whole and damaged, with a real daemon.
# Usage: test_input_pictures.sh READER BILATCAM CAMERA [FUNCTION]...
# shellcheck disable=SC2015 # "A && ok || bad" is right here: ok never fails
camera=$(realpath "$3")
# shellcheck source=tests/pipewire/session.sh
. "$(dirname "$0")/session.sh"
make_pictures yuy2 $((64 * 48 * 2)) 20

reads=(--size auto --filter none --threads 1)

# same_pictures FORMAT FILE WIDTH HEIGHT: all of out.y4m is in the file, in its order. Of a slow machine
# some are missing, far from as many as would be a step back.
same_pictures() {
    python3 - "$@" <<'END' && ok || bad "the pictures of $1 are not those that went in"
import sys
form, name, w, h = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
area, c = w * h, (h + 1) // 2 * (w // 2)
raw = open(name, "rb").read()
def planes(p):
    if form == "yuy2": return p[::2] + p[1::4] + p[3::4]
    if form == "uyvy": return p[1::2] + p[::4] + p[2::4]
    if form == "nv12": return p[:area] + p[area::2] + p[area + 1::2]
    return p
size = {"yuy2": 2 * area, "uyvy": 2 * area, "nv12": area + 2 * c, "i420": area + 2 * c, "grey": area}[form]
places = {planes(raw[i:i + size]): i // size for i in range(0, len(raw), size)}
n = len(places)
y4m = open("out.y4m", "rb")
y4m.readline()
order = []
while y4m.readline():
    order.append(places.get(y4m.read(size), -1))
print(order)
steps = [(b - a) % n for a, b in zip(order, order[1:])]
sys.exit(len(order) < 10 or -1 in order or not all(0 < s < n - 50 for s in steps))
END
}

test_formats() {
    local format bytes
    for format in yuy2 uyvy nv12 i420 grey; do
        case $format in
            yuy2 | uyvy) bytes=$((64 * 48 * 2)) ;;
            grey) bytes=$((64 * 48)) ;;
            *) bytes=$((64 * 48 * 3 / 2)) ;;
        esac
        make_pictures pictures "$bytes" 300
        plug_in cam "$format" 64x48 pictures
        run 0 "$bilatcam" -i pipewire: "${reads[@]}" --frames 15 -o out.y4m
        expect err 'cam \(PipeWire\), 64x48' "camera and size"
        same_pictures "$format" pictures 64 48
        unplug
    done
}

# Cameras of libcamera have a block for each plane, of one file, whose parts they tell of in a way that
# the library cannot map.
test_blocks() {
    local format
    make_pictures pictures $((64 * 48 * 3 / 2)) 300
    for format in nv12 i420; do
        plug_in cam "$format" 64x48 pictures --blocks
        run 0 "$bilatcam" -i pipewire: "${reads[@]}" --frames 15 -o out.y4m
        expect err ' 0 damaged' "blocks of $format"
        same_pictures "$format" pictures 64 48
        unplug
    done
}

# Colours are converted, so it is enough that they come near: what is red stays red. A fourth byte
# is of no account.
test_rgb() {
    local format packed
    for format in rgb bgr rgbx rgba xrgb argb bgrx bgra xbgr abgr; do
        packed=${format//[xa]/}
        python3 - "$format" <<'END'
import sys
def pixel(r, g, b):
    return bytes({"r": r, "g": g, "b": b}.get(c, 222) for c in sys.argv[1])
row = pixel(200, 30, 60) * 32 + pixel(20, 40, 180) * 32
open("pictures", "wb").write(row * 48)
END
        plug_in cam "$format" 64x48 pictures
        tell damage wide 3
        run 0 "$bilatcam" -i pipewire: "${reads[@]}" --frames 6 -o out.y4m
        expect err "${packed}24 -> " "format"
        python3 - <<'END' && ok || bad "colours of $format"
def yuv(r, g, b):
    y = 0.299 * r + 0.587 * g + 0.114 * b
    return y, 128 + (b - y) / 1.772, 128 + (r - y) / 1.402
f = open("out.y4m", "rb")
print(f.readline())
n = 0
while f.readline():
    got = f.read(64 * 48 * 3)
    n += 1
    for c in range(3):
        for x, colour in ((3, (200, 30, 60)), (60, (20, 40, 180))):
            for y in (0, 7, 47):
                assert abs(got[c * 64 * 48 + 64 * y + x] - yuv(*colour)[c]) <= 1.5, (n, c, x, y)
assert n == 6
END
        unplug
    done
}

test_unknown_format() {
    make_pictures pictures $((64 * 48 * 4)) 2
    plug_in cam ayuv 64x48 pictures
    refused 1 "'cam' gives no pixel format" "$bilatcam" -i pipewire: "${reads[@]}" -o null:
    unplug
    plug_in cam yuy2 64x48 yuy2
    refused 1 "'cam' does not give nv12; it gives yuyv" \
        "$bilatcam" -i pipewire: --format nv12 "${reads[@]}" -o null:
    unplug
}

# Each third picture is damaged, in many ways: it is counted, and not shown.
test_damaged() {
    local damage
    for damage in stride wide huge negative short empty long corrupted header offset far; do
        make_pictures pictures $((64 * 48 * 2)) 300
        plug_in cam yuy2 64x48 pictures
        tell damage "$damage" 3
        run 0 "$bilatcam" -i pipewire: "${reads[@]}" --frames 15 -o out.y4m --stats stats
        same_pictures yuy2 pictures 64 48
        python3 -c 'import json
assert json.load(open("stats"))["frames_bad"] >= 3' && ok || bad "$damage: not counted"
        balanced stats
        unplug
    done
}

test_only_damaged() {
    plug_in cam yuy2 64x48 yuy2
    tell damage corrupted 1
    start_camera -i pipewire: "${reads[@]}" -o null:
    wait_for said "'cam' gives no pictures; waiting" && ok || bad "only damaged ones"
    tell damage none 0
    wait_for said 'cam \(PipeWire\) is back' && ok || bad "whole ones again"
    stop_camera
    unplug
}

# Reading what is not there would be the end of the program.
test_short_file() {
    plug_in cam yuy2 640x480 yuy2 --short-file
    start_camera -i pipewire: "${reads[@]}" -o null:
    wait_for said "'cam' gives no pictures; waiting" && ok || bad "memory that is not there"
    stop_camera
    unplug
}

# Neither is what it offers.
test_malformed() {
    plug_in cam yuy2 64x48 yuy2 --malformed
    run 0 "$bilatcam" -i pipewire: "${reads[@]}" --frames 5 -o null:
    expect err 'cam \(PipeWire\), 64x48' "what is not malformed"
    unplug
}

start_session
run_tests "${@:4}"
[ $# -gt 3 ] || summary
leave $((failed != 0))
