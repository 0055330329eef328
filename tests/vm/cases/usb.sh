# A USB camera with all that can befall one. The camera is usbcam, a program; from the USB core
# upwards everything is the kernel's own.
# shellcheck shell=bash

add usb-mjpg-1280x720      0.15.0 usb_mjpg 1280x720
add usb-yuyv-640x480       0.15.0 usb_yuyv 640x480
add usb-damaged-cut        0.15.0 usb_damaged mjpg cut 10
add usb-damaged-gap        0.15.0 usb_damaged mjpg gap 10
add usb-damaged-wrong-size 0.15.0 usb_damaged mjpg wrong-size 10
add usb-damaged-garbage    0.15.0 usb_damaged mjpg garbage 10
add usb-damaged-error-flag 0.15.0 usb_damaged mjpg error 10
add usb-damaged-empty      0.15.0 usb_damaged mjpg empty 0
add usb-damaged-short-yuyv 0.15.0 usb_damaged yuyv cut 10
add usb-replug-same-node   0.15.0 usb_replug_same_node
add usb-replug-other-node  0.15.0 usb_replug_other_node
add usb-hang               0.15.0 usb_hang
add usb-death              0.15.0 usb_death
add usb-old-stamps         0.15.0 usb_old_stamps
add usb-evil-name          0.15.0 usb_evil_name

# --- the camera ----------------------------------------------------------------------

# usb_node SERIAL: prints its node, that of pictures and not that of metadata.
usb_node() {
    local node
    for node in /sys/class/video4linux/*; do
        [ "$(cat "$node/device/../serial" "$node/index" 2> /dev/null)" != "$1"$'\n'0 ] ||
            printf '/dev/%s\n' "${node##*/}"
    done
}

usb_is_there() {
    [ -e "$(usb_node "$1")" ]
}

usb_is_gone() {
    [ -z "$(usb_node "$1")" ]
}

# usb SERIAL COMMAND...: see usbcam.c.
usb() {
    printf '%s\n' "${*:2}" > "$1.commands"
}

# usb_plug SERIAL: sets $camera.
usb_plug() {
    usb "$1" plug
    wait_for "the USB camera" usb_is_there "$1"
    camera=$(usb_node "$1")
}

