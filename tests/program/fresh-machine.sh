#!/bin/bash
# fresh-machine.sh [--run] [RELEASE]
#
# Proves the two commands of the README on a machine with nothing installed: makes a bare
# Debian or Ubuntu in a folder (RELEASE is its code name, otherwise bookworm), puts the last
# commit into it, and runs there `./tools/run --frames 100` and then, unless --run is given,
# `./tools/test`. Needs root, debootstrap, the keys of the release's archive and a few GB;
# takes about half an hour, with --run a few minutes.
set -euo pipefail

release=bookworm
source=$(cd "$(dirname "$0")/../.." && pwd)
child=

say() {
    printf 'fresh-machine: %s\n' "$*" >&2
}

die() {
    say "$@"
    exit 1
}

finish() {
    [ -z "$child" ] || kill "$child" 2> /dev/null || true
    wait
    rm -rf --one-file-system "$root" "$root.log" "$root.debootstrap"
}

# The Debian mirror that this machine's apt uses; nothing on another distribution, where
# debootstrap then takes its own.
debian_mirror() {
    # shellcheck disable=SC2016 # apt expands these
    apt-get indextargets --format '$(ORIGIN) $(LABEL) $(REPO_URI)' 2> /dev/null |
        awk '$1 == "Debian" && $2 == "Debian" && !uri { uri = $3 } END { print uri }'
}

# Where debootstrap finds its scripts. All of Ubuntu's are one, which has no name yet for
# releases that are newer than debootstrap.
debootstrap_folder() {
    local known=/usr/share/debootstrap
    if [ -e "$known/scripts/$release" ]; then
        echo "$known"
    else
        cp -r "$known" "$root.debootstrap"
        ln -s gutsy "$root.debootstrap/scripts/$release"
        echo "$root.debootstrap"
    fi
}

# How this machine's apt reaches its mirrors: proxies, and keys of a mirror that signs itself.
carry_apt_settings() {
    apt-config dump | grep '^Acquire::' | grep -v -i 'auto-\?detect' \
        > "$root/etc/apt/apt.conf.d/90host" || true
    for keys in /etc/apt/keyrings /etc/apt/trusted.gpg.d; do
        [ ! -d "$keys" ] || cp -r "$keys/." "$root$keys/"
    done
    cp /etc/hosts "$root/etc/hosts"
}

# run_child COMMAND...: in the background, so that a signal ends it and this script at once.
run_child() {
    local status=0
    "$@" &
    child=$!
    wait "$child" || status=$?
    child=
    return "$status"
}

bootstrap() {
    local options=(--variant=minbase) mirror='' proxy=
    case $release in
        bookworm | trixie | sid) mirror=$(debian_mirror) ;;
        *) options+=('--components=main,universe') ;;
    esac
    eval "$(apt-config shell proxy Acquire::http::Proxy)"
    [ -z "$proxy" ] || export http_proxy=$proxy
    say "making a bare $release in $root"
    run_child env DEBOOTSTRAP_DIR="$(debootstrap_folder)" \
        debootstrap "${options[@]}" "$release" "$root" ${mirror:+"$mirror"} \
        > "$root.log" 2>&1 || { tail -n 20 "$root.log" >&2; die "debootstrap failed"; }
    chmod 755 "$root" # other users are part of a machine
    carry_apt_settings
    mkdir "$root/root/bilatcam"
    git -C "$source" archive HEAD | tar -x -C "$root/root/bilatcam"
}

# inside COMMAND: in the project's folder on the bare machine. The mounts live in a namespace
# of this one command and end with it, whatever happens. /dev is the few nodes that debootstrap
# made: a bare machine has no camera.
inside() {
    # shellcheck disable=SC2016 # the inner shell expands these
    run_child unshare --mount --pid --fork --kill-child --propagation private bash -euc '
        root=$1
        mount -t proc proc "$root/proc"
        mount -t sysfs -o ro sysfs "$root/sys"
        mkdir -p "$root/dev/pts" "$root/dev/shm"
        mount -t devpts -o newinstance,ptmxmode=666 devpts "$root/dev/pts"
        mount -t tmpfs shm "$root/dev/shm"
        exec chroot "$root" env -i HOME=/root LC_ALL=C.UTF-8 \
            PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin \
            ${http_proxy:+"http_proxy=$http_proxy"} ${https_proxy:+"https_proxy=$https_proxy"} \
            bash -c "cd /root/bilatcam && $2"
    ' bash "$root" "$1"
}

prove_run() {
    local result=$root/root/bilatcam/bilatcam.y4m frames
    say "./tools/run --frames 100"
    inside "./tools/run --frames 100 > stats.json" || die "tools/run failed"
    cat "$root/root/bilatcam/stats.json"
    grep -q '"frames_out": *100\b' "$root/root/bilatcam/stats.json" ||
        die "the statistics do not tell of 100 frames"
    frames=$(LC_ALL=C grep -ao FRAME "$result" | wc -l)
    [ "$frames" = 100 ] || die "bilatcam.y4m has $frames frames, not 100"
    say "./tools/run once more, with nothing left to install or build"
    inside "./tools/run --version 2> again" || die "tools/run failed the second time"
    [ ! -s "$root/root/bilatcam/again" ] || die "it said: $(< "$root/root/bilatcam/again")"
}

prove_test() {
    say "./tools/test"
    inside ./tools/test || die "tools/test failed"
}

only=
if [ "${1:-}" = --run ]; then
    only=run
    shift
fi
if [ $# -gt 1 ] || [[ ${1:-} = -* ]]; then
    sed -n '2s/^# /usage: /p' "$0"
    exit 2
fi
release=${1:-$release}
[ "$(id -u)" = 0 ] || die "needs root, for debootstrap and chroot"
command -v debootstrap > /dev/null || die "needs debootstrap: apt-get install debootstrap"

root=$(mktemp -d "${TMPDIR:-/var/tmp}/bilatcam-fresh.XXXXXX")
trap finish EXIT
trap 'exit 130' INT TERM HUP
bootstrap
prove_run
[ "$only" = run ] || prove_test
say "all of it works on a bare $release"
