#!/bin/bash
# headers-alone.sh COMPILER [FLAG...]
#
# Every header of src and cuda compiles as the only include of a C file. Those that see a library
# which is not installed here are left out, and named.
set -euo pipefail

# Included last, by files that have chosen a set of vector operations first.
included_last='src/engine/simd/(rows_blur|rows_fixed|rows_float|rows_half|rows_joint|rows_kernels|rows_planes|time/(sads_single|search_rows))\.h'
# For CUDA's own compiler, and for the flags of one instruction set.
other_flags='cuda/kernel/(half2|tensor)\.h|src/engine/simd/(ops_avx512|time/(noise_left_avx2|noise_sums_avx2|sads_avx2))\.h'
not_here='fatal error: .?(SDL|pipewire/|spa/|systemd/[a-z-]*|lib(av[a-z]*|swscale)/[a-z]*|cuda_[a-z_]*)\.h'

cd "$(dirname "$0")/../.."
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# shellcheck disable=SC2207 # words
compiler=("$@" -std=c11 -D_GNU_SOURCE -Wall -Wextra -Werror -fsyntax-only -x c -Isrc -I. -I"$work"
    $(pkg-config --cflags sdl2 2> /dev/null || true)
    $(pkg-config --cflags libpipewire-0.3 2> /dev/null | sed 's/-I/-isystem /g') -isystem /usr/local/cuda/include)

compiles() {
    "${compiler[@]}" - <<< "#include \"${1#src/}\"" 2> "$work/errors"
}

check() {
    if [[ $1 =~ ^$included_last$ ]]; then
        compiles "$1" || return 0
        printf '%s compiles alone: take it out of included_last\n' "$1"
        return 1
    fi
    compiles "$1" && return
    if grep -qE "$not_here" "$work/errors"; then
        printf 'left out: %s\n' "$1"
        return
    fi
    head -n 5 "$work/errors"
    printf '%s does not compile alone\n' "$1"
    return 1
}

# A header that needs another one first is noticed.
printf 'int f(int64_t n);\n' > "$work/bad.h"
if compiles bad.h; then
    echo 'a header that does not compile alone was not noticed'
    exit 1
fi

bad=
for header in $(find src cuda -name '*.h' | sort); do
    [[ $header =~ ^($other_flags)$ ]] || check "$header" || bad=yes
done
[ -z "$bad" ]
