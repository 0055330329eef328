/* A command line: arguments that end with NUL. The last of them is also the configuration file,
 * whatever --config names, so that no other file is read. */
#include "tests/fuzz/fuzz.h"

#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"

enum { MAX_ARGUMENTS = 64 };

/* Cuts @data into arguments, each in memory of its own; the result is argc. */
static int split(const uint8_t *data, size_t size, char **argv)
{
    int n = 0;

    argv[n++] = strdup("bilatcam");
    while (size && n < MAX_ARGUMENTS) {
        const size_t length = strnlen((const char *)data, size);

        argv[n++] = strndup((const char *)data, length);
        data += length;
        size -= length;
        if (size) {
            data++;
            size--;
        }
    }
    argv[n] = NULL;
    return n;
}

/* settings/settings.h: settings_get() gives what settings_set() takes. */
static void check_values(const struct settings *s)
{
    struct settings copy = *s;

    for (const struct key *k = key_table; k->name; k++) {
        char text[SETTINGS_VALUE_MAX], again[SETTINGS_VALUE_MAX];

        settings_get(s, k, text, sizeof(text));
        must(!settings_set(&copy, k->name, text, NULL), k->name);
        settings_get(&copy, k, again, sizeof(again));
        must(!strcmp(text, again), k->name);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct error err = {.text = ""};
    char *argv[MAX_ARGUMENTS + 1];
    const int argc = split(data, size, argv);
    const char *last = argv[argc - 1];
    /* getopt_long() moves what is no option to the end. */
    const char *file = memory_file(argc > 1 ? last : "", argc > 1 ? strlen(last) : 0);
    struct settings s;
    struct cli cli;
    int r;

    (void)setenv("XDG_CONFIG_HOME", "/nonexistent", 1);
    (void)setenv("XDG_CONFIG_DIRS", "/nonexistent", 1);
    r = cli_parse(&cli, argc, argv, &err);
    if (!r) {
        if (cli.config_path)
            cli.config_path = file;
        r = cli_settings(&cli, &s, &err);
        if (!r)
            check_values(&s);
    }
    must(!r || err.text[0], "an error is told in words");
    cli_finish(&cli);
    for (int i = 0; i < argc; i++)
        free(argv[i]);
    return 0;
}
