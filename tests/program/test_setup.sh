#!/bin/bash
# tools/setup on a machine of fakes: a folder in place of /, and commands that note what they are
# told and do to that folder what the real ones would do to /.
setup=$(realpath "$1")
bilatcam=$(realpath "$2")
# shellcheck source=tests/lib/checks.sh
. "$(dirname "$0")/../lib/checks.sh"

# fake NAME <<'END' commands END: $root is the folder.
fake() {
    printf '#!/bin/bash\nroot=%q\necho "${0##*/} $*" >>%q\n' "$dir/root" "$dir/told" >"bin/$1"
    cat >>"bin/$1"
    chmod +x "bin/$1"
}

# machine: bare, with a user ada who sits at it, and no Secure Boot.
machine() {
    rm -rf root bin told
    mkdir -p root/sys/module root/etc "root/lib/modules/$(uname -r)/build" bin
    echo ada >root/groups
    fake id <<<'if [ "$1" = -u ]; then echo 0; else cat "$root/groups"; fi'
    fake modinfo <<<'[ -e "$root/module" ]'
    # It knows a package, too, that another one only recommends.
    fake dpkg-query <<<'[ -e "$root/module" ] && echo "ii " || echo "un "'
    fake apt-get <<'END'
case $1 in
install) touch "$root/module" ;;
purge) rm "$root/module" ;;
esac
END
    fake usermod <<<'echo "ada video" >"$root/groups"'
    fake gpasswd <<<'echo ada >"$root/groups"'
    fake modprobe <<'END'
[ -e "$root/module" ] || exit 1
[ ! -e "$root/secure" ] || [ -e "$root/key" ] || exit 1
if [ "$1" = -r ]; then rm -r "$root/sys/module/v4l2loopback"; else mkdir "$root/sys/module/v4l2loopback"; fi
END
    fake systemctl <<'END'
case $4 in
cat) [ ! -e "$root/no-unit" ] ;;
is-enabled) [ -e "$root/service" ] ;;
enable) touch "$root/service" ;;
disable) rm "$root/service" ;;
esac
END
    fake mokutil <<'END'
case $1 in
--test-key)
    if [ -e "$root/key" ]; then
        echo "$2 is already enrolled"
        exit 1
    elif [ -e "$root/asked" ]; then
        echo "$2 is already in the enrollment request"
        exit 1
    fi
    echo "$2 is not enrolled"
    ;;
--import) touch "$root/asked" ;;
esac
END
}

# secure_boot STATE: 1 is on, 0 off, as the firmware says it.
secure_boot() {
    mkdir -p root/sys/firmware/efi/efivars root/var/lib/dkms
    printf '\006\000\000\000%b' "\\00$1" >root/sys/firmware/efi/efivars/SecureBoot-8be4df61-93ca
    [ "$1" = 0 ] || touch root/secure root/var/lib/dkms/mok.pub
}

as_ada=(env "BILATCAM_SETUP_ROOT=$dir/root" SUDO_USER=ada "PATH=$dir/bin:$PATH")
set_up=("${as_ada[@]}" "$setup")
state() { (cd root && find . -type f ! -name groups | sort && cat groups) >"$1"; }

test_help() {
    run 0 "$setup" --help
    expect out '^bilatcam --setup \[--yes\]' 'how it is called'
    run 2 "$setup" --nonsense
    expect err '^bilatcam --setup \[--yes\]' 'how it is called'
}

test_all_and_back() {
    machine
    state before
    run 0 "${set_up[@]}" --yes
    expect out '^    apt-get update; apt-get install -y v4l2loopback-dkms$' 'the command, before it runs'
    expect told '^apt-get update$' 'the lists of packages, which may be old'
    expect told '^apt-get install -y v4l2loopback-dkms$' 'the module'
    expect told '^modprobe v4l2loopback exclusive_caps=1 card_label=bilatcam$' 'the module'
    expect told '^usermod -aG video ada$' 'the group'
    expect told '^systemctl --user -M ada@ enable --now bilatcam$' 'the service'
    expect root/etc/modprobe.d/bilatcam.conf '^options v4l2loopback exclusive_caps=1 card_label=bilatcam$' options
    expect root/etc/modules-load.d/bilatcam.conf '^v4l2loopback$' 'loading at the start'
    : >told
    run 0 "${set_up[@]}" --yes
    if grep -qE 'install|usermod|enable --now|^modprobe' told; then bad "what is there is done again"; else ok; fi
    run 0 "${set_up[@]}" --yes undo
    state after
    if cmp -s before after; then ok; else diff before after >out; bad "something is left"; fi
    run 1 "${set_up[@]}" --yes undo
    expect err 'there is nothing to take back' 'undone twice'
}

