# As a service of an ordinary user's session: the unit as it is installed, under systemd.
# shellcheck shell=bash

add service-ready      systemd service_ready
add service-waits      systemd service_waits
add service-pipewire   systemd service_pipewire
add service-confined   systemd service_confined
add service-reload     systemd service_reload
add service-control    systemd service_control
add service-killed     systemd service_killed
add service-watchdog   systemd service_watchdog
add service-null       systemd service_without_pictures null:
add service-file       systemd service_without_pictures /home/viewer/Pictures/out.y4m
add service-stop       systemd service_stop
add service-sleep      systemd service_sleep
add service-bad-config systemd service_bad_config
add service-instance   systemd service_instance
add service-no-userns  systemd service_no_userns
add service-engine     systemd service_engine

# udev's name of the camera, as a user would write it into a configuration.
camera_name=/dev/v4l/by-path/platform-vivid.0-video-index0

# --- the session -------------------------------------------------------------------------

as_user() {
    setpriv --reuid="$user" --regid="$user" --init-groups --reset-env \
        env "XDG_RUNTIME_DIR=/run/user/$user_id" "$@"
}

session() {
    as_user systemctl --user --no-pager "$@"
}

# property NAME: of the service.
property() {
    session show --value --property="$1" "$service"
}

ctl() {
    as_user "$bindir/bilatcamctl" "$@"
}

# As `meson install` would.
install_service() {
    local unit
    for unit in bilatcam.service bilatcam@.service; do
        install -D -m 644 -t /usr/local/share/systemd/user "$built/systemd/$unit"
    done
    install -D -t "$bindir" "$bilatcam" "$built/bilatcamctl"
}

