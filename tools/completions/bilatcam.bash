# Completions of bilatcam for bash.
# shellcheck shell=bash

# LETTER;OPTION;ARGUMENT;WORDS;KIND of every option; a key of the configuration file has a KIND.
_bilatcam_options='
@bash-options@'

# _bilatcam_find NAME: sets what is to be known of an option, or of a key. False: there is none.
_bilatcam_find() {
    local letter option
    while IFS=';' read -r letter option argument words _; do
        [[ $1 != "$letter" && $1 != "$option" && --$1 != "$option" ]] || return 0
    done <<< "$_bilatcam_options"
    argument='' words=''
    return 1
}

_bilatcam_names() {
    local option
    while IFS=';' read -r _ option _; do
        printf '%s\n' "$option"
    done <<< "$_bilatcam_options"
}

_bilatcam_settings() {
    local option kind
    while IFS=';' read -r _ option _ _ kind; do
        [ -z "$kind" ] || printf '%s=\n' "${option#--}"
    done <<< "$_bilatcam_options"
}

# _bilatcam_reply COMMAND...: what it prints is offered, too.
_bilatcam_reply() {
    local -a found
    mapfile -t found < <("$@")
    COMPREPLY+=("${found[@]}")
}

_bilatcam_devices() { # WORD PATTERN...
    local pattern
    for pattern in "${@:2}"; do
        _bilatcam_reply compgen -W "$(compgen -G "$pattern")" -- "$1"
    done
}

_bilatcam_y4m() { # WORD
    local before=${#COMPREPLY[@]}
    _bilatcam_reply compgen -f -X '!*.y4m' -- "$1"
    _bilatcam_reply compgen -d -- "$1"
    # Only with files, because a colon or an = in other words would be quoted.
    [ ${#COMPREPLY[@]} = "$before" ] || compopt -o filenames 2> /dev/null
}

# _bilatcam_value NAME WORD: what the option or key NAME takes.
_bilatcam_value() {
    local argument words
    _bilatcam_find "$1" || return
    [[ $1 != -* || -n $argument ]] || return # as an option it takes none
    case $argument in
        SRC)
            _bilatcam_reply compgen -W 'auto test: -' -- "$2"
            _bilatcam_devices "$2" '/dev/video*' '/dev/v4l/by-id/*'
            _bilatcam_y4m "$2"
            ;;
        DST)
            _bilatcam_reply compgen -W 'auto null: -' -- "$2"
            _bilatcam_devices "$2" '/dev/video*'
            _bilatcam_y4m "$2"
            ;;
        FILE)
            _bilatcam_reply compgen -f -- "$2"
            compopt -o filenames 2> /dev/null
            ;;
        KEY=VALUE)
            _bilatcam_reply compgen -W "$(_bilatcam_settings)" -- "$2"
            compopt -o nospace 2> /dev/null
            ;;
        *) _bilatcam_reply compgen -W "$words" -- "$2" ;;
    esac
}

# Whether the word after option NAME is its value.
_bilatcam_takes_value() {
    local argument words
    _bilatcam_find "$1" && [[ $1 = -* && -n $argument && $argument != \[* ]]
}

_bilatcam() {
    local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]}
    COMPREPLY=()
    # The shell cuts words at =, which is a word of its own then.
    if [ "$word" = = ]; then
        _bilatcam_value "$before" ''
    elif [ "$before" = = ] && [ "$COMP_CWORD" -ge 2 ]; then
        _bilatcam_value "${COMP_WORDS[COMP_CWORD - 2]}" "$word"
    elif _bilatcam_takes_value "$before"; then
        _bilatcam_value "$before" "$word"
    else
        _bilatcam_reply compgen -W "$(_bilatcam_names)" -- "$word"
    fi
}

complete -F _bilatcam bilatcam
