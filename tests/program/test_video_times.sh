#!/bin/bash
# The times of films that are written: of recordings that were joined, of times that jump or begin far
# away, and of headers that promise what is not there.
# Usage: test_video_times.sh PATH/TO/bilatcam
# shellcheck disable=SC2015 # "A && ok || bad" is right here: ok never fails
bilatcam=$(realpath "$1")
# shellcheck source=tests/lib/checks.sh
. "$(dirname "$0")/../lib/checks.sh"
# shellcheck source=tests/program/video_lib.sh
. "$here/video_lib.sh"

# Recordings that were joined: times begin again, and streams turn up late.
test_joined() {
    local n
    make -stream_loop 2 -i film.mp4 -c:v libx264 -c:a aac both.ts
    make -i both.ts -an -c copy mute.ts
    cat both.ts both.ts >joined.ts
    for n in mkv mp4; do
        "$bilatcam" -i joined.ts -o "joined.$n" --filter none >out 2>err </dev/null
        probe "joined.$n" packet=pts_time -select_streams v >shown_at
        python3 - <<'END' && ok || bad "times of joined.$n"
times = sorted(float(t.rstrip(",")) for t in open("shown_at").read().split())
steps = [b - a for a, b in zip(times, times[1:])]
assert len(times) > 100 and min(steps) > 0.03 and max(steps) < 0.1, (len(times), min(steps), max(steps))
END
        probe "joined.$n" packet=pts_time -select_streams a >shown_at
        python3 - <<'END' && ok || bad "sound of joined.$n"
times = [float(t.rstrip(",")) for t in open("shown_at").read().split()]
assert 5 < times[-1] < 7 and times == sorted(times), times[-1]
END
    done
    make -stream_loop 30 -i mute.ts -c copy before.ts # more than is looked at first
    cat before.ts both.ts before.ts >late.ts
    "$bilatcam" -i late.ts -o late.mkv --filter none >out 2>err </dev/null
    [ $? -lt 2 ] && [ "$(probe late.mkv stream=codec_type)" = 'video ' ] && ok || bad "a stream that turns up late"
}

# Times that jump on by hours, as those of broken or joined recordings: pictures and sound go on
# together, and one line says so.
test_jumps() {
    local hours n
    make -stream_loop 1 -i film.mp4 -c:v libx264 -c:a aac two.ts
    for hours in 7 12; do
        make -i two.ts -c copy -copyts -output_ts_offset $((hours * 3600)) far.ts
        cat two.ts far.ts two.ts far.ts >jumps.ts
        for n in mkv mp4; do
            rm -f "jumps.$n"
            "$bilatcam" -i jumps.ts -o "jumps.$n" --filter none >out 2>err </dev/null
            [ "$(grep -c "^bilatcam: 'jumps.ts' has times that jump ahead by [0-9]* s after [0-9.]* s; the gap is left out$" err)" = 1 ] && ok ||
                bad "what is told of times that jump by $hours hours"
            probe "jumps.$n" packet=pts_time -select_streams v >shown_at
            probe "jumps.$n" packet=pts_time -select_streams a >heard_at
            python3 - <<'END' && ok || bad "jumps.$n, by $hours hours"
shown, heard = (sorted(float(t.rstrip(",")) for t in open(f).read().split()) for f in ("shown_at", "heard_at"))
steps = [b - a for a, b in zip(shown, shown[1:])]
assert len(shown) > 190 and min(steps) > 0.03 and max(steps) < 0.1, (len(shown), min(steps), max(steps))
assert len(heard) > 330 and abs(heard[-1] - shown[-1]) < 0.2 and max(b - a for a, b in zip(heard, heard[1:])) < 0.2
END
        done
    done
}

