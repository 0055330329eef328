# The node of the virtual camera: another program has it, writes to it all the same, or takes it
# away and makes it again. While anybody has it open, no version of the module lets it go.
# shellcheck shell=bash

add writer-was-first    all             writer_was_first
add writer-tries        0.15.0          writer_tries
add writer-writes       all             writer_writes
add writer-streams      "0.12.7 0.15.0" writer_writes stream
add node-claimed        all             node_claimed
add two-at-once         all             two_at_once
add node-removed        "0.13.2 0.15.0" node_removed
add node-made-late      "0.13.2 0.15.0" node_made_late
add node-made-again     0.15.0          node_made_again 20 "$loopback"
add node-made-elsewhere 0.15.0          node_made_again 21 auto
add module-loaded-again "0.12.7 0.15.0" module_loaded_again

# --- other writers -------------------------------------------------------------------

# The pause before the next attempt is 16 s when the other lets go of the node.
writer_was_first() {
    local other start attempts
    two_pictures
    start_bilatcam -i test: --size 320x180 --fps 30 -o "$loopback"
    other=$bilatcam_pid
    wait_for "the other writer" is_camera 320x180
    : > bilatcam.log
    start_bilatcam -i "$camera" -o "$loopback" --format yuyv --size 320x180 --fps 30 --wait \
        --verbose
    wait_for "the message" says 1 "another program writing to it.*; pictures are dropped"
    wait_for "some attempts" says 7 "another program writing to it"
    start=$(now_ms)
    kill "$other"
    wait_for "the node to be taken" says 1 "($loopback) can be used"
    start=$(($(now_ms) - start))
    start_reader
    wait_for "the picture" reader_shows 1.raw
    stop_bilatcam
    [ "$start" -lt 12000 ] || fail "taken only $start ms after the other writer"
    attempts=$(grep -c "another program writing to it" bilatcam.log)
    [ "$attempts" -le 9 ] || fail "$attempts attempts"
    [ "$(statistic frames_dropped)" -gt 0 ] || fail "no frames were counted as dropped"
    detail "taken $start ms after the other writer, at attempt $((attempts + 1))"
}

# Whoever comes second is refused, and nothing happens to the first.
writer_tries() {
    two_pictures
    watch_pictures -i "$camera"
    ! ffmpeg -nostdin -v error -f lavfi -i color=size=320x180 -frames:v 3 \
        -pix_fmt yuyv422 -f v4l2 "$loopback" 2> ffmpeg.log || fail "it could write"
    still_picture 10
    wait_for "the new picture" reader_shows 2.raw
    stop_bilatcam
    check_runs '1 ([a-z] )?2'
    detail "$(head -n 1 ffmpeg.log)"
}

# Whom does the module keep from writing while we do? 0.13.2 forgets those who start a stream.
is_refused() {
    [ "$version" = 0.15.0 ] || [ "$version $*" = "0.13.2 " ]
}

# writer_writes [stream]: one that does not look whether it may. Where the module lets it, the
# reader gets the pictures of both, some of them mixed; with the other's end ours are all that comes.
writer_writes() {
    local other before
    two_pictures
    watch_pictures -i "$camera"
    "$vm_dir/node.py" write "$loopback" 2.raw "$@" 2> node.log &
    other=$!
    if is_refused "$@"; then
        ! wait_exit "the other writer" "$other" || fail "it was not refused"
    else
        wait_for "a picture of the other's" reader_shows 2.raw
        wait_for "pictures of both" reader_has $(($(reader_frames) + 30))
        ! gone "$other" || fail "the other could not go on: $(cat node.log)"
        kill "$other"
    fi
    before=$(reader_frames)
    wait_for "our pictures" reader_has $((before + 60))
    wait_for "the node to be nothing but a camera" node_is_camera_only
    stop_bilatcam
    check_runs '(. )*1'
    [[ $runs =~ 1\*([0-9]+)$ && ${BASH_REMATCH[1]} -ge 30 ]] || fail "the reader got $runs"
    is_refused "$@" && check_runs '1'
    check_log_lines 2
    if is_refused "$@"; then
        detail "the other was refused: $(cat node.log)"
    else
        detail "of the other's pictures the reader got $(count_runs 2) in a row or between ours"
    fi
}

# Others pass over a node that takes pictures as well.
node_is_camera_only() {
    v4l2-ctl -d "$loopback" -D > node-caps.log
    grep -q 'Video Capture' node-caps.log && ! grep -q 'Video Output' node-caps.log
}

# count_runs NAME: how many frames of this name are in $runs?
count_runs() {
    tr ' ' '\n' <<< "$runs" | awk -F '*' -v name="$1" '$1 == name { n += $2 } END { print n + 0 }'
}

# --- other bilatcams -----------------------------------------------------------------

two_nodes() {
    modprobe -r v4l2loopback
    modprobe v4l2loopback video_nr=20,21 exclusive_caps=1,1 card_label=bilatcam,bilatcam
}

start_with() {
    start_bilatcam -i test: --size 320x180 --fps 30 -o "$1"
}

