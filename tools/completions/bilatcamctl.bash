# Completions of bilatcamctl for bash.
# shellcheck shell=bash

# LETTER;OPTION;ARGUMENT;WORDS;KIND of the options of bilatcam; the KIND of keys that can change
# while it runs is live. Then those of bilatcamctl itself.
_bilatcamctl_settings='
@bash-options@'
_bilatcamctl_options='
@bash-ctl-options@'

_bilatcamctl_names() {
    local option
    while IFS=';' read -r _ option _; do
        printf '%s\n' "$option"
    done <<< "$_bilatcamctl_options"
}

# _bilatcamctl_keys [KIND]: the keys of one kind, or all.
_bilatcamctl_keys() {
    local option kind
    while IFS=';' read -r _ option _ _ kind; do
        [[ -z $kind || $kind != "${1:-$kind}" ]] || printf '%s\n' "${option#--}"
    done <<< "$_bilatcamctl_settings"
}

_bilatcamctl_values() { # KEY
    local option words kind
    while IFS=';' read -r _ option _ words kind; do
        [[ $option != "--$1" || $kind != live ]] || printf '%s\n' "$words"
    done <<< "$_bilatcamctl_settings"
}

# Daemons are called after their configuration files.
_bilatcamctl_instances() {
    local file name
    for file in "${XDG_CONFIG_HOME:-$HOME/.config}"/bilatcam/*.conf; do
        name=${file##*/}
        name=${name%%.*}
        [[ ! -e $file || $name = bilatcam ]] || printf '%s\n' "${name//[^[:alnum:]]/_}"
    done
}

# The words that may come after the command and its arguments in WORD...
_bilatcamctl_after() { # [WORD]...
    case $#,${1:-} in
        0,*)
            printf '%s\n' @ctl-names@
            _bilatcamctl_names
            ;;
        1,get) _bilatcamctl_keys ;;
        1,set) _bilatcamctl_keys live ;;
        2,set) _bilatcamctl_values "$2" ;;
    esac
}

_bilatcamctl() {
    local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]} words=() offered i
    # The shell cuts words at =, which is a word of its own then.
    if [ "$before" = = ]; then
        before=${COMP_WORDS[COMP_CWORD - 2]}
    elif [ "$word" = = ]; then
        word=
    fi
    for ((i = 1; i < COMP_CWORD; i++)); do
        case ${COMP_WORDS[i]} in
            --instance)
                [ "${COMP_WORDS[i + 1]}" != = ] || i=$((i + 1))
                i=$((i + 1))
                ;;
            -*) ;;
            *) words+=("${COMP_WORDS[i]}") ;;
        esac
    done
    if [ "$before" = --instance ]; then
        offered=$(_bilatcamctl_instances)
    else
        offered=$(_bilatcamctl_after "${words[@]}")
    fi
    mapfile -t COMPREPLY < <(compgen -W "$offered" -- "$word")
}

complete -F _bilatcamctl bilatcamctl
