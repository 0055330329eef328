# The daemon left alone with its devices: they are not there yet, go, come back, are broken or
# taken. Whatever happens, the virtual camera goes on. How long a recovery took is told, and
# judged by nothing but the limit of wait_for.
# shellcheck shell=bash

add start-without-camera   0.15.0          start_without_camera
add start-without-loopback "0.12.7 0.15.0" start_without_loopback
add replug-again-and-again 0.15.0          replug_again_and_again
add replug-slow-filter     0.15.0          replug_slow_filter
add replug-disconnect      0.15.0          replug_disconnect
add replug-other-node-name 0.15.0          replug_other_node vivid
add replug-other-node-auto 0.15.0          replug_other_node auto
add other-camera           0.15.0          other_camera
add camera-drops-frames    0.15.0          camera_drops_frames
add camera-fails-often     0.15.0          camera_fails_often
add camera-away-long       0.15.0          camera_away_long
add camera-in-use          0.15.0          camera_in_use "$camera"
add camera-in-use-auto     0.15.0          camera_in_use auto
add camera-in-use-twice    0.15.0          camera_in_use_twice
add on-demand              all             on_demand
add on-demand-of-two       0.12.7          on_demand_of_two
add on-demand-unknown      0.12.7          on_demand_unknown
add on-demand-off          0.15.0          camera_stays off
add daemon-stopped         0.15.0          daemon_stopped
add clock-jumps            0.15.0          clock_jumps
add old-stamps             0.15.0          old_stamps

# watch OPTION...: bilatcam, and a reader of its virtual camera.
watch() {
    start_bilatcam -o "$loopback" --format yuyv --size 320x180 --fps 30 "$@"
    wait_for "the virtual camera" is_camera 320x180
    start_reader
}

# The camera is not let go before the reader is there, as it would be on a machine so slow that this
# takes seconds: once it shows a picture, no placeholder may follow. The log begins there, for on such
# a machine the first picture may come so late that the camera was started again.
watch_pictures() {
    watch --on-demand off "$@"
    wait_for "the first picture" reader_shows 1.raw
    : > bilatcam.log
}

# camera_returns COMMAND...: brings it back. Sets $recovery, in ms from its node to a picture.
camera_returns() {
    local start
    "$@"
    wait_for "the camera's node" test -e "$camera"
    start=$(now_ms)
    wait_for "pictures again" reader_shows_picture
    recovery=$(($(now_ms) - start))
}

camera_goes() {
    replug unbind
    wait_for "the placeholder" reader_shows_card
}

reload_vivid() {
    modprobe -r vivid
    modprobe vivid "$@"
}

# --- not there at the start ----------------------------------------------------------

start_without_camera() {
    two_pictures
    replug unbind
    watch -i "$camera" --wait
    wait_for "the placeholder" reader_has 5
    camera_returns replug bind
    still_picture 10
    wait_for "the picture" reader_shows 2.raw
    stop_bilatcam
    check_runs '[^1]*2'
    [ "$(statistic reconnects)" = 1 ] || fail "$(statistic reconnects) reconnects"
    check_log_lines 6
    detail "pictures $recovery ms after the node"
}

# While bilatcam has the node open, nobody can take the module away.
start_without_loopback() {
    local start
    two_pictures
    modprobe -r v4l2loopback
    start_bilatcam -i "$camera" -o "$loopback" --format yuyv --size 320x180 --fps 30 --wait
    wait_for "the message" says 1 "$loopback.*; pictures are dropped"
    modprobe v4l2loopback
    start=$(now_ms)
    wait_for "the virtual camera" is_camera 320x180
    start=$(($(now_ms) - start))
    start_reader
    wait_for "the picture" reader_shows 1.raw
    ! modprobe -r v4l2loopback 2> modprobe.log || fail "the module could be removed"
    stop_bilatcam
    [ "$(statistic frames_dropped)" -gt 0 ] || fail "no frames were counted as dropped"
    check_log_lines 6
    detail "a camera $start ms after the node"
}

# --- cameras that go and come back ---------------------------------------------------

replug_again_and_again() {
    local times='' i before
    two_pictures
    watch_pictures -i "$camera"
    for i in 1 2 3 4 5; do
        camera_goes
        camera_returns replug bind
        times+=" $recovery"
        [ "$i" != 1 ] || before=$(resources)
    done
    check_growth "$before"
    still_picture 10
    wait_for "the picture" reader_shows 2.raw
    stop_bilatcam
    check_runs '1 [^1]*2'
    [ "$(statistic reconnects)" = 5 ] || fail "$(statistic reconnects) reconnects"
    detail "pictures after$times ms; $growth"
}

