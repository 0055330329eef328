# Completions of bilatcam for fish.

function __bilatcam_source
    set -l devices /dev/video* /dev/v4l/by-id/*
    printf '%s\n' auto test: - $devices
    __fish_complete_suffix .y4m
end

function __bilatcam_sink
    set -l devices /dev/video*
    printf '%s\n' auto null: - $devices
    __fish_complete_suffix .y4m
end

# KEY= and KEY=VALUE of every key.
function __bilatcam_setting
    for line in @fish-keys@
        set -l words (string split -n ' ' -- $line)
        printf '%s=\n' $words[1]
        for value in $words[2..]
            printf '%s=%s\n' $words[1] $value
        end
    end
end

complete -c bilatcam -f
@fish-options@
