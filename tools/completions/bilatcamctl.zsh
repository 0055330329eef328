#compdef bilatcamctl
# Completions of bilatcamctl for zsh.

# Daemons are called after their configuration files.
_bilatcamctl_instances() {
    local -a names=(${XDG_CONFIG_HOME:-~/.config}/bilatcam/*.conf(N:t))
    names=(${${names%%.*}//[^[:alnum:]]/_})
    compadd - ${names:#bilatcam}
}

_bilatcamctl_command() {
    local -a names=(
@zsh-commands@
    )
    _describe command names
}

_bilatcamctl_arguments() {
    local -A keys=(
@zsh-keys@
    ) live=(
@zsh-live-keys@
    )
    case $CURRENT,$words[1] in
        2,get) compadd - ${(k)keys} ;;
        2,set) compadd - ${(k)live} ;;
        3,set) compadd - ${=live[$words[2]]} ;;
    esac
}

local -a forms=(
@zsh-ctl-options@
)
_arguments -S $forms ':command:_bilatcamctl_command' '*::argument:_bilatcamctl_arguments'
