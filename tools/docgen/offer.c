#include "tools/docgen/offer.h"

#include <string.h>

#include "base/text.h"
#include "ctl/commands.h"

static void add_words(struct offer *o, const char *words)
{
    list_add(o->words, sizeof(o->words), " ", words);
}

/* The names among the values of @k. */
static void add_values(struct offer *o, const struct key *k)
{
    add_words(o, key_words(k));
    for (int i = 0; k->choices && k->choices[i]; i++)
        add_words(o, k->choices[i]);
}

/* "[=csv|json]" names its values itself. */
static void add_alternatives(struct offer *o, const char *argument)
{
    const char *p = argument + strspn(argument, "[=");

    if (!strchr(p, '|'))
        return;
    while (*p && *p != ']') {
        const size_t n = strlen(o->words), word = strcspn(p, "|]");

        (void)snprintf(o->words + n, sizeof(o->words) - n, n ? " %.*s" : "%.*s", (int)word, p);
        p += word + (p[word] == '|');
    }
}

static void offer_option(FILE *out, const struct cli_option *option,
                         void (*write)(FILE *out, const struct offer *o))
{
    struct offer o = {option->letter, option->name, option->argument, option->help, "", NULL};

    if (o.argument)
        add_alternatives(&o, o.argument);
    write(out, &o);
}

void offer_each(FILE *out, void (*write)(FILE *out, const struct offer *o))
{
    for (const struct key *k = key_table; k->name; k++) {
        struct offer o = {k->letter, k->name, k->argument, k->help, "", k};

        add_values(&o, k);
        write(out, &o);
    }
    for (int i = 0; i < N_CLI_OPTIONS; i++)
        offer_option(out, &cli_options[i], write);
}

void offer_each_of_ctl(FILE *out, void (*write)(FILE *out, const struct offer *o))
{
    for (const struct cli_option *option = ctl_options; option->name; option++)
        offer_option(out, option, write);
}

enum offer_kind offer_kind(const struct offer *o)
{
    static const struct {
        const char *argument;
        enum offer_kind kind;
    } kinds[] = {
        {"SRC", OFFER_SOURCE},
        {"DST", OFFER_SINK},
        {"FILE", OFFER_FILE},
        {"KEY=VALUE", OFFER_SETTING},
    };

    for (size_t i = 0; o->argument && i < sizeof(kinds) / sizeof(kinds[0]); i++)
        if (!strcmp(o->argument, kinds[i].argument))
            return kinds[i].kind;
    if (!strcmp(o->name, "instance"))
        return OFFER_INSTANCE;
    return *o->words ? OFFER_WORDS : OFFER_NOTHING;
}

bool offer_is_optional(const struct offer *o)
{
    return o->argument && *o->argument == '[';
}

void offer_write_quoted(FILE *out, const char *text, const char *special)
{
    for (; *text; text++) {
        if (*text == '\'')
            (void)fputs("'\\'", out);
        else if (strchr(special, *text))
            (void)fputc('\\', out);
        (void)fputc(*text, out);
    }
}
