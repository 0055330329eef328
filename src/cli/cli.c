#include "cli/cli.h"

#include "config-build.h"

#include <ctype.h>
#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>

#include "base/url.h"
#include "cli/options.h"

enum { MAX_OPTIONS = 64, FIRST_COMMAND = 1000, FIRST_KEY = 2000 };

struct option_table {
    struct option options[MAX_OPTIONS + 1];
    char letters[2 * MAX_OPTIONS + 3];
};

static void add_option(struct option_table *t, int *n, size_t *n_letters, const char *name,
                       char letter, const char *argument, int value)
{
    t->options[(*n)++] = (struct option){.name = name,
                                         .has_arg = !argument          ? no_argument
                                                    : *argument == '[' ? optional_argument
                                                                       : required_argument,
                                         .val = value};
    if (!letter)
        return;
    t->letters[(*n_letters)++] = letter;
    if (argument)
        t->letters[(*n_letters)++] = ':';
}

static void build_options(struct option_table *t)
{
    size_t n_letters = 0;
    int n = 0;

    memset(t, 0, sizeof(*t));
    t->letters[n_letters++] = ':'; /* tell a missing argument from an unknown option */
    for (int i = 0; i < N_CLI_OPTIONS; i++)
        add_option(t, &n, &n_letters, cli_options[i].name, cli_options[i].letter,
                   cli_options[i].argument, FIRST_COMMAND + i);
    for (int i = 0; key_table[i].name; i++)
        add_option(t, &n, &n_letters, key_table[i].name, key_table[i].letter, key_table[i].argument,
                   FIRST_KEY + i);
}

/* The number behind a short option. */
static int value_of_letter(int letter)
{
    for (int i = 0; i < N_CLI_OPTIONS; i++)
        if (cli_options[i].letter == letter)
            return FIRST_COMMAND + i;
    for (int i = 0; key_table[i].name; i++)
        if (key_table[i].letter == letter)
            return FIRST_KEY + i;
    return 0;
}

static void assign(struct cli *cli, const char *key, const char *value)
{
    cli->assignments[cli->n_assignments++] = (struct cli_assignment){key, value};
}

/* Takes the secrets of a URL out of the command line, which all users of the machine can read. */
static int assign_url(struct cli *cli, const char *key, char *url, struct error *err)
{
    char *const copy = strdup(url);

    if (!copy)
        return error_set(err, -ENOMEM, "out of memory");
    cli->copies[cli->n_copies++] = copy;
    assign(cli, key, copy);
    url_hide(url);
    return 0;
}

static int assign_pair(struct cli *cli, char *pair, struct error *err)
{
    const char *equals = strchr(pair, '=');
    char shown[128], *copy;

    if (!equals || equals == pair)
        return error_set(err, -EINVAL, "--set '%s': must be KEY=VALUE",
                         url_public(pair, shown, sizeof(shown)));
    copy = strdup(pair);
    if (!copy)
        return error_set(err, -ENOMEM, "out of memory");
    cli->copies[cli->n_copies++] = copy;
    copy[equals - pair] = '\0';
    assign(cli, copy, copy + (equals - pair) + 1);
    url_hide(pair);
    return 0;
}

static int take_benchmark(struct cli *cli, struct error *err)
{
    cli->command = CLI_BENCHMARK;
    if (!optarg)
        cli->benchmark_format = BENCHMARK_TEXT;
    else if (!strcmp(optarg, "csv"))
        cli->benchmark_format = BENCHMARK_CSV;
    else if (!strcmp(optarg, "json"))
        cli->benchmark_format = BENCHMARK_JSON;
    else
        return error_usage(err, "--benchmark='%s': must be csv or json, or nothing", optarg);
    return 0;
}

static int take_setup(struct cli *cli, struct error *err)
{
    cli->command = CLI_SETUP;
    cli->undo = optarg != NULL;
    if (optarg && strcmp(optarg, "undo"))
        return error_usage(err, "--setup='%s': must be undo, or nothing", optarg);
    return 0;
}