# What was there before setup stays, and so does what somebody changed since.
test_stays() {
    machine
    touch root/module
    echo 'ada video' >root/groups
    mkdir -p root/etc/modprobe.d
    echo 'options v4l2loopback devices=2' >root/etc/modprobe.d/obs.conf
    run 0 "${set_up[@]}" --yes
    run 1 test -e root/etc/modprobe.d/bilatcam.conf
    echo '# mine' >>root/etc/modules-load.d/bilatcam.conf
    run 0 "${set_up[@]}" --yes undo
    expect out 'modules-load.d/bilatcam.conf was changed since, so it stays' 'a changed file'
    if grep -qE 'purge|gpasswd' told; then bad "what was there before is taken away"; else ok; fi
    run 0 test -e root/etc/modules-load.d/bilatcam.conf
}

# A file of that name may hold other things, and may be what somebody has switched off.
test_same_name() {
    machine
    mkdir -p root/etc/modprobe.d root/etc/modules-load.d
    echo 'options uvcvideo quirks=4' >root/etc/modprobe.d/bilatcam.conf
    echo '#v4l2loopback' >root/etc/modules-load.d/bilatcam.conf
    echo '# not now' >root/etc/modules-load.d/bilatcam-2.conf
    state before
    run 0 "${set_up[@]}" --yes
    expect root/etc/modprobe.d/bilatcam.conf '^options uvcvideo quirks=4$' "another module's options"
    expect root/etc/modprobe.d/bilatcam-2.conf '^options v4l2loopback exclusive_caps=1' "options beside them"
    expect root/etc/modules-load.d/bilatcam-3.conf '^v4l2loopback$' "loading at the start, beside it"
    run 0 "${set_up[@]}" --yes undo
    state after
    if cmp -s before after; then ok; else diff before after >out; bad "not as it was"; fi
    expect root/etc/modules-load.d/bilatcam.conf '^#v4l2loopback$' "what was switched off"
}

# Users of a company's directory may be called so.
test_names_of_users() {
    machine
    run 0 "${as_ada[@]}" 'SUDO_USER=OFFICE\ada  lovelace *' "$setup" --yes
    expect told '^usermod -aG video OFFICE\\ada  lovelace \*$' "the group"
    expect told '^systemctl --user -M OFFICE\\ada  lovelace \*@ enable --now bilatcam$' "the service"
    run 0 "${as_ada[@]}" 'SUDO_USER=OFFICE\ada  lovelace *' "$setup" --yes undo
    expect told '^gpasswd -d OFFICE\\ada  lovelace \* video$' "out of the group"
    expect told '^systemctl --user -M OFFICE\\ada  lovelace \*@ disable --now bilatcam$' "the service's end"
}

test_asked() {
    machine
    printf 'n\nno\nq\nN\n?\nn\n' >answers
    run 1 sh -c '"$@" <answers' sh "${set_up[@]}"
    if grep -qE 'install|usermod|enable --now|^modprobe' told; then bad "it did what was refused"; else ok; fi
    expect err 'there is no virtual camera yet' 'all was refused'
    run 1 "${set_up[@]}" </dev/null
    expect err 'no answer, so nothing more is done' 'nobody answers'
}

# It is said first, and the module is not loaded before the key is enrolled.
test_secure_boot() {
    machine
    secure_boot 1
    run 0 "${set_up[@]}" --yes
    [[ $(head -n 1 out) = *'Secure Boot is on'* ]] && ok || bad 'Secure Boot is said first'
    expect told '^mokutil --import .*/var/lib/dkms/mok.pub$' 'the key'
    if grep -q '^modprobe' told; then bad "loaded without its key"; else ok; fi
    : >told
    run 0 "${set_up[@]}" --yes
    expect out 'now restart' 'before the restart'
    if grep -qE '^(modprobe|mokutil --import)' told; then bad "asked for a password twice"; else ok; fi
    touch root/key # at the restart
    run 0 "${set_up[@]}" --yes
    expect told '^modprobe v4l2loopback' 'after the restart'
    : >told
    run 0 "${set_up[@]}" --yes
    if grep -q Secure out || grep -q mokutil told; then bad "it is loaded, so all was well"; else ok; fi
}

