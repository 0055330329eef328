# Completions of bilatcamctl for fish.

# Whether the command line so far has just this command and these arguments.
function __bilatcamctl_after
    set -l wanted "$argv"
    set -l words (commandline -opc)
    argparse -s instance= V/version h/help -- $words[2..] 2>/dev/null
    test "$argv" = "$wanted"
end

# Daemons are called after their configuration files.
function __bilatcamctl_instances
    set -l folder ~/.config
    set -q XDG_CONFIG_HOME; and set folder $XDG_CONFIG_HOME
    set -l files $folder/bilatcam/*.conf
    for file in $files
        set -l name (string replace -r '.*/([^./]*)[^/]*$' '$1' -- $file)
        test "$name" = bilatcam; or string replace -ra '[^[:alnum:]]' _ -- $name
    end
end

complete -c bilatcamctl -f
@fish-ctl-options@
@fish-ctl-commands@
@fish-ctl-keys@