# usb_start SERIAL [NAME]: a camera that is not plugged in yet.
usb_start() {
    usbcam=${bilatcam%/*}/tests/vm/usbcam
    [ -x "$usbcam" ] || skip "no $usbcam: it is built with the tests if libturbojpeg is there"
    modprobe -a uvcvideo vhci_hcd
    # What newer kernels do unasked: frames that are known to be damaged are handed out.
    echo 1 > /sys/module/uvcvideo/parameters/nodrop
    wait_for "the camera of the case before to go" usb_is_gone "$1"
    [ -e "$1.commands" ] || mkfifo "$1.commands"
    "$usbcam" "$@" <> "$1.commands" >> "$1.log" 2>&1 &
}

# usb_streams SERIAL TIMES: has the stream been started so often?
usb_streams() {
    [ "$(grep -c ^streaming "$1.log")" -ge "$2" ]
}

# usb_pictures SIZE: writes pictures 1 to 3 as a client must get them, and with no filter they
# are compared to the bit even though a JPEG has full range and a client gets limited range.
usb_pictures() {
    local number
    settings=(--filter none)
    for number in 1 2 3; do
        "$usbcam" --picture "$number" "$1" > "$number.raw"
    done
    cp 1.raw expected.raw
}

# --- whole pictures ------------------------------------------------------------------

# usb_picture FORMAT SIZE
usb_picture() {
    local compared frames
    start_picture "$1" "$2"
    run_client v4l2ctl "$2" yuyv 40
    compared=$(pixels compare expected.raw client.raw 30)
    stop_bilatcam
    [ "$(statistic frames_bad)" = 0 ] || fail "$(statistic frames_bad) bad frames"
    frames=$(statistic frames_out)
    [ "$frames" -ge 10 ] || fail "only $frames frames, often repeated"
    detail "$frames frames from the camera; v4l2ctl: $compared"
}

usb_mjpg() {
    usb_start one
    usb_pictures "$1"
    usb one picture 1
    usb_plug one
    usb_picture mjpg "$1"
}

usb_yuyv() {
    usb_start one
    usb_plug one
    make_expected yuyv "$1" yuyv
    "$usbcam" --picture 0 "$1" | cmp - camera.raw || fail "the camera's own frame is wrong"
    usb_picture yuyv "$1"
}

# harmless FILE: is nothing in it for a terminal to obey?
harmless() {
    ! LC_ALL=C tr -d '\n' < "$1" | LC_ALL=C grep -aqP '[\x00-\x1f\x7f]|\xc2[\x80-\x9f]' &&
        iconv -f UTF-8 -t UTF-8 "$1" > utf8.log 2>&1
}

# What a camera and a virtual one call themselves does nothing to a terminal, wherever it is shown.
# The name that is shown is one to find the camera by.
usb_evil_name() {
    local evil=$'\033[31mred\302\233' file
    usb_start one $'\033[31mred\233'
    usb_plug one
    modprobe -r v4l2loopback
    modprobe v4l2loopback video_nr=20 exclusive_caps=1 card_label=$'\033[2J\302\233x'
    "$bilatcam" --list-devices > list.log 2>&1
    grep -q "^$camera  ?\[31mred??  (camera)" list.log || fail "the camera is not in the list"
    grep -q "^$loopback  ?\[2J??x  (virtual camera, free)" list.log || fail "nor is the other"
    "$bilatcam" --doctor > doctor.log 2>&1 || true
    grep -qF "camera $camera '?[31mred" doctor.log || fail "the doctor does not show the camera"
    start_bilatcam -i '?[31mred??' -o "$loopback" --format yuyv --size 640x480 --fps 30
    wait_for "the stream" says 1 'yuyv -> '
    stop_bilatcam
    start_bilatcam -i "$evil" -o null: --format yuyv --size 640x480 --fps 30
    wait_for "the stream" says 2 'yuyv -> '
    stop_bilatcam
    for file in list.log doctor.log bilatcam.log stats.json; do
        harmless "$file" || fail "$file has control characters or no UTF-8"
    done
}

# --- damaged pictures ----------------------------------------------------------------

# usb_watch FORMAT SIZE INPUT: brings picture 1 to a reader, after the placeholder; two of them
# should the first picture come so late that the camera is restarted.
usb_watch() {
    usb one picture 1
    usb one hang
    start_bilatcam -i "$3" -o "$loopback" --format "$1" --size "$2" --fps 30
    wait_for "the virtual camera" is_camera "$2"
    start_reader
    wait_for "the placeholder" reader_has 2
    usb one good
    wait_for "the first picture" reader_shows 1.raw
}

# usb_check_runs PATTERN: which pictures did the reader get, in which order? Those that are not
# known are called a, b and so on as they come. Sets $runs, which tells their numbers, too.
usb_check_runs() {
    runs=$(pixels runs reader.raw 1.raw 2.raw 3.raw)
    [[ " $(sed -E 's/\*[0-9]+//g' <<< "$runs") " =~ ^\ $1\ $ ]] ||
        fail "the reader got $runs, which is not $1"
}

# usb_damaged FORMAT FAULT COUNTED: first between good frames, where the last good picture stays,
# then nothing else. Of those at least COUNTED are to be found bad. A camera that gives no good
# picture for a second is restarted, which shows if it goes on.
usb_damaged() {
    local bad before
    usb_start one
    usb_pictures 320x240
    usb_plug one
    usb_watch "$1" 320x240 "$camera"
    usb one "$2" 2
    usb one picture 2
    wait_for "good pictures between damaged ones" reader_shows 2.raw
    usb one "$2"
    usb one picture 3
    before=$(reader_frames)
    wait_for "frames while all are damaged" reader_has $((before + 15))
    usb one good
    wait_for "the picture when all is well again" reader_shows 3.raw
    stop_bilatcam
    usb_check_runs 'a ([b-z] )*1 2 ([a-z] )*3'
    bad=$(statistic frames_bad)
    [ "$bad" -ge "$3" ] || fail "only $bad frames were counted as bad"
    detail "$bad bad frames; the reader got $runs"
}

# --- cameras that go -----------------------------------------------------------------

usb_shows_no_picture() {
    ! reader_shows 1.raw
}

# usb_lost WHY: the loss is noticed, and the reader does not get the last picture for ever.
usb_lost() {
    wait_for "the loss to be noticed" grep -q "camera .* $1" bilatcam.log
    wait_for "the placeholder" usb_shows_no_picture
}

# Another picture comes, which cannot be taken for a repeated one. How long that takes is told,
# not judged.
usb_back() {
    local start=${EPOCHREALTIME/./} recovery
    wait_for "the camera to be used again" grep -q "is back" bilatcam.log
    recovery=$(((${EPOCHREALTIME/./} - start) / 1000))
    wait_for "the new picture" reader_shows 2.raw
    stop_bilatcam
    usb_check_runs 'a ([b-z] )*1 ([a-z] )+2'
    [ "$(statistic reconnects)" -ge 1 ] || fail "$(statistic reconnects) reconnects"
    detail "$camera used again $recovery ms later; the reader got $runs"
}

usb_replug_same_node() {
    local node
    usb_start one
    usb_pictures 320x240
    usb_plug one
    node=$camera
    usb_watch mjpg 320x240 auto
    usb one unplug
    usb_lost "was unplugged"
    usb one picture 2
    usb_plug one
    [ "$camera" = "$node" ] || fail "it was $node and came back as $camera"
    usb_back
}

# The name that udev gives to a camera wherever it is plugged in, and takes away again.
usb_link() {
    mkdir -p /dev/v4l/by-id
    ln -sf "$camera" "$usb_name"
}

usb_replug_other_node() {
    local node usb_name=/dev/v4l/by-id/usb-bilatcam_USB_test_camera_one-video-index0
    usb_start one
    usb_start two
    usb_pictures 320x240
    usb_plug one
    node=$camera
    usb_link
    usb_watch mjpg 320x240 "$usb_name"
    usb one unplug
    rm "$usb_name"
    usb_lost "was unplugged"
    usb_plug two
    [ "$camera" = "$node" ] || fail "the other camera became $camera, not $node"
    usb one picture 2
    usb_plug one
    [ "$camera" != "$node" ] || fail "it came back as $node"
    usb_link
    usb_back
}

usb_hang() {
    local streams
    usb_start one
    usb_pictures 320x240
    usb_plug one
    usb_watch mjpg 320x240 "$camera"
    streams=$(grep -c ^streaming one.log)
    usb one hang
    usb_lost "gives no pictures"
    wait_for "the stream to be restarted" usb_streams one $((streams + 1))
    usb one picture 2
    usb one good
    usb_back
}

usb_death() {
    usb_start one
    usb_pictures 320x240
    usb_plug one
    usb_watch mjpg 320x240 "$camera"
    usb one die
    usb_lost "was unplugged"
    usb_start one
    usb one picture 2
    usb_plug one
    usb_back
}

# uvcvideo stamps a frame when its first piece comes, 700 ms before the last one does.
usb_old_stamps() {
    usb_start one
    usb one slow 700
    usb_plug one
    check_old_stamps 600 -i "$camera" --format yuyv --size 640x480 --frames 8
}
