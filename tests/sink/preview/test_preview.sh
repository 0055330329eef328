#!/bin/bash
# test_preview.sh [--wayland] PROGRAM: runs the preview's tests on a display of their own; with
# --wayland in a compositor on that display, with two pixels per unit of length.
# Exit status: PROGRAM's, or 77 where a tool for it is missing.
wayland=
[ "$1" != --wayland ] || { wayland=yes && shift; }
program=$(realpath "$1")
# shellcheck source=tests/lib/checks.sh
. "$(dirname "$0")/../../lib/checks.sh"
need Xvfb import xdotool ${wayland:+weston}

# -noreset: else the server starts again, and is away for a moment, whenever a window closes.
Xvfb -displayfd 3 -noreset -screen 0 1024x768x24 -nolisten tcp 3> display 2> log &
server=$!

# What a test has stopped does not end.
clean_up() { kill -CONT "$server" ${compositor:+"$compositor"} 2> /dev/null; }

wait_until test -s display || bad "no display: $(< log)"
DISPLAY=:$(< display)
XVFB_PID=$server
export DISPLAY XVFB_PID
unset WAYLAND_DISPLAY SDL_VIDEODRIVER

if [ "$wayland" ]; then
    export XDG_RUNTIME_DIR=$dir
    printf '[core]\nidle-time=0\n[output]\nname=X1\nmode=512x384\nscale=2\n' > weston.ini
    weston --backend=x11-backend.so --use-pixman --shell=kiosk-shell.so --output-count=1 \
        --config="$dir/weston.ini" --socket=wayland-test > log 2>&1 &
    compositor=$!
    wait_until test -S wayland-test || bad "no compositor: $(< log)"
    # Before there is a window, which the compositor might not tell of it.
    timeout 5 xdotool search --sync --class weston windowfocus --sync > xdotool.log || bad "no focus"
    export SDL_VIDEODRIVER=wayland WAYLAND_DISPLAY=wayland-test WESTON_PID=$compositor
fi

# SDL unloads the window system's libraries, whose leaks can then not be told from ours, and they
# are not instrumented for threads.
export ASAN_OPTIONS="detect_leaks=0:${ASAN_OPTIONS:-}"
# A thread that waits for a display which has gone is left behind on purpose.
export TSAN_OPTIONS="ignore_noninstrumented_modules=1:report_thread_leaks=0:${TSAN_OPTIONS:-}"

[ "$failed" = 0 ] || leave 1
"$program"
leave $?
