#include "ctl/commands.h"

#include <string.h>

const struct ctl_command ctl_commands[N_CTL_COMMANDS] = {
    [CTL_STATUS] = {"status", "", "what it does now, and how well", 0, 0},
    [CTL_GET] = {"get", "[KEY]", "one setting, or all", 0, 1},
    [CTL_SET] = {"set", "KEY VALUE", "change a setting until the daemon ends or reloads", 2, 2},
    [CTL_RELOAD] = {"reload", "", "read the configuration file again", 0, 0},
    [CTL_PAUSE] = {"pause", "", "release the camera", 0, 0},
    [CTL_RESUME] = {"resume", "", "go on after a pause", 0, 0},
    [CTL_SNAPSHOT] = {"snapshot", "[NAME]", "keep the picture before and after the filter", 0, 1},
    [CTL_STATS] = {"stats", "", "statistics since the start, as one JSON object", 0, 0},
    [CTL_WATCH] = {"watch", "", "the state, then a line for each change", 0, 0},
};

const struct cli_option ctl_options[] = {
    {"instance", 0, "NAME", "which bilatcam, where several run"},
    {"version", 'V', NULL, "print the version and exit"},
    {"help", 'h', NULL, "print this help and exit"},
    {.name = NULL},
};

const struct ctl_command *ctl_command_find(const char *name)
{
    for (int i = 0; i < N_CTL_COMMANDS; i++)
        if (!strcmp(ctl_commands[i].name, name))
            return &ctl_commands[i];
    return NULL;
}