# Where it can be a pause it is one: of the pictures alone, of the sound alone, of both, and of a film
# of another kind.
test_pauses() {
    local n cuts from to
    make -f lavfi -i testsrc2=s=160x90:r=25:d=31 -f lavfi -i sine=d=31 -c:v libx264 -pix_fmt yuv420p -c:a aac \
        -vf "select='not(between(t,5,25))'" -fps_mode vfr still.ts
    make -f lavfi -i testsrc2=s=160x90:r=25:d=31 -f lavfi -i sine=d=31 -c:v libx264 -pix_fmt yuv420p -c:a aac \
        -af "aselect='not(between(t,5,25))'" silent.ts
    make -f lavfi -i testsrc2=s=160x90:r=25:d=31 -f lavfi -i sine=d=31 -c:v libx264 -pix_fmt yuv420p -c:a aac \
        -vf "select='not(between(t,5,20))'" -fps_mode vfr -af "aselect='not(between(t,5.01,20))'" lost.ts
    make -f lavfi -i testsrc2=s=160x90:r=25:d=6 -vf "settb=1/1000000000,select='not(between(t,1,5))'" \
        -fps_mode passthrough -enc_time_base 1:1000000000 -c:v ffv1 fine.nut
    make -i film.mp4 -c copy film.mkv
    for n in 18000 200000; do
        make -i film.mkv -c copy -bsf:v "setts=pts=PTS+if(gte(N\,12)\,$n*1000):dts=DTS" \
            -bsf:a "setts=ts=PTS+if(gte(N\,22)\,$n*1000)" $n.mkv
    done
    while read -r n cuts from to; do
        rm -f paused.mp4
        run 0 "$bilatcam" -i "$n" -o paused.mp4 --filter none
        [ "$(grep -c 'left out' err)" = "$cuts" ] && ok || bad "what is told of $n"
        python3 - "$from" "$to" "$(probe paused.mp4 stream=duration)" <<'END' && ok || bad "a pause in $n"
import sys
assert all(float(sys.argv[1]) < float(d) < float(sys.argv[2]) for d in sys.argv[3].split()), sys.argv
END
    done <<'END'
still.ts 0 30 32
silent.ts 0 30 32
lost.ts 0 30 32
fine.nut 0 5.9 6.1
18000.mkv 0 18000 18002
200000.mkv 1 0.7 1.2
END
    # Pictures that are decoded before such a gap and shown behind it.
    run 0 "$bilatcam" -i lost.ts -o lost.mkv --filter none
    python3 - "$(probe lost.mkv packet=pts_time -select_streams v)" <<'END' && ok || bad "the pictures of lost.ts"
import sys
times = sorted(float(t.strip(",")) for t in sys.argv[1].split())
steps = sorted(b - a for a, b in zip(times, times[1:]))
assert len(times) > 390 and steps[0] > 0.03 and steps[-2] < 0.1 and 14 < steps[-1] < 16, (len(times), steps[0], steps[-2:])
END
}

# A pause of all that is kept, while sound goes on that is left out.
test_left_out_clock() {
    make -f lavfi -i testsrc2=s=160x90:r=25:d=31 -f lavfi -i sine=d=31 -c:v mpeg2video -pix_fmt yuv420p \
        -c:a aac -vf "select='not(between(t,5,20))'" -fps_mode vfr -af "aselect='not(between(t,5,20))'" gap.mkv
    make -f lavfi -i sine=d=31:r=48000 -c:a s302m -ac 2 -strict -2 tone.ts
    make -i gap.mkv -i tone.ts -map 0 -map 1 -c copy clock.ts
    run 0 "$bilatcam" -i clock.ts -o clock.mkv --filter none
    expect err "'clock.mkv' cannot hold all that is in 'clock.ts'; left out: s302m" "sound that is left out"
    python3 - "$(probe clock.mkv packet=pts_time -select_streams a)" <<'END' && ok || bad "the sound of clock.ts"
import sys
times = [float(t.strip(",")) for t in sys.argv[1].split()]
assert len(times) > 600 and 30 < times[-1] < 32, (len(times), times[-1])
END
}

# A pause of the sound alone that no MP4 could hold, of a film that is long enough for it.
test_long_pause() {
    make -i film.mp4 -c copy film.mkv
    make -f lavfi -i testsrc2=s=160x90:r=0.001:d=60000 -c:v libx264 -pix_fmt yuv420p slides.mkv
    make -i slides.mkv -i film.mkv -map 0:v -map 1:a -c copy \
        -bsf:a 'setts=ts=PTS+if(gte(N\,22)\,54000*1000)' sound.mkv
    run 0 "$bilatcam" -i sound.mkv -o paused.mkv --filter none
    grep -q 'left out' err && bad "what is told of sound.mkv" || ok
    python3 - "$(probe paused.mkv packet=pts_time -select_streams a)" <<'END' && ok || bad "a pause in sound.mkv"
import sys
times = [float(t.strip(",")) for t in sys.argv[1].split()]
assert len(times) > 40 and 54000 < times[-1] < 54002, times[-1:]
END
}

# What begins centuries from 0 is as long as it is, and its sound fits its pictures. What AAC's decoder
# needs before the first sound has a time before 0 since ffmpeg 9.
test_far_times() {
    local offset
    for offset in 9000000000 20000000000 200000000000 4000000000000; do
        make -i film.mp4 -c copy -copyts -output_ts_offset $offset far.mkv
        run 0 "$bilatcam" -i far.mkv -o out.mkv --filter none
        python3 - "$(probe out.mkv packet=pts_time)" <<'END' && ok || bad "times of what begins at $offset s"
import sys
times = [float(t.strip(",")) for t in sys.argv[1].split()]
assert len(times) > 60 and -0.03 < min(times) and max(times) < 1.2, (len(times), min(times), max(times))
END
        says out.mkv 25 stream=nb_read_frames -count_frames -select_streams v
    done
}

