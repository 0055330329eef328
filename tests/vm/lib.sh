# What a case is written with. It runs in the machine, in a folder of its own, under
# `set -e`: a command that fails unexpectedly fails the case.
# shellcheck shell=bash

camera=/dev/video10
loopback=/dev/video20

# --- the list of cases ---------------------------------------------------------------

case_names=()
declare -A case_commands case_versions

# add NAME VERSIONS COMMAND...: a case, and the v4l2loopback versions it is run with
# ("all", or some of them in one word). Of the newest, "systemd" is a user's session, and "clients"
# are programs that take long here.
add() {
    case_names+=("$1")
    case_versions[$1]=$2
    case_commands[$1]="${*:3}"
}

# list_cases VERSION PATTERN: names of the cases that are to be run.
list_cases() {
    local name
    for name in "${case_names[@]}"; do
        [[ ( ${case_versions[$name]} = all && $1 = [0-9]* ) ||
            " ${case_versions[$name]} " == *" $1 "* ]] || continue
        [[ ! $1/$name =~ $2 ]] || printf '%s\n' "$name"
    done
}

# --- the verdict ---------------------------------------------------------------------

fail() {
    printf '%s\n' "$*" > verdict
    exit 1
}

skip() {
    printf '%s\n' "$*" > verdict
    exit 77
}

# A command failed of which nothing else was said.
unexpected() {
    [ -e verdict ] || printf '%s (line %s) ended with status %s\n' "$2" "$3" "$1" > verdict
    exit 1
}

# What a passed case says about itself.
detail() {
    printf '%s\n' "$*" > verdict
}

# --- waiting -------------------------------------------------------------------------

# wait_for WHAT COMMAND...: until COMMAND succeeds. The limit is far beyond what anything
# takes even here; it only ends a case that hangs. Starting a program takes long here, so that
# nothing waits by sleep.
wait_limit=300
exec {nothing}<> <(:)
wait_for() {
    local what=$1 end=$((SECONDS + wait_limit))
    shift
    until "$@"; do
        [ "$SECONDS" -lt "$end" ] || fail "waited $wait_limit s for $what"
        read -rt 0.1 -u "$nothing" || true
    done
}

gone() {
    ! kill -0 "$1" 2> /dev/null
}

# wait_exit NAME PID: returns the exit status of a process of ours.
wait_exit() {
    wait_for "$1 to end" gone "$2"
    wait "$2"
}

# --- bilatcam ------------------------------------------------------------------------

# The smallest filter, for most of the machine's time is what that takes.
settings=(--radius 1 --sigma-color 40 --temporal 1)

# start_bilatcam OPTION...: in the background; its process is $bilatcam_pid. A shell
# starts what it puts in the background with SIGINT ignored; env undoes that.
start_bilatcam() {
    env --default-signal=INT "$bilatcam" "${settings[@]}" --latency-budget off \
        --stats stats.json "$@" > /dev/null 2>> bilatcam.log &
    bilatcam_pid=$!
}

# start_camera FORMAT SIZE OPTION...: from the camera to the virtual camera.
start_camera() {
    start_bilatcam -i "$camera" -o "$loopback" --format "$1" --size "$2" --fps 30 "${@:3}"
    wait_for "the virtual camera" is_camera "$2"
}

