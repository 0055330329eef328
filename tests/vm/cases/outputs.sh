# Readers of the virtual camera, and outputs that fail for good.
# shellcheck shell=bash

add readers-come-and-go "0.12.7 0.15.0" readers_come_and_go
add reader-stops        0.15.0          reader_stops
add reader-holds-size   "0.12.7 0.15.0" reader_holds_size
add full-disk           0.15.0          full_disk
add closed-pipe         0.15.0          closed_pipe
add out-of-memory       0.15.0          out_of_memory

# --- readers -------------------------------------------------------------------------

readers_come_and_go() {
    local before start
    two_pictures
    start_camera yuyv 320x180
    visitor visit "$loopback" 20
    before=$(resources)
    start=$(now_ms)
    visitor visit "$loopback" 1000
    start=$(($(now_ms) - start))
    check_growth "$before"
    start_reader
    wait_for "the picture" reader_shows 1.raw
    stop_bilatcam
    # Each of the three times that nobody comes for long enough, it is idle.
    check_log_lines 6
    detail "1000 readers in $start ms, $growth"
}

# It takes nothing for a while, and its buffers stay full.
reader_stops() {
    local frames
    two_pictures
    watch_pictures -i "$camera"
    kill -s STOP "$reader_pid"
    sleep 3
    still_picture 10
    frames=$(reader_frames)
    kill -s CONT "$reader_pid"
    wait_for "the new picture" reader_shows 2.raw
    stop_bilatcam
    check_runs '1 ([a-z] )?2'
    check_log_lines 2
    detail "$frames frames before, $(($(reader_frames) - frames)) after"
}

# The node keeps the size that it had as long as somebody reads, and pictures are fitted to it.
reader_holds_size() {
    local before
    two_pictures
    watch_pictures -i "$camera"
    stop_bilatcam
    start_bilatcam -i "$camera" -o "$loopback" --format yuyv --size 640x360 --fps 30
    wait_for "the message" says 1 "stays at yuyv 320x180"
    before=$(reader_frames)
    wait_for "pictures that are fitted" reader_has $((before + 30))
    wait_for "a picture" reader_shows_picture
    is_camera 320x180 || fail "the node's size is another"
    stop_bilatcam
    check_log_lines 8
    detail "$(grep -o "stays at.*" bilatcam.log | head -n 1)"
}

# --- outputs that fail for good ------------------------------------------------------

# ends_with_error PATTERN: by itself, with status 1, one such line and right statistics.
ends_with_error() {
    local status=0 out lost
    wait_exit bilatcam "$bilatcam_pid" || status=$?
    [ "$status" = 1 ] || fail "status $status"
    [ "$(grep -c "^bilatcam: .*$1" bilatcam.log)" = 1 ] || fail "not one line about it"
    check_log_lines 4
    out=$(statistic frames_out)
    lost=$(($(statistic frames_dropped) + $(statistic frames_bad)))
    [ "$out" -gt 0 ] || fail "no frames came out"
    [ "$(statistic frames_in)" = $((out + lost)) ] ||
        fail "$(statistic frames_in) frames in, $out out, $lost lost"
    detail "$out frames out, $lost lost: $(grep "$1" bilatcam.log)"
}

full_disk() {
    mkdir disk
    mount -t tmpfs -o size=1m tmpfs disk
    start_bilatcam -i "$camera" --format yuyv --size 320x180 --fps 30 -o disk/film.y4m
    ends_with_error "disk/film.y4m.*No space left"
}

closed_pipe() {
    mkfifo film
    head -c 500000 film > head.raw &
    env --default-signal=PIPE "$bilatcam" "${settings[@]}" --stats stats.json -i "$camera" \
        --format yuyv --size 320x180 --fps 30 -o - > film 2> bilatcam.log &
    bilatcam_pid=$!
    ends_with_error "standard output: Broken pipe"
}

# From where the program can be loaded at all up to where it has enough.
out_of_memory() {
    local least=30000 more kb status refused=0
    until (ulimit -v "$least" && "$bilatcam" --version) > /dev/null 2>&1; do
        least=$((least + 10000))
        [ "$least" -lt 1000000 ] || fail "not loaded with $least kB"
    done
    for more in 0 10000 20000 40000 60000 80000 100000 120000; do
        kb=$((least + more))
        status=0
        (
            ulimit -v "$kb"
            exec timeout "$wait_limit" "$bilatcam" --threads 2 -i "$camera" --format yuyv \
                --size 1920x1080 --frames 1 -o null:
        ) > out.log 2>&1 || status=$?
        [ "$status" != 0 ] || break
        [ "$status" = 1 ] || fail "status $status with $kb kB"
        [ "$(grep -cE 'memory|cannot start' out.log)" = 1 ] ||
            fail "with $kb kB: $(cat out.log)"
        refused=$((refused + 1))
        mv out.log refused.log
    done
    [ "$refused" -ge 3 ] || fail "only $refused limits were too small"
    detail "$refused limits were too small; the last: $(tail -n 1 refused.log)"
}
