# Starting, stopping, dying and coming back, with clients attached.
# shellcheck shell=bash

add restart-under-reader "0.12.7 0.15.0" restart_under_reader
add stuck-node           0.12.7          stuck_node
add stop-sigint          0.15.0          stop INT
add stop-sigterm         "0.12.7 0.15.0" stop TERM
add stop-camera-hangs    0.15.0          stop_camera_hangs
add unplug-replug        0.15.0          unplug_replug

restart_under_reader() {
    local before start
    still_picture
    make_expected yuyv 320x180 yuyv
    start_camera yuyv 320x180
    start_reader
    wait_for "the first picture" reader_shows expected.raw
    start=$(now_ms)
    kill -s KILL "$bilatcam_pid"
    wait_exit bilatcam "$bilatcam_pid" || true
    before=$(reader_frames)
    start_camera yuyv 320x180
    wait_for "frames after the restart" reader_has $((before + 10))
    wait_for "the picture after the restart" reader_shows expected.raw
    start=$(($(now_ms) - start))
    wait_for "more frames" reader_has $((before + 50))
    stop_bilatcam
    detail "reader: $before frames, $start ms until the picture was back, then" \
        "$(($(reader_frames) - before)) frames more"
}

# 0.12.7 leaves the node without any capability when a writer that used write() is gone.
stuck_node() {
    local compared
    ffmpeg -nostdin -v error -f lavfi -i color=size=320x180 -frames:v 3 \
        -pix_fmt yuyv422 -f v4l2 "$loopback" 2> ffmpeg.log
    v4l2-ctl -d "$loopback" -D > node.log
    ! grep -qE 'Video (Capture|Output)' node.log || fail "the node did not get stuck"
    still_picture
    make_expected yuyv 320x180 yuyv
    start_picture yuyv 320x180
    run_client v4l2ctl 320x180 yuyv 40
    compared=$(pixels compare expected.raw client.raw 30)
    stop_bilatcam
    detail "v4l2ctl: $compared"
}

check_statistics() {
    local frames
    frames=$(statistic frames_out)
    [ "$frames" -gt 0 ] || fail "frames_out is $frames"
    detail "status 0, frames_out $frames"
}

# stop SIGNAL
stop() {
    start_camera yuyv 320x180 --on-demand off
    run_client v4l2ctl 320x180 yuyv 20
    stop_bilatcam "$1"
    check_statistics
}

stop_camera_hangs() {
    start_camera yuyv 320x180 --on-demand off
    run_client v4l2ctl 320x180 yuyv 20
    v4l2-ctl -d "$camera" -c percentage_of_dropped_buffers=100
    sleep 2 # so that bilatcam is waiting for a frame; noticed or not, it must stop
    stop_bilatcam
    check_statistics
}

replug() {
    printf 'vivid.0' > "/sys/bus/platform/drivers/vivid/$1"
}

# The camera comes back with another picture, so that it is told from a repeated one.
unplug_replug() {
    local before reconnects
    still_picture 1
    make_expected yuyv 320x180 yuyv
    mv expected.raw after.raw
    still_picture
    make_expected yuyv 320x180 yuyv
    start_camera yuyv 320x180
    start_reader
    wait_for "the first picture" reader_shows expected.raw
    replug unbind
    wait_for "the camera to go" test ! -e "$camera"
    before=$(reader_frames)
    wait_for "frames while there is no camera" reader_has $((before + 2))
    replug bind
    wait_for "the camera to be back" test -e "$camera"
    still_picture 1
    wait_for "the new picture" reader_shows after.raw
    stop_bilatcam
    reconnects=$(statistic reconnects)
    [ "$reconnects" -ge 1 ] || fail "the statistics say $reconnects reconnects"
    detail "reader: $(reader_frames) frames, $reconnects reconnects"
}
