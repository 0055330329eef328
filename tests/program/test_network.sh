#!/bin/bash
# Films and cameras of a network: a server that does what real ones do, and what must not happen.
# Usage: test_network.sh PATH/TO/bilatcam [SLOW_LOOKUP.so]
# shellcheck disable=SC2015 # "A && ok || bad" is right here: ok never fails
bilatcam=$(realpath "$1")
slow_lookup=${2:+$(realpath "$2")}
# shellcheck source=tests/lib/checks.sh
. "$(dirname "$0")/../lib/checks.sh"
# shellcheck source=tests/program/video_lib.sh
. "$here/video_lib.sh"

unset http_proxy https_proxy HTTP_PROXY HTTPS_PROXY
make -i film.mp4 -an -vf format=yuvj420p -c:v mjpeg -huffman default -f mjpeg small.mjpeg
make -i film.mp4 -an -vf scale=320:180,format=yuvj420p -c:v mjpeg -huffman default -f mjpeg large.mjpeg
make -i film.mp4 -an -c:v libx264 -bf 0 -g 5 -x264-params slices=1:sliced-threads=0 -bsf:v filter_units=remove_types=6 \
    -f h264 film.h264
make -i film.mp4 -c copy -movflags faststart fast.mp4
mv fast.mp4 film.mp4
make -i film.mp4 -c copy piece.ts

openssl req -x509 -newkey rsa:2048 -nodes -keyout key.pem -out cert.pem -days 2 -subj /CN=camera 2>err ||
    bad "openssl"

mkfifo ends
python3 "$here/network_camera.py" "$dir" <ends >ports 2>server &
exec 3>ends
wait_for ports '^([0-9]+ ?){5}$' || { cat server; bad "no server"; summary; }
read -r http rtsp https rtsps datagrams <ports
base=http://user:geheim@127.0.0.1:$http
touch said # all that the program prints

# told STATUS OPTION...: as run, and keeps what is said.
told() {
    run "$1" "$bilatcam" "${@:2}"
    cat out err >>said
}

# start OPTION...: in the background, as $pid.
start() {
    "$bilatcam" "$@" >out 2>err </dev/null &
    pid=$!
}

# stop_well: a stop ends it at once and well.
stop_well() {
    local status
    kill -TERM "$pid"
    wait "$pid"
    status=$?
    [ "$status" = 0 ] && ! grep -q 'forced exit' err && ok || bad "status $status after the stop"
    cat out err >>said
}

# What has an end is read like a file: all of it, once.
test_films() {
    local path
    run 0 "$bilatcam" -i film.mp4 -o theirs.y4m --filter none
    for path in film plain; do
        told 0 -i "$base/$path.mp4?token=geheim" -o ours.y4m --filter none --stats stats.json
        cmp ours.y4m theirs.y4m && ok || bad "pictures of /$path"
        expect stats.json '"frames_in": 25, "frames_out": 25, "frames_dropped": 0' "all of /$path"
        cat stats.json >>said
    done
    told 0 -i "$base/film.mp4" -o ours.mkv --radius 1
    [ "$(ffprobe -v error -show_entries stream=codec_name -of csv=p=0 ours.mkv | tr '\n' ' ')" = "h264 aac " ] && ok ||
        bad "sound of a film from a network"
    told 0 -i "$base/picture.jpg" -o null: --stats stats.json
    expect stats.json '"frames_out": 1,' 'a picture'
    told 2 -i "$base/film.mp4" -o null: --latency-budget 10
    expect err "is not live" 'a film is no camera'
}

