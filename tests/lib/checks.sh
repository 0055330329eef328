# What test scripts share: counting checks, running a command, waiting for a condition, and a folder
# of their own, $dir, in which they go on. Paths in their arguments are made absolute before:
#
#     program=$(realpath "$1")
#     # shellcheck source=tests/lib/checks.sh
#     . "$(dirname "$0")/../lib/checks.sh"
#
#     test_help() {
#         run 0 "$program" --help
#         [ "$(wc -l <out)" = 20 ] && ok || bad "length of the help"
#     }
#
#     run_tests
#     summary
#
# A script that ends in any other way than by summary, skip or leave has failed.
# shellcheck shell=bash
set -u
export LC_ALL=C
here=$(realpath "$(dirname "$0")") # the folder of the script
dir=$(mktemp -d)
cd "$dir" || exit 1
passed=0 failed=0 ran=' ' ended=
evidence=(out err) # files whose ends bad shows
wait_limit=60      # s
export PIPEWIRE_REMOTE=$dir/no-pipewire # no test has a camera in the user's session

# clean_up: what a script that has more to do at its end defines again. What it left in the
# background is ended here.
clean_up() { :; }

# What was only just begun in the background is still this shell, with its trap, and may miss a signal.
end_script() {
    local status=$? jobs n
    [ "$BASHPID" = $$ ] || exit
    [ -n "$ended" ] || {
        echo "FAIL the script ended before its summary, with status $status"
        status=1
    }
    clean_up
    for ((n = 0; ; n++)); do
        jobs=$(jobs -rp)
        [ -n "$jobs" ] || break
        # shellcheck disable=SC2086 # several numbers
        [ $((n % 50)) != 0 ] || kill $jobs 2>/dev/null
        sleep 0.02
    done
    wait
    cd /
    rm -rf "$dir"
    exit "$status"
}
trap end_script EXIT

# --- the end -------------------------------------------------------------------------

# leave STATUS
leave() {
    ended=yes
    exit "$1"
}

# skip REASON: of the whole script.
skip() {
    echo "skipped: $*"
    leave 77
}

# need TOOL...
need() {
    local tool
    for tool; do
        command -v "$tool" >/dev/null || skip "no $tool here"
    done
}

# run_tests [FUNCTION...]: in this order; all test_ functions where none is named.
run_tests() {
    local test_function
    # shellcheck disable=SC2046 # names
    [ $# != 0 ] || set -- $(compgen -A function test_)
    for test_function; do
        ran+="$test_function "
        "$test_function"
    done
}

# The last command of a script. That nothing was checked, or that there is a test_ function which
# was not run, is a failure too.
summary() {
    local test_function
    for test_function in $(compgen -A function test_); do
        [[ $ran = *" $test_function "* ]] || bad "$test_function was not run"
    done
    [ $((passed + failed)) != 0 ] || bad "nothing was checked"
    echo "$passed passed, $failed failed"
    leave $((failed != 0))
}

# --- checks --------------------------------------------------------------------------

ok() { passed=$((passed + 1)); }

# bad WHAT
bad() {
    failed=$((failed + 1))
    echo "FAIL $*"
    tail -v -n 15 "${evidence[@]}" 2>/dev/null | sed 's/^/    | /'
}

# run STATUS COMMAND...: compares the exit status; what it says is in out and err.
run() {
    local want=$1 got
    shift
    timeout 200 "$@" >out 2>err </dev/null
    got=$?
    [ "$got" = "$want" ] && ok || bad "exit status $got, not $want: $*"
}

# refused STATUS PATTERN COMMAND...: it says why in one line, which begins with its name, and
# nothing else.
refused() {
    run "$1" "${@:3}"
    [ "$(grep -cE -- "^${3##*/}: .*($2)" err)" = 1 ] && [ "$(wc -l <err)" = 1 ] && [ ! -s out ] &&
        ok || bad "message of: ${*:3} (wanted: $2)"
}

# expect FILE PATTERN WHAT
expect() { grep -qsE -- "$2" "$1" && ok || bad "$3: no '$2' in $1"; }

# balanced FILE: no frame is missing in these statistics of bilatcam.
balanced() {
    python3 - "$1" <<'END' && ok || bad "frames in = out + dropped + bad in: $(cat "$1")"
import json, sys
s = json.load(open(sys.argv[1]))
sys.exit(s["frames_in"] != s["frames_out"] + s["frames_dropped"] + s["frames_bad"])
END
}

# --- waiting -------------------------------------------------------------------------

# wait_until COMMAND...: until it succeeds. The limit is far beyond what anything takes; it only
# ends what hangs.
wait_until() {
    local end=$((SECONDS + wait_limit))
    until "$@"; do
        [ "$SECONDS" -lt "$end" ] || return 1
        sleep 0.1
    done
}

# wait_for FILE PATTERN [TIMES]: until so many lines match.
wait_for() { wait_until has_lines "$@"; }
has_lines() { [ "$(grep -csE -- "$2" "$1")" -ge "${3:-1}" ] 2>/dev/null; }
gone() { ! kill -0 "$1" 2>/dev/null; }
