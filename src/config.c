#include "config.h"

#include <errno.h>
#include <ini.h>
#include <stdlib.h>
#include <string.h>

#include "config_value.h"

void settings_init(struct settings *s)
{
    memset(s, 0, sizeof(*s));
    for (const struct key *k = key_table; k->name; k++)
        (void)key_parse(k, k->default_text, s);
}

int settings_set(struct settings *s, const char *name, const char *value, struct error *err)
{
    const struct key *k = key_find(name);
    char allowed[256];

    if (!k)
        return error_set(err, -EINVAL, "unknown key '%s' (--print-config lists all)", name);
    if (key_parse(k, value, s)) {
        key_describe(k, allowed, sizeof(allowed));
        return error_set(err, -EINVAL, "%s = '%s': must be %s", name, value, allowed);
    }
    return 0;
}

struct load {
    FILE *file;
    int line; /* that was read last */
    struct settings settings;
    struct error err; /* of the first line that is wrong */
    bool failed;
};

/* inih reads lines through this, as fgets() gives them. It would cut long lines in two and take
 * an indented one for more of the value above it; neither is what anybody means. */
static char *load_text(char *text, int size, void *user)
{
    struct load *l = user;
    char *got = fgets(text, size, l->file);

    if (!got)
        return NULL;
    l->line++;
    if (strlen(text) == (size_t)size - 1 && !strchr(text, '\n') && !l->failed)
        l->failed = error_set(&l->err, -EINVAL, "line %d: longer than %d characters", l->line,
                              size - 2) != 0;
    while (*got == ' ' || *got == '\t')
        got++;
    memmove(text, got, strlen(got) + 1);
    return text;
}

/* inih calls this for each line that holds something. */
static int load_line(void *user, const char *section, const char *name, const char *value)
{
    struct load *l = user;
    struct error err;

    if (l->failed)
        return 1;
    if (*section)
        l->failed = error_set(&l->err, -EINVAL, "line %d: [%s]: this file has no sections", l->line,
                              section) != 0;
    else if (settings_set(&l->settings, name, value ? value : "", &err))
        l->failed = error_set(&l->err, -EINVAL, "line %d: %s", l->line, err.text) != 0;
    return 1;
}

int settings_load(struct settings *s, const char *path, struct error *err)
{
    struct load l = {.settings = *s, .file = fopen(path, "re")};
    int bad_line, trouble;

    if (!l.file) {
        const int code = errno;

        return error_set(err, -code, "configuration '%s': %s", path, strerror(code));
    }
    bad_line = ini_parse_stream(load_text, &l, load_line, &l);
    trouble = ferror(l.file) ? errno : 0;
    (void)fclose(l.file);
    if (trouble || bad_line < 0)
        return error_set(err, trouble ? -trouble : -ENOMEM, "configuration '%s': %s", path,
                         strerror(trouble ? trouble : ENOMEM));
    if (l.failed)
        return error_set(err, -EINVAL, "configuration '%s', %s", path, l.err.text);
    if (bad_line > 0)
        return error_set(err, -EINVAL, "configuration '%s', line %d: must be KEY = VALUE", path,
                         bad_line);
    *s = l.settings;
    return 0;
}

/* The file @name below @dir (@dir_size bytes of a path list) where it can be read. */
static bool find_in(const char *dir, size_t dir_size, const char *below, char *path, size_t size)
{
    FILE *file;
    const int n = snprintf(path, size, "%.*s%s/bilatcam/bilatcam.conf", (int)dir_size, dir, below);

    if (n < 0 || (size_t)n >= size || path[0] != '/')
        return false;
    file = fopen(path, "re");
    /* A file that is there but cannot be read must be reported, not passed over. */
    if (!file)
        return errno != ENOENT && errno != ENOTDIR;
    (void)fclose(file);
    return true;
}

bool settings_find_file(char *path, size_t size)
{
    const char *home = getenv("XDG_CONFIG_HOME"), *dirs = getenv("XDG_CONFIG_DIRS");

    if (home && *home) {
        if (find_in(home, strlen(home), "", path, size))
            return true;
    } else {
        home = getenv("HOME");
        if (home && find_in(home, strlen(home), "/.config", path, size))
            return true;
    }
    if (!dirs || !*dirs)
        dirs = "/etc/xdg";
    while (*dirs) {
        const size_t n = strcspn(dirs, ":");

        if (find_in(dirs, n, "", path, size))
            return true;
        dirs += n + (dirs[n] == ':');
    }
    return false;
}

/* What stands between @k and @value: no spaces where they would make the line too long for
 * settings_load(), or the value a comment. */
static const char *equals(const struct key *k, const char *value)
{
    const size_t length = strlen(k->name) + strlen(" = ") + strlen(value);

    return *value == ';' || length > INI_MAX_LINE - 2 ? "=" : " = ";
}

void settings_print(const struct settings *s, FILE *out)
{
    fprintf(out, "# bilatcam configuration. Keys are the long options of the command line.\n");
    for (const struct key *k = key_table; k->name; k++) {
        char value[SETTINGS_PATH_MAX], allowed[256];

        settings_get(s, k, value, sizeof(value));
        key_describe(k, allowed, sizeof(allowed));
        fprintf(out, "\n# %s\n# %s; %s\n%s%s%s\n", k->help, allowed, key_takes_effect(k), k->name,
                equals(k, value), value);
    }
}