# The filter is slow, so that there are pictures on their way when the camera goes, and that there
# is time for an old one when it is back. None may be shown.
replug_slow_filter() {
    settings=(--engine reference --radius 3 --sigma-color 40 --temporal 1)
    still_picture 1
    make_expected yuyv 320x180 yuyv
    cp expected.raw 2.raw
    still_picture
    make_expected yuyv 320x180 yuyv
    cp expected.raw 1.raw
    watch_pictures -i "$camera"
    camera_goes
    camera_returns replug bind
    still_picture 1
    wait_for "the picture" reader_shows 2.raw
    stop_bilatcam
    check_runs '1 [^1]*2'
    detail "pictures $recovery ms after the node"
}

# The driver says ENODEV to everything until all have closed the node, which stays.
replug_disconnect() {
    local reconnects=0 i
    two_pictures
    watch_pictures -i "$camera"
    for i in 1 2 3; do
        v4l2-ctl -d "$camera" -c disconnect=1
        wait_for "the loss to be noticed" says "$i" "unplugged"
        wait_for "the camera to be back" says "$i" "is back"
    done
    still_picture 10
    wait_for "the picture" reader_shows 2.raw
    stop_bilatcam
    reconnects=$(statistic reconnects)
    [ "$reconnects" = 3 ] || fail "$reconnects reconnects"
    detail "$reconnects reconnects"
}

# replug_other_node INPUT: a camera that is known by what it is called, or by nothing.
replug_other_node() {
    two_pictures
    watch_pictures -i "$1"
    camera_goes
    wait_for "the camera to be closed" lets_go_of "$camera (deleted)"
    camera=/dev/video12
    camera_returns reload_vivid vid_cap_nr=12
    still_picture 10
    wait_for "the picture" reader_shows 2.raw
    stop_bilatcam
    check_runs '1 [^1]*2'
    detail "pictures $recovery ms after the other node"
}

# Of two cameras "auto" takes the other when the first stays away, and then keeps that.
other_camera() {
    local first=/dev/video10 second=/dev/video11 start
    reload_vivid n_devs=2 vid_cap_nr=10,11 node_types=0x1,0x1 num_inputs=1,1 input_types=0,0
    two_pictures
    camera=$second
    still_picture 10
    watch_pictures -i auto
    mv "$first" /dev/hidden
    v4l2-ctl -d /dev/hidden -c disconnect=1
    start=$(now_ms)
    wait_for "the picture of the other camera" reader_shows 2.raw
    start=$(($(now_ms) - start))
    mv /dev/hidden "$first"
    wait_for "frames when the first is back" reader_has $(($(reader_frames) + 30))
    holds "$second" || fail "it let the other camera go"
    stop_bilatcam
    check_runs '1 ([a-z] )+2'
    detail "the other camera after $start ms"
}

# --- cameras that do not work --------------------------------------------------------

camera_drops_frames() {
    two_pictures
    watch_pictures -i "$camera" --verbose
    v4l2-ctl -d "$camera" -c percentage_of_dropped_buffers=50
    wait_for "frames while half of them are lost" reader_has $(($(reader_frames) + 40))
    v4l2-ctl -d "$camera" -c percentage_of_dropped_buffers=100
    wait_for "the loss to be noticed" says 1 "gives no pictures"
    wait_for "the placeholder" reader_shows_card
    wait_for "the camera to be started again three times" says 3 "320x180, . buffers"
    v4l2-ctl -d "$camera" -c percentage_of_dropped_buffers=0,test_pattern=10
    wait_for "the picture" reader_shows 2.raw
    stop_bilatcam
    check_runs '1 ([a-z] )+2'
    [ "$(statistic reconnects)" = 1 ] || fail "$(statistic reconnects) reconnects"
    [ "$(statistic frames_dropped)" -gt 5 ] || fail "$(statistic frames_dropped) lost frames"
    detail "$(statistic frames_dropped) lost frames; the reader got $runs"
}

