#!/bin/bash
# What bash, fish or zsh offers for bilatcam and bilatcamctl, compared with what the programs say
# of themselves. Usage: test_completions.sh SHELL FOLDER-OF-COMPLETIONS BILATCAM [BILATCAMCTL]
# shellcheck disable=SC2015 # "A && ok || bad" is right here: ok never fails
shell=$1 folder=$(realpath "$2") bilatcam=$(realpath "$3") bilatcamctl=${4:+$(realpath "$4")}
# shellcheck source=tests/lib/checks.sh
. "$(dirname "$0")/../lib/checks.sh"
need "$shell"
[ "$shell" != zsh ] || zsh -fc 'zmodload zsh/zpty && zpty terminal true' ||
    skip "no terminal for zsh to be had here"
unset XDG_CONFIG_DIRS XDG_DATA_DIRS
export HOME=$dir/home XDG_CONFIG_HOME=$dir/home/.config

# Devices of our own, and files.
prepare() {
    local file
    mkdir -p made dev/v4l/by-id clips "$XDG_CONFIG_HOME/bilatcam"
    touch dev/video0 dev/video11 dev/v4l/by-id/usb-Camera-index0 'two words.y4m' notes.txt
    touch "$XDG_CONFIG_HOME"/bilatcam/{bilatcam,front-door}.conf
    for file in bilatcam bilatcamctl; do
        case $shell in
            zsh) file=_$file ;;
            fish) file=$file.fish ;;
        esac
        [ ! -e "$folder/$file" ] || sed "s|/dev/v|$dir/dev/v|g" "$folder/$file" > "made/$file"
    done
}

# Bash cuts the line at = and : as well as at spaces.
ask_bash() { # LINE
    # shellcheck disable=SC2016 # the other shell expands these
    timeout 60 bash --norc -c '
        source "made/${1%% *}" || exit
        read -ra COMP_WORDS <<< "$(sed "s/[=:]/ & /g" <<< "$1")"
        [[ $1 != *" " ]] || COMP_WORDS+=("")
        COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
        complete -p "${1%% *}" > /dev/null || exit
        "_${1%% *}"
        printf "%s\n" "${COMPREPLY[@]}"
    ' bash "$1"
}

# Newer ones also tell what has the letters further in, which they offer where nothing begins so.
ask_fish() { # LINE
    local said
    # shellcheck disable=SC2016 # the other shell expands these
    said=$(timeout 60 fish --no-config -c 'source made/(string split -f 1 " " -- $argv[1]).fish
        complete -C $argv[1]' -- "$1" | cut -f 1)
    awk -v "begin=${1##* }" 'index($0, begin) == 1' <<< "$said" | grep . || printf '%s\n' "$said"
}

ask_zsh() { # LINE
    timeout 60 zsh -f "$here/complete.zsh" "$dir/made" "$1"
}

# What is offered, a word per line. Shells quote words or not, offer KEY= or KEY, and repeat what
# is before the = or not; none of that counts.
ask() {
    local before=${1##* }
    before=${before%"${before##*=}"}
    "ask_$shell" "$1" | sed "s/\\\\//g; s/^$before//; s/=.*//; /^$/d" | sort -u
}

lines() { printf '%s\n' "$@" | sed '/^$/d' | sort -u; }

# offers LINE WORD...: these and no others.
offers() {
    diff <(lines "${@:2}") <(ask "$1") > out && ok || bad "$1"
}

# offers_also LINE WORD...: these among others.
offers_also() {
    local line=$1 missing
    shift
    missing=$(comm -23 <(lines "$@") <(ask "$line"))
    [ -z "$missing" ] && ok || bad "$line: not offered: $missing"
}

# offers_no LINE WORD
offers_no() {
    ask "$1" | grep -qxF -- "$2" && bad "$1: offered: $2" || ok
}

# Long options as --help lists them.
options_of() { # PROGRAM
    "$1" --help | sed -En 's/^  (-., |    |)--([a-z-]+).*/--\2/p'
}

# KEY;ALLOWED of each key; those that can change at any time.
keys() {
    "$bilatcam" --print-config | awk '/^# / { allowed = substr($0, 3) } / =/ && !/^#/ {
        print $1 ";" allowed }'
}
live_keys() { keys | sed -n 's/;.*; can change while running$//p'; }

# The words among what is allowed.
words_of() { # ALLOWED
    case $1 in
        'one of '*) sed 's/^one of //; s/;.*//; s/,//g' <<< "$1" ;;
        'yes or no'*) echo yes no ;;
        'auto, off or '*) echo auto off ;;
        'auto or '*) echo auto ;;
    esac
}