test_damaged_films() {
    told 1 -i "$base/cut.mp4" -o ours.y4m --filter none --stats stats.json
    expect err "cut.mp4' (is broken after|ends too early: after) [0-9]+ frames" 'a film that is cut off'
    balanced stats.json
    [ "$(grep -ac FRAME ours.y4m)" -gt 5 ] && ok || bad "what was whole is gone"
    # The pictures and what else is in a film come over a connection each.
    told 1 -i "$base/once.mp4" -o ours.mkv --radius 1 --stats stats.json
    expect err "'ours.mkv' has no sound and subtitles from [0-9.]+ s on" 'sound that is cut off'
    expect stats.json '"frames_out": 25,' 'pictures beside sound that is cut off'
    told 1 -i "$base/single.mp4" -o ours.mkv --radius 1
    expect err "cannot read '.*single.mp4': .*5XX.* \(a second time, for its sound and subtitles; with --fps they are left out\)$" 'a server that gives all once'
    told 0 -i "$base/single-2.mp4" -o ours.mkv --radius 1 --fps 25
    start -i "$base/stuck.mp4" -o stuck.mkv --radius 1
    wait_for asked '^/stuck' && sleep 1
    stop_well
    make -f lavfi -i testsrc2=s=640x360:r=25:d=4 -c:v libx264 -pix_fmt yuv420p end.mp4
    told 1 -i "$base/open/end.mp4" -o null:
    expect err "end.mp4' has its index at its end, and the server sends no parts of it" 'an index at the end'
    told 1 -i "$base/rubbish.mp4" -o null:
    expect err "^bilatcam: cannot read 'http://\*\*\*@127.0.0.1:$http/rubbish.mp4'" 'rubbish'
    told 1 -i "$base/nothing" -o null:
    expect err "404 Not Found" 'what is not there'
    told 1 -i "http://user:geheimer@127.0.0.1:$http/film.mp4" -o null:
    expect err "401 Unauthorized" 'a wrong password'
    told 1 -i http://user:geheim@127.0.0.1:1/ -o null:
    expect err "Connection refused" 'no server'
}

# Over a network nothing of this machine is read, and nobody can ask for that.
test_files_stay_closed() {
    local url
    for url in "file://$dir/film.mp4" "concat://$dir/film.mp4" "crypto+http://127.0.0.1:$http/open/film.mp4" \
        "subfile://$dir/film.mp4" "tls://127.0.0.1:$http/"; do
        refused 2 "of URLs only those of http,https,rtsp.* are read" "$bilatcam" -i "$url" -o null:
    done
    cp film.mp4 secret.ts
    for url in "file://$dir/piece.ts" "$dir/piece.ts" "concat:$dir/piece.ts" \
        "subfile,,start,0,end,0,,:$dir/piece.ts" "data:video/mp2t;base64,$(base64 -w0 piece.ts)"; do
        echo "$url" >piece
        told 1 -i "$base/list.m3u8" -o null: --frames 5
        expect err "cannot read" "a playlist with ${url:0:40}"
    done
    echo "http://127.0.0.1:$http/open/piece.ts" >piece
    told 0 -i "$base/list.m3u8" -o null: --stats stats.json
    expect stats.json '"frames_out": 25,' 'a playlist of the network'
}

# What has no end is a camera: the newest picture counts, and what breaks off is asked for again.
test_live() {
    told 0 -i "$base/live?token=geheim" -o null: --frames 20 --radius 1 --stats stats.json --trace trace.csv
    expect err "live\*\*\*' \(mjpeg\), 160x90" 'a live stream'
    balanced stats.json
    cat stats.json trace.csv >>said
    told 0 -i "$base/live" -o null: --frames 5 --radius 1 --size 320x180 --latency-budget 20
    expect err "live' gives 160x90, not 320x180" 'another size than was asked for'
    told 0 -i "$base/dies" -o ours.y4m --frames 25 --radius 1 --stats stats.json
    expect err "dies' has ended; waiting for the camera" 'a stream that ended'
    expect err "dies' \(mjpeg\) is back" 'a stream that is back'
    [ "$(grep -ac FRAME ours.y4m)" = 25 ] && ok || bad "frames of a stream that ends again and again"
    told 0 -i "$base/stalls" -o null: --frames 20 --radius 1
    expect err "stalls' gives no pictures; waiting for the camera" 'a stream that stalls'
    told 0 -i "$base/late" -o null: --frames 5 --radius 1 --wait
    expect err "late': Server returned 5XX Server Error reply; waiting for the camera" 'a camera that starts late'
    expect err "late' \(mjpeg\) is back" 'a camera that starts late'
    told 0 -i "$base/grows" -o ours.y4m --frames 30 --radius 1
    [ "$(grep -ac 'W160 H90' ours.y4m)" = 1 ] && ok || bad "the size of a stream that changes it"
    told 0 -i "$base/noise" -o null: --frames 15 --radius 1 --stats stats.json
    expect err "noise' broke off: it is damaged.*; waiting for the camera" 'rubbish between pictures'
    expect stats.json '"frames_bad": [1-9]' 'damaged pictures'
}

