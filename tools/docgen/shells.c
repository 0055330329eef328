/* Sections of the completions for bash and zsh. */
#include "tools/docgen/reference.h"

#include "ctl/commands.h"
#include "tools/docgen/offer.h"

/* ---------------------------------------------------------------------- bash */

/* LETTER;NAME;ARGUMENT;WORDS;KIND, where KIND is that of a key: live or start. */
static void write_bash_option(FILE *out, const struct offer *o)
{
    fprintf(out, o->letter ? "-%c;" : ";", o->letter);
    fprintf(out, "--%s;%s;%s;%s\n", o->name, o->argument ? o->argument : "", o->words,
            !o->key        ? ""
            : o->key->live ? "live"
                           : "start");
}

static void write_bash_options(FILE *out)
{
    offer_each(out, write_bash_option);
}

static void write_bash_ctl_options(FILE *out)
{
    offer_each_of_ctl(out, write_bash_option);
}

static void write_ctl_names(FILE *out)
{
    for (int i = 0; i < N_CTL_COMMANDS; i++)
        fprintf(out, "%s%s", i ? " " : "", ctl_commands[i].name);
}

/* ----------------------------------------------------------------------- zsh */

static void write_zsh_argument(FILE *out, const struct offer *o)
{
    static const char *const finders[] = {
        [OFFER_NOTHING] = " ",
        [OFFER_SOURCE] = "_bilatcam_source",
        [OFFER_SINK] = "_bilatcam_sink",
        [OFFER_FILE] = "_files",
        [OFFER_SETTING] = "_bilatcam_setting",
        [OFFER_INSTANCE] = "_bilatcamctl_instances",
    };

    if (offer_is_optional(o))
        fprintf(out, "::VALUE:(%s)", o->words);
    else if (offer_kind(o) == OFFER_WORDS)
        fprintf(out, ":%s:(%s)", o->argument, o->words);
    else
        fprintf(out, ":%s:%s", o->argument, finders[offer_kind(o)]);
}

/* One argument of _arguments; an option with a letter has two. */
static void write_zsh_form(FILE *out, const struct offer *o, bool short_form)
{
    (void)fputc('\'', out);
    if (o->letter)
        fprintf(out, "(-%c --%s)", o->letter, o->name);
    if (short_form)
        fprintf(out, "-%c%s[", o->letter, o->argument ? "+" : "");
    else
        fprintf(out, "--%s%s[", o->name, offer_is_optional(o) ? "=-" : o->argument ? "=" : "");
    offer_write_quoted(out, o->help, "[]\\");
    (void)fputc(']', out);
    if (o->argument)
        write_zsh_argument(out, o);
    (void)fputs("'\n", out);
}

static void write_zsh_option(FILE *out, const struct offer *o)
{
    if (o->letter)
        write_zsh_form(out, o, true);
    write_zsh_form(out, o, false);
}

static void write_zsh_options(FILE *out)
{
    offer_each(out, write_zsh_option);
}

static void write_zsh_ctl_options(FILE *out)
{
    offer_each_of_ctl(out, write_zsh_option);
}

/* NAME 'WORDS' of each key. */
static void write_zsh_key(FILE *out, const struct offer *o)
{
    if (o->key)
        fprintf(out, "%s '%s'\n", o->name, o->words);
}

static void write_zsh_keys(FILE *out)
{
    offer_each(out, write_zsh_key);
}

static void write_zsh_live_key(FILE *out, const struct offer *o)
{
    if (o->key && o->key->live)
        write_zsh_key(out, o);
}

static void write_zsh_live_keys(FILE *out)
{
    offer_each(out, write_zsh_live_key);
}

static void write_zsh_commands(FILE *out)
{
    for (int i = 0; i < N_CTL_COMMANDS; i++) {
        fprintf(out, "'%s:", ctl_commands[i].name);
        offer_write_quoted(out, ctl_commands[i].help, ":\\");
        (void)fputs("'\n", out);
    }
}

const struct section shell_sections[] = {
    {"bash-options", write_bash_options},
    {"bash-ctl-options", write_bash_ctl_options},
    {"ctl-names", write_ctl_names},
    {"zsh-options", write_zsh_options},
    {"zsh-ctl-options", write_zsh_ctl_options},
    {"zsh-keys", write_zsh_keys},
    {"zsh-live-keys", write_zsh_live_keys},
    {"zsh-commands", write_zsh_commands},
    {.name = NULL},
};
