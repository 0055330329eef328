#!/bin/bash
# document-names.sh [FOLDER]
#
# Documents for developers name files and functions in `code` and files in links. All of them must
# exist, so that a move or a renaming cannot leave a document behind. A file is what has an ending
# of a source or a slash at its end; it is looked for from the top folder, from src and from the
# folder of the document. NAME in a name stands for one that the reader chooses.
set -euo pipefail

root=$(realpath "${1:-"$(dirname "$0")/../.."}")
documents=(docs/architecture.md docs/numbers.md docs/troubleshooting.md docs/what-it-does.md
    CONTRIBUTING.md README.md cuda/README.md)

# The `code` of a document without its indented blocks, one piece a line.
pieces() {
    sed '/^    /d' "$1" | tr '\n' ' ' | grep -oE '`[^`]+`' | tr -d '`' || true
}

# The indented blocks, where rooms and commands are, one word a line.
block_words() {
    sed -n 's/^    //p' "$1" | tr -s ' \t' '\n' || true
}

links() {
    grep -oE '\]\([^)#]+\)' "$1" | sed -E 's/^\]\((.*)\)$/\1/' | grep -v '^https\?:' || true
}

# files DOCUMENT: the names of files in it.
files() {
    { pieces "$1" | tr ' ' '\n'; block_words "$1" | grep -E '^(src|cuda|tests|tools|docs)/'; } |
        sed 's/[,;:]$//' |
        grep -E '^[A-Za-z0-9_.][A-Za-z0-9_./-]*(\.([ch]|cuh?|md|sh|build|in)|\.\[ch\]|/)$' |
        grep -v NAME || true
    links "$1"
}

exists() {
    local base both
    for base in "$root" "$root/src" "$root/$(dirname "$1")"; do
        both=${2%"[ch]"}
        if [ "$both" != "$2" ]; then
            [ ! -e "$base/${both}c" ] || [ ! -e "$base/${both}h" ] || return 0
        elif [ -e "$base/$2" ]; then
            return 0
        fi
    done
    return 1
}

# Functions are written with parentheses: `ring_put()`.
functions() {
    pieces "$1" | grep -E '^[a-z_0-9]+\(\)$' | tr -d '()' || true
}

wrong() {
    local document name
    for document in "${documents[@]}"; do
        [ -e "$root/$document" ] || { printf '%s is missing\n' "$document"; continue; }
        while read -r name; do
            [ -z "$name" ] || exists "$document" "$name" ||
                printf '%s names %s, which is not there\n' "$document" "$name"
        done < <(files "$root/$document" | sort -u)
        while read -r name; do
            [ -z "$name" ] || grep -rqE "\b$name\(" "$root/src" "$root/cuda" "$root/tests" ||
                printf '%s names %s(), which is not there\n' "$document" "$name"
        done < <(functions "$root/$document" | sort -u)
    done
}

# A small tree with known mistakes, so that a check which finds nothing is noticed.
check_the_checker() {
    local root expected found
    local documents=(docs/map.md)
    root=$(mktemp -d)
    mkdir -p "$root"/{docs,src/ring,cuda,tests}
    touch "$root"/src/ring/{ring.c,ring.h,one.c} "$root/cuda/README.md"
    printf 'int ring_put(void);\n' > "$root/src/ring/ring.h"
    cat > "$root/docs/map.md" << 'MAP'
`ring/ring.c`, `ring/lost.c`, `src/ring/`, `lost/`, `ring/NAME.c`, `ring_put()`, `ring_lose()`,
[one](../cuda/README.md), [two](lost.md), `create/destroy`.

    floor 1  src/ring/ring.[ch]  src/ring/one.[ch]
MAP
    expected="docs/map.md names lost.md, which is not there
docs/map.md names lost/, which is not there
docs/map.md names ring/lost.c, which is not there
docs/map.md names src/ring/one.[ch], which is not there
docs/map.md names ring_lose(), which is not there"
    found=$(LC_ALL=C wrong)
    rm -rf "$root"
    [ "$found" = "$expected" ] && return
    printf 'the check itself is broken; expected:\n%s\nfound:\n%s\n' "$expected" "$found"
    return 1
}

export LC_ALL=C
check_the_checker
found=$(wrong)
if [ -n "$found" ]; then
    printf '%s\n' "$found"
    exit 1
fi
