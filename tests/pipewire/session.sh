# A session with PipeWire and no hardware: daemon, session manager and bus of its own. Sourced by test
# scripts whose first arguments are reader and bilatcam.
# shellcheck shell=bash
# shellcheck disable=SC2015,SC2154 # "A && ok || bad" is right here: ok never fails; $camera is of the script
reader=$(realpath "$1") bilatcam=$(realpath "$2")
# shellcheck source=tests/lib/checks.sh
. "$(dirname "$0")/../lib/checks.sh"
need pipewire wireplumber dbus-daemon pw-dump python3
evidence+=(said camera.log)

# Nothing of the machine and of its user's session is touched.
mkdir -m 700 run state config data
export XDG_RUNTIME_DIR=$dir/run XDG_STATE_HOME=$dir/state
export XDG_CONFIG_HOME=$dir/config XDG_DATA_HOME=$dir/data
export DBUS_SESSION_BUS_ADDRESS=unix:path=$dir/run/bus DBUS_SYSTEM_BUS_ADDRESS=unix:path=$dir/none
unset PIPEWIRE_REMOTE PIPEWIRE_RUNTIME_DIR PIPEWIRE_DEBUG NOTIFY_SOCKET
camera_pid='' pipewire_pid='' wireplumber_pid=''

dbus-daemon --session --nofork --nopidfile --address="$DBUS_SESSION_BUS_ADDRESS" >bus.log 2>&1 &
wait_until test -S run/bus || bad "no bus"

start_pipewire() {
    pipewire >>pipewire.log 2>&1 &
    pipewire_pid=$!
    wait_until connects || bad "no PipeWire"
}

connects() { pw-dump >/dev/null 2>&1; }

start_wireplumber() {
    wireplumber >>wireplumber.log 2>&1 &
    wireplumber_pid=$!
    wait_until manages_session || bad "no WirePlumber"
}

manages_session() { pw-dump 2>/dev/null | grep -q '"application.name": "WirePlumber"'; }

start_session() {
    start_pipewire
    start_wireplumber
}

# end_session [SIGNAL]
end_session() {
    # shellcheck disable=SC2086 # one number each
    kill "-${1:-KILL}" $wireplumber_pid $pipewire_pid
    # shellcheck disable=SC2086
    wait $wireplumber_pid $pipewire_pid 2>/dev/null
}

# start_camera OPTION...: of bilatcam, which says it in the file said, until it runs.
start_camera() {
    : >said
    "$bilatcam" "$@" >out 2>said </dev/null &
    camera_pid=$!
    wait_for said ' -> ' || bad "bilatcam does not start"
}

# A scene that lets a slow machine keep up.
scene=(-i test:noise=8 --fps 30 --size 64x48 --filter none --threads 1)

stop_camera() {
    kill "$camera_pid"
    wait "$camera_pid" && ok || bad "exit status $? of bilatcam"
    expect_not said 'forced exit' "a stop"
}

# expect_not FILE PATTERN WHAT
expect_not() { ! grep -qsE -- "$2" "$1" && ok || bad "$3: '$2' in $1"; }

# gets N [OPTION...]: a reader gets so many pictures, in order, and says so in the file got.
gets() {
    timeout 100 "$reader" bilatcam --pictures "$@" >got 2>&1 </dev/null &&
        ! grep -qE 'not later|no header|no picture' got && ok || {
        bad "a reader gets $1 pictures"
        grep -E "not later|no header|no pict" got | head -3; tail -n 3 got
    }
}

# start_reader NAME [OPTION...]: in the background, until it has the first picture; it says in the file
# NAME what it gets. Its process is $reader_pid.
start_reader() {
    "$reader" bilatcam "${@:2}" >"$1" 2>&1 </dev/null &
    reader_pid=$!
    wait_for "$1" '^picture 1$' || bad "the reader $1 gets no picture: $(tail -n 3 "$1")"
}

# end_reader [PID]: at once, also one that is stopped.
end_reader() {
    kill -KILL "${1:-$reader_pid}" 2>/dev/null
    wait "${1:-$reader_pid}" 2>/dev/null # or the shell says so
}

# property NAME: of the cameras, a line each.
property() {
    pw-dump | python3 -c 'import json, sys
for o in json.load(sys.stdin):
    p = (o.get("info") or {}).get("props") or {}
    if p.get("media.class") == "Video/Source" and p.get("node.name", "").startswith("bilatcam"):
        print(p.get(sys.argv[1]))' "$1"
}

# camera_is NAME: there is one node, so called.
camera_is() { [ "$(property node.name)" = "$1" ]; }

descriptors() { find "/proc/$camera_pid/fd" -type l | wc -l; }

# has_descriptors N: at most.
has_descriptors() { [ "$(descriptors)" -le "$1" ]; }

# expect_growth FILE
expect_growth() {
    grown_from=$(stat -c %s "$1")
    wait_until grown "$1" && ok || bad "$1 does not grow"
}
grown() { [ "$(stat -c %s "$1")" -gt $((grown_from + 50000)) ]; }

# --- cameras of others ---

# plug_in NAME [ARGUMENT...]: the camera $camera (camera.c), in the background, with its standard input
# in descriptor 7. The pipe is new: in the old one, which others have inherited, may be what a camera
# did not read.
plug_in() {
    rm -f commands
    mkfifo commands
    "$camera" "$@" <commands >camera.log 2>&1 &
    plugged_pid=$! plugged_name=$1
    exec 7>commands
    wait_until has_node "$1" && ok || { cat camera.log; bad "no camera $1"; leave 1; }
}

has_node() { pw-dump 2>/dev/null | grep -q "\"node.name\": \"$1\""; }
lacks_node() { ! has_node "$1"; }

# tell COMMAND...: the camera, which may have ended with its daemon.
tell() { echo "$*" >&7; } 2>/dev/null
trap '' PIPE

unplug() {
    tell quit
    exec 7>&-
    wait "$plugged_pid" 2>/dev/null
    wait_until lacks_node "$plugged_name" || bad "$plugged_name stays"
}

# make_pictures FILE BYTES N: that are all different.
make_pictures() {
    python3 -c 'import random, sys
r = random.Random(7)
open(sys.argv[1], "wb").write(r.randbytes(int(sys.argv[2]) * int(sys.argv[3])))' "$@"
}
