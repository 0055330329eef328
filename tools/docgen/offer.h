#pragma once
/* What a shell can offer for an option or key. */
#include <stdbool.h>
#include <stdio.h>

#include "settings/settings.h"

struct offer {
    char letter;          /* short option, or 0 */
    const char *name;     /* long option */
    const char *argument; /* as in struct key and struct cli_option */
    const char *help;
    char words[256];       /* to choose from, with spaces between them */
    const struct key *key; /* NULL: an option that is no setting */
};

/* Where what may be given comes from. */
enum offer_kind {
    OFFER_WORDS,
    OFFER_NOTHING,
    OFFER_SOURCE,
    OFFER_SINK,
    OFFER_FILE,
    OFFER_SETTING,
    OFFER_INSTANCE,
};

/* Every key and then every option that is no setting; those of bilatcamctl. */
void offer_each(FILE *out, void (*write)(FILE *out, const struct offer *o));
void offer_each_of_ctl(FILE *out, void (*write)(FILE *out, const struct offer *o));

enum offer_kind offer_kind(const struct offer *o);

/* Whether the option may stand alone or with =VALUE, but not with a value as the next word. */
bool offer_is_optional(const struct offer *o);

/* @text with each of the characters @special behind a backslash, and ' as in '\''. */
void offer_write_quoted(FILE *out, const char *text, const char *special);
