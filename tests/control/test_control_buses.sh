#!/bin/bash
# The daemon's ties to buses that come and go, to a logind and to a systemd that are made up.
# Usage: test_control_buses.sh CONTROL-HOST BILATCAMCTL CONTROL-LOGIND BILATCAM
# shellcheck disable=SC2015 # "A && ok || bad" is right here: ok never fails
logind=$(realpath "$3") bilatcam=$(realpath "$4") here=$(realpath "$(dirname "$0")")
# shellcheck source=tests/lib/control_lib.sh
. "$(dirname "$0")/../lib/control_lib.sh"

wait_for_socket() { # at most 10 s
    for _ in $(seq 100); do
        [ -S "$1" ] && return
        sleep 0.1
    done
    bad "no socket $1"
}

# Ticks of processor time that the daemon has used.
ticks() { awk '{ print $14 + $15 }' "/proc/$host_pid/stat"; }

test_no_bus() {
    local address
    DBUS_SESSION_BUS_ADDRESS=unix:path=$dir/none start_host
    tell ready
    expect host.err 'no session bus \(No such file' 'no bus'
    stop_host
    DBUS_SESSION_BUS_ADDRESS=nonsense start_host
    tell ready
    expect host.err 'no session bus' 'no bus'
    stop_host
    for address in unix:path=none "unix:path=/$(printf '%8000s' '' | tr ' ' x)"; do
        DBUS_SESSION_BUS_ADDRESS=$address start_host
        tell ready
        stop_host
    done
    (unset DBUS_SESSION_BUS_ADDRESS && exec "$host" </dev/null) 2>err && ok || bad "no address"
    expect err 'no session bus \(No medium' 'no address'
}

# One that takes connections and says nothing, or loses a request, must not hold the daemon up.
test_silent_bus() {
    python3 -c 'import socket, time
s = socket.socket(socket.AF_UNIX); s.bind("mute"); s.listen(); time.sleep(600)' &
    started+=($!)
    wait_for_socket mute
    DBUS_SESSION_BUS_ADDRESS=unix:path=$dir/mute start_host
    tell ready
    stop_host

    python3 -c 'import socket, select
s = socket.socket(socket.AF_UNIX); s.bind("deaf"); s.listen()
daemon, _ = s.accept(); bus = socket.socket(socket.AF_UNIX); bus.connect("session")
while True:
    for ready in select.select([daemon, bus], [], [])[0]:
        data = ready.recv(65536)
        if not data: exit()
        if b"RequestName" in data: # what begins a message is before it
            data = data[:data.rfind(b"l\1", 0, data.find(b"RequestName"))]
        (bus if ready is daemon else daemon).sendall(data)' &
    started+=($!)
    wait_for_socket deaf
    DBUS_SESSION_BUS_ADDRESS=unix:path=$dir/deaf SYSTEMD_BUS_TIMEOUT=1s start_host
    wait_for host.err 'timed out; no live control' && ok || bad "a bus that does not answer"
    tell ready
    stop_host
}

test_dying_bus() {
    local before status watch
    start_bus dying
    DBUS_SESSION_BUS_ADDRESS=unix:path=$dir/dying start_host
    on_the_bus $name
    DBUS_SESSION_BUS_ADDRESS=unix:path=$dir/dying "$ctl" watch >out 2>watch.err 9>&- &
    watch=$!
    wait_for out '^state' || bad "watch"
    stop "$bus_pid"
    wait_for host.err 'the session bus is gone' && ok || bad "a bus that dies"
    wait "$watch"
    status=$?
    [ "$status" -eq 1 ] && ok || bad "exit status $status of watch when the bus dies: $(cat watch.err)"
    expect watch.err '^bilatcamctl: session bus: ' 'watch when the bus dies'
    before=$(ticks)
    sleep 1
    [ $(($(ticks) - before)) -lt 50 ] && ok || bad "busy after the bus died"
    tell ready
    tell 'radius 6'
    tell notify
    [ "$(grep -c 'session bus' host.err)" = 2 ] && ok || bad "lines about a bus that died"
    stop_host
}

# How many lines of the daemon's log match.
lines() { grep -cE -- "$1" host.err; }

descriptors() { find "/proc/$host_pid/fd" -type l | wc -l; }

# Whether the daemon waits for a file to appear. Between two attempts it looks elsewhere for a moment.
starts_to_watch() {
    for _ in $(seq 100); do
        ! watches || return 0
        sleep 0.07
    done
    return 1
}