static int take_option(struct cli *cli, int value, struct error *err)
{
    if (value >= FIRST_KEY && optarg && is_url(optarg))
        return assign_url(cli, key_table[value - FIRST_KEY].name, optarg, err);
    if (value >= FIRST_KEY) {
        assign(cli, key_table[value - FIRST_KEY].name, optarg ? optarg : "yes");
        return 0;
    }
    switch (value - FIRST_COMMAND) {
    case OPT_SET:
        return assign_pair(cli, optarg, err);
    case OPT_CONFIG:
        cli->config_path = optarg;
        break;
    case OPT_PRINT_CONFIG:
        cli->command = CLI_PRINT_CONFIG;
        break;
    case OPT_LIST_DEVICES:
        cli->command = CLI_LIST_DEVICES;
        break;
    case OPT_LIST_ENGINES:
        cli->command = CLI_LIST_ENGINES;
        break;
    case OPT_DOCTOR:
        cli->command = CLI_DOCTOR;
        break;
    case OPT_SETUP:
        return take_setup(cli, err);
    case OPT_YES:
        cli->yes = true;
        break;
    case OPT_BENCHMARK:
        return take_benchmark(cli, err);
    case OPT_VERBOSE:
        cli->verbosity = 1;
        break;
    case OPT_QUIET:
        cli->verbosity = -1;
        break;
    case OPT_VERSION:
        cli->command = CLI_VERSION;
        break;
    case OPT_HELP:
        cli->command = CLI_HELP;
        break;
    }
    return 0;
}

static int usage_error(int value, char **argv, struct error *err)
{
    char last[128];

    (void)url_public(argv[optind - 1], last, sizeof(last));

    if (value == ':')
        return error_set(err, -EINVAL, "option '%s' needs a value (see bilatcam --help)", last);
    if (optopt >= FIRST_COMMAND)
        return error_set(err, -EINVAL, "option '%s' takes no value (see bilatcam --help)", last);
    if (optopt)
        return error_set(err, -EINVAL, "unknown option '-%c' (see bilatcam --help)", optopt);
    return error_set(err, -EINVAL, "unknown option '%s' (see bilatcam --help)", last);
}

/* No fewer than the settings on the command line: short options may share an argument, but each
 * has a letter of its own. */
static size_t count_letters(int argc, char **argv)
{
    size_t n = 0;

    for (int i = 0; i < argc; i++)
        n += strlen(argv[i]);
    return n;
}

int cli_parse(struct cli *cli, int argc, char **argv, struct error *err)
{
    struct option_table table;
    char shown[128];
    int value, r = 0;

    memset(cli, 0, sizeof(*cli));
    cli->assignments = calloc(count_letters(argc, argv) + 1, sizeof(*cli->assignments));
    cli->copies = calloc((size_t)argc + 1, sizeof(*cli->copies));
    if (!cli->assignments || !cli->copies)
        return error_set(err, -ENOMEM, "out of memory");
    build_options(&table);
    opterr = 0;
    optind = 0; /* start over, so that tests can parse more than once */
    while (r == 0 && (value = getopt_long(argc, argv, table.letters, table.options, NULL)) != -1) {
        if (value == '?' || value == ':')
            return usage_error(value, argv, err);
        r = take_option(cli, value < FIRST_COMMAND ? value_of_letter(value) : value, err);
    }
    if (r == 0 && optind < argc)
        return error_set(err, -EINVAL, "unexpected argument '%s' (see bilatcam --help)",
                         url_public(argv[optind], shown, sizeof(shown)));
    return r;
}

void cli_finish(struct cli *cli)
{
    for (int i = 0; i < cli->n_copies; i++)
        free(cli->copies[i]);
    free(cli->copies);
    free(cli->assignments);
}

/* Whether the settings go together: a file that was read says some of them. */
static int check(const struct cli *cli, const char *path, const struct settings *s,
                 struct error *err)
{
    struct error why;
    const int r = settings_check(s, &why);

    if (r && path)
        return error_set(err, r, "configuration '%s'%s: %s", path,
                         cli->n_assignments ? " with these options" : "", why.text);
    if (r)
        *err = why;
    return r;
}

/* Several daemons are told apart by the names of their configuration files. */
static void name_instance(const struct cli *cli, struct settings *s)
{
    const char *path = cli->config_path ? cli->config_path : "";
    const char *name = strrchr(path, '/') ? strrchr(path, '/') + 1 : path;
    size_t n = strcspn(name, ".");

    if (n == strlen("bilatcam") && !strncmp(name, "bilatcam", n))
        n = 0;
    if (n >= sizeof(s->instance))
        n = sizeof(s->instance) - 1;
    for (size_t i = 0; i < n; i++)
        s->instance[i] = (char)(isalnum((unsigned char)name[i]) ? name[i] : '_');
    s->instance[n] = '\0';
}

