#!/bin/bash
# The program as its users meet it: what it prints, its exit status, and what it says of bad
# input. Usage: test_program.sh PATH/TO/bilatcam CONFIG-FILE
# shellcheck disable=SC2015 # "A && ok || bad" is right here: ok never fails
bilatcam=$(realpath "$1")
shipped_config=$(realpath "$2")
# shellcheck source=tests/lib/checks.sh
. "$(dirname "$0")/../lib/checks.sh"
export XDG_CONFIG_HOME=$dir/config XDG_CONFIG_DIRS=/nonexistent

header() { printf 'YUV4MPEG2 %s\n' "$*"; }
frames() { # COUNT BYTES
    local i
    for ((i = 0; i < $1; i++)); do
        printf 'FRAME\n'
        head -c "$2" /dev/zero
    done
}

test_information() {
    run 0 "$bilatcam" --help
    expect out '^  -r, --radius N' help
    expect out '--output-format NAME' help
    run 0 "$bilatcam" --version
    expect out '^bilatcam [0-9.]+ [+-]cuda [+-]preview [+-]mjpeg [+-]pipewire [+-]video [+-]control$' version
    run 0 "$bilatcam" --list-engines
    expect out '^simd  ' engines
    expect out '^reference  ' engines
    run 0 "$bilatcam" -i test: --size 64x48 --frames 1 -o null: --device 99
    expect err "^bilatcam: device '99' is not used: " 'a GPU that is not there'
    run 0 "$bilatcam" --list-devices
    run 0 "$bilatcam" --benchmark=csv -e simd --threads 1
    expect out '^engine,device,width,height,radius,ms$' benchmark
    run 0 "$bilatcam" --print-config
    expect out '^radius = 5$' 'print-config'
    sed -E 's/^#([a-z-]+ = )/\1/; s/^#([a-z-]+ =)$/\1 /' "$shipped_config" >uncommented
    if diff <(grep -v '^# bilatcam' uncommented) <(grep -v '^# bilatcam' out) >different; then
        ok
    else
        cp different out
        bad "the shipped configuration file is not what --print-config prints"
    fi
    run 0 "$bilatcam" --print-config -r 7 --set sigma-space=3
    expect out '^radius = 7$' 'print-config'
    cp out again.conf
    run 0 "$bilatcam" --print-config -c again.conf
    if cmp -s out again.conf; then ok; else bad "--print-config does not read what it wrote"; fi
    run 0 "$bilatcam" --print-config -i ' "a ; b" # '
    cp out again.conf
    run 0 "$bilatcam" --print-config -c again.conf
    if cmp -s out again.conf; then ok; else bad "--print-config does not read quotes and comments"; fi
    if [ -e /dev/full ]; then
        timeout 20 "$bilatcam" --help >/dev/full 2>err
        [ $? -eq 1 ] && ok || bad "--help on a full disk"
    fi
}