# enter_session [UNIT]: what every case begins with. The service is stopped, its configuration
# is that of these tests, PipeWire is off, and nothing is left of the case before.
enter_session() {
    built=${bilatcam%/*}
    service=${1:-bilatcam.service}
    [ -e "$built/systemd/bilatcam.service" ] || skip "bilatcam was built without libsystemd"
    user_id=$(cd /run/user && echo *)
    user=$(id -nu "$user_id")
    home=/home/$user
    bindir=$(sed -n 's|^ExecStart=\(.*\)/bilatcam .*|\1|p' "$built/systemd/bilatcam.service")
    trap '[ $? = 0 ] || journal > service.log' EXIT
    [ -e "$bindir/bilatcam" ] || install_service
    session stop 'bilatcam*' 'pipewire*'
    session reset-failed
    rm -rf "$home/.config/systemd" "$home/Pictures" "$home/gate"
    as_user mkdir -p "$home/.config/bilatcam" "$home/.config/systemd/user" "$home/Pictures"
    ln -s /dev/null "$home/.config/systemd/user/pipewire.socket"
    ln -s /dev/null "$home/.config/systemd/user/pipewire.service"
    session daemon-reload
    wait_for "nobody to have the virtual camera open" modprobe -r v4l2loopback
    modprobe v4l2loopback
    udevadm settle
    configure bilatcam 2
}

# configure NAME RADIUS [LINE...]
configure() {
    {
        printf '%s\n' "input = $camera_name" "radius = $2" 'size = 320x180' 'fps = 30' \
            'format = yuyv' 'sigma-color = 40' 'temporal = 1' 'latency-budget = off' "${@:3}"
    } > "$home/.config/bilatcam/$1.conf"
}

# drop_in LINE...: for the [Service] section.
drop_in() {
    local folder=$home/.config/systemd/user/$service.d
    mkdir -p "$folder"
    printf '%s\n' '[Service]' "$@" > "$folder/test.conf"
    session daemon-reload
}

# picture_at RADIUS: what a client gets at that radius, into RADIUS.raw. It is made once for all
# cases: the camera shows the same to all.
picture_at() {
    if [ ! -e "../$1.raw" ]; then
        settings=(--radius "$1" --sigma-color 40 --temporal 1)
        make_expected yuyv 320x180 yuyv
        mv expected.raw "../$1.raw"
    fi
    cp "../$1.raw" "$1.raw"
    cp "$1.raw" expected.raw # for its size
}

# start_service: there must be a picture by the time that systemd calls it started.
start_service() {
    session start "$service" || fail "it does not start: $(journal | tail -n 3)"
    started
}

started() {
    bilatcam_pid=$(property MainPID)
    is_camera 320x180 || fail "started, but there is no picture yet"
}

# start_watched: the service, and a reader that has seen a picture.
start_watched() {
    still_picture
    picture_at 2
    start_service
    start_reader
    wait_for "the picture" reader_shows 2.raw
}

is() {
    [ "$(property "$1")" = "$2" ]
}

process_runs() {
    ! is MainPID 0
}

# check PROPERTY VALUE
check() {
    local value
    value=$(property "$1")
    [ "$value" = "$2" ] || fail "$1 is '$value', not '$2'"
}

# What the service wrote, and systemd about it.
journal() {
    journalctl --quiet --output=cat _SYSTEMD_USER_UNIT="$service" + USER_UNIT="$service"
}

# logged PRIORITY PATTERN: is there a line of this very process, of just this priority?
logged() {
    journalctl --quiet --output=cat --priority="$1..$1" _PID="$bilatcam_pid" | grep -qE "$2"
}

# --- the cases ---------------------------------------------------------------------------

# Started is what the program calls ready, not what has a process: here one that waits at a gate.
service_ready() {
    enter_session
    still_picture
    picture_at 2
    drop_in ExecStart= \
        "ExecStart=sh -c 'until [ -e %h/gate ]; do sleep 0.1; done; exec $bindir/bilatcam --wait'"
    session start --no-block "$service"
    wait_for "the process" process_runs
    check ActiveState activating
    touch "$home/gate"
    wait_for "the service" is ActiveState active
    started
    start_reader
    wait_for "the picture" reader_shows 2.raw
    session status "$service" > status.log
    grep -q 'Status: "running' status.log || fail "systemctl status does not tell the state"
    wait_for "a line with the priority of information" \
        logged info "^vivid \\($camera_name\\), 320x180 yuyv -> "
    [ "$(stat -c %U "/proc/$bilatcam_pid")" = "$user" ] || fail "it is not the user's process"
    detail "$(grep Status: status.log | xargs), camera by udev's name"
}

# Nothing has to be there when the session begins.
service_waits() {
    local start state
    enter_session
    still_picture
    picture_at 2
    modprobe -r v4l2loopback
    session start "$service"
    bilatcam_pid=$(property MainPID)
    wait_for "a warning in the journal" logged warning 'no v4l2loopback node found'
    state=$(property StatusText)
    [[ $state = "no virtual camera: no v4l2loopback node found: "*" pipewire wireplumber" ]] ||
        fail "the status is '$state'"
    modprobe v4l2loopback
    start=$(now_ms)
    wait_for "the virtual camera" is_camera 320x180
    start=$(($(now_ms) - start))
    start_reader
    wait_for "the picture" reader_shows 2.raw
    check NRestarts 0
    detail "'$state', and a picture $start ms after the virtual camera came"
}

# Without v4l2loopback it is a camera of PipeWire.
service_pipewire() {
    command -v pw-dump > /dev/null || skip "no PipeWire here"
    enter_session
    rm "$home"/.config/systemd/user/pipewire.*
    session daemon-reload
    session start pipewire.socket
    modprobe -r v4l2loopback
    session start "$service" || fail "it does not start: $(journal | tail -n 3)"
    bilatcam_pid=$(property MainPID)
    logged info 'the virtual camera is one of PipeWire' || fail "it says nothing of PipeWire"
    as_user pw-dump > nodes.log
    grep -q '"node.name": "bilatcam"' nodes.log || fail "PipeWire has no such camera"
    modprobe v4l2loopback
    detail "$(property StatusText)"
}

# What the unit takes away is gone, and what it leaves is there.
service_confined() {
    local status
    enter_session
    start_watched
    status=/proc/$bilatcam_pid/status
    grep -q '^NoNewPrivs:.1' "$status" || fail "it could get new privileges"
    grep -q '^Seccomp:.2' "$status" || fail "no filter of system calls"
    grep -q '^CapEff:.0*$' "$status" || fail "it has capabilities"
    inside touch "$home/Pictures/file" || fail "no writing in the folder of snapshots"
    inside touch "$home/.cache/bilatcam/file" || fail "no writing in the cache"
    ! inside touch "$home/file" || fail "it can write in the home folder"
    ! inside touch "$home/.config/bilatcam/file" || fail "it can write its configuration"
    ! inside touch /tmp/file || fail "it can write in /tmp"
    [ "$(stat -c %a "$home/.cache/bilatcam")" = 700 ] || fail "others can read the cache"
    detail "writes snapshots and cache, nothing else"
}

# inside COMMAND...: as the user sees files in the service's mount namespace.
inside() {
    nsenter --target "$bilatcam_pid" --mount setpriv --reuid="$user" --regid="$user" \
        --init-groups "$@"
}

# Settings that are good are taken, those of a bad file are not, and the log says where.
service_reload() {
    local pid before
    enter_session
    still_picture
    picture_at 4
    start_watched
    pid=$bilatcam_pid
    configure bilatcam 4
    session reload "$service"
    wait_for "the new radius" reader_shows 4.raw
    configure bilatcam 99
    session reload "$service"
    wait_for "an error in the journal" logged err \
        "bilatcam.conf', line 2: radius = '99': must be an integer from 0 to 32"
    before=$(reader_frames)
    wait_for "frames after the bad file" reader_has $((before + 10))
    reader_shows 4.raw || fail "a bad file changed the picture"
    check ActiveState active
    check MainPID "$pid"
    detail "radius 2, 4, and 4 after a bad file"
}

service_control() {
    enter_session
    still_picture
    picture_at 4
    start_watched
    ctl status > status.log
    grep -qE '^state +running$' status.log || fail "the state is $(head -n 1 status.log)"
    ctl set radius 4
    wait_for "the new radius" reader_shows 4.raw
    ctl snapshot here
    [ "$(stat -c %U "$home/Pictures/here-after.png")" = "$user" ] || fail "no snapshot"
    head -c 4 "$home/Pictures/here-before.png" | grep -q PNG || fail "the snapshot is no PNG"
    ctl pause
    wait_for "the placeholder" reader_shows_card
    wait_for "the camera to be let go" lets_go_of "$camera"
    ctl resume
    wait_for "the picture after the pause" reader_shows 4.raw
    check ActiveState active
    detail "status, set, snapshot, pause and resume"
}

# restarted PID: is the service running again, as another process?
restarted() {
    local pid
    pid=$(property MainPID)
    [ "$pid" != 0 ] && [ "$pid" != "$1" ] && is ActiveState active
}

# wait_restarted WHAT: until the reader, which stays, gets the picture again. Sets $recovery_ms.
wait_restarted() {
    local start before
    start=$(now_ms)
    wait_for "$1" restarted "$bilatcam_pid"
    before=$(reader_frames)
    wait_for "frames after the restart" reader_has $((before + 10))
    wait_for "the picture after the restart" reader_shows 2.raw
    recovery_ms=$(($(now_ms) - start))
    check NRestarts 1
}

service_killed() {
    enter_session
    start_watched
    session kill --kill-whom=main --signal=KILL "$service"
    wait_restarted "a restart after SIGKILL"
    detail "the reader had the picture again after $recovery_ms ms"
}

watchdog_told() {
    journal | grep -q 'Watchdog timeout'
}

service_watchdog() {
    enter_session
    drop_in WatchdogSec=15
    start_watched
    session kill --signal=STOP "$service"
    wait_restarted "a restart by the watchdog"
    wait_for "a word of the watchdog" watchdog_told
    detail "the reader had the picture again after $recovery_ms ms, 15000 of them the watchdog's"
}

fed_since() {
    [ "$(property WatchdogTimestampMonotonic)" != "$1" ]
}

# stays_alive WHEN: the watchdog is fed again and again, and has nothing to complain of.
stays_alive() {
    local _
    for _ in 1 2 3; do
        wait_for "the watchdog to be fed, $1" fed_since "$(property WatchdogTimestampMonotonic)"
    done
    check NRestarts 0
    check ActiveState active
}

# An output that nobody reads needs no placeholder, and the service is alive all the same.
service_without_pictures() {
    enter_session
    drop_in WatchdogSec=15
    camera_name=/dev/video99 configure bilatcam 2 "output = $1"
    session start "$service" || fail "it does not start without a camera"
    stays_alive "without a camera"
    configure bilatcam 2 "output = $1"
    session restart "$service"
    bilatcam_pid=$(property MainPID)
    wait_for "the camera to be on" holds "$camera"
    ctl pause
    wait_for "the camera to be off" lets_go_of "$camera"
    stays_alive paused
    session stop "$service"
    check Result success
    detail "to $1: no camera, and paused"
}

# Result would be "timeout" had it been killed.
service_stop() {
    local start
    enter_session
    start_watched
    start=$(now_ms)
    session stop "$service"
    start=$(($(now_ms) - start))
    check Result success
    check ExecMainStatus 0
    check NRestarts 0
    detail "within its limit, $start ms"
}

# logind itself refuses to put this machine to sleep; its name is free when it is stopped.
service_sleep() {
    local start
    enter_session
    start_watched
    systemctl stop systemd-logind
    "$built/tests/control/control-logind" 1
    wait_for "the placeholder" reader_shows_card
    wait_for "the camera to be let go" lets_go_of "$camera"
    start=$(now_ms)
    "$built/tests/control/control-logind" 0
    wait_for "the picture after the sleep" reader_shows 2.raw
    start=$(($(now_ms) - start))
    systemctl start systemd-logind
    detail "the picture was back $start ms after waking"
}

# A wrong configuration is told once, not every second.
service_bad_config() {
    enter_session
    configure bilatcam 99
    ! session start "$service" 2> start.log || fail "it started"
    check ExecMainStatus 2
    check ActiveState failed
    check NRestarts 0
    detail "status 2, not restarted"
}

# A second camera has a unit, a configuration and a virtual camera of its own.
service_instance() {
    enter_session bilatcam@front.service
    still_picture
    picture_at 2
    modprobe -r v4l2loopback
    modprobe v4l2loopback devices=2 video_nr=20,21 card_label=bilatcam,front exclusive_caps=1,1
    udevadm settle
    configure front 2 'output = /dev/video21'
    loopback=/dev/video21
    start_watched
    v4l2-ctl -d "$loopback" -D | grep -q 'Card type *: front' || fail "another camera's name"
    [ "$(ctl --instance front get radius)" = 2 ] || fail "no live control of the instance"
    ! ctl get radius 2> ctl.log || fail "live control of one that is not there"
    detail "front.conf, /dev/video21, bilatcamctl --instance front"
}

# Newer versions of systemd make no user namespace where users must not have them, and go on;
# an older one has to be told.
service_no_userns() {
    enter_session
    drop_in PrivateUsers=no
    echo 0 > /proc/sys/user/max_user_namespaces
    start_watched
    echo 1000 > /proc/sys/user/max_user_namespaces
    detail "works without user namespaces"
}

# After a GPU's driver has given up on a process, the engine goes on in another, which the unit
# must let the program start.
service_engine() {
    local test=test-engine-process
    enter_session
    [ -e "$built/tests/$test" ] || skip "built without the unit tests"
    install -t "$bindir" "$built/tests/$test"
    # What works, and who is left alone: the others are slow on an emulated processor.
    drop_in Type=oneshot ExecStart= "ExecStart=$bindir/$test test_o*"
    session start "$service" || { journal > test.log; fail "$test fails in the sandbox"; }
    check Result success
    journal | grep -qF '2 test(s) run' || fail "not two tests: $(journal)"
}
