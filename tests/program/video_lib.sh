# What the tests of video files share, after checks.sh: ffmpeg with what they need, film.mp4 with a
# second of pictures and sound, and a configuration that is nobody's.
# shellcheck shell=bash
need ffmpeg ffprobe python3
export XDG_CONFIG_HOME=$PWD/config XDG_CONFIG_DIRS=/nonexistent

make() { ffmpeg -v error -nostdin -y "$@" 2>err || bad "ffmpeg $*"; }

# turn FILE ANGLE OUT: to be shown so, clockwise. It was a tag before ffmpeg 6 made it an option.
turn() {
    ffmpeg -v error -nostdin -y -display_rotation:v:0 "-$2" -i "$1" -c copy "$3" 2>err ||
        make -i "$1" -c copy -metadata:s:v:0 "rotate=$2" "$3"
}

has_encoder() { ffmpeg -hide_banner -encoders 2>/dev/null | grep -q " $1 "; }
for encoder in libx264 libx265 libvpx-vp9 mjpeg png ffv1 prores_ks aac; do
    has_encoder "$encoder" || skip "ffmpeg has no $encoder here"
done
quiet_x265=(-x265-params log-level=none)
make -f lavfi -i testsrc2=s=160x90:r=25:d=1 -f lavfi -i sine=d=1 -c:v libx264 -pix_fmt yuv420p \
    -c:a aac film.mp4

# same_pixels A B MOST WHAT: two pictures or films as RGB, of which no sample differs by more than MOST.
same_pixels() {
    make -i "$1" -f rawvideo -pix_fmt rgb24 ours
    make -i "$2" -f rawvideo -pix_fmt rgb24 theirs
    python3 - "$3" <<'END' && ok || bad "$4"
import sys
a, b = open("ours", "rb").read(), open("theirs", "rb").read()
assert len(a) == len(b) > 0, (len(a), len(b))
assert max(abs(x - y) for x, y in zip(a, b)) <= int(sys.argv[1])
END
}

# samples FILE: of a y4m file, without its header.
samples() { tail -n +2 "$1"; }

# probe FILE ENTRIES [OPTION...]: what ffprobe says, one thing after the other.
probe() { ffprobe -v error "${@:3}" -show_entries "$2" -of csv=p=0 "$1" | tr '\n' ' '; }

# says FILE WANTED ENTRIES [OPTION...]
says() {
    local got
    got=$(probe "$1" "${@:3}")
    [ "${got% }" = "$2" ] && ok || bad "$3 of $1: $got, not $2"
}

# pixels FILE: of all frames.
pixels() { ffmpeg -v error -nostdin -i "$1" -map 0:v -fps_mode passthrough -f md5 -; }