test_wrong_usage() {
    refused 2 "unknown option '--radios'" "$bilatcam" --radios 5
    refused 2 "unknown option '-z'" "$bilatcam" -z
    refused 2 "'--radius' needs a value" "$bilatcam" --radius
    refused 2 "unexpected argument 'x'" "$bilatcam" x
    refused 2 "radius = '33': must be an integer from 0 to 32" "$bilatcam" -r 33
    refused 2 "size = '641x480': .*even width" "$bilatcam" --size 641x480
    refused 2 "range = 'box': must be one of gaussian, lorentzian" "$bilatcam" --range box
    refused 2 "temporal = '65': must be auto or an integer from 1 to 64" "$bilatcam" --temporal 65
    refused 2 "temporal: 17 frames, at most 8 with temporal-mode window" \
        "$bilatcam" --temporal 17 --temporal-mode window
    printf 'temporal = 17\ntemporal-mode = window\n' >mode.conf
    refused 2 "configuration 'mode.conf': temporal: 17 frames" \
        "$bilatcam" -c mode.conf
    refused 2 "configuration 'mode.conf' with these options: temporal: 9 frames" \
        "$bilatcam" -c mode.conf --temporal 9
    refused 2 "sigma-color = '0': must be auto or a number from 1 to 200" "$bilatcam" --sigma-color 0
    refused 2 "unknown key 'nonsense'" "$bilatcam" --set nonsense=1
    refused 2 "KEY=VALUE" "$bilatcam" --set radius
    refused 2 "must be csv or json" "$bilatcam" --benchmark=x
    refused 2 "output 'x.avi': must be" "$bilatcam" -i test: -o x.avi
    refused 2 "both be standard output" "$bilatcam" -i test: -o - --stats -
    refused 2 "both be standard output" "$bilatcam" -i test: -o - --trace -
    refused 2 "both be standard output" "$bilatcam" -i test: -o null: --stats - --trace -
    refused 2 "no.*option|unknown" "$bilatcam" -i test:colour=red -o null: --frames 1
    refused 2 "noise" "$bilatcam" -i test:noise=9999 -o null: --frames 1
    refused 2 "scene" "$bilatcam" -i test:scene=moon -o null: --frames 1
}

test_configuration() {
    mkdir -p config/bilatcam
    printf 'radius = 3\nsigma-color = 900\n' >config/bilatcam/bilatcam.conf
    refused 2 "bilatcam.conf', line 2: sigma-color = '900': must be auto or a number from 1 to 200" "$bilatcam" -i test:
    refused 2 "configuration '/nonexistent': No such file" "$bilatcam" -c /nonexistent
    refused 2 "Is a directory" "$bilatcam" -c . -i test:
    printf 'radius\nsigma-color = 900\n' >config/bilatcam/bilatcam.conf
    refused 2 "bilatcam.conf', line 1: must be KEY = VALUE" "$bilatcam" -i test:
    run 0 "$bilatcam" --version
    printf 'radius = 3\n' >config/bilatcam/bilatcam.conf
    run 0 "$bilatcam" --print-config
    expect out '^radius = 3$' "the user's configuration"
    rm -r config
}

test_bad_devices() {
    refused 1 "/dev/video99.*[Nn]o such" "$bilatcam" -i /dev/video99 -o null:
    refused 1 "/dev/null" "$bilatcam" -i /dev/null -o null:
    refused 1 "/dev/video99" "$bilatcam" -i test: -o /dev/video99
    refused 1 "/dev/null.*v4l2loopback" "$bilatcam" -i test: -o /dev/null
}

