#compdef bilatcam
# Completions of bilatcam for zsh.

_bilatcam_source() {
    compadd - auto test: - /dev/video*(N) /dev/v4l/by-id/*(N)
    _files -g '*.y4m'
}

_bilatcam_sink() {
    compadd - auto null: - /dev/video*(N)
    _files -g '*.y4m'
}

# KEY=VALUE
_bilatcam_setting() {
    local -A keys=(
@zsh-keys@
    )
    if compset -P '*='; then
        compadd - ${=keys[${${IPREFIX%=}##*=}]}
    else
        compadd -S = - ${(k)keys}
    fi
}

local -a forms=(
@zsh-options@
)
_arguments -s -S $forms