# Everything that the driver can be told to do wrong, in bursts. What happens to single frames
# and buffers is no reason to start again.
camera_fails_often() {
    local i before
    two_pictures
    watch_pictures -i "$camera"
    for i in {1..10}; do
        v4l2-ctl -d "$camera" -c inject_v4l2_buf_flag_error=1
        v4l2-ctl -d "$camera" -c inject_vidioc_qbuf_error=1
    done
    ! says 1 "waiting for the camera" || fail "it let the camera go"
    before=$(resources)
    for i in {1..3}; do
        v4l2-ctl -d "$camera" -c inject_vidioc_reqbufs_error=1,inject_vidioc_streamon_error=1
        v4l2-ctl -d "$camera" -c inject_fatal_streaming_error=1
        wait_for "frames between the errors" reader_has $(($(reader_frames) + 5))
    done
    still_picture 10
    wait_for "the picture" reader_shows 2.raw
    check_growth "$before"
    stop_bilatcam
    check_runs '1 [1a-z ]*2'
    [ "$(statistic frames_bad)" -ge 5 ] || fail "$(statistic frames_bad) bad frames"
    check_log_lines $((2 * 3 + 1))
    detail "$(statistic frames_bad) bad frames, $(statistic reconnects) reconnects, $growth"
}

# Attempts become fewer and fewer, and waiting costs nothing.
camera_away_long() {
    local before lines
    two_pictures
    watch_pictures -i "$camera" --verbose
    camera_goes
    before=$(resources)
    lines=$(wc -l < bilatcam.log)
    sleep 10
    check_idle "$before" 1000
    check_growth "$before"
    lines=$(($(wc -l < bilatcam.log) - lines))
    [ "$lines" -le 8 ] || fail "$lines attempts in 10 s"
    camera_returns replug bind
    stop_bilatcam
    detail "$lines attempts in 10 s; $growth; pictures $recovery ms after the node"
}

# use_camera: another program takes it; its process is $other.
use_camera() {
    v4l2-ctl -d "$camera" --stream-mmap --stream-to=/dev/null > other.log 2>&1 &
    other=$!
    wait_for "the other program to get frames" grep -q '<' other.log
}

# camera_in_use INPUT: its node is there all the time, and nothing comes or goes in /dev when it can
# be used. The pause before the next attempt is 16 s then.
camera_in_use() {
    local other start attempts
    two_pictures
    use_camera
    watch -i "$1" --wait --verbose
    wait_for "the placeholder" reader_has 5
    wait_for "some attempts" says 7 "is in use by another program"
    start=$(now_ms)
    kill "$other"
    wait_for "the picture" reader_shows 1.raw
    start=$(($(now_ms) - start))
    stop_bilatcam
    check_runs '[a-z] 1'
    [ "$start" -lt 12000 ] || fail "pictures only after $start ms"
    attempts=$(grep -c "is in use" bilatcam.log)
    [ "$attempts" -le 9 ] || fail "$attempts attempts"
    detail "$attempts attempts; pictures $start ms after the other program"
}

# Two wait for one camera. Each sees what the other tries, but they do not drive each other on.
camera_in_use_twice() {
    local other first second attempts
    two_pictures
    use_camera
    start_bilatcam -i "$camera" -o null: --size 320x180 --fps 30 --wait --verbose
    second=$bilatcam_pid
    start_bilatcam -i "$camera" -o null: --size 320x180 --fps 30 --wait --verbose
    wait_for "some attempts" says 10 "is in use by another program"
    sleep 10
    attempts=$(grep -c "is in use" bilatcam.log)
    [ "$attempts" -le 24 ] || fail "$attempts attempts"
    kill "$other"
    wait_for "one of them to take it" says 1 "is back"
    holds "$camera" || {
        first=$second
        second=$bilatcam_pid
        bilatcam_pid=$first
    }
    stop_bilatcam
    bilatcam_pid=$second
    wait_for "the other to take it" says 2 "is back"
    stop_bilatcam
    detail "$attempts attempts of both"
}

# --- nobody looks --------------------------------------------------------------------

# The camera has another picture when it is opened again: an old one must never be shown.
on_demand() {
    local first
    two_pictures
    watch -i "$camera"
    wait_for "the first picture" reader_shows 1.raw
    stop_reader
    wait_for "the camera to be let go" lets_go_of "$camera"
    still_picture 10
    first=$(visitor picture "$loopback" first.raw)
    cmp first.raw 2.raw > first.log 2>&1 || fail "the first picture is not the camera's"
    holds "$camera" || fail "there are pictures without a camera"
    wait_for "the camera to be let go again" lets_go_of "$camera"
    visitor visit "$loopback" 20
    start_reader
    wait_for "the picture" reader_shows 2.raw
    stop_bilatcam
    check_runs 2
    [ "$(statistic reconnects)" = 0 ] || fail "$(statistic reconnects) reconnects"
    detail "the first picture $first ms after the reader; then it got $runs"
}