test_bad_files() {
    { header W64 H48 F30:1 C420; frames 1 4608; } >once.y4m
    refused 1 "missing.y4m.*No such file" "$bilatcam" -i missing.y4m -o null:
    refused 1 "$dir" "$bilatcam" -i "$dir" -o null:
    : >empty.y4m
    refused 1 "empty.y4m" "$bilatcam" -i empty.y4m -o null:
    head -c 5000 /dev/urandom >noise.y4m
    refused 1 "noise.y4m" "$bilatcam" -i noise.y4m -o null:
    { header W641 H480 F30:1 C420; frames 1 462240; } >odd.y4m
    refused 1 "odd.y4m.*width must be even" "$bilatcam" -i odd.y4m -o null:
    { header W64 H48 F30:1 C420p17; frames 1 9216; } >deep.y4m
    refused 1 "deep.y4m.*C420p17" "$bilatcam" -i deep.y4m -o null:
    header W64 H48 F30:1 C420 >none.y4m
    run 0 "$bilatcam" -i none.y4m -o null:
    { header W64 H48 F30:1 C420; frames 3 4608; printf 'FRAME\n'; head -c 100 /dev/zero; } >cut.y4m
    run 1 "$bilatcam" -i cut.y4m -o cut-out.y4m --stats stats.json
    expect err "cut.y4m" 'truncated file'
    [ "$(tail -n +2 cut-out.y4m | wc -c)" -eq $((3 * (6 + 4608))) ] && ok || bad "whole frames of a truncated file"
    expect stats.json '"frames_out": 3,' 'truncated file'
    refused 1 "cut.y4m.*64x48" "$bilatcam" -i cut.y4m -o null: --size 128x96
    refused 2 "once.y4m' is read and would be overwritten" "$bilatcam" -i ./once.y4m -o once.y4m
    refused 2 "once.y4m' is read" "$bilatcam" -i once.y4m -o null: --stats once.y4m
    refused 2 "once.y4m' is read" "$bilatcam" -i once.y4m -o null: --trace ./once.y4m
    refused 2 "once.y4m' is read" "$bilatcam" -i once.y4m -o once.y4m --stats new.y4m
    # shellcheck disable=SC2094 # that is the mistake to be refused
    timeout 60 "$bilatcam" -i - -o once.y4m <once.y4m 2>err
    [ $? -eq 2 ] && ok || bad "standard input is the output"
    [ "$(stat -c %s once.y4m)" -gt 4608 ] && ok || bad "the input was overwritten"
    refused 1 "no/such/dir" "$bilatcam" -i test: -o no/such/dir/x.y4m --frames 1
    if [ -e /dev/full ]; then
        ln -s /dev/full full.y4m
        run 1 "$bilatcam" -i test: --size 320x240 -o full.y4m --frames 10
        expect err "full.y4m.*No space left" 'full disk'
        run 1 "$bilatcam" -i test: --size 64x48 -o null: --frames 2 --stats /dev/full
        expect err "/dev/full.*No space left" 'full disk'
    fi
}

# clash PATTERN ARGUMENT...: two files of the run are one.
clash() {
    refused 2 "$1" "$bilatcam" -i test: --frames 2 "${@:2}"
}

# Two that would write to one file, also where it is not there yet: nothing is opened, so nothing
# is made.
test_same_files() {
    mkdir same
    ln -s same other
    ln -s new same/dangling
    mkfifo same/fifo
    clash "statistics 'same/new' and trace './same/new' are the same file: choose" \
        -o null: --stats same/new --trace ./same/new
    clash "same file" -o null: --stats same/new --trace other/new
    clash "same file" -o null: --stats same/new --trace other/dangling
    clash "same file" -o null: --stats same/fifo --trace other/fifo
    clash "output 'same/new.y4m' and statistics 'other/new.y4m' are the same" \
        -o same/new.y4m --stats other/new.y4m
    clash "output 'same/new.y4m' and trace" -o same/new.y4m --trace "$dir/same/new.y4m"
    clash "output '-' and statistics '/dev/stdout' are the same" -o - --stats /dev/stdout
    clash "statistics '-' and trace '/dev/fd/1'" -o null: --stats - --trace /dev/fd/1
    refused 2 "other/new.y4m' is read and would be overwritten" "$bilatcam" -i same/new.y4m -o null: \
        --trace other/new.y4m
    [ ! -e same/new ] && [ ! -e same/new.y4m ] && ok || bad "a refused file was made"
    # What a run makes and never writes to is gone again, and a link that led there stays.
    refused 1 "missing.y4m.*No such file" "$bilatcam" -i missing.y4m -o null: --stats same/dangling
    [ -L same/dangling ] && [ ! -e same/new ] && ok || bad "statistics through a link: $(ls -l same)"
    run 0 "$bilatcam" -i test: --size 64x48 --frames 1 -o null: --stats /dev/null --trace /dev/null
    run 0 "$bilatcam" -i test: --size 64x48 --frames 1 -o null: --stats auto --trace null:
    run 0 "$bilatcam" -i test: --size 64x48 --frames 1 -o same/a.y4m --stats same/b --trace same/c
}

