#!/bin/bash
# Live control as its users meet it: a daemon without pictures (control_host.c) on buses of its
# own, asked by busctl, dbus-send and bilatcamctl; a logind and a systemd that are made up.
# Usage: test_control.sh CONTROL-HOST CONTROL-LOGIND BILATCAMCTL
# shellcheck disable=SC2015 # "A && ok || bad" is right here: ok never fails
set -u
export LC_ALL=C
host=$(realpath "$1") logind=$(realpath "$2") ctl=$(realpath "$3")
for tool in dbus-daemon dbus-send busctl python3; do
    command -v "$tool" >/dev/null || {
        echo "skipped: no $tool here"
        exit 77
    }
done
unset NOTIFY_SOCKET WATCHDOG_USEC WATCHDOG_PID XDG_RUNTIME_DIR
name=org.bilatcam.Bilatcam1 path=/org/bilatcam/Bilatcam1
dir=$(mktemp -d)
cd "$dir" || exit 1
passed=0 failed=0 started=() host_pid='' n_told=0

clean_up() {
    exec 9>&-
    kill "${started[@]}" $host_pid 2>/dev/null
    wait
    rm -rf "$dir"
}
trap clean_up EXIT

ok() { passed=$((passed + 1)); }
bad() {
    failed=$((failed + 1))
    echo "FAIL $*"
    sed 's/^/    | /' out err host.out host.err 2>/dev/null | tail -n 30
}

# run STATUS COMMAND...: compares the exit status; what it says is in out and err.
run() {
    local want=$1 got
    shift
    timeout 30 "$@" >out 2>err </dev/null
    got=$?
    [ "$got" -eq "$want" ] && ok || bad "exit status $got, not $want: $*"
}

expect() { # FILE PATTERN WHAT
    grep -qE -- "$2" "$1" && ok || bad "$3: no '$2' in $1"
}

# refused STATUS PATTERN ARGUMENT...: bilatcamctl says why, in one line.
refused() {
    local want=$1 pattern=$2
    shift 2
    run "$want" "$ctl" "$@"
    [ "$(grep -cE "^bilatcamctl: .*$pattern" err)" = 1 ] && [ "$(wc -l <err)" = 1 ] && [ ! -s out ] &&
        ok || bad "message of: $* (wanted: $pattern)"
}

wait_for() { # FILE PATTERN [TIMES], at most 20 s
    for _ in $(seq 200); do
        [ "$(grep -csE -- "$2" "$1")" -ge "${3:-1}" ] 2>/dev/null && return 0
        sleep 0.1
    done
    return 1
}

wait_for_socket() { # at most 10 s
    for _ in $(seq 100); do
        [ -S "$1" ] && return
        sleep 0.1
    done
    bad "no socket $1"
}

# start_bus NAME: sets bus_pid; the address is unix:path=$dir/NAME.
start_bus() {
    cat >"$1.conf" <<END
<!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN"
 "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
<busconfig>
  <type>session</type>
  <listen>unix:path=$dir/$1</listen>
  <auth>EXTERNAL</auth>
  <policy context="default">
    <allow user="*"/>
    <allow own="*"/>
    <allow send_destination="*" eavesdrop="true"/>
    <allow eavesdrop="true"/>
  </policy>
</busconfig>
END
    dbus-daemon --nofork --config-file="$dir/$1.conf" 2>"$1.log" &
    bus_pid=$!
    started+=("$bus_pid")
    wait_for_socket "$1"
}

# start_host [ARGUMENT...]: with WRAPPER in front of it.
start_host() {
    rm -f host.in host.out host.err
    mkfifo host.in
    n_told=0
    # shellcheck disable=SC2086 # several words
    ${WRAPPER:-} "$host" "$@" <host.in >host.out 2>host.err &
    host_pid=$!
    exec 9>host.in
}

# tell LINE: returns when the daemon has done it.
tell() {
    n_told=$((n_told + 1))
    (trap '' PIPE && printf '%s\n' "$1" >&9) # where it has ended, what is below says so
    wait_for host.out '^done ' "$n_told" || bad "the daemon does not do: $1"
}

stop_host() {
    exec 9>&-
    wait "$host_pid" && ok || bad "exit status $? of the daemon"
    host_pid=''
}

