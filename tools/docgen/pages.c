/* Sections of the manual pages, in the language of scdoc. */
#include "tools/docgen/reference.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>

#include "config-build.h"
#include "ctl/commands.h"
#include "settings/settings.h"
#include "settings/status.h"

/* @text with nothing in it that scdoc would take for markup. */
static void write_plain(FILE *out, const char *text)
{
    for (const char *p = text; *p; p++)
        fprintf(out, strchr("\\*_", *p) ? "\\%c" : "%c", *p);
}

static void write_sentence(FILE *out, const char *text)
{
    (void)fputc(toupper((unsigned char)*text), out);
    write_plain(out, text + 1);
    (void)fputs(".\n", out);
}

/* Words to be replaced are underlined, what stands between them is not: [_KEY_] */
static void write_arguments(FILE *out, const char *text)
{
    bool inside = false;

    for (; *text; text++) {
        const bool word = isalnum((unsigned char)*text);

        if (word != inside)
            (void)fputc('_', out);
        inside = word;
        (void)fputc(*text, out);
    }
    if (inside)
        (void)fputc('_', out);
}

static void write_option(FILE *out, char letter, const char *name, const char *argument,
                         const char *help)
{
    (void)fputc('\n', out);
    if (letter)
        fprintf(out, "*-%c*, ", letter);
    fprintf(out, "*--%s*", name);
    if (argument && *argument != '[')
        (void)fputc(' ', out);
    write_arguments(out, argument ? argument : "");
    (void)fputs("\n\t", out);
    write_sentence(out, help);
}

static void write_version(FILE *out)
{
    (void)fputs(BILATCAM_VERSION, out);
}

static void write_settings(FILE *out)
{
    for (const struct key *k = key_table; k->name; k++) {
        char help[640];

        cli_key_help(k, help, sizeof(help));
        write_option(out, k->letter, k->name, k->argument, help);
    }
}

static void write_options(FILE *out)
{
    for (int i = 0; i < N_CLI_OPTIONS; i++)
        write_option(out, cli_options[i].letter, cli_options[i].name, cli_options[i].argument,
                     cli_options[i].help);
}

static void write_keys(FILE *out)
{
    for (const struct key *k = key_table; k->name; k++) {
        char allowed[256], line[512];

        key_describe(k, allowed, sizeof(allowed));
        fprintf(out, "\n*%s =* %s\n\t", k->name, k->default_text);
        write_sentence(out, k->help);
        (void)fputc('\t', out);
        (void)snprintf(line, sizeof(line), "must be %s; %s", allowed, key_takes_effect(k));
        write_sentence(out, line);
    }
}

/* "*filter*, *radius* and *range*" */
static void write_live_keys(FILE *out)
{
    const char *last = NULL;
    int n = 0;

    for (const struct key *k = key_table; k->name; k++) {
        if (!k->live)
            continue;
        if (last)
            fprintf(out, "%s*%s*", n++ ? ", " : "", last);
        last = k->name;
    }
    fprintf(out, "%s*%s*", n ? " and " : "", last);
}

static void write_ctl_commands(FILE *out)
{
    for (int i = 0; i < N_CTL_COMMANDS; i++) {
        const struct ctl_command *k = &ctl_commands[i];

        fprintf(out, "\n*%s*%s", k->name, *k->arguments ? " " : "");
        write_arguments(out, k->arguments);
        (void)fputs("\n\t", out);
        write_sentence(out, k->help);
    }
}

static void write_ctl_options(FILE *out)
{
    for (const struct cli_option *o = ctl_options; o->name; o++)
        write_option(out, o->letter, o->name, o->argument, o->help);
}

static void write_figure(FILE *out, const char *name, const struct figure *f)
{
    (void)fputs("\n*", out);
    write_plain(out, name);
    fprintf(out, "*%s%s\n\t", f->unit ? " in " : "", f->unit ? f->unit : "");
    write_sentence(out, f->help);
}

static void write_json_figures(FILE *out)
{
    for (const struct figure *f = figure_table; f->help; f++)
        if (f->json)
            write_figure(out, f->json, f);
}

static void write_bus_figures(FILE *out)
{
    for (const struct figure *f = figure_table; f->help; f++)
        if (f->property)
            write_figure(out, f->property, f);
}

const struct section page_sections[] = {
    {"version", write_version},         {"settings", write_settings},
    {"options", write_options},         {"keys", write_keys},
    {"live-keys", write_live_keys},     {"ctl-commands", write_ctl_commands},
    {"ctl-options", write_ctl_options}, {"json-figures", write_json_figures},
    {"bus-figures", write_bus_figures}, {.name = NULL},
};
