#include "cli/options.h"

#include <stdio.h>

#include "settings/settings.h"

const struct cli_option cli_options[N_CLI_OPTIONS] = {
    [OPT_SET] = {"set", 0, "KEY=VALUE", "set any key of the configuration file"},
    [OPT_CONFIG] = {"config", 'c', "FILE", "read this configuration file instead of the user's"},
    [OPT_PRINT_CONFIG] = {"print-config", 0, NULL, "print the settings in effect and exit"},
    [OPT_LIST_DEVICES] = {"list-devices", 0, NULL, "list cameras and virtual cameras and exit"},
    [OPT_LIST_ENGINES] = {"list-engines", 0, NULL, "list engines that work here and exit"},
    [OPT_DOCTOR] = {"doctor", 0, NULL, "say what is wrong here and how to fix it, and exit"},
    [OPT_SETUP] = {"setup", 0, "[=undo]",
                   "set this machine up (virtual camera, rights, service) by sudo, showing each "
                   "command before it runs, and exit"},
    [OPT_YES] = {"yes", 0, NULL, "answer what --setup asks with yes"},
    [OPT_BENCHMARK] = {"benchmark", 0, "[=csv|json]", "time the engines of this machine and exit"},
    [OPT_VERBOSE] = {"verbose", 'v', NULL, "say more"},
    [OPT_QUIET] = {"quiet", 'q', NULL, "say errors only"},
    [OPT_VERSION] = {"version", 'V', NULL, "print version and what is built in, and exit"},
    [OPT_HELP] = {"help", 'h', NULL, "print this help and exit"},
};

void cli_key_help(const struct key *k, char *text, size_t size)
{
    char allowed[256];

    key_describe(k, allowed, sizeof(allowed));
    if (k->type == KEY_TEXT || k->type == KEY_LIST || k->type == KEY_BOOL)
        (void)snprintf(text, size, "%s", k->help);
    else
        (void)snprintf(text, size, "%s; %s (default %s)", k->help, allowed, k->default_text);
}