# Several outputs get the same, all of it, and one that fails leaves the others alone.
test_outputs() {
    run 0 "$bilatcam" -i test: --size 64x48 --frames 30 -o one.y4m
    run 0 "$bilatcam" -i test: --size 64x48 --frames 30 -o a.y4m -o null: -o b.y4m --stats stats.json
    cmp one.y4m a.y4m && cmp one.y4m b.y4m && ok || bad "several outputs differ"
    expect stats.json '"outputs": ".*a.y4m.*: 30 frames; null:: 30 frames; .*b.y4m.*: 30 frames"' outputs
    printf 'output = a.y4m\noutput = c.y4m\n' >several.conf
    rm -f a.y4m
    run 0 "$bilatcam" -c several.conf -i test: --size 64x48 --frames 30
    cmp one.y4m a.y4m && cmp one.y4m c.y4m && ok || bad "several outputs of a file differ"
    rm -f a.y4m
    run 0 "$bilatcam" -c several.conf -i test: --size 64x48 --frames 30 -o c.y4m
    [ ! -e a.y4m ] && ok || bad "an output of the file beside that of the command line"
    timeout 60 "$bilatcam" -i test: --size 64x48 --frames 30 -o - -o a.y4m 2>err | head -c 1000 >out
    [ "${PIPESTATUS[0]}" -eq 1 ] && ok || bad "one of several outputs closed: exit status"
    cmp one.y4m a.y4m && ok || bad "one of several outputs closed: the other one"
    refused 2 "output 'null:' is given twice" "$bilatcam" -i test: -o null: -o null:
    refused 2 "output 'x.y4m' and output './x.y4m' are the same file" "$bilatcam" -i test: -o x.y4m -o ./x.y4m
    refused 2 "both be standard output" "$bilatcam" -i test: -o null: -o - --stats -
    [ ! -e x.y4m ] && ok || bad "a refused output was made"
}

test_closed_pipe() {
    timeout 60 "$bilatcam" -i test: --size 320x240 -o - 2>err | head -c 1000 >out
    [ "${PIPESTATUS[0]}" -eq 1 ] && ok || bad "closed pipe: exit status"
    expect err 'bilatcam: .*(closed|Broken pipe)' 'closed pipe'
}

# A file through the program and through two of them in a pipe gives the same bytes.
test_files() {
    local filter frames given mode sigma n
    run 0 "$bilatcam" -i test: --size 322x243 --frames 5 --filter none -o clip.y4m
    run 0 "$bilatcam" -i clip.y4m -o once.y4m -r 2
    timeout 60 "$bilatcam" -q -i test: --size 322x243 --frames 5 --filter none -o - |
        timeout 60 "$bilatcam" -q -i - -o twice.y4m -r 2
    cmp -s once.y4m twice.y4m && ok || bad "file and pipe differ"
    run 0 "$bilatcam" -i clip.y4m -o same.y4m --filter none
    cmp -s clip.y4m same.y4m && ok || bad "filter = none changes the picture"
    run 0 "$bilatcam" -i clip.y4m -o same.y4m -r 0 --temporal 1
    cmp -s clip.y4m same.y4m && ok || bad "radius 0 changes the picture"
    cmp -s clip.y4m once.y4m && bad "radius 2 does not change the picture" || ok
    run 0 "$bilatcam" -i clip.y4m -o same.y4m -r 0 --temporal 2
    cmp -s clip.y4m same.y4m && bad "radius 0 with temporal 2 does not change the picture" || ok
    for filter in gaussian box; do
        for engine in reference simd; do
            run 0 "$bilatcam" -i clip.y4m -o "$engine.y4m" --filter "$filter" -r 2 --engine "$engine" --frames 1
        done
        [ "$(cmp -l reference.y4m simd.y4m | wc -l)" -lt 5000 ] && ok || bad "$filter: the engines do not agree"
        [ "$(cmp -l clip.y4m simd.y4m 2>/dev/null | wc -l)" -gt 50000 ] && ok || bad "$filter does nothing"
    done
    for given in 'gaussian 4 1' 'box 64 1' 'box auto 0' 'gaussian 1 0' 'bilateral 4 0' 'none 4 0'; do
        read -r filter frames n <<<"$given"
        run 0 "$bilatcam" -i clip.y4m -o null: --filter "$filter" --temporal "$frames" --frames 1
        [ "$(grep -c "temporal = $frames has no effect with filter = $filter: the mean over frames needs" err)" \
            -eq "$n" ] && ok || bad "temporal $frames with $filter: $(cat err)"
    done
    for given in 'recursive 2 1' 'recursive auto 0' 'window 2 0'; do
        read -r mode sigma n <<<"$given"
        run 0 "$bilatcam" -i clip.y4m -o null: --temporal-mode "$mode" --sigma-time "$sigma" --frames 1
        [ "$(grep -c 'sigma-time has no effect: it is for temporal-mode = window' err)" -eq "$n" ] && ok ||
            bad "sigma-time $sigma with $mode: $(cat err)"
    done
    run 0 "$bilatcam" -i clip.y4m -o near.y4m -r 2 --engine simd --temporal 1 --sigma-color 18 --frames 1
    for engine in reference simd; do
        run 0 "$bilatcam" -i clip.y4m -o "$engine.y4m" --distance manhattan -r 2 --engine "$engine" \
            --temporal 1 --sigma-color 18 --frames 1
    done
    [ "$(cmp -l reference.y4m simd.y4m | wc -l)" -lt 5000 ] && ok || bad "distance: the engines do not agree"
    [ "$(cmp -l near.y4m simd.y4m | wc -l)" -gt 50000 ] && ok || bad "distance does nothing"
    run 0 "$bilatcam" -i clip.y4m -o same.y4m --filter none --temporal 16
    cmp -s clip.y4m same.y4m && ok || bad "filter = none with temporal changes the picture"
    run 0 "$bilatcam" -i clip.y4m -o null: --stats stats.json
    expect stats.json '"frames_in": 5, "frames_out": 5, "frames_dropped": 0, "frames_bad": 0' files
}