# is_camera SIZE: does the loopback node offer itself to clients?
is_camera() {
    gone "$bilatcam_pid" && fail "bilatcam ended by itself"
    [[ $(v4l2-ctl -d "$loopback" --get-fmt-video 2>&1) =~ Width/Height\ *:\ ${1/x//}$'\n' ]]
}

# stop_bilatcam [SIGNAL]
stop_bilatcam() {
    local status=0
    ! gone "$bilatcam_pid" || fail "bilatcam ended by itself"
    kill -s "${1:-TERM}" "$bilatcam_pid"
    wait_exit bilatcam "$bilatcam_pid" || status=$?
    [ "$status" = 0 ] || fail "bilatcam ended with status $status after SIG${1:-TERM}"
}

# statistic KEY [KEY]: from the JSON that bilatcam wrote when it ended.
statistic() {
    python3 -ISc 'import functools, json, sys
print(functools.reduce(lambda a, k: a[k], sys.argv[1:], json.load(open("stats.json"))))' \
        "$@" 2> /dev/null || fail "stats.json has no $*: $(cat stats.json)"
}

# check_old_stamps BUDGET OPTION...: a camera whose stamps are older than the budget, in ms, when
# its frames come: all of them are filtered at the radius asked for, because that is not added. Where
# bilatcam itself comes near the budget, nothing is shown.
check_old_stamps() {
    local camera_ms attempt
    for attempt in 1 2 3; do
        "$bilatcam" "${settings[@]}" --latency-budget "$1" -o null: --stats stats.json "${@:2}" \
            2>> bilatcam.log || fail "bilatcam ended with status $?"
        camera_ms=$(statistic camera_ms p50)
        [ "${camera_ms%.*}" -gt "$1" ] || fail "the camera's own delay is $camera_ms ms"
        detail "camera $camera_ms ms, added p50 $(statistic added_ms p50) ms, max" \
            "$(statistic added_ms max) ms, attempt $attempt"
        [ "$(statistic radius_min_used)" != "$(statistic radius_requested)" ] || return 0
        [ "$(statistic added_ms max | cut -d. -f1)" -ge $(($1 * 3 / 4)) ] ||
            fail "radius $(statistic radius_min_used), added $(statistic added_ms)"
    done
    skip "bilatcam itself takes nearly $1 ms here"
}

# holds NODE: has bilatcam this device open?
holds() {
    find "/proc/$bilatcam_pid/fd" -lname "$1" > held.log 2>&1
    [ -s held.log ]
}

lets_go_of() {
    ! holds "$1"
}

# says COUNT PATTERN: are there so many such lines in its log?
says() {
    [ "$(grep -c "$2" bilatcam.log)" -ge "$1" ]
}

# Its open files, resident kB and used 1/100 s of processor time, for check_growth.
resources() {
    local stat
    stat=$(cat "/proc/$bilatcam_pid/stat")
    read -r -a stat <<< "${stat##*) }"
    printf '%s %s %s\n' "$(find "/proc/$bilatcam_pid/fd" -type l | wc -l)" \
        "$(awk '/^VmRSS/ { print $2 }' "/proc/$bilatcam_pid/status")" $((stat[11] + stat[12]))
}

# check_growth BEFORE: open files are as many as they were, and memory about as much.
# Sets $growth, which tells it.
check_growth() {
    local before after tries=20
    read -r -a before <<< "$1"
    read -r -a after <<< "$(resources)"
    # Some files are open for a moment, to look who has a node open.
    while [ "${after[0]}" != "${before[0]}" ] && ((tries-- > 0)); do
        sleep 0.2
        read -r -a after <<< "$(resources)"
    done
    growth="$((after[0] - before[0])) files, $((after[1] - before[1])) kB more"
    [ "${after[0]}" = "${before[0]}" ] || fail "$growth"
    [ "${after[1]}" -le $((before[1] + 4096)) ] || fail "$growth"
}

# check_idle BEFORE TICKS: in so many 1/100 s of waiting it has not used the half of them.
check_idle() {
    local before after used
    read -r -a before <<< "$1"
    read -r -a after <<< "$(resources)"
    used=$((after[2] - before[2]))
    [ "$used" -lt $(($2 / 2)) ] || fail "it used $used of $2 ticks of processor time for waiting"
}

# check_log_lines MOST: not counting what is said where the machine is too slow for the filter, or takes
# so long that the line of each minute is said in between.
check_log_lines() {
    local lines
    lines=$(grep -cvE 'too slow for the latency budget|fast enough again|frames/s, latency ' bilatcam.log)
    [ "$lines" -le "$1" ] || fail "$lines lines in the log, more than $1"
}

now_ms() {
    printf '%s\n' $((${EPOCHREALTIME/./} / 1000))
}

# --- the camera ----------------------------------------------------------------------

# still_picture [PATTERN]: squares, their edges small enough for the filter to smooth.
still_picture() {
    v4l2-ctl -d "$camera" -c "osd_text_mode=2,contrast=40,test_pattern=${1:-4}"
}

# take_picture FILE PATTERN: what a client gets of it, in 320x180 yuyv and with no filter.
take_picture() {
    still_picture "$2"
    v4l2-ctl -d "$camera" -p 30 --set-fmt-video=width=320,height=180,pixelformat=YUYV \
        --stream-mmap --stream-count=1 --stream-to="$1" > v4l2.log 2>&1
}

# Makes 1.raw, which is what the camera shows then, and 2.raw; they reach a client as they are.
two_pictures() {
    settings=(--filter none)
    take_picture 2.raw 10
    take_picture 1.raw 4
    cp 1.raw expected.raw
}

# make_expected FORMAT SIZE CLIENT_FORMAT: writes expected.raw, the frame that a client
# must get: the camera's own frame, put through bilatcam from file to file. The camera's
# values are limited range and BT.601, as a y4m file's are, and the virtual camera's too;
# so nothing but the filter may change them, and what comes out must be equal.
make_expected() {
    local format=$1 size=$2 fourcc=${1^^}
    # V4L2's default for grey is full range, unless the camera says otherwise.
    [ "$format" != grey ] || v4l2-ctl -d "$camera" -c quantization=2
    v4l2-ctl -d "$camera" -p 30 \
        --set-fmt-video="width=${size%x*},height=${size#*x},pixelformat=$fourcc" > v4l2.log 2>&1
    v4l2-ctl -d "$camera" --get-fmt-video | grep -q 'Limited Range' ||
        fail "the camera is not limited range"
    v4l2-ctl -d "$camera" --stream-mmap --stream-count=1 --stream-to=camera.raw \
        >> v4l2.log 2>&1
    pixels wrap "$format" "$size" camera.raw > camera.y4m
    "$bilatcam" "${settings[@]}" -i camera.y4m -o filtered.y4m 2> file.log
    pixels expect "$3" filtered.y4m > expected.raw
    ! cmp -s camera.y4m filtered.y4m || fail "the filter changes nothing in this picture"
}

pixels() {
    "$vm_dir/pixels.py" "$@" 2> pixels.log || fail "pixels.py $1: $(cat pixels.log)"
}

# --- clients -------------------------------------------------------------------------

# Each reads COUNT frames of the virtual camera into client.raw.
# client_NAME SIZE FORMAT COUNT, where FORMAT is yuyv or yu12.

client_ffmpeg() {
    local format=yuyv422
    [ "$2" = yuyv ] || format=yuv420p
    timeout "$wait_limit" ffmpeg -nostdin -v error -f v4l2 -input_format "$format" \
        -video_size "$1" -i "$loopback" -frames:v "$3" -fps_mode passthrough -f rawvideo -y client.raw
}

# Only the two plugins that are used: looking through all of them takes very long here.
client_gstreamer() {
    local format=YUY2
    [ "$2" = yuyv ] || format=I420
    mkdir -p plugins
    ln -sf /usr/lib/*/gstreamer-1.0/libgst{coreelements,video4linux2}.so plugins/
    GST_PLUGIN_SYSTEM_PATH=$PWD/plugins GST_REGISTRY=$PWD/registry \
        timeout "$wait_limit" gst-launch-1.0 -q \
        v4l2src "device=$loopback" "num-buffers=$3" ! \
        "video/x-raw,format=$format,width=${1%x*},height=${1#*x}" ! \
        filesink location=client.raw
}

# It says 0 even when an ioctl failed, but then it says so. Newer ones also try to make buffers
# in a way that v4l2loopback does not have, and then go on.
client_v4l2ctl() {
    timeout "$wait_limit" v4l2-ctl -d "$loopback" --stream-mmap --stream-count="$3" \
        --stream-to=client.raw &&
        ! grep -E 'VIDIOC_[A-Z_]+.*(failed|returned)' client.log | grep -qv VIDIOC_CREATE_BUFS
}

# A reader that stays: it appends all frames to reader.raw; its process is $reader_pid.
start_reader() {
    : > reader.raw
    v4l2-ctl -d "$loopback" --stream-mmap --stream-to=reader.raw > reader.log 2>&1 &
    reader_pid=$!
}

# Whole frames, of the size of expected.raw, that the reader has got. Sets $frames and $size.
count_frames() {
    local sizes
    sizes=$(stat -c %s reader.raw expected.raw)
    size=${sizes#*$'\n'}
    frames=$((${sizes%$'\n'*} / size))
}

reader_frames() {
    local size frames
    count_frames
    printf '%s\n' "$frames"
}

reader_has() {
    local size frames
    gone "$reader_pid" && fail "the reader ended: $(tail -n 2 reader.log)"
    count_frames
    [ "$frames" -ge "$1" ]
}

# reader_shows FRAME: is this file the newest frame that the reader has got?
reader_shows() {
    local size frames
    count_frames
    [ "$frames" -gt 0 ] && cmp -s -i $(((frames - 1) * size)):0 -n "$size" reader.raw "$1"
}

# Is the newest frame the placeholder? That is told by its corner.
reader_shows_card() {
    local size frames
    count_frames
    [ "$frames" -gt 0 ] && [ "$(od -An -tu1 -j $(((frames - 1) * size)) -N 4 reader.raw)" = \
        "  46 128  46 128" ]
}

reader_shows_picture() {
    reader_has 1 && ! reader_shows_card
}

stop_reader() {
    kill "$reader_pid"
    wait "$reader_pid" || true
}

# check_runs PATTERN: which frames did the reader get, in which order? 1 and 2 are the two
# pictures, others are called a, b and so on as they come. What comes before the first picture is
# not looked at: placeholders, two of them should the camera have been started again. Where one
# picture follows another there may be a frame that is partly of both: vivid may draw it, and the
# module may write into the buffer that a slow reader is just taking.
# Sets $runs, which has their numbers.
check_runs() {
    runs=$(pixels runs reader.raw 1.raw 2.raw)
    [[ " $(sed -E 's/\*[0-9]+//g' <<< "$runs") " =~ ^\ ([a-z] )*$1\ $ ]] ||
        fail "the reader got ${runs:0:300}, which is not $1"
}

# What a client is to get that is asked for COUNT frames: the camera runs without it, or it would
# first see what is shown until the camera has started.
# start_picture FORMAT SIZE OPTION...: and waits until it is expected.raw.
start_picture() {
    start_camera "$@" --on-demand off
    wait_for "the picture" shows_expected
}

shows_expected() {
    timeout "$wait_limit" v4l2-ctl -d "$loopback" --stream-mmap --stream-count=1 --stream-to=now.raw \
        > now.log 2>&1
    cmp -s now.raw expected.raw
}

# visitor COMMAND ARGUMENT...: see visitor.py.
visitor() {
    "$vm_dir/visitor.py" "$@" 2> visitor.log || fail "visitor.py $1: $(tail -n 1 visitor.log)"
}

# node COMMAND ARGUMENT...: see node.py.
node() {
    "$vm_dir/node.py" "$@" 2> node.log || fail "node.py $1: $(tail -n 1 node.log)"
}

# run_client NAME SIZE FORMAT COUNT
run_client() {
    "client_$1" "${@:2}" > client.log 2>&1 ||
        fail "client $1 ended with status $?: $(tail -n 2 client.log)"
}
