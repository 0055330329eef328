#include "base/pictures_folder.h"

#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *variable(const char *name)
{
    const char *const value = getenv(name);

    return value ? value : "";
}

/* The value of `KEY="VALUE"`, which is how every line of the file must be; NULL: another line. */
static const char *value_of(const char *line, const char *key)
{
    line += strspn(line, " \t");
    if (strncmp(line, key, strlen(key)) != 0)
        return NULL;
    line += strlen(key);
    line += strspn(line, " \t");
    if (*line++ != '=')
        return NULL;
    line += strspn(line, " \t");
    return *line == '"' ? line + 1 : NULL;
}

/* Values are absolute or begin with $HOME, and a backslash stands before any character that is
 * special to a shell; nothing else of a shell's syntax is allowed. */
static bool take_value(const char *value, char *ret, size_t size)
{
    size_t n = 0;

    if (!strncmp(value, "$HOME", 5) && strchr("/\"", value[5])) {
        n = (size_t)snprintf(ret, size, "%s", variable("HOME"));
        value += 5;
        if (n >= size)
            return false;
    } else if (*value != '/') {
        return false;
    }
    for (; *value && *value != '"' && *value != '\n' && n + 1 < size; value++) {
        if (*value == '\\' && value[1])
            value++;
        ret[n++] = *value;
    }
    if (*value != '"')
        return false;
    while (n > 1 && ret[n - 1] == '/')
        n--;
    ret[n] = '\0';
    return n > 0;
}

/* A pipe of that name would have to be waited for. */
static FILE *open_file(const char *path)
{
    const int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    struct stat st;
    FILE *file = NULL;

    if (fd >= 0 && !fstat(fd, &st) && S_ISREG(st.st_mode))
        file = fdopen(fd, "r");
    if (fd >= 0 && !file)
        (void)close(fd);
    return file;
}

/* What the file of xdg-user-dirs says; as in a shell, the last line counts. */
static bool configured(char *ret, size_t size)
{
    const char *const config = variable("XDG_CONFIG_HOME");
    char path[PATH_MAX], value[PATH_MAX], *line = NULL;
    size_t room = 0;
    bool found = false;
    FILE *in;

    if (*config == '/')
        (void)snprintf(path, sizeof(path), "%s/user-dirs.dirs", config);
    else
        (void)snprintf(path, sizeof(path), "%s/.config/user-dirs.dirs", variable("HOME"));
    in = open_file(path);
    if (!in)
        return false;
    while (getline(&line, &room, in) >= 0) {
        const char *const text = value_of(line, "XDG_PICTURES_DIR");

        if (text && take_value(text, value, sizeof(value))) {
            (void)snprintf(ret, size, "%s", value);
            found = true;
        }
    }
    free(line);
    (void)fclose(in);
    return found;
}

static bool is_folder(const char *path)
{
    struct stat st;

    return !stat(path, &st) && S_ISDIR(st.st_mode);
}

static void choose(char *ret, size_t size)
{
    if (*variable("XDG_PICTURES_DIR")) {
        (void)snprintf(ret, size, "%s", variable("XDG_PICTURES_DIR"));
        return;
    }
    if (configured(ret, size))
        return;
    (void)snprintf(ret, size, "%s/Pictures", variable("HOME"));
    if (!*variable("HOME") || !is_folder(ret))
        (void)snprintf(ret, size, ".");
}

void pictures_folder(char *ret, size_t size)
{
    char *full;

    choose(ret, size);
    full = realpath(ret, NULL);
    if (full)
        (void)snprintf(ret, size, "%s", full);
    free(full);
}
