/* A configuration file of any bytes. What is read can be printed and read again, and is the
 * same. */
#include "tests/fuzz/fuzz.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "settings/settings.h"

/* As --print-config gives it; the caller frees it. */
static char *printed(const struct settings *s, size_t *size)
{
    char *text = NULL;
    FILE *out = open_memstream(&text, size);

    must(out, "memory for a text");
    settings_print(s, out);
    must(!fclose(out), "memory for a text");
    return text;
}

/* Ten digits of a real number are kept. */
static bool same(const struct settings *a, const struct settings *b, const struct key *k)
{
    const double *x = (const void *)((const char *)a + k->offset);
    const double *y = (const void *)((const char *)b + k->offset);
    char s[SETTINGS_VALUE_MAX], t[SETTINGS_VALUE_MAX];

    if (k->type == KEY_AUTOREAL)
        return fabs(*x - *y) <= 1e-9 * *x;
    settings_get(a, k, s, sizeof(s));
    settings_get(b, k, t, sizeof(t));
    return !strcmp(s, t);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct error err = {.text = ""};
    struct settings s, again;
    char *text;
    size_t n;

    settings_init(&s);
    settings_init(&again);
    if (settings_load(&s, memory_file(data, size), &err)) {
        must(err.text[0], "an error is told in words");
        return 0;
    }
    text = printed(&s, &n);
    if (settings_load(&again, memory_file(text, n), &err))
        must(false, err.text);
    for (const struct key *k = key_table; k->name; k++)
        must(same(&s, &again, k), k->name);
    free(text);
    return 0;
}
