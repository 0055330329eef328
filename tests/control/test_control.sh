#!/bin/bash
# Live control as its users meet it, asked by busctl, dbus-send and bilatcamctl.
# Usage: test_control.sh CONTROL-HOST BILATCAMCTL
# shellcheck disable=SC2015 # "A && ok || bad" is right here: ok never fails
# shellcheck source=tests/control/control_lib.sh
. "$(dirname "$0")/control_lib.sh"

# error_of METHOD ARGUMENT...: the name of the error that a call ends with.
error_of() {
    local method=$1
    shift
    timeout 30 dbus-send --session --print-reply --dest="$name" "$path" "$method" "$@" 2>&1 |
        sed -n 's/^Error \([^:]*\): .*/\1/p'
}

test_nobody_there() {
    refused 1 "no bilatcam is running.*bilatcam, or systemctl --user start bilatcam$" "$ctl" status
    refused 1 "no bilatcam called 'desk' is running.*bilatcam@desk$" "$ctl" --instance desk get radius
    refused 1 "no bilatcam is running" "$ctl" watch
    DBUS_SESSION_BUS_ADDRESS=unix:path=$dir/none refused 1 "session bus: No such file" "$ctl" status
}

test_usage() {
    run 0 "$ctl" --help
    expect out '^  set +KEY VALUE' help
    run 0 "$ctl" --version
    expect out '^bilatcamctl [0-9.]+$' version
    refused 2 "no command" "$ctl"
    refused 2 "unknown command 'dance'" "$ctl" dance
    refused 2 "unknown option '--fast'" "$ctl" --fast status
    refused 2 "missing after '--instance'" "$ctl" --instance
    refused 2 "instance 'a-b': must be letters" "$ctl" --instance a-b status
    refused 2 "usage: bilatcamctl set KEY VALUE" "$ctl" set radius
    refused 2 "usage: bilatcamctl get \[KEY\]" "$ctl" get radius range
    refused 2 "usage: bilatcamctl pause$" "$ctl" pause now
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
    expect out '^\.SigmaColor +property +s +"auto" +emits-change writable' introspection
    expect out '^\.SigmaSpace +property +s +"auto" +emits-change writable' introspection
    expect out '^\.Input +property +s +"clip-\?.y4m" +emits-change *$' introspection
    expect out '^\.Preview +property +b +false +emits-change *$' introspection
    expect out '^\.State +property +s +"running" +emits-change *$' introspection
    expect out '^\.StateReason +property +s +"" +- *$' introspection
    expect out '^\.FpsMeasured +property +d +29.97 +- *$' introspection
    expect out '^\.LatencyP50Ms +property +d +12.5 +- *$' introspection
    expect out '^\.LatencyP99Ms +property +d +17.25 +- *$' introspection
    expect out '^\.AddedP50Ms +property +d +2.5 +- *$' introspection
    expect out '^\.AddedP99Ms +property +d +7.25 +- *$' introspection
    expect out '^\.CameraDelayMs +property +d +10 +- *$' introspection
    expect out '^\.RadiusUsed +property +i +3 +- *$' introspection
    expect out '^\.Readers +property +i +-1 +- *$' introspection
    expect out '^\.EngineUsed +property +s +"simd" +- *$' introspection
    expect out '^\.DeviceUsed +property +s +"Caf\? processor" +- *$' introspection
    expect out '^\.Outputs +property +s +"virtual: 90 frames, 2 readers; a.y4m: 88 frames"' introspection
    expect out '^\.FramesIn +property +t +5000000000 +- *$' introspection
    expect out '^\.FramesOut +property +t +90 +- *$' introspection
    expect out '^\.FramesDropped +property +t +7 +- *$' introspection
    expect out '^\.FramesBad +property +t +2 +- *$' introspection
    expect out '^\.Reconnects +property +t +1 +- *$' introspection
    cp out introspection
    # Every key is a property.
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
    [ "$n_keys" -gt 10 ] && ok || bad "$n_keys keys"
}

