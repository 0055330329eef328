#pragma once
/* The command line: what to do, and the settings that result from defaults, configuration file
 * and options, in this order. Context: main. */
#include <stdio.h>

#include "settings/settings.h"

enum cli_command {
    CLI_RUN,
    CLI_HELP,
    CLI_VERSION,
    CLI_PRINT_CONFIG,
    CLI_LIST_DEVICES,
    CLI_LIST_ENGINES,
    CLI_DOCTOR,
    CLI_SETUP,
    CLI_BENCHMARK,
};

/* How --benchmark prints. */
enum benchmark_format { BENCHMARK_TEXT, BENCHMARK_CSV, BENCHMARK_JSON };

struct cli_assignment {
    const char *key, *value; /* the value points into argv, to a copy, or to static text */
};

struct cli {
    enum cli_command command;
    enum benchmark_format benchmark_format;
    bool undo, yes;          /* of CLI_SETUP */
    int verbosity;           /* -1 quiet, 0, 1 verbose */
    const char *config_path; /* --config, or NULL */
    int n_assignments;
    struct cli_assignment *assignments; /* in the order given */
    char **copies; /* the KEY=VALUE texts of --set, cut in two, and URLs; argc long */
    int n_copies;
};

/* Parses options without looking at any file. Where @argv has a URL, its secrets are overwritten.
 * -EINVAL: wrong usage, in words in @err. -ENOMEM.
 * cli_finish() is due in every case. */
int cli_parse(struct cli *cli, int argc, char **argv, struct error *err);
void cli_finish(struct cli *cli);

/* Defaults, then the configuration file, then the options. Called again for a reload. On error
 * @s is unchanged. */
int cli_settings(const struct cli *cli, struct settings *s, struct error *err);

void cli_print_help(FILE *out);
void cli_print_version(FILE *out);
