# zsh -f complete.zsh FOLDER LINE: what zsh offers at the end of LINE with the completions in
# FOLDER, one word per line. Completing needs a terminal, which is made here; the shell in it keeps
# what is given to compadd, by which everything is offered. Leaves FOLDER.dump, which spares the
# next call most of the time.
dir=$(mktemp -d)
trap 'rm -rf $dir' EXIT
cat > $dir/.zshrc << 'END'
PS1=
fpath=($completions $fpath)
autoload -Uz compinit
compinit -u -d $completions.dump
compadd() {
    local -a found
    # Only asks which words match.
    if [[ ${(M)@[1,(i)(-|--)]:#-[OAD]*} != '' ]]; then
        builtin compadd "$@"
        return
    fi
    builtin compadd -A found "$@"
    [[ ${#found} = 0 ]] || print -rl -- $found >> $ZDOTDIR/found
    builtin compadd "$@"
}
say() {
    _main_complete
    compstate[insert]= compstate[list]=
    touch $ZDOTDIR/end
}
zle -C say complete-word say
bindkey '^I' say
touch $ZDOTDIR/ready
END

wait_for() { # FILE, at most 20 s
    local i
    for i in {1..200}; do
        [[ ! -e $1 ]] || return 0
        sleep 0.05
        zpty -rt terminal > /dev/null
    done
    print -u 2 "no $1"
    return 1
}

zmodload zsh/zpty
zpty terminal "ZDOTDIR=${(q)dir} completions=${(q)1} TERM=dumb exec zsh -d -i"
wait_for $dir/ready && zpty -wn terminal "$2"$'\t' && wait_for $dir/end || exit
[[ ! -e $dir/found ]] || sort -u $dir/found
zpty -d terminal
