#!/bin/bash
# test_preview.sh [--wayland] PROGRAM: runs the preview's tests on a display of their own; with
# --wayland in a compositor on that display, with two pixels per unit of length.
# Exit status: PROGRAM's, or 77 where a tool for it is missing.
set -euo pipefail

tools="Xvfb import xdotool"
wayland=
if [ "$1" = --wayland ]; then
    wayland=yes
    tools+=" weston"
    shift
fi
for tool in $tools; do
    command -v "$tool" > /dev/null || {
        echo "skipped: no $tool here"
        exit 77
    }
done

work=$(mktemp -d)
# -noreset: else the server starts anew, and is away for a moment, whenever a window closes.
Xvfb -displayfd 3 -noreset -screen 0 1024x768x24 -nolisten tcp 3> "$work/display" 2> "$work/log" &
server=$!
compositor=
# What a test has ended already is no failure.
trap '{ kill -CONT $server; kill $compositor $server; wait; } 2> /dev/null || true
      rm -rf "$work"' EXIT

# wait_for FILE-OR-SOCKET
wait_for() {
    for _ in $(seq 100); do
        [ -s "$1" ] || [ -S "$1" ] && return
        sleep 0.1
    done
    cat "$work/log"
    exit 1
}

wait_for "$work/display"
DISPLAY=:$(cat "$work/display")
XVFB_PID=$server
export DISPLAY XVFB_PID
unset WAYLAND_DISPLAY SDL_VIDEODRIVER

if [ "$wayland" ]; then
    export XDG_RUNTIME_DIR=$work
    printf '[core]\nidle-time=0\n[output]\nname=X1\nmode=512x384\nscale=2\n' > "$work/weston.ini"
    weston --backend=x11-backend.so --use-pixman --shell=kiosk-shell.so --output-count=1 \
        --config="$work/weston.ini" --socket=wayland-test > "$work/log" 2>&1 &
    compositor=$!
    wait_for "$work/wayland-test"
    # Before there is a window, which the compositor might not tell of it.
    timeout 5 xdotool search --sync --class weston windowfocus --sync > "$work/log"
    export SDL_VIDEODRIVER=wayland WAYLAND_DISPLAY=wayland-test WESTON_PID=$compositor
fi

# SDL unloads the window system's libraries, whose leaks can then not be told from ours, and they
# are not instrumented for threads.
export ASAN_OPTIONS="detect_leaks=0:${ASAN_OPTIONS:-}"
# A thread that waits for a display which has gone is left behind on purpose.
export TSAN_OPTIONS="ignore_noninstrumented_modules=1:report_thread_leaks=0:${TSAN_OPTIONS:-}"

"$@"