on_the_bus() { wait_for host.err "live control as '$1'" && ok || bad "not on the bus: $1"; }
property() { busctl --user get-property "$name" "$path" "$name" "$1"; }
set_property=(busctl --user -- set-property "$name" "$path" "$name")

# error_of METHOD ARGUMENT...: the name of the error that a call ends with.
error_of() {
    local method=$1
    shift
    timeout 30 dbus-send --session --print-reply --dest="$name" "$path" "$method" "$@" 2>&1 |
        sed -n 's/^Error \([^:]*\): .*/\1/p'
}

test_nobody_there() {
    refused 1 "no bilatcam is running.*bilatcam, or systemctl --user start bilatcam$" status
    refused 1 "no bilatcam called 'desk' is running.*bilatcam@desk$" --instance desk get radius
    refused 1 "no bilatcam is running" watch
    DBUS_SESSION_BUS_ADDRESS=unix:path=$dir/none refused 1 "session bus: No such file" status
}

test_usage() {
    run 0 "$ctl" --help
    expect out '^  set +KEY VALUE' help
    run 0 "$ctl" --version
    expect out '^bilatcamctl [0-9.]+$' version
    refused 2 "no command"
    refused 2 "unknown command 'dance'" dance
    refused 2 "unknown option '--fast'" --fast status
    refused 2 "missing after '--instance'" --instance
    refused 2 "instance 'a-b': must be letters" --instance a-b status
    refused 2 "usage: bilatcamctl set KEY VALUE" set radius
    refused 2 "usage: bilatcamctl get \[KEY\]" get radius range
    refused 2 "usage: bilatcamctl pause$" pause now
}

test_introspection() {
    local key value property type n_keys=0
    run 0 busctl --user introspect "$name" "$path" "$name"
    expect out '^\.Reload +method +- +- ' introspection
    expect out '^\.Pause +method +- +- ' introspection
    expect out '^\.Resume +method +- +- ' introspection
    expect out '^\.Snapshot +method +s +s ' introspection
    expect out '^\.GetStatistics +method +- +s ' introspection
    expect out '^\.GetKey +method +s +s ' introspection
    expect out '^\.SetKey +method +ss +- ' introspection
    expect out '^\.Radius +property +i +5 +emits-change writable' introspection
    expect out '^\.SigmaColor +property +d +18 +emits-change writable' introspection
    expect out '^\.SigmaSpace +property +s +"auto" +emits-change writable' introspection
    expect out '^\.Input +property +s +"clip-\?.y4m" +emits-change *$' introspection
    expect out '^\.Preview +property +b +false +emits-change *$' introspection
    expect out '^\.State +property +s +"running" +emits-change *$' introspection
    expect out '^\.StateReason +property +s +"" +- *$' introspection
    expect out '^\.FpsMeasured +property +d +29.97 +- *$' introspection
    expect out '^\.LatencyP50Ms +property +d +12.5 +- *$' introspection
    expect out '^\.LatencyP99Ms +property +d +17.25 +- *$' introspection
    expect out '^\.RadiusUsed +property +i +3 +- *$' introspection
    expect out '^\.Readers +property +i +-1 +- *$' introspection
    expect out '^\.EngineUsed +property +s +"simd" +- *$' introspection
    expect out '^\.Device +property +s +"Caf\? processor" +- *$' introspection
    expect out '^\.FramesIn +property +t +5000000000 +- *$' introspection
    expect out '^\.FramesOut +property +t +90 +- *$' introspection
    expect out '^\.FramesDropped +property +t +7 +- *$' introspection
    expect out '^\.FramesBad +property +t +2 +- *$' introspection
    expect out '^\.Reconnects +property +t +1 +- *$' introspection
    cp out introspection
    # Every key is a property, and no property is missing here.
    "$ctl" get >keys
    while read -r key _ value; do
        property=$(sed -E 's/(^|-)(.)/\U\2/g' <<<"$key")
        type=$(awk -v p=".$property" '$1 == p { print $3 }' introspection)
        case $type in
            s) value="\"$value\"" ;;
            b) [ "$value" = yes ] && value=true || value=false ;;
        esac
        [ "$(property "$property")" = "$type $value" ] && ok || bad "property $property"
        n_keys=$((n_keys + 1))
    done <keys
    [ "$n_keys" -gt 10 ] && [ "$(grep -c ' property ' introspection)" = $((n_keys + 14)) ] && ok ||
        bad "$n_keys keys"
}

