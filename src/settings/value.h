#pragma once
/* Values of configuration keys as text and back. Part of config; nothing else includes it. */
#include "settings/settings.h"

/* Parses @text into the field of @key. -EINVAL: not allowed, @s is unchanged. */
int key_parse(const struct key *key, const char *text, struct settings *s);
