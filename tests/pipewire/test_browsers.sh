#!/bin/bash
# The virtual camera of PipeWire in pages of browsers, which the desktop's portal gives cameras.
# Usage: test_browsers.sh READER BILATCAM PAGE
# shellcheck disable=SC2015 # "A && ok || bad" is right here: ok never fails
page=file://$(realpath "$3")
# shellcheck source=tests/pipewire/session.sh
. "$(dirname "$0")/session.sh"
# shellcheck source=tests/pipewire/portal.sh
. "$here/portal.sh"
need chromium firefox-esr
tries=6 # a browser finds the camera too late now and then, Chromium in every third page
evidence=(browser.log bus.log present said)

# Whether the page has got all that it looks for, or has failed.
has_ended() { grep -q 'page: \(track\|failed\)' browser.log || gone "$browser_pid"; }

# look BROWSER OPTION...: once.
look() {
    local wait_limit=20
    rm -rf profile
    mkdir profile
    : >browser.log
    cat >profile/user.js <<'END'
user_pref("media.navigator.permission.disabled", true);
user_pref("media.webrtc.camera.allow-pipewire", true);
user_pref("devtools.console.stdout.content", true);
END
    "$@" "$page" >browser.log 2>&1 </dev/null &
    browser_pid=$!
    wait_until has_ended
    kill "$browser_pid" 2>/dev/null
    wait "$browser_pid" 2>/dev/null
    grep -q 'page: track' browser.log
}

# sees BROWSER OPTION...: a page gets the camera by its name, with moving pictures of the right size.
sees() {
    local try
    for ((try = 1; try <= tries; try++)); do
        look "$@" && break
        echo "$1, try $try: $(grep -o 'page: failed[^;]*' browser.log || echo "no answer")"
    done
    expect browser.log 'page: camera bilatcam;' "the camera's name in $1"
    expect browser.log 'page: video 320x180;' "the picture's size in $1"
    expect browser.log 'page: moving pixels' "pictures in $1"
    expect browser.log 'page: track 320x180 at 10;' "size and rate in $1"
    awk -F 'page: |;' -v "browser=$1" '/page: / { printf "%s: %s\n", browser, $2 }' browser.log
}

test_chromium() {
    sees chromium --headless=new --no-sandbox --disable-gpu --disable-dev-shm-usage \
        --enable-features=WebRtcPipeWireCamera --use-fake-ui-for-media-stream \
        --user-data-dir="$dir/profile" --enable-logging=stderr
}

test_firefox() { sees firefox-esr --headless --no-remote --profile "$dir/profile"; }

start_session
start_camera -i test: --size 320x180 --fps 10 --filter none -o pipewire:
wait_until camera_is bilatcam || bad "no camera"
start_portal
run_tests
stop_camera
summary
