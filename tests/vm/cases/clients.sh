# Programs that people use the virtual camera with. `tools/test --only clients` installs them.
# shellcheck shell=bash

add compliance "0.12.7 0.15.0 clients" compliance
add chromium   clients                 page chromium 320x180 at 10
add firefox    clients                 page firefox-esr
add obs        clients                 obs_scene

# need_client PROGRAM...
need_client() {
    local program
    for program; do
        command -v "$program" > /dev/null || skip "no $program here: tools/test --only clients"
    done
    wait_limit=900
    export HOME=$PWD XDG_RUNTIME_DIR=$PWD
}

# It asks for everything that the node's driver has, while pictures are written to it. What it finds
# is the driver's; the pictures must go on.
compliance() {
    start_camera yuyv 320x180
    v4l2-compliance -d "$loopback" > compliance.log 2>&1 || true
    grep -q '^Total for v4l2 loopback' compliance.log || fail "v4l2-compliance ended early"
    run_client ffmpeg 320x180 yuyv 30
    stop_bilatcam
    detail "$(sed -n 's/^Total for v4l2 loopback device [^:]*: //p' compliance.log);" \
        "failed: $(sed -n 's/.*test \(.*\): FAIL$/\1/p' compliance.log | paste -s -d ';')"
}

# told PATTERN: what the page in clients/camera.html has said.
told() {
    ! grep -q 'page: failed' browser.log || fail "$(grep -o 'page: failed[^;]*' browser.log)"
    grep -qE "page: $1;" browser.log
}

start_chromium() {
    chromium --headless=new --no-sandbox --disable-gpu --disable-dev-shm-usage \
        --use-fake-ui-for-media-stream --user-data-dir="$PWD/profile" --enable-logging=stderr \
        "$1" > browser.log 2>&1 &
}

start_firefox-esr() {
    mkdir profile
    cat > profile/user.js << 'END'
user_pref("media.navigator.permission.disabled", true);
user_pref("devtools.console.stdout.content", true);
END
    firefox-esr --headless --no-remote --profile profile "$1" > browser.log 2>&1 &
}

# page BROWSER [TRACK]: a page gets the camera by its name, and pictures in which something moves.
# Of the track, Firefox says what it asked for and not what came. The processor is left to the
# browser: no filter, and no other camera that it would rather take.
page() {
    local track=${*:2}
    need_client "$1"
    modprobe -r vivid
    settings=(--filter none)
    start_bilatcam -i test: --size 320x180 --fps 10 -o "$loopback"
    wait_for "the virtual camera" is_camera 320x180
    "start_$1" "file://$vm_dir/clients/camera.html"
    wait_for "a page in $1" told 'track .*'
    told 'camera .*bilatcam.*' || fail "the camera's name: $(grep -m 1 'page: camera' browser.log)"
    told 'video 320x180' || fail "the picture's size: $(grep -m 1 'page: video' browser.log)"
    told "track ${track:-.*}" || fail "size and rate: $(grep -m 1 'page: track' browser.log)"
    detail "$("$1" --version 2> version.log | head -n 1):" \
        "$(awk -F 'page: |;' '/page: / && !seen[$2]++ { print $2 }' browser.log | paste -s -d ';')"
}

# shows_scene PICTURE: does the screen, which is a scene's, show this file? There is no window
# manager to put the scene's window before the others. The two pictures are 13 dB apart; OBS, as Mesa
# draws it here, moves some edges by a pixel.
shows_scene() {
    DISPLAY=:7 xdotool search --name '^Fullscreen Projector' windowraise > xdotool.log 2>&1 ||
        return 1
    DISPLAY=:7 import -window root screen.png 2> import.log || return 1
    decibels=$(compare -metric PSNR "$1" screen.png null: 2>&1) || true
    python3 -ISc 'import sys; sys.exit(float(sys.argv[1]) < 20)' "$decibels" 2> psnr.log
}

# OBS shows what the camera shows, and the next picture too. It waits for a picture no longer than
# five should take, hence so few a second. Mesa's compiler and the emulated processor are no friends.
obs_scene() {
    local picture said
    need_client obs Xvfb xdotool import
    export GALLIUM_DRIVER=softpipe LIBGL_ALWAYS_SOFTWARE=1 QT_QPA_PLATFORM=xcb
    two_pictures
    for picture in 1 2; do
        ffmpeg -nostdin -v error -f rawvideo -pixel_format yuyv422 -video_size 320x180 \
            -i "$picture.raw" -y "$picture.png" 2> ffmpeg.log
    done
    start_picture yuyv 320x180 --fps 5
    mkdir .config
    cp -r "$vm_dir/clients/obs" .config/obs-studio
    Xvfb :7 -screen 0 320x180x24 > xvfb.log 2>&1 &
    wait_for "a screen" test -S /tmp/.X11-unix/X7
    DISPLAY=:7 obs --multi --collection Camera --profile Camera > obs.log 2>&1 &
    wait_for "the scene in OBS" shows_scene 1.png
    said="$decibels dB to the camera's own picture"
    still_picture 10
    wait_for "the next picture in OBS" shows_scene 2.png
    detail "$(obs --version 2> version.log | tail -n 1): $said, $decibels dB to the next"
}