test_keys() {
    run 0 "$ctl" get radius
    expect out '^5$' get
    run 0 "$ctl" set radius 9
    [ ! -s out ] && ok || bad "set says something"
    [ "$(property Radius)" = 'i 9' ] && ok || bad "Radius"
    run 0 "${set_property[@]}" SigmaColor d 22.5
    run 0 "${set_property[@]}" SigmaSpace s 2.5
    run 0 "${set_property[@]}" LatencyBudget s off
    run 0 "${set_property[@]}" Range s lorentzian
    run 0 "$ctl" get
    expect out '^radius = 9$' 'get all'
    expect out '^sigma-color = 22.5$' 'get all'
    expect out '^sigma-space = 2.5$' 'get all'
    expect out '^latency-budget = off$' 'get all'
    expect out '^range = lorentzian$' 'get all'
    refused 1 "radius = '99': must be an integer from 0 to 32" set radius 99
    refused 1 "radius = '': must be an integer" set radius ''
    refused 1 "unknown key 'nonsense'" set nonsense 1
    refused 1 "unknown key 'nonsense'" get nonsense
    refused 1 "input cannot change" set input test:
    [ "$(property Radius)" = 'i 9' ] && ok || bad "Radius after refusals"
    run 1 "${set_property[@]}" Radius i -1
    expect err "radius = '-1': must be an integer from 0 to 32" 'out of range'
    run 1 "${set_property[@]}" SigmaColor d inf
    expect err "sigma-color = 'inf': must be a number from 1 to 200" 'out of range'
    run 1 "${set_property[@]}" Filter s "$(printf '%2000s' x)"
    expect err "filter = ' +" 'a long text'
    run 1 "${set_property[@]}" Radius s 7
    expect err "expected 'i', got 's'" 'wrong type'
    run 1 "${set_property[@]}" Input s x
    expect err "not writable" 'read-only'
    run 1 busctl --user get-property "$name" "$path" "$name" Nonsense
    run 1 busctl --user call "$name" "$path" "$name" Nonsense
    run 1 busctl --user call "$name" "$path" "$name" SetKey s radius
}

test_error_names() {
    local set=org.freedesktop.DBus.Properties.Set bus=org.freedesktop.DBus.Error
    [ "$(error_of $set string:$name string:Radius variant:int32:33)" = $bus.InvalidArgs ] && ok ||
        bad "error of a value out of range"
    [ "$(error_of $set string:$name string:Radius variant:string:3)" = $bus.InvalidArgs ] && ok ||
        bad "error of a wrong type"
    [ "$(error_of $set string:$name string:Fps variant:string:30)" = $bus.PropertyReadOnly ] && ok ||
        bad "error of a key that is not live"
    [ "$(error_of $name.SetKey string:radius string:x)" = $bus.InvalidArgs ] && ok || bad "of SetKey"
    [ "$(error_of $name.SetKey string:x string:1)" = $bus.InvalidArgs ] && ok || bad "of SetKey"
    [ "$(error_of $name.GetKey string:x)" = $bus.InvalidArgs ] && ok || bad "error of GetKey"
    [ "$(error_of $name.GetKey int32:1)" = $bus.InvalidArgs ] && ok || bad "error of GetKey"
    [ "$(error_of $name.Snapshot string:a/b)" = $bus.InvalidArgs ] && ok || bad "of Snapshot"
    [ "$(error_of $name.Snapshot string:full)" = $bus.Failed ] && ok || bad "error of Snapshot"
    rm -f reload.conf
    [ "$(error_of $name.Reload)" = $bus.Failed ] && ok || bad "error of Reload"
}

