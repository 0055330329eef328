# What the tests of control share: a daemon without pictures (control_host.c) on buses of its own,
# and a logind and a systemd that are made up. Sourced with their arguments, of which the first two
# are control-host and bilatcamctl.
# shellcheck shell=bash
# shellcheck disable=SC2015 # "A && ok || bad" is right here: ok never fails
host=$(realpath "$1") ctl=$(realpath "$2")
# shellcheck source=tests/lib/checks.sh
. "$(dirname "$0")/../lib/checks.sh"
need dbus-daemon dbus-send busctl python3
unset NOTIFY_SOCKET WATCHDOG_USEC WATCHDOG_PID XDG_RUNTIME_DIR
evidence+=(watched host.out host.err)
name=org.bilatcam.Bilatcam1 path=/org/bilatcam/Bilatcam1
host_pid='' n_told=0

# What reads from here may end by that.
clean_up() { exec 8>&- 9>&-; }

# --- buses ---------------------------------------------------------------------------

# start_bus NAME [ADDRESS [RULE]]: sets bus_pid. The address is unix:path=$dir/NAME, or as given;
# RULE is added to what the bus allows.
start_bus() {
    write_bus_conf "$@"
    : >"$1.log"
    dbus-daemon --nofork --print-address --config-file="$dir/$1.conf" >>"$1.log" 2>&1 8>&- 9>&- &
    bus_pid=$!
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

# stop PID: at once.
stop() {
    kill -KILL "$1"
    wait "$1" 2>/dev/null # or the shell says so
}

wait_for_socket() { wait_until test -S "$1" || bad "no socket $1"; }

# --- the daemon ----------------------------------------------------------------------

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

# What bilatcamctl watch says goes to the file watched; its process is $watch_pid.
start_watch() {
    rm -f watched
    timeout 60 "$ctl" watch >watched 2>watch.err 8>&- 9>&- &
    watch_pid=$!
    wait_for watched '^state = running$' && ok || bad "watch"
}

property() { busctl --user get-property "$name" "$path" "$name" "$1"; }
set_property=(busctl --user -- set-property "$name" "$path" "$name")

# count FILE PATTERN: how many of its lines match.
count() { grep -cE -- "$2" "$1"; }

# How many lines of the daemon's log match.
lines() { count host.err "$1"; }

descriptors() { find "/proc/$host_pid/fd" -type l | wc -l; }

# --- logind and systemd --------------------------------------------------------------

# start_logind [refuse]: lines for it go to descriptor 8.
start_logind() {
    rm -f logind.in logind.out
    mkfifo logind.in
    # shellcheck disable=SC2154 # by the tests that have one
    "$logind" "$@" <logind.in >logind.out 2>logind.err 9>&- &
    logind_pid=$!
    exec 8>logind.in
    wait_for logind.out '^ready$' || bad "logind: $(cat logind.err)"
}

stop_logind() {
    stop "$logind_pid"
    exec 8>&-
}

# What the daemon notifies goes to the file notified, a line each.
start_systemd() {
    rm -f notify
    : >notified
    python3 -u -c 'import socket
s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM); s.bind("notify")
while True: print(s.recv(4096).decode().replace("\n", "|"))' >notified &
    systemd_pid=$!
    wait_for_socket notify
    export NOTIFY_SOCKET=$dir/notify
}

stop_systemd() {
    stop "$systemd_pid"
    unset NOTIFY_SOCKET
}

# notified N PATTERN: the daemon said such a thing N times. It has been waited for what it said
# last.
notified() {
    [ "$(count notified "$2")" = "$1" ] && ok || bad "not $1 times '$2': $(xargs <notified)"
}

start_bus session
export DBUS_SESSION_BUS_ADDRESS=unix:path=$dir/session
export DBUS_SYSTEM_BUS_ADDRESS=unix:path=$dir/none
