#!/bin/bash
# include-rules.sh [FOLDER]
#
# Keeps the rooms of the house apart: sources, engines, CUDA code and sinks see the plain
# helpers, their own contract header and their own folder's headers, never each other and
# never the rings; and only the pipeline sees sources, rings, engines and sinks all together.
# What a file sees is what it includes directly or through other headers.
set -euo pipefail

root=$(realpath "${1:-"$(dirname "$0")/.."}")

# Headers that anybody may see: errors, messages, pictures, settings, and helpers for threads,
# processes, devices and texts.
helper='^(src/(error|log|frame|colour|filter|thread|engine_process|font|snapshot|utf8|y4m|v4l2[a-z0-9_-]*)\.h|config-build\.h)$'

# Folder, and what its files may see besides the helpers and the folder itself.
rooms=(
    "src/source src/source.h"
    "src/engine src/engine.h"
    "cuda src/engine.h"
    "src/sink src/sink.h"
)
all_four=(src/source.h src/ring.h src/engine.h src/sink.h)

# resolve FILE NAME: the header that FILE means by NAME, relative to the root. Searched in the
# order of the compiler: beside the file, in the top folder, in src. The generated
# config-build.h is in none of them.
resolve() {
    local folder
    for folder in "${1%/*}" . src; do
        if [ -e "$root/$folder/$2" ]; then
            realpath --relative-to "$root" "$root/$folder/$2"
            return
        fi
    done
    printf '%s\n' "$2"
}

direct_includes() {
    local name
    sed -En 's/^[[:space:]]*#[[:space:]]*include[[:space:]]*"([^"]+)".*/\1/p' "$root/$1" |
        while read -r name; do
            resolve "$1" "$name"
        done
}

# seen_from FILE: every header of the project that it reaches, one per line.
seen_from() {
    local -A seen=()
    local queue=("$1") file header
    while [ ${#queue[@]} != 0 ]; do
        file=${queue[0]}
        queue=("${queue[@]:1}")
        [ -e "$root/$file" ] || continue
        while read -r header; do
            [ -z "${seen[$header]:-}" ] || continue
            seen[$header]=1
            queue+=("$header")
        done < <(direct_includes "$file")
    done
    [ ${#seen[@]} = 0 ] || printf '%s\n' "${!seen[@]}" | sort
}

# The lab measures kernels and is no part of the program.
files_in() {
    cd "$root"
    find "$@" -path cuda/lab -prune -o -regex '.*\.\(c\|h\|cu\|cuh\)' -print | sort
}

# check_room FOLDER CONTRACT: prints a line for each header that its files must not see.
check_room() {
    local file header
    while read -r file; do
        while read -r header; do
            [[ $header =~ $helper || $header = "$2" || $header = "$1"/* ]] ||
                printf '%s sees %s\n' "$file" "$header"
        done < <(seen_from "$file")
    done < <([ ! -d "$root/$1" ] || files_in "$1")
}

check_all_four() {
    local file seen
    while read -r file; do
        seen=$(seen_from "$file")
        [[ ! $file =~ ^src/(pipeline|stage)[a-z_]*\.[ch]$ ]] || continue
        [ "$(grep -cxFf <(printf '%s\n' "${all_four[@]}") <<< "$seen")" != ${#all_four[@]} ] ||
            printf '%s sees all of %s, which only the pipeline may\n' "$file" "${all_four[*]}"
    done < <(files_in src -maxdepth 1)
}

violations() {
    local room
    for room in "${rooms[@]}"; do
        # shellcheck disable=SC2086 # two words
        check_room $room
    done
    check_all_four
}

# A small house with known violations, so that a checker which finds nothing is noticed.
plant() {
    printf '#include "%s"\n' "${@:2}" > "$root/$1"
}

check_the_checker() {
    local root expected found
    root=$(mktemp -d)
    mkdir -p "$root"/src/{source,engine,sink} "$root/cuda"
    touch "$root"/src/{error,frame,engine,ring,v4l2-util}.h "$root"/src/engine/rows.h \
        "$root/cuda/bilateral.h"
    plant src/sink.h frame.h error.h
    plant src/source.h frame.h
    plant src/pipeline.c source.h ring.h engine.h sink.h
    plant src/main.c source.h engine.h sink.h
    plant src/source/good.c source.h v4l2-util.h config-build.h
    plant src/engine/good.c engine.h rows.h ../frame.h
    plant cuda/good.cu cuda/bilateral.h
    plant src/engine/bad.c engine.h ring.h
    plant cuda/bad.cu bilateral.h engine/rows.h
    plant src/through.h source.h
    plant src/sink/bad.c sink.h ../through.h
    plant src/bad.c through.h sink.h ring.h engine.h
    expected="src/engine/bad.c sees src/ring.h
cuda/bad.cu sees src/engine/rows.h
src/sink/bad.c sees src/source.h
src/sink/bad.c sees src/through.h
src/bad.c sees all of ${all_four[*]}, which only the pipeline may"
    found=$(violations)
    rm -rf "$root"
    [ "$found" = "$expected" ] && return
    printf 'the check itself is broken; expected:\n%s\nfound:\n%s\n' "$expected" "$found"
    return 1
}

check_the_checker
found=$(violations)
[ -n "$(files_in src)" ] || found="no sources under $root/src"
if [ -n "$found" ]; then
    printf '%s\n' "$found"
    exit 1
fi
