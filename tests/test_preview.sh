#!/bin/bash
# test_preview.sh PROGRAM: runs the preview's tests on a display of their own.
# Exit status: PROGRAM's, or 77 where a tool for it is missing.
set -euo pipefail

for tool in Xvfb import xdotool; do
    command -v "$tool" > /dev/null || {
        echo "skipped: no $tool here"
        exit 77
    }
done

work=$(mktemp -d)
# -noreset: else the server starts anew, and is away for a moment, whenever a window closes.
Xvfb -displayfd 3 -noreset -screen 0 1024x768x24 -nolisten tcp 3> "$work/display" 2> "$work/log" &
server=$!
trap 'kill -CONT $server; kill $server; wait $server || true; rm -rf "$work"' EXIT

for _ in $(seq 100); do
    [ -s "$work/display" ] && break
    sleep 0.1
done
[ -s "$work/display" ] || {
    cat "$work/log"
    exit 1
}

# SDL unloads the window system's libraries, whose leaks can then not be told from ours, and they
# are not instrumented for threads.
export ASAN_OPTIONS="detect_leaks=0:${ASAN_OPTIONS:-}"
export TSAN_OPTIONS="ignore_noninstrumented_modules=1:${TSAN_OPTIONS:-}"

unset WAYLAND_DISPLAY SDL_VIDEODRIVER
DISPLAY=:$(cat "$work/display") XVFB_PID=$server "$@"