test_syntax() {
    local file
    for file in made/*; do
        "$shell" -n "$file" && ok || bad "syntax of $file"
    done
    [ "$shell" = bash ] && command -v shellcheck > /dev/null || return 0
    # What a file to be sourced sets is used elsewhere.
    shellcheck -S warning -e SC2034 made/* && ok || bad "shellcheck"
}

test_options() {
    # shellcheck disable=SC2046 # words
    offers 'bilatcam --' $(options_of "$bilatcam")
    offers 'bilatcam --eng' --engine
    offers 'bilatcam --preview --eng' --engine
    offers 'bilatcam -i test: --eng' --engine
    offers 'bilatcam --input=test: --eng' --engine
}

test_values() {
    local key allowed words n=0
    while IFS=';' read -r key allowed; do
        words=$(words_of "$allowed;")
        [ -n "$words" ] || continue
        n=$((n + 1))
        # shellcheck disable=SC2086 # words
        offers "bilatcam --set $key=" $words
        "$bilatcam" --help | grep -q -- "--$key [A-Za-z]" || continue
        # shellcheck disable=SC2086
        offers "bilatcam --$key " $words
    done < <(keys)
    [ "$n" -ge 10 ] && ok || bad "only $n keys with words"
    offers 'bilatcam -e re' reference
    offers 'bilatcam --engine=re' reference
    offers 'bilatcam --set engine=re' reference
    offers 'bilatcam --benchmark=' csv json
    offers 'bilatcam --benchmark --eng' --engine
    offers_no 'bilatcam --benchmark ' csv
    offers 'bilatcam --preview='
    offers 'bilatcam --radius '
}

test_files() {
    local devices=("$dir"/dev/video{0,11})
    offers_also 'bilatcam -i ' auto test: - "${devices[@]}" "$dir/dev/v4l/by-id/usb-Camera-index0" \
        'two words.y4m'
    offers_also 'bilatcam --output ' auto null: - "${devices[@]}" 'two words.y4m'
    offers_no 'bilatcam --output ' "$dir/dev/v4l/by-id/usb-Camera-index0"
    # Other files are worth nothing here; fish offers them after those that are.
    [ "$shell" = fish ] || offers_no 'bilatcam -i ' notes.txt
    offers_no 'bilatcam -i ' null:
    offers_no 'bilatcam -o ' test:
    offers 'bilatcam -o nu' null:
    offers_also 'bilatcam --stats ' notes.txt
    offers_also 'bilatcam -c ' notes.txt
}

test_control() {
    local key allowed
    [ -n "$bilatcamctl" ] || return
    # shellcheck disable=SC2046 # words
    {
        offers 'bilatcamctl --' $(options_of "$bilatcamctl")
        offers_also 'bilatcamctl ' $("$bilatcamctl" --help | sed -En 's/^  ([a-z]+) .*/\1/p')
        offers 'bilatcamctl get ' $(keys | sed 's/;.*//')
        offers 'bilatcamctl set ' $(live_keys)
        offers 'bilatcamctl --instance desk set ' $(live_keys)
        offers 'bilatcamctl --instance=desk set ' $(live_keys)
    }
    offers 'bilatcamctl res' resume
    offers 'bilatcamctl status '
    offers 'bilatcamctl --instance ' front_door
    while IFS=';' read -r key allowed; do
        # shellcheck disable=SC2046 # words
        [[ $allowed != *'; can change while running' ]] ||
            offers "bilatcamctl set $key " $(words_of "$allowed")
    done < <(keys)
    offers 'bilatcamctl set engine '
}

prepare
run_tests
summary
