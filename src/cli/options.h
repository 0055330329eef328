#pragma once
/* The options of bilatcam that are no settings; a setting's option is its key in key_table. They
 * feed the parser, --help, the manual page and the completions of shells. Context: plain data. */
#include <stddef.h>

struct key;

struct cli_option {
    const char *name;
    char letter;          /* short option, or 0 */
    const char *argument; /* NULL: none; in brackets: may be left out */
    const char *help;
};

enum cli_option_number {
    OPT_SET,
    OPT_CONFIG,
    OPT_PRINT_CONFIG,
    OPT_LIST_DEVICES,
    OPT_LIST_ENGINES,
    OPT_DOCTOR,
    OPT_SETUP,
    OPT_YES,
    OPT_BENCHMARK,
    OPT_VERBOSE,
    OPT_QUIET,
    OPT_VERSION,
    OPT_HELP,
    N_CLI_OPTIONS
};

extern const struct cli_option cli_options[N_CLI_OPTIONS];

/* What the option of @key does and takes, in words. */
void cli_key_help(const struct key *key, char *text, size_t size);