# Each figure of the table has a value of its own now: all of them are shown where the table says
# so, and nothing else is.
test_figures() {
    start_host
    on_the_bus $name
    tell figures
    grep '^figure ' host.out >figures
    "$ctl" get >keys
    run 0 "$ctl" stats
    cp out stats
    run 0 busctl --user introspect "$name" "$path" "$name"
    cp out introspection
    run 0 "$ctl" status
    python3 - >found <<'PY' && ok || bad "figures: $(cat found)"
import json, re
figures = [line.split()[1:] for line in open("figures")]
stats = {}
for name, value in json.load(open("stats")).items():
    stats.update({f"{name}.{k}": v for k, v in value.items()} if type(value) is dict else {name: value})
rows = [line.split() for line in open("introspection") if " property " in line]
properties = {row[0][1:]: (row[2], row[3].strip('"')) for row in rows}
status = open("out").read()
def number(text):
    return float(text) if re.fullmatch(r"-?[0-9.]+", text) else text
good = len(figures) > 20 and len(stats) == len([f for f in figures if f[0] != "-"])
good = good and len(rows) == len([f for f in figures if f[1] != "-"]) + len(list(open("keys")))
for name, property, signature, value in figures:
    shown = f"{float(value):.1f}" if signature == "d" else value
    if name != "-" and number(str(stats.get(name))) != number(value):
        good = print(f"{name}: not {value} in the JSON")
    if property != "-" and properties.get(property, ("", ""))[0] != signature:
        good = print(f"{property}: no {signature} on D-Bus")
    elif property != "-" and number(properties[property][1]) != number(value):
        good = print(f"{property}: not {value} on D-Bus")
    if property != "-" and not re.search(rf"(?<![\w.]){re.escape(shown)}(?![\w.])", status):
        good = print(f"{property}: no {shown} in bilatcamctl status")
exit(not good)
PY
    stop_host
}

test_keys() {
    run 0 "$ctl" get radius
    expect out '^5$' get
    run 0 "$ctl" set radius 9
    [ ! -s out ] && ok || bad "set says something"
    [ "$(property Radius)" = 'i 9' ] && ok || bad "Radius"
    run 0 "${set_property[@]}" SigmaColor s 22.5
    run 0 "${set_property[@]}" SigmaSpace s 2.5
    run 0 "${set_property[@]}" LatencyBudget s off
    run 0 "${set_property[@]}" Range s lorentzian
    run 0 "$ctl" get
    expect out '^radius = 9$' 'get all'
    expect out '^sigma-color = 22.5$' 'get all'
    expect out '^sigma-space = 2.5$' 'get all'
    expect out '^latency-budget = off$' 'get all'
    expect out '^range = lorentzian$' 'get all'
    refused 1 "radius = '99': must be an integer from 0 to 32" "$ctl" set radius 99
    refused 1 "radius = '': must be an integer" "$ctl" set radius ''
    refused 1 "unknown key 'nonsense'" "$ctl" set nonsense 1
    refused 1 "unknown key 'nonsense'" "$ctl" get nonsense
    refused 1 "input cannot change" "$ctl" set input test:
    [ "$(property Radius)" = 'i 9' ] && ok || bad "Radius after refusals"
    run 0 "$ctl" set temporal 17
    [ "$(property Temporal)" = 's "17"' ] && ok || bad "Temporal"
    refused 1 "temporal: 17 frames, at most 8 with temporal-mode window" "$ctl" set temporal-mode window
    [ "$(property TemporalMode)" = 's "recursive"' ] && ok || bad "TemporalMode after a refusal"
    run 0 "$ctl" set temporal auto
    run 0 "$ctl" set temporal-mode window
    run 1 "${set_property[@]}" Temporal s 9
    expect err "temporal: 9 frames, at most 8 with temporal-mode window" 'too many frames'
    run 1 "${set_property[@]}" Radius i -1
    expect err "radius = '-1': must be an integer from 0 to 32" 'out of range'
    run 1 "${set_property[@]}" SigmaColor s inf
    expect err "sigma-color = 'inf': must be auto or a number from 1 to 200" 'out of range'
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
    local slow
    run 0 "$ctl" pause
    expect host.out '^pause 1$' pause
    run 0 "$ctl" status
    cat >expected <<'END'
state       paused
engine      simd, Caf? processor
radius      3 of 9
noise       3.2 levels, sigma-color 8.1 levels
memory      a pixel is the mean of 9.5 frames
frames/s    30.0
latency     12.5 ms, p99 17.2 ms, since the camera's stamp
added       2.5 ms, p99 7.2 ms, without the camera's own 10.0 ms
cpu         41.7 % of one core
frames      5000000000 in, 90 out, 7 dropped, 2 damaged
outputs     virtual: 90 frames, 2 readers; a.y4m: 88 frames
reconnects  1
readers     not known
END
    diff expected out && ok || bad "what status says"
    tell 'readers 2'
    tell 'noise 0' && tell 'sigma-color 0' && tell 'gpu-memory 618.5'
    run 0 "$ctl" status
    expect out '^readers     2$' status
    expect out '^noise       none measured, sigma-color none$' status
    expect out '^cpu         41.7 % of one core, gpu memory 618.5 MiB$' status
    tell 'readers -1'
    tell 'noise 3.25' && tell 'sigma-color 8.125' && tell 'gpu-memory 0'
    run 0 "$ctl" resume
    expect host.out '^pause 0$' resume
    [ "$(property State)" = 's "running"' ] && ok || bad "State after resume"
    run 0 "$ctl" snapshot
    expect out '^/pictures/the-time.png$' snapshot
    run 0 "$ctl" snapshot cat
    expect out '^/pictures/cat.png$' snapshot
    "$ctl" snapshot slow >slow.out 2>&1 9>&- &
    slow=$!
    wait_for host.out '^snapshot slow$' && ok || bad "a slow snapshot"
    refused 1 "another one is being written" "$ctl" snapshot dog
    run 0 "$ctl" get radius # nobody waits for that one
    [ ! -s slow.out ] && kill -0 "$slow" && ok || bad "a slow snapshot: $(cat slow.out)"
    tell snapshot
    wait "$slow" && ok || bad "exit status $? of a slow snapshot"
    expect slow.out '^/pictures/slow.png$' 'a slow snapshot'
    refused 1 "snapshot 'a/b': must be a plain file name" "$ctl" snapshot a/b
    refused 1 "snapshot 'full': No space left" "$ctl" snapshot full
    run 0 "$ctl" stats
    expect out '^\{"engine": "simd", "device": "Caf\? processor", "threads": 0, "width": 0, .*"reconnects": 1\}$' stats
    [ "$(busctl --user --json=short call "$name" "$path" "$name" GetStatistics |
        python3 -c 'import json, sys; print(json.load(sys.stdin)["data"][0])')" = "$(cat out)" ] && ok ||
        bad GetStatistics
    printf 'radius = 99\n' >reload.conf
    refused 1 "reload.conf', line 1: radius = '99'" "$ctl" reload
    printf 'radius = 4\n' >reload.conf
    run 0 "$ctl" reload
    [ "$(property Radius)" = 'i 4' ] && ok || bad "Radius after reload"
}

