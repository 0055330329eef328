#!/bin/bash
# The user units as systemd reads them: no mistakes, and no more exposed than they were.
# Usage: test_units.sh BILATCAM FOLDER-OF-UNITS
set -eu
export LC_ALL=C.UTF-8
bilatcam=$(realpath "$1") units=$(realpath "$2")

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

dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
export XDG_RUNTIME_DIR=$dir # of the session that systemd-analyze makes up
if ! systemd-analyze --user security --offline=true --help > out 2>&1; then
    echo "skipped: no systemd-analyze of version 250 or later here"
    exit 77
fi

failed=0
bad() {
    echo "FAIL $*"
    failed=1
}

# check_exposure FILE
check_exposure() {
    local most=$most_exposure_implied name
    ! grep -q ^PrivateUsers=yes "$1" || most=$most_exposure
    systemd-analyze --user security --offline=true --no-pager --threshold="$most" "$1" > out 2>&1 ||
        bad "exposure above $most of 100"
    for name in "${kept[@]}"; do
        grep -qF "✓ $name " out || bad "$1: $name no longer protects"
    done
    tail -n 1 out
}

for unit in bilatcam.service bilatcam@.service; do
    # The program need not be installed.
    sed "s|^ExecStart=[^ ]*|ExecStart=$bilatcam|" "$units/$unit" > "$unit"
    systemd-analyze --user verify "./$unit" > out 2>&1 || bad "$unit: not verified"
    # Any remark is a mistake of ours, but that there is no bus to ask.
    ! grep -v '^Failed to connect to system bus:' out || bad "$unit"
    check_exposure "$unit"
done
exit "$failed"