# A live stream that becomes interlaced is refused, as if it was so from the beginning, until it is not.
test_fields() {
    make -stream_loop 2 -i film.mp4 -an -vf scale=160:96 -c:v libx264 -g 25 -f mpegts whole.ts
    make -stream_loop 2 -i film.mp4 -an -vf scale=160:96,setfield=tff -c:v libx264 -g 25 -flags +ilme+ildct -f mpegts fields.ts
    start -i "$base/fields" -o null: --radius 1
    wait_for err "fields' is interlaced now; waiting for the camera" && ok || bad "a stream that becomes interlaced"
    wait_for err "fields' \(h264\) is back" && ok || bad "a stream that is interlaced no more"
    stop_well
    start -i "$base/later" -o null: --radius 1
    wait_for err "later' has ended; waiting for the camera" && ok || bad "a stream that ended"
    wait_for err "later' is interlaced now; waiting for the camera" && ok || bad "a stream that becomes interlaced when it is back"
    wait_for err "later' \(h264\) is back" 2 && ok || bad "a stream that is interlaced no more"
    stop_well
    start -i "$base/turns" -o null: --radius 1
    wait_for err "turns' is interlaced at times, and filtered as if it was not" && ok || bad "a stream that is interlaced at times"
    sleep 3
    stop_well
    [ "$(grep -c "turns' is interlaced" err)" = 2 ] && ok || bad "what is told of a stream that is interlaced at times: $(cat err)"
}

# A live stream of pieces, each of which comes at once: its pictures are shown one after the other.
test_pieces() {
    make -f lavfi -i testsrc2=s=160x90:r=25:d=60 -c:v libx264 -pix_fmt yuv420p -g 25 -keyint_min 25 -sc_threshold 0 \
        -f hls -hls_time 1 -hls_list_size 0 -hls_segment_filename piece%d.ts all.m3u8
    told 0 -i "$base/pieces.m3u8" -o ours.mkv --frames 60 --radius 1 --stats stats.json
    balanced stats.json
    python3 - "$(probe ours.mkv frame=pts_time -select_streams v)" <<'END' && ok || bad "pictures that come in pieces"
import json, sys
s = json.load(open("stats.json"))
times = [float(t.strip(",")) for t in sys.argv[1].split()]
assert s["frames_dropped"] < s["frames_out"] and len(times) == 60 and times[-1] > 2, (s, times)
END
}

test_rtsp() {
    told 0 -i "rtsp://user:geheim@127.0.0.1:$rtsp/camera" -o ours.y4m --frames 20 --radius 1
    expect err "'rtsp://\*\*\*@127.0.0.1:$rtsp/camera' \(h264\), 160x90" 'RTSP'
    [ "$(grep -ac FRAME ours.y4m)" = 20 ] && ok || bad "frames over RTSP"
    expect asked 'rtsp PLAY' 'RTSP'
    told 1 -i "rtsp://user:geheimer@127.0.0.1:$rtsp/camera" -o null:
    expect err "cannot read 'rtsp://\*\*\*@127.0.0.1:$rtsp/camera': .*(401|403)" 'a wrong password over RTSP'
}

# The certificates of cameras are seldom such as anybody vouches for.
test_https() {
    told 0 -i "https://user:geheim@127.0.0.1:$https/film.mp4" -o ours.y4m --filter none
    cmp ours.y4m theirs.y4m && ok || bad "pictures over HTTPS"
    told 0 -i "https://user:geheim@127.0.0.1:$https/live" -o null: --frames 5 --radius 1
    expect err "'https://\*\*\*@127.0.0.1:$https/live' \(mjpeg\)" 'a live stream over HTTPS'
    told 0 -i "https://user:geheim@127.0.0.1:$https/pieces.m3u8" -o null: --frames 5 --radius 1
    # These are more pictures than one list names pieces of: it is asked for again.
    make -f lavfi -i testsrc2=s=160x90:r=25:d=60 -c:v libx264 -pix_fmt yuv420p -g 25 -keyint_min 25 -sc_threshold 0 \
        -f dash -seg_duration 1 -init_seg_name init.mp4 -media_seg_name 'chunk$Number$.m4s' all.mpd
    told 0 -i "https://user:geheim@127.0.0.1:$https/chunks.mpd" -o null: --frames 125 --radius 1
    expect err "chunks.mpd' \(h264\), 160x90" 'DASH'
    [ "$(grep -c '^/chunks' asked)" -gt 1 ] && ok || bad "a list of DASH that is not read again"
    told 0 -i "rtsps://user:geheim@127.0.0.1:$rtsps/camera" -o null: --frames 5 --radius 1
    expect err "'rtsps://\*\*\*@127.0.0.1:$rtsps/camera' \(h264\), 160x90" 'RTSP that is encrypted'
    told 1 -i "https://user:geheim@127.0.0.1:$http/film.mp4" -o null:
    expect err "cannot read 'https://.*: no such host, no encryption there, or it broke off" 'HTTPS of a server that has none'
}

# send_pictures FORMAT URL: for as long as it is let.
send_pictures() {
    ffmpeg -v error -nostdin -re -stream_loop -1 -i film.mp4 -an -c copy -f "$1" "$2" 2>sender </dev/null &
    sender=$!
}

# Where nobody is asked for pictures, they come, stop and come again as their sender likes. libav
# cancels the thread that takes UDP's datagrams, which gcc's thread sanitizer takes for a fault: with
# that there is none.
test_datagrams() {
    local format scheme sender options
    while read -r format scheme; do
        options=
        [ -z "${TSAN_OPTIONS:-}" ] || options='?fifo_size=0'
        send_pictures "$format" "$scheme://127.0.0.1:$datagrams?pkt_size=1316"
        rm -f ours.y4m
        start -i "$scheme://127.0.0.1:$datagrams$options" -o ours.y4m --radius 1
        wait_until more_than 5 && ok || bad "pictures by $scheme"
        kill "$sender"
        wait_for err "$scheme:.* gives no pictures; waiting for the camera"
        send_pictures "$format" "$scheme://127.0.0.1:$datagrams?pkt_size=1316"
        wait_for err "$scheme:.* is back"
        more=$(grep -ac FRAME ours.y4m)
        wait_until more_than $((more + 5)) && ok || bad "pictures by $scheme, again"
        stop_well
        kill "$sender"
    done <<'END'
mpegts udp
rtp_mpegts rtp
END
}
more_than() { [ "$(grep -acs FRAME ours.y4m)" -gt "$1" ] 2>/dev/null; }

# Nobody waits for a server when the program is to end, nor for one that looks up names.
test_stopped() {
    start -i "$base/silent" -o null:
    wait_for asked '^/silent'
    stop_well
    start -i "$base/live" -o stopped.mkv --radius 1
    wait_until large_beside && ok || bad "no file of a live stream"
    # All that others see of it: its command line as well.
    tr '\0' '\n' <"/proc/$pid/cmdline" >>said
    expect said "^http://\*\*\*@127.0.0.1:$http/live" 'the command line'
    stop_well
    [ "$(ffprobe -v error -count_frames -show_entries stream=nb_read_frames -of csv=p=0 stopped.mkv)" -gt 2 ] && ok ||
        bad "the film of a live stream"
    told 1 -i "$base/silent" -o null:
    expect err "silent': no answer" 'a server that says nothing'
    if [ -n "$slow_lookup" ]; then
        LD_PRELOAD=$slow_lookup start -i http://user:geheim@host.invalid/ -o null:
        wait_for err 'looking up host.invalid'
        stop_well
    fi
}
large_beside() { [ -n "$(find . -name '.bilatcam-*-stopped.mkv' -size +1k)" ]; }

# Also where the URL itself is what is wrong.
test_secrets() {
    local wrong
    wrong=$(printf 'x%.0s' {1..1100})
    told 2 "$base/live"
    told 2 --inptu="$base/live"
    told 2 --input "$base/$wrong?token=geheim"
    told 2 --set "inptu=$base/live"
    told 2 --set "$base/live"
    told 1 -i "http://user:ge/heim@127.0.0.1:1/" -o null:
    told 1 -i "http://user:x?@geheim@127.0.0.1:1/user=geheim&password=geheim" -o null:
    told 2 -i "$base/film.mp4" -o "$base/film.mp4"
    echo "input = $base/live" >secret.conf
    echo "inptu = $base/live" >wrong.conf
    told 2 --config wrong.conf
    start --config secret.conf -o null:
    wait_for err "live' \(mjpeg\)"
    kill -HUP "$pid"
    stop_well
    [ -s said ] && ! grep -n 'geheim\|heim@' said >leaked && ok || bad "a password is shown: $(cat leaked)"
}

run_tests test_films test_damaged_films test_files_stay_closed test_live test_fields test_pieces test_rtsp test_https test_datagrams test_stopped test_secrets
exec 3>&-
summary