test_full_disk() {
    if [ -e /dev/full ]; then
        "$ctl" get >/dev/full 2>err
        [ $? -eq 1 ] && ok || bad "get on a full disk"
        expect err 'No space left' 'full disk'
    fi
}

# The connection to the bus must not get the number of a descriptor that is closed: what is printed
# would go to the bus.
test_closed_descriptors() {
    local closed
    for closed in '0<&-' '1>&-' '2>&-' '0<&- 1>&-' '0<&- 2>&-' '1>&- 2>&-' '0<&- 1>&- 2>&-'; do
        eval 'timeout 30 "$ctl" set radius 7 </dev/null >out 2>err' "$closed" && ok ||
            bad "exit status $? of set with $closed"
        eval 'timeout 30 "$ctl" get radius </dev/null >out 2>err' "$closed"
        [ $? = "$([[ $closed = *1\>* ]] && echo 1 || echo 0)" ] && ok || bad "get with $closed"
    done
    timeout 30 "$ctl" get radius >&- 2>err
    expect err 'standard output: Bad file descriptor' 'standard output is closed'
    run 0 "$ctl" get radius
    expect out '^7$' get
}

# Nothing that comes over the bus is for the terminal to obey.
test_control_characters() {
    tell $'reason \033[31mred\302\233'
    run 0 "$ctl" status
    expect out '^state +running: \?\[31mred\?\?\?STOPPING=1$' 'an evil reason'
    LC_ALL=C tr -d '\n' <out | LC_ALL=C grep -qP '[\x00-\x1f\x7f\x80-\x9f]' &&
        bad "status shows control characters" || ok
}

# What changes is told once, whoever changes it; what is set to the same value is not told. Stops
# the daemon.
test_watch() {
    start_watch
    "$ctl" set radius 6
    "$ctl" set radius 6
    "${set_property[@]}" SigmaColor s 30
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
    wait "$watch_pid" && ok || bad "exit status $? of watch"
    expect watch.err '^bilatcamctl: bilatcam has ended$' watch
}

test_instances() {
    local second
    start_host
    on_the_bus $name
    "$host" <host.in >out 2>second.err 9>&- &
    second=$!
    wait_for second.err "another bilatcam is '$name'" && ok || bad "the name is taken"
    [ "$(wc -l <second.err)" -le 3 ] && kill -0 "$second" && ok || bad "without the name"
    "$ctl" set radius 8
    kill "$host_pid"
    wait "$host_pid"
    wait_for second.err "live control as '$name'" && ok || bad "the second gets no control"
    run 0 "$ctl" get radius
    expect out '^5$' 'the second'
    host_pid=$second
    stop_host
    start_host desk_2
    on_the_bus $name.desk_2
    refused 1 "no bilatcam is running" "$ctl" get radius
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

run_tests test_nobody_there test_usage
start_host
on_the_bus $name
run_tests test_introspection test_keys test_error_names test_commands test_full_disk test_closed_descriptors \
    test_control_characters test_watch test_figures test_instances test_others
summary
