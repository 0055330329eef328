#!/bin/bash
# The virtual camera of PipeWire in pages of browsers, which the desktop's portal gives cameras.
# Usage: test_browsers.sh READER BILATCAM PAGE
# shellcheck disable=SC2015 # "A && ok || bad" is right here: ok never fails
page=file://$(realpath "$3")
# shellcheck source=tests/pipewire/session.sh
. "$(dirname "$0")/session.sh"
portal=/usr/libexec/xdg-desktop-portal
need Xvfb chromium firefox-esr busctl dbus-update-activation-environment
[ -x "$portal" ] && [ -x "$portal-gtk" ] || skip "no $portal with its gtk backend here"
export HOME=$dir XDG_CURRENT_DESKTOP=GNOME
unset WAYLAND_DISPLAY
tries=6 # a browser finds the camera too late now and then, Chromium in every third page
evidence=(browser.log bus.log present said)

# The bus starts it, and what it needs, at the first question. The portal sees the cameras that are
# there then. It asks a user once whether programs may have them, who has said yes here.
start_portal() {
    local store=org.freedesktop.impl.portal.PermissionStore
    Xvfb -displayfd 3 -noreset -screen 0 640x480x24 -nolisten tcp 3>display 2>xvfb.log &
    wait_for display . || bad "no screen"
    DISPLAY=:$(cat display)
    export DISPLAY
    dbus-update-activation-environment DISPLAY HOME XDG_CURRENT_DESKTOP || bad "the bus's environment"
    busctl --user call "$store" "/${store//./\/}" "$store" SetPermission sbssas \
        devices true camera "" 1 yes || bad "the portal's permissions"
    busctl --user get-property org.freedesktop.portal.Desktop /org/freedesktop/portal/desktop \
        org.freedesktop.portal.Camera IsCameraPresent >present 2>&1
    expect present true "a camera in the portal"
}

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