test_commands() {
    run 0 "$ctl" pause
    expect host.out '^pause 1$' pause
    run 0 "$ctl" status
    expect out '^state +paused$' status
    expect out '^engine +simd, Caf\? processor$' status
    expect out '^radius +3 of 9$' status
    expect out '^frames +5000000000 in, 90 out, 7 dropped, 2 damaged$' status
    expect out '^readers +not known$' status
    run 0 "$ctl" resume
    expect host.out '^pause 0$' resume
    [ "$(property State)" = 's "running"' ] && ok || bad "State after resume"
    run 0 "$ctl" snapshot
    expect out '^/pictures/the-time.png$' snapshot
    run 0 "$ctl" snapshot cat
    expect out '^/pictures/cat.png$' snapshot
    refused 1 "snapshot 'a/b': must be a plain file name" snapshot a/b
    refused 1 "snapshot 'full': No space left" snapshot full
    run 0 "$ctl" stats
    [ "$(cat out)" = '{"frames_out": 90}' ] && ok || bad stats
    [ "$(busctl --user call "$name" "$path" "$name" GetStatistics)" = \
        's "{\"frames_out\": 90}"' ] && ok || bad GetStatistics
    printf 'radius = 99\n' >reload.conf
    refused 1 "reload.conf', line 1: radius = '99'" reload
    printf 'radius = 4\n' >reload.conf
    run 0 "$ctl" reload
    [ "$(property Radius)" = 'i 4' ] && ok || bad "Radius after reload"
    if [ -e /dev/full ]; then
        "$ctl" get >/dev/full 2>err
        [ $? -eq 1 ] && ok || bad "get on a full disk"
        expect err 'No space left' 'full disk'
    fi
}

# What changes is told once, whoever changes it; what is set to the same value is not told.
test_watch() {
    local watch
    timeout 60 "$ctl" watch >watched 2>watch.err 9>&- &
    watch=$!
    wait_for watched '^state = running$' && ok || bad "watch"
    "$ctl" set radius 6
    "$ctl" set radius 6
    "${set_property[@]}" SigmaColor d 30
    printf 'sigma-color = 31\nfilter = none\npreview = yes\n' >reload.conf
    "$ctl" reload
    tell 'radius 7'
    tell notify
    tell notify
    tell 'state no camera'
    tell notify
    "$ctl" pause
    "$ctl" resume
    wait_for watched 'state = running' 2 && ok || bad "watch: the last change"
    cat >expected <<END
state = running
radius = 6
sigma-color = 30
preview = yes
filter = none
sigma-color = 31
radius = 7
state = no camera
state = paused
state = running
END
    diff expected watched >out && ok || bad "what watch says"
    stop_host
    wait "$watch" && ok || bad "exit status $? of watch"
    expect watch.err '^bilatcamctl: bilatcam has ended$' watch
}

test_instances() {
    local second
    start_host
    on_the_bus $name
    "$host" <host.in >out 2>second.err &
    second=$!
    wait_for second.err "another bilatcam is '$name'" && ok || bad "the name is taken"
    [ "$(wc -l <second.err)" -le 3 ] && kill -0 "$second" && ok || bad "without the name"
    kill "$second"
    wait "$second"
    "$ctl" set radius 8
    stop_host
    start_host desk_2
    on_the_bus $name.desk_2
    refused 1 "no bilatcam is running" get radius
    run 0 "$ctl" --instance desk_2 get radius
    expect out '^5$' instance
    stop_host
    start_host 2
    on_the_bus $name._2
    run 0 "$ctl" --instance=2 set radius 3
    stop_host
    run 2 "$host" a-b
    expect err "instance 'a-b': must be letters, digits and underscores" 'instance'
}

