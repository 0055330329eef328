# A screen, and the desktop's portal, which gives programs the cameras of PipeWire. Sourced by test
# scripts after session.sh.
# shellcheck shell=bash
# shellcheck disable=SC2154 # $dir is of checks.sh
portal=/usr/libexec/xdg-desktop-portal
need Xvfb busctl dbus-update-activation-environment
[ -x "$portal" ] && [ -x "$portal-gtk" ] || skip "no $portal with its gtk backend here"
export HOME=$dir XDG_CURRENT_DESKTOP=GNOME
unset WAYLAND_DISPLAY

# start_portal [PROGRAM]: where it asks as one that has a name. The bus starts the portal, and what it
# needs, at the first question. The portal sees the cameras that are there then. It asks a user once
# whether programs may have them, who has said yes here.
start_portal() {
    local store=org.freedesktop.impl.portal.PermissionStore name
    Xvfb -displayfd 3 -noreset -screen 0 640x480x24 -nolisten tcp 3>display 2>xvfb.log &
    wait_for display . || bad "no screen"
    DISPLAY=:$(cat display)
    export DISPLAY
    dbus-update-activation-environment DISPLAY HOME XDG_CURRENT_DESKTOP || bad "the bus's environment"
    for name in "" "$@"; do
        busctl --user call "$store" "/${store//./\/}" "$store" SetPermission sbssas \
            devices true camera "$name" 1 yes || bad "the portal's permissions"
    done
    busctl --user get-property org.freedesktop.portal.Desktop /org/freedesktop/portal/desktop \
        org.freedesktop.portal.Camera IsCameraPresent >present 2>&1
    expect present true "a camera in the portal"
}
