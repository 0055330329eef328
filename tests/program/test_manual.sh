#!/bin/bash
# The manual pages: no mistakes in them, and they tell of each option, key, command and environment
# variable what the programs do. Usage: test_manual.sh FOLDER-OF-PAGES REFERENCE BILATCAM
# [BILATCAMCTL]
# shellcheck disable=SC2015 # "A && ok || bad" is right here: ok never fails
pages=$(realpath "$1") reference=$(realpath "$2") bilatcam=$(realpath "$3")
bilatcamctl=${4:+$(realpath "$4")}
# shellcheck source=tests/lib/checks.sh
. "$(dirname "$0")/../lib/checks.sh"
export LC_ALL=C.UTF-8 XDG_CONFIG_HOME=/nonexistent XDG_CONFIG_DIRS=/nonexistent
need mandoc python3

# same WHAT EXPECTED FILE: neither file is empty, and they do not differ but for the case of letters
# and full stops, because pages have sentences.
same() {
    local what=$1 file
    shift
    for file; do
        sed -E 's/ +$//; s/\.$//' "$file" | tr '[:upper:]' '[:lower:]' > "$file.plain"
    done
    [ -s "$1" ] && diff "$1.plain" "$2.plain" && ok || bad "$what"
}

# shown PAGE: as it is read, with no line broken.
shown() {
    mandoc -T utf8 -O width=1000 "$pages/$1" | sed 's/.\x08//g'
}

# entries PAGE SECTION...: FORM;TEXT of each entry in these sections, whose form begins with a word
# or a dash; plain paragraphs end with a full stop, and are none.
entries() {
    shown "$1" | awk -v sections="|$(IFS='|' && echo "${*:2}")|" '
        /^[^ ]/ { inside = index(sections, "|" $0 "|") }
        !inside || NF == 0 { next }
        match($0, /^ */) && RLENGTH < 8 { form = /\.$/ ? "" : substr($0, RLENGTH + 1); next }
        form != "" { print form ";" substr($0, RLENGTH + 1) }'
}

# help_of PROGRAM: the same of --help, where text may go on below itself.
help_of() {
    "$1" --help | awk '
        { match($0, /^ */); column = RLENGTH; line = substr($0, column + 1) }
        column >= 20 { text = text (text == "" ? "" : " ") line; next }
        form != "" { print form ";" text; form = "" }
        column >= 2 && line ~ /^[a-z-]/ {
            n = split(line, part, /   */)
            form = part[1]
            for (i = 2; i < n; i++) form = form " " part[i]
            text = n > 1 ? part[n] : ""
        }'
}

test_language() {
    local page
    for page in "$pages"/*.[15]; do
        # scdoc leaves paragraphs empty and escapes the date, which does no harm.
        mandoc -T lint -W warning "$page" |
            grep -vE 'skipping paragraph macro|cannot parse date, using it verbatim: TH [0-9]{4}\\-' > mistakes
        [ ! -s mistakes ] && ok || bad "$page: $(< mistakes)"
        man --version 2> /dev/null | grep -q man-db || continue
        man --warnings -E UTF-8 -l "$page" > out 2> mistakes
        [ -s out ] && [ ! -s mistakes ] && ok || bad "$page: $(< mistakes)"
    done
}

test_options() {
    help_of "$bilatcam" > expected
    entries bilatcam.1 OPTIONS 'OTHER OPTIONS' > found
    same "options of bilatcam" expected found
    [ "$(grep -c -- -- found)" -ge 20 ] && ok || bad "few options"
    [ -z "$bilatcamctl" ] || {
        help_of "$bilatcamctl" > expected
        entries bilatcamctl.1 COMMANDS OPTIONS > found
        same "commands and options of bilatcamctl" expected found
    }
}

test_keys() {
    "$bilatcam" --print-config | awk '
        /^# / { text = text (text == "" ? "" : ". must be ") substr($0, 3) }
        /^$/ { text = "" }
        /^[a-z]/ { sub(/ $/, ""); print $0 ";" text }' > expected
    entries bilatcam.conf.5 KEYS > found
    same "keys of the configuration file" expected found
    [ -z "$bilatcamctl" ] || {
        "$bilatcam" --print-config | awk '
            { running = /; can change while running$/ ? 1 : /^#/ ? 0 : running }
            /^[a-z]/ && running { print $1 }' > expected
        shown bilatcamctl.1 | grep -o '^ *set takes the keys [^.]* with' |
            sed -E 's/.* keys (.*), with/\1/; s/, | and /\n/g' > found
        same "keys that can change" expected found
    }
}

# Each member of the JSON, but for what no run without a GPU has, and the figures of the bus that
# bilatcamctl shows.
test_figures() {
    "$bilatcam" -q -i test: --size 64x48 --frames 2 -o null: --stats stats.json
    python3 - stats.json >expected <<'END'
import json, sys
for name, value in json.load(open(sys.argv[1])).items():
    for member in value if type(value) is dict else [""]:
        print(f"{name}.{member}".rstrip("."))
END
    entries bilatcam.1 STATISTICS | sed 's/[ ;].*//; /^gpu_memory_mib$/d' >found
    same "figures of --stats" expected found
    [ -z "$bilatcamctl" ] || {
        grep -oE '\.property = "[A-Za-z0-9]+"' "$here/../../src/settings/status.c" | cut -d'"' -f2 >expected
        entries bilatcamctl.1 D-BUS | sed 's/[ ;].*//' >found
        same "figures on D-Bus" expected found
    }
}

# One key a line, of lists with spaces and commas between them; a comma alone is a key.
keys_in() {
    sed 's/\([^ ]\),/\1/g' | tr -s ' ' '\n' | sort -u
}

# The keys that the window's own help lists.
test_window() {
    entries bilatcam.1 'PREVIEW WINDOW' | sed 's/;.*//' | keys_in > found
    sed -n '/^} help_rows/,/^};/s/^    {"\([^"]*\)", .*/\1/p' \
        "$here/../../src/sink/preview/overlay.c" | keys_in > expected
    [ "$(wc -l < expected)" -ge 15 ] && ok || bad "few keys of the window"
    comm -23 expected found > missing
    [ ! -s missing ] && ok || bad "keys of the window that the page does not have: $(< missing)"
}

# What the sources ask for; what libraries ask for is known to the page alone.
test_environment() {
    local name
    shown bilatcam.1 | sed -n '/^ENVIRONMENT/,/^FILES/p' > found
    grep -rhoE '(getenv|variable|setting)\("[A-Z_0-9]+"\)' "$here/../../"{src,cuda} |
        sed -E 's/.*"(.*)".*/\1/' | sort -u > expected
    [ -s expected ] || bad "the sources ask for nothing"
    while read -r name; do
        grep -qw "$name" found && ok || bad "environment variable $name is in no page"
    done < expected
}

# A mistake in a template must not leave a hole in a page.
test_reference() {
    printf 'a@b @version@ c@\n' > template
    "$reference" template > out && grep -qE '^a@b [0-9.]+ c@$' out && ok || bad "template"
    printf '@nonsense@\n' > template
    "$reference" template > out 2>&1 && bad "a section that there is not" || ok
}

run_tests
summary