# The other has the node, but no picture in it yet.
node_claimed() {
    local other status=0
    two_nodes
    "$vm_dir/node.py" claim "$loopback" > claimed 2> node.log &
    other=$!
    wait_for "the claim" test -s claimed
    "$bilatcam" --list-devices > list.log
    grep -q "^$loopback .*a program is writing to it" list.log || fail "the list calls it free"
    start_with "$loopback"
    wait_exit bilatcam "$bilatcam_pid" || status=$?
    [ "$status" = 1 ] || fail "it took the node of the other, or ended with status $status"
    says 1 "'$loopback' has another program writing to it" || fail "it does not say why"
    start_with auto
    wait_for "the other node" says 1 'bilatcam (/dev/video21)'
    kill "$other"
    wait_for "the other to end" gone "$other"
    stop_bilatcam
    start_with auto
    wait_for "the node to be free again" says 1 "bilatcam ($loopback)"
    stop_bilatcam
}

# both_run ONE OTHER: with a node for each?
both_run() {
    ! gone "$1" || fail "one ended by itself: $(tail -n 1 bilatcam.log)"
    ! gone "$2" || fail "one ended by itself: $(tail -n 1 bilatcam.log)"
    says 2 'bilatcam (/dev/video2[01])'
}

# Two that start at the same moment, often enough for them to meet.
two_at_once() {
    local one round
    two_nodes
    for round in 1 2 3 4; do
        : > bilatcam.log
        start_with auto
        one=$bilatcam_pid
        start_with auto
        wait_for "both to run" both_run "$one" "$bilatcam_pid"
        says 2 'bilatcam (/dev/video20)' && fail "in round $round both took one node"
        says 2 'bilatcam (/dev/video21)' && fail "in round $round both took one node"
        wait_for "the first virtual camera" is_camera 320x180
        loopback=/dev/video21 wait_for "the second virtual camera" is_camera 320x180
        stop_bilatcam
        bilatcam_pid=$one
        stop_bilatcam
    done
}

# --- nodes that go and come ----------------------------------------------------------

node_removed() {
    two_pictures
    watch_pictures -i "$camera"
    ! "$vm_dir/node.py" remove 20 2> node.log || fail "it was removed while it was in use"
    wait_for "frames after that" reader_has $(($(reader_frames) + 30))
    stop_reader
    stop_bilatcam
    check_runs 1
    check_log_lines 2
    mv node.log refusal.log
    node remove 20
    [ ! -e "$loopback" ] || fail "it is still there"
    detail "while in use: $(cat refusal.log)"
}

# taken_after START: the node is taken and gives pictures. Sets $recovery, in ms.
taken_after() {
    wait_for "the node to be taken" says 1 "($loopback) can be used"
    recovery=$(($(now_ms) - $1))
    start_reader
    wait_for "the picture" reader_shows 1.raw
    stop_bilatcam
    check_log_lines 6
}

node_made_late() {
    local start recovery
    two_pictures
    node remove 20
    start_bilatcam -i "$camera" -o auto --format yuyv --size 320x180 --fps 30 --wait
    wait_for "the message" says 1 "no v4l2loopback node found.*; pictures are dropped"
    loopback=/dev/video21
    start=$(now_ms)
    node add 21 bilatcam
    taken_after "$start"
    detail "a camera $recovery ms after the node"
}

# wait_for_other OUTPUT: bilatcam, waiting for a node that $other writes to.
wait_for_other() {
    two_pictures
    "$vm_dir/node.py" write "$loopback" 2.raw stream 2> node.log &
    other=$!
    wait_for "the other writer" node_is_camera
    start_bilatcam -i "$camera" -o "$1" --format yuyv --size 320x180 --fps 30 --wait
    wait_for "the message" says 1 "another program writing to it.*; pictures are dropped"
}

node_is_camera() {
    v4l2-ctl -d "$loopback" -D | grep -q 'Video Capture'
}

# Stopped between two attempts, it has not got the node open.
stopped_without_node() {
    kill -s STOP "$bilatcam_pid"
    ! holds "$loopback" || {
        kill -s CONT "$bilatcam_pid"
        return 1
    }
}

# end_other: the other lets go of the node, which bilatcam only sees once it goes on.
end_other() {
    wait_for "bilatcam to be without the node" stopped_without_node
    kill "$other"
    wait_for "the other writer to end" gone "$other"
}

# node_made_again NUMBER OUTPUT
node_made_again() {
    local other start recovery
    wait_for_other "$2"
    end_other
    node remove 20
    loopback=/dev/video$1
    node add "$1" bilatcam
    start=$(now_ms)
    kill -s CONT "$bilatcam_pid"
    taken_after "$start"
    detail "a camera $recovery ms after the node"
}

module_loaded_again() {
    local other start recovery
    wait_for_other "$loopback"
    end_other
    modprobe -r v4l2loopback
    modprobe v4l2loopback
    start=$(now_ms)
    kill -s CONT "$bilatcam_pid"
    taken_after "$start"
    detail "a camera $recovery ms after the node"
}
