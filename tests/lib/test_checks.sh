#!/bin/bash
# What scripts that use checks.sh end with: each here is one of a few lines. It does not use
# checks.sh itself, which could then hide its own mistakes.
set -u
lib=$(realpath "$(dirname "$0")")/checks.sh
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
export TMPDIR=$dir lib
n=0 wrong=0

# script STATUS LINE WHAT: the last line that it says, and its exit status. What is in it comes
# from stdin.
script() {
    local got said
    n=$((n + 1))
    { printf '. "$lib"\n' && cat; } > "$dir/script.sh"
    bash "$dir/script.sh" > "$dir/said" 2>&1
    got=$?
    said=$(tail -n 1 "$dir/said")
    rm "$dir/script.sh"
    # shellcheck disable=SC2053 # a pattern
    if [ "$got" != "$1" ] || [[ $said != $2 ]]; then
        printf 'FAIL %s: exit status %s, not %s; says: %s\n' "$3" "$got" "$1" "$(< "$dir/said")"
        wrong=1
    fi
    rm "$dir/said"
    # Its folder is gone in any case.
    [ -z "$(ls "$dir")" ] || { printf 'FAIL %s: leaves files\n' "$3" && wrong=1; }
    rm -rf "${dir:?}"/*
}

script 0 '1 passed, 0 failed' 'all is well' << 'END'
test_a() { true && ok || bad "true"; }
run_tests
summary
END
script 1 '1 passed, 1 failed' 'a check that fails' << 'END'
ok
bad "false"
summary
END
script 1 'FAIL the script ended *' 'an end before the summary' << 'END'
ok
exit 0
END
script 1 'FAIL the script ended *' 'no summary' << 'END'
ok
END
script 1 'FAIL the script ended *' 'an end by set -e' << 'END'
set -e
ok
false
summary
END
script 1 'FAIL the script ended *' 'a variable that is not there' << 'END'
ok
echo "$nonsense"
summary
END
script 1 'FAIL the script ended *' 'a mistake in the script' << 'END'
ok
if
summary
END
script 1 '0 passed, 1 failed' 'no check at all' << 'END'
summary
END
script 1 '1 passed, 1 failed' 'a test that is not run' << 'END'
test_a() { ok; }
test_b() { ok; }
run_tests test_a
summary
END
script 77 'skipped: no tool-that-is-nowhere here' 'a tool that is missing' << 'END'
need bash tool-that-is-nowhere
summary
END
script 0 '2 passed, 0 failed' 'run and its status' << 'END'
run 3 sh -c 'echo said; exit 3'
expect out '^said$' 'what it says'
summary
END
script 1 '1 passed, 4 failed' 'run, expect and refused where it is otherwise' << 'END'
run 0 sh -c 'exit 3'
expect missing said 'a file that is missing'
refused 1 'no' sh -c 'echo "sh: no" >&2; echo more; exit 1'
expect out '^nothing$' 'what it does not say'
summary
END
script 0 '2 passed, 0 failed' 'a refusal' << 'END'
refused 1 'no, never$' sh -c 'echo "sh: no, never" >&2; exit 1'
summary
END
script 0 '2 passed, 0 failed' 'waiting' << 'END'
{ sleep 0.3; echo one; echo two; } > said &
wait_for said '^(one|two)$' 2 && ok || bad "two lines"
wait_limit=0
wait_for said three && bad "what does not come" || ok
summary
END
# Longer than this whole test may take: it must not be waited for.
script 0 '1 passed, 0 failed' 'what runs in the background' << 'END'
sleep 1000 &
clean_up() { rm "$TMPDIR/extra"; }
touch "$TMPDIR/extra"
ok
summary
END
# As what was begun in the background is for a moment.
script 0 '1 passed, 0 failed' 'a part of the script that ends with its trap' << 'END'
(trap end_script EXIT)
[ -d "$dir" ] && ok || bad "the folder"
summary
END
script 1 '0 passed, 1 failed' 'frames that are missing' << 'END'
echo '{"frames_in": 3, "frames_out": 1, "frames_dropped": 1, "frames_bad": 0}' > stats.json
balanced stats.json
summary
END

echo "$n scripts"
exit "$wrong"
