#!/bin/bash
# A program that people use cameras with shows the virtual camera of PipeWire.
# Usage: test_programs.sh READER BILATCAM OBS-CONFIGURATION obs|snapshot|cheese
# shellcheck disable=SC2015 # "A && ok || bad" is right here: ok never fails
obs_configuration=$(realpath "$3") program=$4
# shellcheck source=tests/pipewire/session.sh
. "$(dirname "$0")/session.sh"
need "$program" pipewire import
version=$(pipewire --version | sed -n 's/^Linked with libpipewire //p')
[ "${version%%.*}" -ge 1 ] || skip "$program wants a newer PipeWire than $version for cameras"
if [ "$program" = obs ]; then
    need xdotool
    grep -qs pipewire-camera-source /usr/lib/*/obs-plugins/linux-pipewire.so ||
        skip "OBS has no plugin for cameras of PipeWire here"
fi
# shellcheck source=tests/pipewire/portal.sh
. "$here/portal.sh"
evidence=(program.log bus.log said)
wait_limit=120
export LIBGL_ALWAYS_SOFTWARE=1 GSETTINGS_BACKEND=memory QT_QPA_PLATFORM=xcb GDK_BACKEND=x11 NO_AT_BRIDGE=1

# Two seconds of magenta and two of green, which no window is drawn with, over and over.
make_film() {
    mkfifo film.y4m
    python3 - <<'END' &
def frame(y, u, v):
    return b"FRAME\n" + bytes([y]) * (320 * 180) + bytes([u]) * (160 * 90) + bytes([v]) * (160 * 90)
with open("film.y4m", "wb") as film:
    film.write(b"YUV4MPEG2 W320 H180 F5:1 Ip A1:1 C420mpeg2\n")
    while True:
        film.write(frame(106, 202, 222) * 10 + frame(145, 54, 34) * 10)
END
}

# shows RED GREEN BLUE: is a tenth of the screen about so?
shows() {
    import -window root -depth 8 rgb:screen 2>import.log && python3 - "$@" <<'END'
import sys
screen, want = open("screen", "rb").read(), [int(level) for level in sys.argv[1:]]
found = sum(abs(r - want[0]) < 80 and abs(g - want[1]) < 80 and abs(b - want[2]) < 80
            for r, g, b in zip(screen[::3], screen[1::3], screen[2::3]))
sys.exit(found < len(screen) / 3 / 10)
END
}

start_program() {
    "$program" "$@" >>program.log 2>&1 </dev/null &
    program_pid=$!
}

# The scene of tests/vm, with its camera taken from PipeWire.
start_obs() {
    mkdir -p config/obs-studio
    cp -r "$obs_configuration/." config/obs-studio
    sed -i 's/"v4l2_input"/"pipewire-camera-source"/; s|"/dev/video20"|"bilatcam"|' \
        config/obs-studio/basic/scenes/Camera.json
    start_program --multi --collection Camera --profile Camera
}

start_snapshot() { start_program; }

start_cheese() { start_program; }

# shows_camera RED GREEN BLUE: OBS itself crashes at some starts, where cameras come to it, and is
# started again. There is no window manager to put its scene's window before the other.
shows_camera() {
    if [ "$program" = obs ]; then
        if gone "$program_pid"; then
            [ $((starts += 1)) -le 5 ] || return 1
            wait "$program_pid"
            echo "obs ended with status $?, start $starts"
            start_obs
        fi
        xdotool search --name '^Fullscreen Projector' windowraise >xdotool.log 2>&1
    fi
    shows "$@"
}

test_program() {
    local starts=0
    "start_$program"
    wait_until shows_camera 255 0 255 && ok || bad "no magenta in $program"
    wait_until shows_camera 0 255 0 && ok || bad "no green in $program"
    kill "$program_pid"
}

make_film
start_session
start_camera -i film.y4m --filter none --threads 1 -o pipewire:
wait_until camera_is bilatcam || bad "no camera"
start_portal com.obsproject.Studio org.gnome.Snapshot org.gnome.Cheese
run_tests
stop_camera
summary
