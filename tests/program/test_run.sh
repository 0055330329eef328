#!/bin/bash
# tools/run, for which GPUs it has bilatcam built: compilers, meson, ninja and GPUs are fakes.
# shellcheck disable=SC2015 # "A && ok || bad" is right here: ok never fails
tools=$(realpath "$1")
# shellcheck source=tests/lib/checks.sh
. "$(dirname "$0")/../lib/checks.sh"
evidence+=(told)

# fake NAME <<'END' commands END
fake() {
    { printf '#!/bin/bash\n'; cat; } >"bin/$1"
    chmod +x "bin/$1"
}

# machine GPUS [GPUS_OF_NVCC]: their compute capabilities, as nvidia-smi and nvcc write them.
machine() {
    rm -rf bin
    mkdir bin
    fake meson <<<'echo "meson $*" >>told; mkdir -p top/build && touch top/build/build.ninja'
    fake ninja <<<'printf "#!/bin/sh\n" >top/build/bilatcam; chmod +x top/build/bilatcam'
    fake nvidia-smi <<<"printf '$1'"
    [ $# = 1 ] || fake nvcc <<<"printf 'compute_%s\n' $2"
}

# fresh_tree: nothing is built, nothing gets installed, and a GPU is what nvidia-smi lists.
fresh_tree() {
    rm -rf top
    mkdir top
    cp -r "$tools" top/tools
    cat >>top/tools/lib.sh <<'END'
install_missing() { :; }
need_build_tools() { :; }
add_cuda_to_path() { PATH=$PWD/bin:/usr/bin:/bin; }
have_nvidia_gpu() { [ -n "$(nvidia-smi)" ]; }
END
}

# builds PATTERN WHAT: what meson is told.
builds() {
    rm -f told
    run 0 top/tools/run --version
    expect told "$1" "$2"
}

keeps() {
    rm -f told
    run 0 top/tools/run --version
    [ ! -e told ] && ok || bad "$1: built again"
}

test_gpus() {
    fresh_tree
    machine '' '75 90'
    builds '^meson setup .*/build .*-Dcuda=disabled$' 'no GPU'
    machine '9.0\n9.0\n' '75 90'
    builds '^meson setup --wipe .* -Dcuda=auto -Dgpu_archs=90$' 'a GPU that came'
    keeps 'the same GPU'
    machine '9.0\n7.5\n' '75 90'
    builds ' -Dgpu_archs=75,90$' 'two GPUs'
    machine '12.0\n' '75 90'
    builds ' -Dgpu_archs=all$' 'a GPU newer than nvcc'
    machine '[N/A]\n' '75 90'
    keeps 'a GPU that does not tell'
    machine '9.0\n'
    builds '^meson setup --wipe .* -Dcuda=disabled$' 'no nvcc any more'
}

# A folder that somebody else has set up is theirs.
test_own_folder() {
    fresh_tree
    machine '9.0\n' '90'
    mkdir top/build
    touch top/build/build.ninja
    keeps 'a folder of the user'
    machine ''
    keeps 'a folder of the user, and other GPUs'
}

# Who has no sudo is told the whole command.
test_no_sudo() {
    local tool
    machine ''
    mkdir few
    for tool in awk bash dirname tr; do ln -s "$(command -v $tool)" few; done
    fake id <<<'echo 1000'
    fake dpkg-query <<<'echo "ii  gcc "'
    fake apt-get <<<'exit 1'
    run 0 env "PATH=$dir/bin:$dir/few" bash -c '. "$1/lib.sh"; install_missing build' test "$tools"
    expect err "su - -c 'apt-get install libc6-dev .* scdoc'$" 'no sudo'
}

# Beside what needs root stands what does not.
test_no_virtual_camera() {
    [ -z "$(compgen -G '/dev/video*')" ] || return 0
    fresh_tree
    machine ''
    fake ninja <<'END'
printf '#!/bin/sh\necho wait = no\necho output = auto\n' >top/build/bilatcam
chmod +x top/build/bilatcam
END
    run 0 env -u DISPLAY -u WAYLAND_DISPLAY top/tools/run
    expect err 'using the file bilatcam.y4m; to get one: sudo .*/tools/setup, or without root -o pipewire:$' 'no virtual camera'
    fake ninja <<'END'
printf '#!/bin/sh\necho wait = no\necho output = auto\necho +preview +pipewire\necho "ran $*"\n' >top/build/bilatcam
END
    run 0 env -u PIPEWIRE_RUNTIME_DIR DISPLAY=:7 "XDG_RUNTIME_DIR=$dir" top/tools/run --fps 7
    expect out '^ran --preview -o null: .*--fps 7$' 'a window alone'
    python3 -c 'import socket, sys; socket.socket(socket.AF_UNIX).bind(sys.argv[1])' "$dir/pipewire-0"
    run 0 env -u PIPEWIRE_RUNTIME_DIR DISPLAY=:7 "XDG_RUNTIME_DIR=$dir" top/tools/run --fps 7
    expect out '^ran --preview -o pipewire: .*--fps 7$' 'a window and the camera of PipeWire'
}

[ ! -e /usr/bin/nvcc ] || skip "an nvcc in /usr/bin, which cannot be hidden"
run_tests
summary