# The firmware tells, also where mokutil has to be installed first; and it may say that it is off.
test_secure_boot_without_mokutil() {
    machine
    secure_boot 1
    mv bin/mokutil root
    touch root/module # from before
    fake apt-get <<'END'
case $1 in
install) mv "$root/$3" "$root/../bin" ;;
purge) rm "$root/../bin/$3" ;;
esac
END
    mkdir tools
    ln -s /usr/bin/* tools
    rm -f tools/mokutil
    run 0 env "PATH=$dir/bin:$dir/tools" "BILATCAM_SETUP_ROOT=$dir/root" SUDO_USER=ada "$setup" --yes
    expect told '^apt-get install -y mokutil$' 'mokutil'
    expect told '^mokutil --import ' 'the key, by what was installed'
    run 0 "${set_up[@]}" --yes undo
    expect told '^apt-get purge -y mokutil$' 'mokutil again'
    machine
    secure_boot 0
    run 0 "${set_up[@]}" --yes
    if grep -q 'Secure Boot' out || grep -q mokutil told; then bad "it is off"; else ok; fi
}

test_fails() {
    machine
    touch root/no-unit
    run 0 "${set_up[@]}" --yes
    if grep -q 'enable --now' told; then bad 'a service that is not installed'; else ok; fi
    machine
    fake usermod <<<'exit 1'
    run 1 "${set_up[@]}" --yes
    expect err 'that failed; what was done so far is in .*undo' 'a step that fails'
    run 0 "${set_up[@]}" --yes undo
    run 1 test -e root/etc/modprobe.d/bilatcam.conf
    machine
    run 0 "${set_up[@]}" --yes
    fake modprobe <<<'exit 1'
    printf 'n\ny\ny\n' >answers
    run 1 sh -c '"$@" <answers' sh "${set_up[@]}" undo
    expect root/var/lib/bilatcam/setup '^service ada$' 'what was not to be taken back, before a failure'
    expect root/var/lib/bilatcam/setup '^loaded$' 'what failed'
    refused_again=$(grep -c group root/var/lib/bilatcam/setup || true)
    [ "$refused_again" = 0 ] && ok || bad 'what was taken back is still in the record'
    rm -r root/lib/modules
    run 1 "${set_up[@]}" --yes
    expect err 'restart, then run this again' 'after an update of the kernel'
    for mark in .dockerenv run/.containerenv run/systemd/container; do
        mkdir -p root/run/systemd
        touch "root/$mark"
        run 1 "${set_up[@]}" --yes
        expect err 'a container cannot load modules' "in a container with $mark"
        rm "root/$mark"
    done
}

# A module that does not build leaves its package half there. What was removed may have left its
# configuration, and is not there.
test_half_done() {
    machine
    fake dpkg-query <<<'[ ! -e "$root/half" ] || echo "iF "'
    fake apt-get <<'END'
case $1 in
install)
    touch "$root/half"
    exit 100
    ;;
purge) rm "$root/half" ;;
esac
END
    run 1 "${set_up[@]}" --yes
    run 1 "${set_up[@]}" --yes
    run 0 "${set_up[@]}" --yes undo
    [ "$(grep -c '^apt-get purge -y v4l2loopback-dkms$' told)" = 1 ] && ok || bad 'half of a package stays'
    machine
    fake dpkg-query <<<'[ -e "$root/module" ] && echo "ii " || echo "rc "'
    run 0 "${set_up[@]}" --yes
    run 0 "${set_up[@]}" --yes undo
    expect told '^apt-get purge -y v4l2loopback-dkms$' 'a package that had been removed before'
    machine
    mkdir -p root/var
    touch root/var/lib # no folder
    run 1 "${set_up[@]}" --yes
    expect err 'cannot be written' 'the record'
    if grep -q install told; then bad 'something is done that could not be taken back'; else ok; fi
}

# Who built it may not have installed it.
test_its_name() {
    [ ! -e /usr/bin/bilatcam ] || return 0
    machine
    fake usermod <<<'exit 1'
    mkdir -p source/tools source/build
    cp "$setup" source/tools
    cp bin/id source/build/bilatcam
    run 1 "${as_ada[@]}" "PATH=$dir/bin:/usr/bin:/bin" source/tools/setup --yes
    expect err "and '$dir/source/build/bilatcam --setup=undo' takes it back" 'what is not installed'
}

test_option() {
    machine
    run 0 "${as_ada[@]}" "$bilatcam" --setup --yes
    expect told '^usermod -aG video ada$' 'by the option'
    run 0 "${as_ada[@]}" "$bilatcam" --yes --setup=undo
    expect told '^gpasswd -d ada video$' 'undone by the option'
    refused 2 "must be undo, or nothing" "$bilatcam" --setup=redo
}

run_tests
summary