# What headers say of an AVI's frames is no promise, and chapters may be of what was cut off before.
test_odd_headers() {
    local name
    make -f lavfi -i testsrc2=s=160x90:r=25:d=2 -vf "select='not(between(n,20,40))'" -fps_mode vfr \
        -c:v mpeg4 odd.avi
    run 0 "$bilatcam" -i odd.avi -o odd.mkv --filter none
    make -i film.mp4 -an -c copy copied.avi
    run 0 "$bilatcam" -i copied.avi -o odd.mkv --filter none
    printf ';FFMETADATA1\n[CHAPTER]\nTIMEBASE=1/1\nSTART=0\nEND=3\ntitle=one\n' >chapters
    printf '[CHAPTER]\nTIMEBASE=1/1\nSTART=3\nEND=9\ntitle=two\n' >>chapters
    make -i film.mp4 -i chapters -map_metadata 1 -c copy -output_ts_offset 5 chapters.mkv
    run 0 "$bilatcam" -i chapters.mkv -o odd.mkv --filter none
    name=$(printf 'n%.0s' {1..240}).mp4
    run 0 "$bilatcam" -i film.mp4 -o "$name" --filter none
    [ -s "$name" ] && ok || bad "a long name"
    # libav lists FLAC for .mov, and begins none with it.
    make -i film.mp4 -c:v copy -c:a flac flac.mkv
    run 0 "$bilatcam" -i flac.mkv -o odd.mov --filter none
    expect err "'odd.mov' cannot hold all that is in 'flac.mkv'; left out: flac" "sound that does not fit"
    says odd.mov h264 stream=codec_name
    make -i film.mp4 -c copy film.ts
    run 0 "$bilatcam" -i film.ts -o odd.mp4 --filter none --encoder mpeg4
}

# Films of fewer pictures than libx265 codes in another order.
test_few_pictures() {
    local n frames
    echo leak:libx265 >leaks # of its tables
    make -f lavfi -i testsrc2=s=320x240:r=25:d=0.2 -pix_fmt yuv420p10le -c:v ffv1 deep.mkv
    for n in mp4 mkv; do
        for frames in 1 2 4; do
            LSAN_OPTIONS=suppressions=$PWD/leaks:print_suppressions=0 run 0 "$bilatcam" -i deep.mkv -o "few.$n" --frames $frames --encoder libx265
            python3 - "$frames" "$(probe "few.$n" packet=pts_time -select_streams v)" <<'END' && ok || bad "times of $frames pictures in few.$n"
import sys
times = sorted(float(t.strip(",")) for t in sys.argv[2].split())
assert len(times) == int(sys.argv[1]) and all(abs(t - 0.04 * i) < 0.002 for i, t in enumerate(times)), times
END
        done
    done
}

# Sound whose times are none is left out, of which one line says how much.
test_wild_sound() {
    make -i film.mp4 -c copy -bsf:a 'setts=ts=if(gte(N\,20)\,PTS+8e15\,PTS)' wild.nut
    run 0 "$bilatcam" -i wild.nut -o out.mkv --radius 1
    expect err "^bilatcam: 'out.mkv' lacks some of its sound \([1-9][0-9] packets\): their times are no times$" 'wild times'
    run 0 "$bilatcam" -i film.mp4 -o out.mkv --radius 1
    grep -q 'no times' err && bad "what is told of sound that is all there" || ok
}

# Sound of which a part is damaged costs that part alone, as where recordings were joined in the middle
# of a frame.
test_damaged_sound() {
    local n
    make -stream_loop 2 -i film.mp4 -c copy whole.ts
    python3 - <<'END'
data = bytearray(open("whole.ts", "rb").read())
heard = [i for i in range(0, len(data), 188) if (data[i + 1] & 0x1f) << 8 | data[i + 2] == 0x101]
del data[heard[len(heard) // 2]:heard[len(heard) // 2] + 188]
open("damaged.ts", "wb").write(data)
END
    for n in mkv mp4; do
        run 0 "$bilatcam" -i damaged.ts -o "damaged.$n" --radius 1
        expect err "^bilatcam: 'damaged.$n' lacks some of its sound and subtitles \([0-9]+ packets?\): they are damaged$" "damaged sound in $n"
        says "damaged.$n" 75 stream=nb_read_frames -count_frames -select_streams v
        python3 - "$(probe "damaged.$n" packet=pts_time -select_streams a)" <<'END' && ok || bad "sound of damaged.$n"
import sys
times = [float(t.strip(",")) for t in sys.argv[1].split()]
assert len(times) > 100 and times[-1] > 2.9, (len(times), times[-1])
END
    done
}

run_tests
summary