# What a file says of itself stays, to the byte, but for what the user changes. The picture is the
# same without a filter, whatever else is said of it.
test_y4m_tags() {
    local tags out
    for tags in 'W64 H48 F30:1 Ip A1:1 C420jpeg' 'H48 W64 F30000:1001 I? A4:3 C420mpeg2' \
        'C420paldv W64 H48 F25:1 A0:0 XYSCSS=420PALDV XCOLORRANGE=FULL' 'W64 H48' \
        'W064 H48 F0:0 Xone Xtwo Zunknown C420' 'W64 H48  F50:2 Xa=b '; do
        {
            header "$tags"
            printf 'FRAME Xfirst I  \n'
            head -c 4608 /dev/urandom
            printf 'FRAME\n'
            head -c 4608 /dev/urandom
            printf 'FRAME %04000d\n' 0
            head -c 4608 /dev/urandom
        } >tagged.y4m
        run 0 "$bilatcam" -i tagged.y4m -o same.y4m --filter none
        cmp tagged.y4m same.y4m 2>err && ok || bad "tags of '$tags'"
        run 0 "$bilatcam" -i tagged.y4m -o same.y4m --radius 2
        [ "$(head -n 1 same.y4m)" = "YUV4MPEG2 $tags" ] && ok || bad "tags of '$tags' filtered"
        grep -aq '^FRAME Xfirst I  $' same.y4m && ok || bad "tags of a frame"
    done
    { header W64 H48 F50:1 Ip A4:3 C420mpeg2 XYSCSS=420MPEG2 Xkept; frames 1 4608; } >tagged.y4m
    while read -r tags out; do
        # shellcheck disable=SC2086 # several options
        run 0 "$bilatcam" -i tagged.y4m -o same.y4m --filter none $tags
        [ "$(head -n 1 same.y4m)" = "YUV4MPEG2 $out" ] && ok || bad "header with $tags: $(head -n 1 same.y4m)"
    done <<'END'
--fps=50 W64 H48 F50:1 Ip A4:3 C420mpeg2 XYSCSS=420MPEG2 Xkept
--fps=25 W64 H48 Ip A4:3 C420mpeg2 XYSCSS=420MPEG2 Xkept F25:1
--output-format=yu12 W64 H48 F50:1 Ip A4:3 C420mpeg2 XYSCSS=420MPEG2 Xkept
--output-format=yuyv W64 H48 F50:1 Ip A4:3 Xkept C422
END
    { header W64 H48 F50:1 C422 Xkept; frames 1 6144; } >tagged.y4m
    run 0 "$bilatcam" -i tagged.y4m -o same.y4m --output-format yu12
    [ "$(head -n 1 same.y4m)" = "YUV4MPEG2 W64 H48 F50:1 Xkept C420jpeg" ] && ok || bad "4:2:0 of 4:2:2"
}