watches() { grep -qs ^inotify "/proc/$host_pid"/fdinfo/*; }

# use_all_of_it VALUE: calls, properties and signals.
use_all_of_it() {
    local watch
    timeout 60 "$ctl" watch >watched 2>watch.err 8>&- 9>&- &
    watch=$!
    wait_for watched '^state = running$' && ok || bad "watch"
    run 0 "$ctl" set radius "$1"
    wait_for watched "^radius = $1$" && ok || bad "a change that is told"
    [ "$(property Radius)" = "i $1" ] && ok || bad "Radius"
    run 0 "$ctl" snapshot
    expect out '^/pictures/the-time.png$' snapshot
    kill "$watch"
    wait "$watch"
}

# The bus dies while somebody waits for a picture.
forget_a_snapshot() {
    local waiting
    "$ctl" snapshot slow >out 2>err 8>&- 9>&- &
    waiting=$!
    wait_for host.out '^snapshot slow$' && ok || bad "a slow snapshot"
    stop "$bus_pid"
    wait "$waiting" && bad "a snapshot without a bus" || ok
    wait_for host.err 'bus is gone' 51 && ok || bad "gone"
    start_bus again
    on_the_bus $name 52
    refused 1 'another one is being written' snapshot dog
    tell snapshot
    run 0 "$ctl" snapshot cat
    expect out '^/pictures/cat.png$' 'another snapshot'
}

# A bus that comes after the daemon, goes and comes again, many times.
test_bus_comes_again() {
    local -x DBUS_SESSION_BUS_ADDRESS=unix:path=$dir/again DBUS_SYSTEM_BUS_ADDRESS=none
    local before i
    start_host
    wait_for host.err 'no session bus' && ok || bad "no bus"
    starts_to_watch && ok || bad "does not watch for the bus"
    start_bus again
    on_the_bus $name
    watches && bad "watches with a bus" || ok
    use_all_of_it 7
    before=$(descriptors)
    for i in $(seq 50); do
        stop "$bus_pid"
        wait_for host.err 'bus is gone' "$i" || break
        start_bus again
        wait_for host.err 'live control as' $((i + 1)) || break
    done
    [ "$i" = 50 ] && ok || bad "not back after restart $i"
    use_all_of_it 8
    [ "$(descriptors)" = "$before" ] && ok || bad "$before descriptors, then $(descriptors)"
    forget_a_snapshot
    [ "$(lines 'session bus')" = 104 ] && ok || bad "$(lines 'session bus') lines about the bus"
    stop "$bus_pid"
    wait_for host.err 'bus is gone' 52
    sleep 1
    [ "$(lines 'session bus')" = 105 ] && ok || bad "$(lines 'session bus') lines at last"
    stop_host
}

# A socket that appears is noticed before the next attempt would be made anyway, which is 3 s after
# the last one here. A machine that is busy may miss that once or twice.
test_bus_noticed_at_once() {
    local -x DBUS_SESSION_BUS_ADDRESS=unix:path=$dir/soon
    local start best=9999999
    for _ in 1 2 3; do
        start_host
        wait_for host.err 'no session bus'
        sleep 3.3 # attempts after 0.1, 0.3, 0.7, 1.5, 3.1 and 6.3 s
        start=$(date +%s%3N)
        start_bus soon
        wait_for host.err 'live control'
        start=$(($(date +%s%3N) - start))
        stop_host
        stop "$bus_pid"
        rm soon
        [ "$start" -ge "$best" ] || best=$start
        [ "$best" -ge 2000 ] || break
    done
    [ "$best" -lt 2000 ] && ok || bad "noticed only after $best ms"
}

# Where the socket's folder is not there yet, or is another one later.
test_folder_comes_later() {
    start_host_there() {
        (unset DBUS_SESSION_BUS_ADDRESS && XDG_RUNTIME_DIR=$dir/later exec "$host" >host.out \
            2>host.err <host.in 8>&- 9>&-) &
    }
    rm -f host.in
    mkfifo host.in
    start_host_there
    host_pid=$!
    exec 9>host.in
    wait_for host.err 'no session bus \(No such file' && ok || bad "no folder"
    mkdir later
    start_bus bus "unix:path=$dir/later/bus"
    on_the_bus $name
    stop "$bus_pid"
    wait_for host.err 'bus is gone' && ok || bad "gone"
    rm -r later
    mkdir later
    start_bus bus "unix:path=$dir/later/bus"
    on_the_bus $name 2
    stop "$bus_pid"
    stop_host
}

# A bus that hangs up is tried after longer and longer pauses, whatever else happens in its folder:
# at once, and after 0.1, 0.3, 0.7, 1.5 and 3.1 s.
test_bus_that_hangs_up() {
    local -x DBUS_SESSION_BUS_ADDRESS=unix:path=$dir/rude
    local i
    python3 -u -c 'import socket
s = socket.socket(socket.AF_UNIX); s.bind("rude"); s.listen()
while True: print(s.accept()[0].close())' >calls &
    started+=($!)
    wait_for_socket rude
    start_host
    for i in $(seq 30); do
        touch "file$i"
        sleep 0.1
    done
    stop_host
    [ "$(wc -l <calls)" -ge 2 ] && [ "$(wc -l <calls)" -le 8 ] && ok || bad "$(wc -l <calls) calls"
    [ "$(lines 'session bus')" = 1 ] && ok || bad "$(lines 'session bus') lines about a rude bus"
}

# An address that is no file: only attempts tell whether it is there.
test_abstract_address() {
    local -x DBUS_SESSION_BUS_ADDRESS=unix:abstract=$dir DBUS_SYSTEM_BUS_ADDRESS=none
    start_host
    wait_for host.err 'no session bus \(Connection refused' && ok || bad "no bus"
    watches && bad "watches for what is no file" || ok
    start_bus abstract "$DBUS_SESSION_BUS_ADDRESS"
    on_the_bus $name
    stop "$bus_pid"
    wait_for host.err 'bus is gone' && ok || bad "gone"
    start_bus abstract "$DBUS_SESSION_BUS_ADDRESS"
    on_the_bus $name 2
    stop_host
    stop "$bus_pid"
}

# A bus that lets nobody have the name, until it is told to.
test_name_refused() {
    local -x DBUS_SESSION_BUS_ADDRESS=unix:path=$dir/strict
    local before
    start_bus strict '' "<deny own='$name'/>"
    start_host
    wait_for host.err "name '$name': .*no live control" && ok || bad "refused"
    before=$(descriptors)
    sleep 1
    [ "$(lines 'session bus')" = 1 ] && ok || bad "$(lines 'session bus') lines about one refusal"
    write_bus_conf strict
    kill -HUP "$bus_pid"
    on_the_bus $name
    run 0 "$ctl" get radius
    # One more if there was no connection just then.
    [ "$(descriptors)" -le $((before + 1)) ] && ok || bad "$before descriptors, then $(descriptors)"
    stop_host
    stop "$bus_pid"
}

# start_logind [refuse]: lines for it go to descriptor 8.
start_logind() {
    rm -f logind.in logind.out
    mkfifo logind.in
    "$logind" "$@" <logind.in >logind.out 2>logind.err 9>&- &
    logind_pid=$!
    started+=("$logind_pid")
    exec 8>logind.in
    wait_for logind.out '^ready$' || bad "logind: $(cat logind.err)"
}

stop_logind() {
    stop "$logind_pid"
    exec 8>&-
}

count() { grep -cE -- "$2" "$1"; }

# The machine must not sleep before the camera is off; that it sleeps after a while anyway is
# another matter, and may happen here when the machine is busy.
check_order() {
    local i=0 early late=1
    while [ "$late" != 0 ] && [ "$i" -lt 5 ]; do
        i=$((i + 1))
        late=$(lines 'in time')
        echo 1 >&8
        wait_for host.out '^sleep 1' "$i" && ok || bad "sleep"
        tell notify
        tell progress
        early=$(count logind.out '^released')
        tell 'camera off'
        tell notify
        wait_for logind.out '^released' "$i" && ok || bad "the machine cannot sleep"
        late=$(($(lines 'in time') - late))
        echo 0 >&8
        wait_for host.out '^sleep 0' "$i" && ok || bad "wake"
        wait_for logind.out '^inhibitor' $((i + 1)) && ok || bad "not taken again"
        tell notify # the camera is a little late
        tell 'camera on'
        tell notify
    done
    n_slept=$i
    [ "$late" = 0 ] && ok || bad "that the camera is off is not told"
    [ "$early" = $((i - 1)) ] && ok || bad "the machine sleeps while the camera is on"
    [ "$(count logind.out '^released')" = "$i" ] && ok || bad "released while awake"
}

test_sleep() {
    local n
    start_bus system
    export DBUS_SYSTEM_BUS_ADDRESS=unix:path=$dir/system
    start_logind
    start_host
    on_the_bus $name
    wait_for logind.out '^inhibitor sleep delay bilatcam$' && ok || bad "no inhibitor"
    # Anybody may send such a signal; only logind's counts.
    run 0 busctl --system emit /org/freedesktop/login1 org.freedesktop.login1.Manager \
        PrepareForSleep b true
    check_order
    n=$((n_slept + 1))

    # A camera that hangs does not keep the machine awake.
    echo 1 >&8
    wait_for logind.out '^released' "$n" && ok || bad "a camera that hangs"
    expect host.err 'camera not released in time: suspending anyway' 'a camera that hangs'
    echo 0 >&8
    wait_for logind.out '^inhibitor' $((n + 1)) && ok || bad "not taken again"

    # Without the bus nobody would wake the daemon.
    echo 1 >&8
    wait_for host.out '^sleep 1' $((n + 1)) && ok || bad "sleep"
    stop "$bus_pid"
    wait_for host.err 'system bus is gone' && ok || bad "the system bus dies"
    wait_for host.out '^sleep 0' $((n + 1)) && ok || bad "asleep for ever"
    wait_for logind.out '^released' $((n + 1)) && ok || bad "holds sleep up without a bus"
    run 0 "$ctl" get radius
    [ "$(count host.out '^sleep')" = $((2 * n + 2)) ] && ok || bad "what other senders say counts"
    stop_logind
    stop_host
}

# Lost and found again, by a daemon that runs.
test_system_bus_comes_again() {
    local before i
    start_host
    wait_for host.err 'no system bus' && ok || bad "no system bus"
    sleep 1
    [ "$(lines 'system bus')" = 1 ] && ok || bad "$(lines 'system bus') lines about no system bus"
    for i in 1 2 3; do
        start_bus system
        start_logind
        wait_for logind.out '^inhibitor' && ok || bad "no inhibitor of bus $i"
        [ "$i" != 1 ] || before=$(descriptors)
        echo 1 >&8
        wait_for host.out '^sleep 1' "$i" && ok || bad "sleep on bus $i"
        echo 0 >&8
        wait_for host.out '^sleep 0' "$i" && ok || bad "wake on bus $i"
        wait_for logind.out '^(inhibitor|released)' 1 && ok || bad "not taken again"
        [ "$(descriptors)" = "$before" ] && ok || bad "$before descriptors, then $(descriptors)"
        stop "$bus_pid"
        stop_logind
        wait_for host.err 'system bus is gone' "$i" && ok || bad "bus $i dies"
    done
    stop_host

    start_bus system
    start_logind refuse
    start_host
    wait_for host.err 'sleep does not wait for the camera: not today' && ok || bad "refusal"
    echo 1 >&8
    wait_for host.out '^sleep 1' && ok || bad "sleep without an inhibitor"
    echo 0 >&8
    wait_for logind.out '^refused' 2 && ok || bad "not asked again"
    stop_logind
    stop_host
}

# start_bilatcam: the program itself, a scene for a camera.
start_bilatcam() {
    XDG_PICTURES_DIR=$dir "$bilatcam" --verbose --set on-demand=off -i test: --fps 20 \
        --size 64x48 -o null: >host.out 2>host.err 8>&- 9>&- &
    host_pid=$!
}

# Each after the one before, so that each would take the whole second between two looks.
check_answered_at_once() {
    local start best=9999999
    for _ in 1 2 3 4 5; do
        start=$(date +%s%3N)
        run 0 "$ctl" snapshot
        start=$(($(date +%s%3N) - start))
        [ "$start" -ge "$best" ] || best=$start
    done
    [ "$best" -lt 700 ] && ok || bad "a snapshot takes $best ms at least"
}

test_program() {
    start_logind
    start_bilatcam
    on_the_bus $name
    wait_for logind.out '^inhibitor' && ok || bad "no inhibitor"
    wait_for host.err ' running$|^bilatcam: ' && ok || bad "does not run"
    "$ctl" watch >watched 2>watch.err 8>&- 9>&- &
    wait_for watched '^state = running$' && ok || bad "does not run"
    echo 1 >&8
    wait_for logind.out '^released' && ok || bad "the machine cannot sleep"
    grep -q 'in time' host.err && bad "the camera does not tell that it is off" || ok
    wait_for watched '^state = asleep$' && ok || bad "not asleep"
    run 1 "$ctl" snapshot
    expect err 'there are no pictures now|built without libpng' 'no pictures'
    echo 0 >&8
    wait_for watched '^state = running$' 2 && ok || bad "does not run again"
    wait_for logind.out '^inhibitor' 2 && ok || bad "not taken again"
    if "$ctl" snapshot cat >out 2>err; then
        expect out "^$dir/cat-after.png$" snapshot
        [ "$(head -c 4 cat-before.png | tail -c 3)" = PNG ] && ok || bad "no PNG"
        refused 1 "no snapshot 'cat' in '$dir': File exists" snapshot cat
        check_answered_at_once
    else
        expect err 'built without libpng' snapshot
    fi
    refused 1 'the name has 70 bytes, at most 64 are allowed' snapshot "$(printf '%070d' 0)"
    kill "$host_pid"
    wait "$host_pid" && ok || bad "exit status $? of bilatcam"
    host_pid=''
    stop_logind
    stop "$bus_pid"
    export DBUS_SYSTEM_BUS_ADDRESS=unix:path=$dir/none
}

# start_systemd: what the daemon notifies goes to the file notified, a line each.
start_systemd() {
    rm -f notify
    : >notified
    python3 -u -c 'import socket
s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM); s.bind("notify")
while True: print(s.recv(4096).decode().replace("\n", "|"))' >notified &
    systemd_pid=$!
    started+=("$systemd_pid")
    wait_for_socket notify
    export NOTIFY_SOCKET=$dir/notify
}

# notified N PATTERN: the daemon said such a thing N times. It has been waited for what it said
# last.
notified() {
    [ "$(grep -cE -- "$2" notified)" = "$1" ] && ok || bad "not $1 times '$2': $(xargs <notified)"
}

test_systemd() {
    start_systemd
    WATCHDOG_USEC=600000000 start_host # fed every 5 minutes at most
    on_the_bus $name
    tell 'reloading 1' # before it is ready
    tell ready
    tell ready
    wait_for notified '^READY=1$' && ok || bad "READY"
    wait_for notified '^STATUS=running, [0-9.]+ frames/s, latency 12\.5 ms, 2\.5 ms of it added, radius [0-9]+ of [0-9]+$' && ok || bad "STATUS"
    notified 1 READY
    notified 0 RELOADING
    notified 0 WATCHDOG
    for _ in 1 2 3 4 5; do tell progress; done
    tell 'reason no camera here'
    tell 'state waiting'
    tell notify
    tell notify
    wait_for notified '^STATUS=waiting: no camera here$' && ok || bad "STATUS with a reason"
    notified 1 '^WATCHDOG=1$'
    notified 1 '^STATUS=waiting'
    "$ctl" pause
    wait_for notified '^STATUS=paused' && ok || bad "STATUS of a pause"
    tell 'reloading 1'
    tell 'reloading 0'
    wait_for notified '^READY=1$' 2 && ok || bad "READY after a reload"
    notified 1 '^RELOADING=1\|MONOTONIC_USEC=[0-9]+$'
    notified 0 STOPPING
    stop_host
    wait_for notified '^STOPPING=1$' && ok || bad "STOPPING"

    : >notified
    WATCHDOG_USEC=2 start_host # any progress feeds it, and nothing else
    tell ready
    tell 'state waiting'
    tell notify
    wait_for notified STATUS=waiting && ok || bad "STATUS"
    notified 0 WATCHDOG
    for _ in 1 2 3; do tell progress; done
    stop_host
    wait_for notified '^STOPPING=1$'
    notified 3 '^WATCHDOG=1$'

    : >notified
    start_host # no watchdog
    tell ready
    for _ in 1 2 3; do tell progress; done
    stop_host
    wait_for notified '^STOPPING=1$'
    notified 0 WATCHDOG
    kill "$systemd_pid"
    unset NOTIFY_SOCKET
}

# shellcheck source=tests/control/control_program.sh
. "$here/control_program.sh"

test_no_bus
test_silent_bus
test_dying_bus
test_bus_comes_again
test_bus_noticed_at_once
test_folder_comes_later
test_bus_that_hangs_up
test_abstract_address
test_name_refused
test_systemd
test_sleep
test_system_bus_comes_again
test_program
test_service_without_camera
test_watchdog_without_pictures
test_counts_add_up
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