int cli_settings(const struct cli *cli, struct settings *s, struct error *err)
{
    struct settings new, before;
    char found[SETTINGS_PATH_MAX];
    const char *path = cli->config_path;
    int r = 0;

    settings_init(&new);
    if (!path && settings_find_file(found, sizeof(found)))
        path = found;
    if (path)
        r = settings_load(&new, path, err);
    before = new;
    settings_empty_lists(&new);
    for (int i = 0; r == 0 && i < cli->n_assignments; i++) {
        r = settings_add(&new, cli->assignments[i].key, cli->assignments[i].value, err);
        if (!strcmp(cli->assignments[i].key, "latency-budget"))
            new.budget_asked = true;
    }
    settings_keep_lists(&new, &before);
    name_instance(cli, &new);
    if (r == 0)
        r = check(cli, path, &new, err);
    if (r == 0)
        *s = new;
    return r;
}

enum { HELP_INDENT = 31, HELP_WIDTH = 96 };

/* Prints @text in lines of at most HELP_WIDTH columns, of which @column are taken. */
static void print_wrapped(FILE *out, const char *text, int column)
{
    if (column >= HELP_INDENT)
        fprintf(out, "\n");
    fprintf(out, "%*s", column < HELP_INDENT ? HELP_INDENT - column : HELP_INDENT, "");
    column = HELP_INDENT;
    while (*text) {
        const int word = (int)strcspn(text, " ");

        if (column > HELP_INDENT && column + 1 + word > HELP_WIDTH) {
            fprintf(out, "\n%*s", HELP_INDENT, "");
            column = HELP_INDENT;
        }
        column += fprintf(out, "%s%.*s", column > HELP_INDENT ? " " : "", word, text);
        text += word;
        text += strspn(text, " ");
    }
    fprintf(out, "\n");
}

static void print_option(FILE *out, const char *name, char letter, const char *argument,
                         const char *help)
{
    char short_form[8] = "    ";
    int column;

    if (letter)
        (void)snprintf(short_form, sizeof(short_form), "-%c, ", letter);
    column = fprintf(out, "  %s--%s%s%s", short_form, name, argument && *argument != '[' ? " " : "",
                     argument ? argument : "");
    print_wrapped(out, help, column);
}

void cli_print_help(FILE *out)
{
    fprintf(out, "Usage: bilatcam [OPTION]...\n"
                 "Removes the noise of a webcam, keeps every edge, and offers the result as a "
                 "virtual camera.\n\n"
                 "Settings (also keys of the configuration file):\n");
    for (const struct key *k = key_table; k->name; k++) {
        char help[640];

        cli_key_help(k, help, sizeof(help));
        print_option(out, k->name, k->letter, k->argument, help);
    }
    fprintf(out, "\nOther options:\n");
    for (int i = 0; i < N_CLI_OPTIONS; i++)
        print_option(out, cli_options[i].name, cli_options[i].letter, cli_options[i].argument,
                     cli_options[i].help);
    fprintf(
        out,
        "\nWithout options the first camera goes to the first v4l2loopback node, or to PipeWire.\n"
        "SIGINT and SIGTERM end bilatcam; so does SIGHUP in a terminal, and elsewhere it "
        "reads the\nconfiguration file again.\n"
        "Exit status: 0 done, 1 failed at run time, 2 wrong usage or configuration.\n");
}

void cli_print_version(FILE *out)
{
    static const char parts[] =
#ifdef HAVE_CUDA
        " +cuda"
#else
        " -cuda"
#endif
#ifdef HAVE_PREVIEW
        " +preview"
#else
        " -preview"
#endif
#ifdef HAVE_MJPEG
        " +mjpeg"
#else
        " -mjpeg"
#endif
#ifdef HAVE_PIPEWIRE
        " +pipewire"
#else
        " -pipewire"
#endif
#ifdef HAVE_VIDEO
        " +video"
#else
        " -video"
#endif
#ifdef HAVE_CONTROL
        " +control";
#else
        " -control";
#endif

    fprintf(out, "bilatcam %s%s\n", BILATCAM_VERSION, parts);
}
