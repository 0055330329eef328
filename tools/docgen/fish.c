/* Sections of the completions for fish. */
#include "tools/docgen/reference.h"

#include "ctl/commands.h"
#include "tools/docgen/offer.h"

static void write_help(FILE *out, const char *help)
{
    (void)fputs(" -d '", out);
    offer_write_quoted(out, help, "\\");
    (void)fputs("'\n", out);
}

static void write_option(FILE *out, const char *program, const struct offer *o)
{
    static const char *const finders[] = {
        [OFFER_NOTHING] = " -x",
        [OFFER_SOURCE] = " -x -a '(__bilatcam_source)'",
        [OFFER_SINK] = " -x -a '(__bilatcam_sink)'",
        [OFFER_FILE] = " -r -F",
        [OFFER_SETTING] = " -x -a '(__bilatcam_setting)'",
        [OFFER_INSTANCE] = " -x -a '(__bilatcamctl_instances)'",
    };

    fprintf(out, "complete -c %s -l %s", program, o->name);
    if (o->letter)
        fprintf(out, " -s %c", o->letter);
    if (o->argument && offer_kind(o) == OFFER_WORDS)
        fprintf(out, "%s -a '%s'", offer_is_optional(o) ? "" : " -x", o->words);
    else if (o->argument)
        (void)fputs(finders[offer_kind(o)], out);
    write_help(out, o->help);
}

static void write_bilatcam_option(FILE *out, const struct offer *o)
{
    write_option(out, "bilatcam", o);
}

static void write_options(FILE *out)
{
    offer_each(out, write_bilatcam_option);
}

static void write_ctl_option(FILE *out, const struct offer *o)
{
    write_option(out, "bilatcamctl", o);
}

static void write_ctl_options(FILE *out)
{
    offer_each_of_ctl(out, write_ctl_option);
}

/* KEY 'WORDS' of each key. */
static void write_key(FILE *out, const struct offer *o)
{
    if (o->key)
        fprintf(out, "'%s %s' ", o->name, o->words);
}

static void write_keys(FILE *out)
{
    offer_each(out, write_key);
}

static void write_commands(FILE *out)
{
    for (int i = 0; i < N_CTL_COMMANDS; i++) {
        fprintf(out, "complete -c bilatcamctl -n __bilatcamctl_after -a %s", ctl_commands[i].name);
        write_help(out, ctl_commands[i].help);
    }
}

/* What follows `get` and `set`. */
static void write_ctl_key(FILE *out, const struct offer *o)
{
    if (!o->key)
        return;
    fprintf(out, "complete -c bilatcamctl -n '__bilatcamctl_after get' -a %s", o->name);
    write_help(out, o->help);
    if (!o->key->live)
        return;
    fprintf(out, "complete -c bilatcamctl -n '__bilatcamctl_after set' -a %s", o->name);
    write_help(out, o->help);
    if (*o->words)
        fprintf(out, "complete -c bilatcamctl -n '__bilatcamctl_after set %s' -a '%s'\n", o->name,
                o->words);
}

static void write_ctl_keys(FILE *out)
{
    offer_each(out, write_ctl_key);
}

const struct section fish_sections[] = {
    {"fish-options", write_options},         {"fish-keys", write_keys},
    {"fish-ctl-options", write_ctl_options}, {"fish-ctl-commands", write_commands},
    {"fish-ctl-keys", write_ctl_keys},       {.name = NULL},
};
