#include "settings/settings.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define SPACES " \t\r\n\v\f"
#define MAX_LINE (4 * SETTINGS_VALUE_MAX) /* more than any value takes in quotes */

static char *skip_spaces(char *text)
{
    return text + strspn(text, SPACES);
}

static void cut_spaces(char *text)
{
    size_t n = strlen(text);

    while (n > 0 && strchr(SPACES, text[n - 1]))
        n--;
    text[n] = '\0';
}

/* Where a comment begins, a ; with a space before it, or else the end of @text. */
static char *find_comment(char *text)
{
    char *p = strchr(text, ';');

    while (p && (p == text || !strchr(SPACES, p[-1])))
        p = strchr(p + 1, ';');
    return p ? p : text + strlen(text);
}

/* Reads the value from the quotes with which it begins and in which \ takes the meaning from the
 * next character. False: they do not end, or more follows than a comment. */
static bool unquote(char *value)
{
    char *from = value + 1, *to = value;
    size_t n;

    for (; *from && *from != '"'; from++) {
        const bool escaped = from[0] == '\\' && from[1];

        from += escaped;
        *to++ = escaped && *from == 'n' ? '\n' : *from;
    }
    if (!*from)
        return false;
    *to = '\0';
    from++;
    n = strspn(from, SPACES);
    return !from[n] || (n && from[n] == ';');
}

/* Takes over what one line says. */
static int load_line(struct settings *s, char *line, struct error *err)
{
    char *name = skip_spaces(line), *value;

    if (!*name || *name == ';' || *name == '#')
        return 0;
    if (*name == '[') {
        cut_spaces(name);
        return error_set(err, -EINVAL, "%.100s: this file has no sections", name);
    }
    value = strpbrk(name, "=:");
    if (!value || find_comment(name) < value)
        return error_set(err, -EINVAL, "must be KEY = VALUE");
    *value++ = '\0';
    cut_spaces(name);
    if (*skip_spaces(value) == '"') {
        value = skip_spaces(value);
        if (!unquote(value))
            return error_set(
                err, -EINVAL,
                "%s: must end with a quote, as it begins with one, and only a comment may follow, "
                "after a space and a ; (write \\\" and \\\\ for \" and \\ inside)",
                name);
    } else {
        *find_comment(value) = '\0';
        value = skip_spaces(value);
        cut_spaces(value);
    }
    return settings_add(s, name, value, err);
}

/* A line, or as much of it as there is room for, or until a byte of 0, which none has. False: that
 * was all. */
static bool read_line(char text[MAX_LINE], bool *ret_zero, FILE *file)
{
    int n = 0, c = EOF;

    while (n < MAX_LINE - 1 && (c = getc(file)) > 0) {
        text[n++] = (char)c;
        if (c == '\n')
            break;
    }
    text[n] = '\0';
    *ret_zero = c == 0;
    return n || *ret_zero;
}

static int load_lines(struct settings *s, FILE *file, struct error *err)
{
    char text[MAX_LINE];
    bool zero;
    int r = 0;

    for (int line = 1; r == 0 && read_line(text, &zero, file); line++) {
        const bool marked = line == 1 && !strncmp(text, "\xef\xbb\xbf", 3); /* as UTF-8 */
        struct error why;

        if (zero)
            r = error_set(&why, -EINVAL, "has a byte of 0, as no text has");
        else if (strlen(text) == sizeof(text) - 1 && !strchr(text, '\n'))
            r = error_set(&why, -EINVAL, "longer than %d characters", MAX_LINE - 2);
        else
            r = load_line(s, text + (marked ? 3 : 0), &why);
        if (r)
            (void)error_set(err, r, "line %d: %s", line, why.text);
    }
    return r;
}

int settings_load(struct settings *s, const char *path, struct error *err)
{
    struct settings new = *s;
    FILE *file = fopen(path, "re");
    struct error why;
    int r, trouble;

    if (!file) {
        const int code = errno;

        return error_set(err, -code, "configuration '%s': %s", path, strerror(code));
    }
    settings_empty_lists(&new);
    r = load_lines(&new, file, &why);
    settings_keep_lists(&new, s);
    trouble = ferror(file) ? errno : 0;
    (void)fclose(file);
    if (trouble)
        return error_set(err, -trouble, "configuration '%s': %s", path, strerror(trouble));
    if (r)
        return error_set(err, r, "configuration '%s', %s", path, why.text);
    *s = new;
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

/* With quotes where load_line() would else take something in it for something else. */
static void print_value(const char *value, FILE *out)
{
    const size_t n = strlen(value);

    if (!n ||
        (!strchr(SPACES, value[0]) && !strchr(SPACES, value[n - 1]) && !strpbrk(value, ";\"\n"))) {
        (void)fputs(value, out);
        return;
    }
    (void)fputc('"', out);
    for (; *value; value++) {
        if (strchr("\"\\\n", *value))
            (void)fputc('\\', out);
        (void)fputc(*value == '\n' ? 'n' : *value, out);
    }
    (void)fputc('"', out);
}

/* The items of a list get a line each. */
static void print_key(const struct key *k, const char *value, FILE *out)
{
    char item[SETTINGS_PATH_MAX];
    int n = 0;

    if (k->type != KEY_LIST) {
        fprintf(out, "%s = ", k->name);
        print_value(value, out);
        (void)fputc('\n', out);
        return;
    }
    while (settings_item(value, n++, item)) {
        fprintf(out, "%s = ", k->name);
        print_value(item, out);
        (void)fputc('\n', out);
    }
}

void settings_print(const struct settings *s, FILE *out)
{
    fprintf(out, "# bilatcam configuration. Keys are the long options of the command line.\n");
    for (const struct key *k = key_table; k->name; k++) {
        char value[SETTINGS_VALUE_MAX], allowed[256];

        settings_get(s, k, value, sizeof(value));
        key_describe(k, allowed, sizeof(allowed));
        fprintf(out, "\n# %s\n# %s; %s\n", k->help, allowed, key_takes_effect(k));
        print_key(k, value, out);
    }
}
