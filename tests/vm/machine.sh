# Shared by prepare, run and suite: where the machine lies, and what it is made of.
# shellcheck shell=bash

vm_dir=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
vm_cache=${BILATCAM_VM_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/bilatcam/vm}

# One row per v4l2loopback that is tested: its version and the suite that has it.
loopback_suites=(
    "0.12.7 bookworm"
    "0.13.2 bookworm-backports"
    "0.15.0 trixie"
)
loopback_versions=("${loopback_suites[@]%% *}")

# The machine's folder is named after everything that decides what is in it.
machine_path() {
    local key
    key=$(cat "$vm_dir/prepare" "$vm_dir/machine.sh" "$vm_dir/init" | sha256sum)
    printf '%s/machine-%s\n' "$vm_cache" "${key:0:12}"
}

die() {
    printf '%s: %s\n' "${0##*/}" "$*" >&2
    exit 125
}
