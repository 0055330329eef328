#!/bin/bash
# include-rules.sh [FOLDER]
#
# Keeps the rooms of the house apart: sources, engines, CUDA code and sinks see the plain
# helpers, their own contract header and their own folder's headers, never each other and
# never the rings; and only the pipeline sees sources, rings, engines and sinks all together.
# What a file sees is what it includes directly or through other headers. An include is a path from
# the folder src or, outside of it, from the top folder.
set -euo pipefail

root=$(realpath "${1:-"$(dirname "$0")/../.."}")

# Headers that anybody may see: errors, messages, pictures, settings, and helpers for threads,
# processes and devices.
helper='^(src/(base|picture|filter|v4l2)/[a-z0-9_-]+\.h|config-build\.h)$'

# Folder, and what its files may see besides the helpers and the folder itself.
rooms=(
    "src/source"
    "src/engine"
    "cuda src/engine/(engine|process)\.h"
    "src/sink"
)
all_four=(src/source/source.h src/pipeline/ring.h src/engine/engine.h src/sink/sink.h)

# resolve NAME: the header that an include means by NAME, relative to the root. The generated
# config-build.h is in neither folder.
resolve() {
    local folder
    for folder in src/ ''; do
        if [ -e "$root/$folder$1" ]; then
            printf '%s\n' "$folder$1"
            return
        fi
    done
    printf '%s\n' "$1"
}

direct_includes() {
    local name
    sed -En 's/^[[:space:]]*#[[:space:]]*include[[:space:]]*"([^"]+)".*/\1/p' "$root/$1" |
        while read -r name; do
            resolve "$name"
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

# check_room FOLDER [CONTRACT]: prints a line for each header that its files must not see.
check_room() {
    local file header
    while read -r file; do
        while read -r header; do
            [[ $header =~ $helper || $header =~ ^(${2:-})$ || $header = "$1"/* ]] ||
                printf '%s sees %s\n' "$file" "$header"
        done < <(seen_from "$file")
    done < <([ ! -d "$root/$1" ] || files_in "$1")
}

check_all_four() {
    local file seen
    while read -r file; do
        seen=$(seen_from "$file")
        [[ ! $file =~ ^src/pipeline/(live|open|parts|pipeline|requests|stream)\.[ch]$ ]] || continue
        [ "$(grep -cxFf <(printf '%s\n' "${all_four[@]}") <<< "$seen")" != ${#all_four[@]} ] ||
            printf '%s sees all of %s, which only the pipeline may\n' "$file" "${all_four[*]}"
    done < <(files_in src)
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
    mkdir -p "$root"/src/{base,picture,v4l2,source,engine,sink,pipeline} "$root/cuda"
    touch "$root"/src/{base/error,picture/frame,engine/engine,pipeline/ring,v4l2/v4l2-util}.h \
        "$root"/src/engine/rows.h "$root/cuda/bilateral.h"
    plant src/sink/sink.h picture/frame.h base/error.h
    plant src/source/source.h picture/frame.h
    plant src/pipeline/open.c source/source.h pipeline/ring.h engine/engine.h sink/sink.h
    plant src/main.c source/source.h engine/engine.h sink/sink.h
    plant src/source/good.c source/source.h v4l2/v4l2-util.h config-build.h
    plant src/engine/good.c engine/engine.h engine/rows.h picture/frame.h
    plant cuda/good.cu cuda/bilateral.h engine/engine.h
    plant src/engine/bad.c engine/engine.h pipeline/ring.h
    plant src/engine/bare.h rows.h
    plant cuda/bad.cu cuda/bilateral.h engine/rows.h
    plant src/through.h source/source.h
    plant src/sink/bad.c sink/sink.h through.h
    plant src/bad.c through.h sink/sink.h pipeline/ring.h engine/engine.h
    expected="src/engine/bad.c sees src/pipeline/ring.h
src/engine/bare.h sees rows.h
cuda/bad.cu sees src/engine/rows.h
src/sink/bad.c sees src/source/source.h
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
