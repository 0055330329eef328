#pragma once
/* What bilatcamctl can be told. Feeds bilatcamctl, its --help, its manual page and the completions
 * of shells. Context: plain data. */
#include "cli/options.h"

enum ctl_command_number {
    CTL_STATUS,
    CTL_GET,
    CTL_SET,
    CTL_RELOAD,
    CTL_PAUSE,
    CTL_RESUME,
    CTL_SNAPSHOT,
    CTL_STATS,
    CTL_WATCH,
    N_CTL_COMMANDS
};

struct ctl_command {
    const char *name, *arguments, *help;
    int min_args, max_args;
};

extern const struct ctl_command ctl_commands[N_CTL_COMMANDS];

/* Ends with an option whose name is NULL. */
extern const struct cli_option ctl_options[];

const struct ctl_command *ctl_command_find(const char *name);