# Words of 10 bits and of 16 come out as they went in, unless they are filtered, or taken to 8 bits.
test_deep() {
    local i k
    for tags in 'C420p10 XYSCSS=420P10' 'Cmono16 XCOLORRANGE=FULL'; do
        { header "W16 H4 F50:1 $tags"
          for ((i = 0; i < 2; i++)); do
              printf 'FRAME\n'
              for ((k = 0; k < (${#tags} == 21 ? 12 : 8); k++)); do
                  printf '\0\0\1\0\377\3\0\2\12\1\144\0\310\1\20\3'
              done
          done; } >deep.y4m
        run 0 "$bilatcam" -i deep.y4m -o same.y4m --filter none
        cmp -s deep.y4m same.y4m && ok || bad "$tags changed"
        run 0 "$bilatcam" -i deep.y4m -o other.y4m -r 2 --sigma-color 100
        [ "$(head -n 1 other.y4m)" = "$(head -n 1 deep.y4m)" ] && ok || bad "tags of filtered $tags"
        [ "$(stat -c %s other.y4m)" = "$(stat -c %s deep.y4m)" ] && ok || bad "size of filtered $tags"
        cmp -s deep.y4m other.y4m && bad "$tags is not filtered" || ok
        run 0 "$bilatcam" -i deep.y4m -o eight.y4m --filter none --output-format yu12
        [ "$(stat -c %s eight.y4m)" = $(($(head -n 1 eight.y4m | wc -c) + 2 * (6 + 96))) ] && ok ||
            bad "8 bits of $tags"
        run 0 "$bilatcam" -i deep.y4m -o taken.y4m --filter none --depth 8
        expect err "'taken.y4m', (yu12|grey)$" "--depth 8 of $tags"
        [ "${tags::5}" = Cmono ] || { cmp -s <(tail -n +2 taken.y4m) <(tail -n +2 eight.y4m) && ok || bad "samples of --depth 8"; }
    done
    run 0 "$bilatcam" -i deep.y4m -o wide.y4m --filter none --levels 0,1023
    tail -c 16 wide.y4m | od -An -tu2 -w16 | grep -Eq '^ +0 +64 +65535 +32800 +17040 +6406 +29212 +50224$' && ok ||
        bad "levels: $(tail -c 16 wide.y4m | od -An -tu2 -w16)"
    run 0 "$bilatcam" -i test: --size 64x48 --frames 2 --filter none -o null: --levels auto
    expect err "levels: only grey of 16 bits has them to choose from, not yuyv" "levels of 8 bits"
    run 0 "$bilatcam" -i test: --format y16 --size 64x48 --frames 2 -o null:
    expect err "test scene .* y16 -> (cuda|simd)" "a scene of 16 bits"
    run 0 "$bilatcam" -i test: --format y16 --size 64x48 --frames 2 -o null: --levels auto --stats -
    expect out "filter_ms" "statistics"
    if grep -q psnr_gain_db out; then bad "levels: compared with a picture of others"; else ok; fi
    refused 2 "levels: they are of 16 bits, and depth = 8 leaves none" "$bilatcam" -i deep.y4m -o null: --levels auto --depth 8
    refused 2 "depth = '10': must be one of auto, 8, 16" "$bilatcam" -i deep.y4m -o null: --depth 10
    run 0 "$bilatcam" -i test:noise=20 --format y16 --size 64x48 --frames 9 -o null: --depth 8 --stats -
    expect err "y16 -> .* grey" "a scene of 16 bits that is taken to 8"
    expect out '"psnr_gain_db": [1-9]' "the gain of a scene that is taken to 8 bits"
}

# R'G'B' is filtered as it is, and becomes what a file takes.
test_rgb() {
    run 0 "$bilatcam" -i test: --format rgb24 --size 64x48 --frames 2 -o rgb.y4m
    expect err "rgb24 -> .* 444p" "R'G'B' to a file"
    [ "$(head -n 1 rgb.y4m)" = "YUV4MPEG2 W64 H48 F30:1 Ip A0:0 C444 XCOLORRANGE=FULL" ] && ok ||
        bad "header of R'G'B': $(head -n 1 rgb.y4m)"
    run 0 "$bilatcam" -i test: --format bgr24 --size 64x48 --frames 2 -o null: --output-format rgb24
    expect err "bgr24 -> .*, rgb24" "R'G'B' to nowhere"
}

# Asked for, a latency budget holds or is refused; the one of the configuration file is for cameras.
test_budget() {
    run 0 "$bilatcam" -i test: --size 64x48 --frames 2 --filter none -o short.y4m
    refused 2 "latency-budget: 'short.y4m' is not live" "$bilatcam" -i short.y4m -o null: --latency-budget 20
    refused 2 "latency-budget: 'test:' is not live" "$bilatcam" -i test: -o null: --set latency-budget=20
    run 0 "$bilatcam" -i short.y4m -o null: --latency-budget off
    run 0 "$bilatcam" -i short.y4m -o null: --latency-budget auto
    run 0 "$bilatcam" -i short.y4m -o null: --latency-budget 20 --latency-budget off
    run 0 "$bilatcam" -i test: --size 64x48 --fps 100 --frames 5 -o null: --latency-budget 20
    printf 'latency-budget = 20\n' >budget.conf
    run 0 "$bilatcam" -i short.y4m -o null: -c budget.conf
}

test_live_frames() {
    run 0 "$bilatcam" -i test: --fps 100 --size 64x48 -o null: --frames 20 --stats stats.json
    expect stats.json '"frames_out": 20,' 'live frames'
    balanced stats.json
}

# The plot of a trace whose last line is cut, as of a run that was killed, and of what is no trace.
test_plot() {
    local plot=$here/../../tools/bilatcam-plot cut
    run 0 "$bilatcam" -i test: --size 64x48 -o null: --frames 20 --trace trace.csv
    "$plot" trace.csv >plot.svg 2>err && ok || bad "plot of a trace"
    expect plot.svg '</svg>$' plot
    for cut in 1 10 30; do
        head -c -"$cut" trace.csv >cut.csv
        "$plot" cut.csv >cut.svg 2>err && ok || bad "plot of a trace without its last $cut bytes"
        head -n 20 trace.csv >whole.csv
        "$plot" whole.csv | cmp -s - cut.svg && ok || bad "half a line is drawn"
    done
    "$plot" missing.csv >out 2>err && bad "plot of a missing file" || ok
    [ "$(cat err)" = "bilatcam-plot: cannot read 'missing.csv': No such file or directory" ] && ok ||
        bad "message of a missing file"
    for cut in "$bilatcam" "$shipped_config" "$plot"; do
        "$plot" "$cut" >out 2>err && bad "plot of $cut" || ok
        [ "$(grep -c '^bilatcam-plot: ' err)" = 1 ] && [ "$(wc -l <err)" = 1 ] && ok ||
            bad "message of what is no trace"
    done
    head -n 1 trace.csv >empty.csv
    "$plot" empty.csv 2>err && bad "plot of no frames" || ok
    expect err "holds no frames" plot
}

run_tests
summary
