# Shared by tools/run and tools/test: messages, packages, compilers.
# shellcheck shell=bash

top=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)

say() {
    printf 'bilatcam: %s\n' "$*" >&2
}

die() {
    say "$@"
    exit 1
}

# packages GROUP...: the names, one per line.
packages() {
    local group
    for group in "$@"; do
        if [ "$group" = vm ]; then
            awk '!/^#/ && NF { print $1 }' "$top/tests/vm/packages"
        else
            awk -v group="$group" '$1 == group { print $2 }' "$top/tools/packages"
        fi
    done
}

# Those of the groups' packages that are not installed. A package may also be there under a
# newer name that provides the old one.
missing_packages() {
    # shellcheck disable=SC2016 # dpkg-query and awk expand these
    awk '
        NR == FNR { if ($1 == "ii") for (i = 2; i <= NF; i++) installed[$i] = 1; next }
        !($1 in installed) && !seen[$1]++
    ' <(dpkg-query -W -f '${db:Status-Abbrev} ${Package} ${Provides}\n' | tr -d ,) \
        <(packages "$@")
}

as_root() {
    if [ "$(id -u)" = 0 ]; then
        "$@"
    else
        sudo "$@"
    fi
}

# One package that a release does not have must not keep the others away.
apt_install() {
    local name known=() unknown=()
    as_root apt-get -qq update || return
    for name; do
        if apt-cache show "$name" > /dev/null 2>&1; then
            known+=("$name")
        else
            unknown+=("$name")
        fi
    done
    as_root env DEBIAN_FRONTEND=noninteractive apt-get -qq -y install \
        --no-install-recommends "${known[@]}" || return
    [ ${#unknown[@]} = 0 ] || {
        echo "not in this release: ${unknown[*]}"
        return 1
    }
}

# install_missing GROUP...: silent when nothing is missing. What cannot be installed is named
# and left out: part of it is optional, and for the rest the build says what it lacks.
install_missing() {
    local list how=apt-get log
    command -v apt-get > /dev/null || return 0
    mapfile -t list < <(missing_packages "$@")
    [ ${#list[@]} != 0 ] || return 0
    if [ "$(id -u)" != 0 ]; then
        if ! command -v sudo > /dev/null; then
            say "packages are missing, and only root can install them: su - -c 'apt-get install ${list[*]}'"
            return 0
        fi
        how="sudo apt-get, which may ask for your password"
    fi
    say "installing ${list[*]} (with $how)"
    log=$(mktemp)
    if ! apt_install "${list[@]}" > "$log" 2>&1 < /dev/null; then
        tail -n 5 "$log" >&2
        say "could not install all of them; going on without"
    fi
    rm -f "$log"
}

# What no build can do without, for systems where apt-get did not provide it.
need_build_tools() {
    local tool
    for tool in cc meson ninja pkg-config; do
        command -v "$tool" > /dev/null ||
            die "no $tool. Needed are a C compiler, meson, ninja and pkg-config," \
                "better also libturbojpeg and SDL2 (with headers); on Debian and Ubuntu:" \
                "$(packages build | paste -s -d ' ')"
    done
}

# The CUDA Toolkit's own installer leaves nvcc outside PATH. It goes before an nvcc that has no
# headers beside it, which is a wrapper or a link to who knows where.
add_cuda_to_path() {
    local nvcc
    nvcc=$(command -v nvcc || true)
    if [ -x /usr/local/cuda/bin/nvcc ] &&
        [ ! -e "${nvcc%/bin/nvcc}/include/cuda_runtime_api.h" ]; then
        PATH=/usr/local/cuda/bin:$PATH
    fi
}

have_nvidia_gpu() {
    local device
    [ ! -d /proc/driver/nvidia ] || return 0
    if command -v nvidia-smi > /dev/null && nvidia-smi -L > /dev/null 2>&1; then
        return 0 # in WSL, where the card is on no bus
    fi
    for device in /sys/bus/pci/devices/*; do
        # Class 03 is a display controller; the same card is a sound card, too.
        if [ -e "$device/vendor" ] && [ "$(< "$device/vendor")" = 0x10de ] &&
            [[ $(< "$device/class") = 0x03* ]]; then
            return 0
        fi
    done
    return 1
}