# The bus lets others in here; the daemon lets them look.
test_others() {
    local refusal='Access denied' other='setpriv --reuid=65534 --clear-groups'
    chmod 755 .
    # shellcheck disable=SC2086 # several words
    if ! $other ls "$PWD" >/dev/null 2>&1; then
        echo "not root, or a folder that others cannot enter: what they may do is not tested"
        return
    fi
    start_host
    on_the_bus $name
    # shellcheck disable=SC2086 # several words
    asked() { run "$1" $other busctl --user call "$name" "$path" "${@:2}"; }
    asked 0 $name GetKey s radius
    asked 0 $name GetKeys
    asked 0 $name GetStatistics
    asked 0 org.freedesktop.DBus.Properties GetAll s $name
    for call in Reload Pause Resume 'Snapshot s x' 'SetKey ss radius 2'; do
        # shellcheck disable=SC2086 # several words
        asked 1 $name $call
        expect err "$refusal" "$call by another user"
    done
    asked 1 org.freedesktop.DBus.Properties Set ssv $name Radius i 2
    expect err "$refusal" "a property set by another user"
    [ "$(property Radius)" = 'i 5' ] && ok || bad "changed by another user"
    grep -qE 'pause|reload' host.out && bad "asked by another user" || ok
    stop_host
    cp "$host" ./host
    host=$dir/host WRAPPER=$other start_host
    on_the_bus $name
    [ "$(awk '/^Uid/ { print $2 }' "/proc/$host_pid/status")" = 65534 ] && ok || bad "not nobody's"
    run 0 busctl --user call "$name" "$path" $name SetKey ss radius 2
    stop_host
}

# Ticks of processor time that the daemon has used.
ticks() { awk '{ print $14 + $15 }' "/proc/$host_pid/stat"; }

test_no_bus() {
    local before
    DBUS_SESSION_BUS_ADDRESS=unix:path=$dir/none start_host
    tell ready
    expect host.err 'no session bus \(No such file' 'no bus'
    stop_host
    DBUS_SESSION_BUS_ADDRESS=nonsense start_host
    tell ready
    expect host.err 'no session bus' 'no bus'
    stop_host
    (unset DBUS_SESSION_BUS_ADDRESS && exec "$host" </dev/null) 2>err && ok || bad "no address"
    expect err 'no session bus \(No medium' 'no address'

    # One that takes connections and says nothing must not hold the daemon up.
    python3 -c 'import socket, time
s = socket.socket(socket.AF_UNIX); s.bind("mute"); s.listen(); time.sleep(600)' &
    started+=($!)
    wait_for_socket mute
    DBUS_SESSION_BUS_ADDRESS=unix:path=$dir/mute start_host
    tell ready
    stop_host

    # Nor one that loses the request for the name.
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

    start_bus dying
    DBUS_SESSION_BUS_ADDRESS=unix:path=$dir/dying start_host
    on_the_bus $name
    DBUS_SESSION_BUS_ADDRESS=unix:path=$dir/dying "$ctl" watch >out 2>watch.err 9>&- &
    watch=$!
    wait_for out '^state' || bad "watch"
    kill -KILL "$bus_pid"
    wait "$bus_pid" 2>/dev/null # or the shell says so
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

test_sleep() {
    start_bus system
    export DBUS_SYSTEM_BUS_ADDRESS=unix:path=$dir/system
    start_host
    on_the_bus $name
    for _ in $(seq 100); do # until it listens
        "$logind" 0
        grep -q sleep host.out && break
        sleep 0.1
    done
    "$logind" 1 0
    # Anybody may send such a signal; only logind's counts.
    run 0 busctl --system emit /org/freedesktop/login1 org.freedesktop.login1.Manager \
        PrepareForSleep b true
    "$logind" 0
    for _ in $(seq 200); do
        slept=$(sed -n '/^sleep 1/,$p' host.out | xargs)
        [ "$(wc -w <<<"$slept")" -lt 6 ] || break
        sleep 0.1
    done
    [ "$slept" = 'sleep 1 sleep 0 sleep 0' ] && ok || bad "sleep: $slept"
    kill "$bus_pid"
    wait_for host.err 'system bus is gone' && ok || bad "the system bus dies"
    run 0 "$ctl" get radius
    stop_host
    unset DBUS_SYSTEM_BUS_ADDRESS
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
    wait_for notified '^STATUS=running, [0-9.]+ frames/s, latency [0-9.]+ ms, radius [0-9]+ of [0-9]+$' && ok || bad "STATUS"
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

start_bus session
export DBUS_SESSION_BUS_ADDRESS=unix:path=$dir/session
export DBUS_SYSTEM_BUS_ADDRESS=unix:path=$dir/none
test_nobody_there
test_usage
start_host
on_the_bus $name
test_introspection
test_keys
test_error_names
test_commands
test_watch # stops the daemon
test_instances
test_others
test_no_bus
test_systemd
test_sleep
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
