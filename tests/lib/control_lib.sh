# What test_control.sh and test_control_buses.sh have in common: a daemon without pictures
# (control_host.c) on buses of its own. Sourced with their arguments.
# shellcheck shell=bash
# shellcheck disable=SC2015 # "A && ok || bad" is right here: ok never fails
set -u
export LC_ALL=C
host=$(realpath "$1") ctl=$(realpath "$2")
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
    exec 8>&- 9>&-
    kill "${started[@]}" $host_pid 2>/dev/null
    wait
    rm -rf "$dir"
}
trap clean_up EXIT

ok() { passed=$((passed + 1)); }
bad() {
    failed=$((failed + 1))
    echo "FAIL $*"
    sed 's/^/    | /' out err watched host.out host.err 2>/dev/null | tail -n 30
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

# start_bus NAME [ADDRESS [RULE]]: sets bus_pid. The address is unix:path=$dir/NAME, or as given;
# RULE is added to what the bus allows.
start_bus() {
    write_bus_conf "$@"
    : >"$1.log"
    dbus-daemon --nofork --print-address --config-file="$dir/$1.conf" >>"$1.log" 2>&1 8>&- 9>&- &
    bus_pid=$!
    started+=("$bus_pid")
    wait_for "$1.log" ^unix: || bad "no bus: $(cat "$1.log")"
}

write_bus_conf() {
    cat >"$1.conf" <<END
<!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN"
 "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
<busconfig>
  <type>session</type>
  <listen>${2:-unix:path=$dir/$1}</listen>
  <auth>EXTERNAL</auth>
  <policy context="default">
    <allow user="*"/>
    <allow own="*"/>
    <allow send_destination="*" eavesdrop="true"/>
    <allow eavesdrop="true"/>
    ${3:-}
  </policy>
</busconfig>
END
}

# stop PID: at once. Its number may soon be another's.
stop() {
    local pid left=()
    kill -KILL "$1"
    wait "$1" 2>/dev/null # or the shell says so
    for pid in "${started[@]}"; do
        [ "$pid" = "$1" ] || left+=("$pid")
    done
    started=("${left[@]}")
}

# start_host [ARGUMENT...]: with WRAPPER in front of it.
start_host() {
    rm -f host.in host.out host.err
    mkfifo host.in
    n_told=0
    # shellcheck disable=SC2086 # several words
    ${WRAPPER:-} "$host" "$@" <host.in >host.out 2>host.err 8>&- &
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

# on_the_bus NAME [TIMES]
on_the_bus() {
    wait_for host.err "live control as '$1'" "${2:-1}" && ok || bad "not on the bus: $1"
}

property() { busctl --user get-property "$name" "$path" "$name" "$1"; }
set_property=(busctl --user -- set-property "$name" "$path" "$name")

start_bus session
export DBUS_SESSION_BUS_ADDRESS=unix:path=$dir/session
export DBUS_SYSTEM_BUS_ADDRESS=unix:path=$dir/none
