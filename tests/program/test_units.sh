#!/bin/bash
# The user units as systemd reads them: no mistakes, and no more exposed than they were.
# Usage: test_units.sh BILATCAM FOLDER-OF-UNITS NETWORK.conf
# shellcheck disable=SC2015 # "A && ok || bad" is right here: ok never fails
bilatcam=$(realpath "$1") units=$(realpath "$2") network=$(realpath "$3")
# shellcheck source=tests/lib/checks.sh
. "$(dirname "$0")/../lib/checks.sh"
export LC_ALL=C.UTF-8
export XDG_RUNTIME_DIR=$dir # of the session that systemd-analyze makes up
systemd-analyze --user security --offline=true --help >out 2>&1 ||
    skip "no systemd-analyze of version 250 or later here"

# What systemd-analyze gives, of 100; the higher one where the unit leaves PrivateUsers= to newer
# versions. Much of it stands for what a user's service has not got anyway, like capabilities.
most_exposure=53 most_exposure_implied=54

# Single ones hardly change that figure, so they are asked for by name.
kept=(
    KeyringMode= LockPersonality= NoNewPrivileges= NotifyAccess= ProtectControlGroups=
    ProtectKernelTunables= ProtectSystem= 'RestrictAddressFamilies=~AF_(INET|INET6)'
    RestrictAddressFamilies=~AF_PACKET RestrictNamespaces=~user RestrictNamespaces=~mnt
    RestrictRealtime= RestrictSUIDSGID= SystemCallArchitectures= SystemCallFilter=~@mount
    SystemCallFilter=~@privileged SystemCallFilter=~@debug UMask=
)

# check_exposure FILE
check_exposure() {
    local most=$most_exposure_implied setting
    ! grep -q ^PrivateUsers=yes "$1" || most=$most_exposure
    run 0 systemd-analyze --user security --offline=true --no-pager --threshold="$most" "$1"
    for setting in "${kept[@]}"; do
        grep -qF "✓ $setting " out && ok || bad "$1: $setting no longer protects"
    done
    tail -n 1 out
}

# check_unit FILE: any remark is a mistake of ours, but that there is no bus to ask.
check_unit() {
    run 0 systemd-analyze --user verify "./$1"
    cat out err | grep -v '^Failed to connect to system bus:' && bad "$1" || ok
}

for unit in bilatcam.service bilatcam@.service; do
    # The program need not be installed.
    sed "s|^ExecStart=[^ ]*|ExecStart=$bilatcam|" "$units/$unit" > "$unit"
    check_unit "$unit"
    check_exposure "$unit"
done

# With a network it has no other protection less.
mkdir bilatcam.service.d
cp "$network" bilatcam.service.d/
check_unit bilatcam.service
run 0 systemd-analyze --user security --offline=true --no-pager --threshold=100 bilatcam.service
for setting in "${kept[@]}"; do
    case $setting in
    *INET*) mark=✗ ;;
    *) mark=✓ ;;
    esac
    grep -qF "$mark $setting " out && ok || bad "with network.conf: no $mark at $setting"
done
summary