# Where the module tells nothing, a program at another node of it is not taken for a reader.
on_demand_of_two() {
    modprobe -r v4l2loopback
    modprobe v4l2loopback video_nr=20,21 exclusive_caps=1,1 card_label=bilatcam,other
    two_pictures
    watch -i "$camera"
    wait_for "the first picture" reader_shows 1.raw
    exec 9< /dev/video21
    stop_reader
    wait_for "the camera to be let go" lets_go_of "$camera"
    start_reader 9<&-
    wait_for "the picture" reader_shows 1.raw
    exec 9<&-
    sleep 11 # the camera is let go 5 s after the last reader
    holds "$camera" || fail "the camera was let go under a reader"
    stop_bilatcam
    detail "idle beside another node's program, $(reader_frames) frames to a reader"
}

# What cannot be seen has the node open, perhaps: memory of it is mapped, and its file closed.
on_demand_unknown() {
    modprobe -r v4l2loopback
    modprobe v4l2loopback video_nr=20,21 exclusive_caps=1,1 card_label=bilatcam,other
    "$vm_dir/node.py" map /dev/video21 > mapped.log 2> node.log &
    wait_for "memory of the other node" grep -q mapped mapped.log
    camera_stays auto 'cannot tell whether anybody reads it'
}

# camera_stays WHEN [MESSAGE]: although nobody looks; the message comes once.
camera_stays() {
    local words=${*:2}
    start_camera yuyv 320x180 --on-demand "$1"
    sleep 6.5
    holds "$camera" || fail "the camera was let go"
    ! says 1 ": idle" || fail "the camera was let go for a while"
    [ -z "$words" ] || [ "$(grep -c "$words" bilatcam.log)" = 1 ] || fail "not one line $words"
    stop_bilatcam
    detail "the camera stays"
}

# --- time that passes otherwise ------------------------------------------------------

# late_frames: how many frames of the trace are more than a second old?
late_frames() {
    awk -F, 'NR > 1 && $9 > 1000 { n++ } END { print n + 0 }' trace.csv
}

# Frames that wait in the driver are as old as the pause: at most the newest may be shown, after the
# one that was being filtered.
daemon_stopped() {
    local late
    two_pictures
    watch_pictures -i "$camera" --trace trace.csv
    kill -s STOP "$bilatcam_pid"
    sleep 3
    still_picture 10
    kill -s CONT "$bilatcam_pid"
    wait_for "the new picture" reader_shows 2.raw
    stop_bilatcam
    check_runs '1 ([a-z] )?2'
    late=$(late_frames)
    [ "$late" -le 2 ] || fail "$late old frames were shown"
    [ "$(statistic reconnects)" = 0 ] || fail "the camera was started again"
    detail "$late old frames, 0 reconnects"
}

# jump SECONDS: of the clock that people set.
jump() {
    date -s "@$(($(date +%s) + $1))" > date.log
    wait_for "frames after the jump" reader_has $(($(reader_frames) + 20))
}

# While pictures come, and while the camera is waited for.
clock_jumps() {
    two_pictures
    watch_pictures -i "$camera" --trace trace.csv
    jump +3600
    camera_goes
    jump -7200
    camera_returns replug bind
    jump +3600
    still_picture 10
    wait_for "the new picture" reader_shows 2.raw
    stop_bilatcam
    check_runs '1 [^1]*2'
    [ "$(late_frames)" = 0 ] || fail "$(late_frames) frames are said to be late"
    [ "$(statistic reconnects)" = 1 ] || fail "$(statistic reconnects) reconnects"
    detail "latency $(statistic latency_ms)"
}

# vivid stamps no frame before it is there, so the stamps are made older on their way here: by
# more than those of real cameras are, because everything else is slower here, too.
old_stamps() {
    local library=${bilatcam%/*}/tests/vm/libold-stamps.so
    [ -e "$library" ] || skip "no $library: it is built with the tests"
    LD_PRELOAD=$library OLD_STAMPS_MS=900 check_old_stamps 600 -i "$camera" --format yuyv --size 320x180 --fps 5 --frames 20
}
