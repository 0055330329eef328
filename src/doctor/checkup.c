#include "doctor/checkup.h"

#include <stdarg.h>
#include <string.h>
#include <unistd.h>

#include "base/text.h"

/* --- the report --- */

static void report(const struct checkup *c, const char *head, const char *fmt, va_list ap)
{
    char text[2 * PATH_MAX];

    if (!c->out)
        return;
    (void)vsnprintf(text, sizeof(text), fmt, ap);
    /* Devices and processes choose their own names, escape sequences included. */
    fprintf(c->out, "%-9s%s\n", head, utf8_printable(text));
}

#define DEFINE_REPORT(name, head)                                                                  \
    void name(const struct checkup *c, const char *fmt, ...)                                       \
    {                                                                                              \
        va_list ap;                                                                                \
                                                                                                   \
        va_start(ap, fmt);                                                                         \
        report(c, head, fmt, ap);                                                                  \
        va_end(ap);                                                                                \
    }

DEFINE_REPORT(report_ok, "ok")
DEFINE_REPORT(report_note, "note")
DEFINE_REPORT(report_problem, "PROBLEM")
DEFINE_REPORT(report_fix, "    fix:")

/* --- reading below the root --- */

bool system_path(const struct checkup *c, char path[PATH_MAX], const char *fmt, ...)
{
    const int n = snprintf(path, PATH_MAX, "%s", c->system->root);
    va_list ap;
    int m;

    if (n < 0 || n >= PATH_MAX)
        return false;
    va_start(ap, fmt);
    m = vsnprintf(path + n, (size_t)(PATH_MAX - n), fmt, ap);
    va_end(ap);
    return m >= 0 && m < PATH_MAX - n;
}

bool system_has(const struct checkup *c, const char *path)
{
    char full[PATH_MAX];

    return system_path(c, full, "%s", path) && access(full, F_OK) == 0;
}

DIR *system_folder(const struct checkup *c, const char *path)
{
    char full[PATH_MAX];

    return system_path(c, full, "%s", path) ? opendir(full) : NULL;
}

FILE *system_file(const struct checkup *c, const char *path)
{
    char full[PATH_MAX];

    return system_path(c, full, "%s", path) ? fopen(full, "re") : NULL;
}

bool system_line(const struct checkup *c, const char *path, char *line, size_t size)
{
    FILE *f = system_file(c, path);
    const bool read = f && fgets(line, (int)size, f);

    if (f)
        (void)fclose(f);
    if (read)
        line[strcspn(line, "\n")] = '\0';
    else
        line[0] = '\0';
    return read;
}

bool system_is_container(const struct checkup *c)
{
    return system_has(c, "/.dockerenv") || system_has(c, "/run/.containerenv") ||
           system_has(c, "/run/systemd/container");
}

bool system_find(const struct checkup *c, const char *folder, const char *prefix,
                 const char *suffix, char *name, size_t size)
{
    DIR *dir = system_folder(c, folder);
    const struct dirent *e;
    bool found = false;

    while (dir && !found && (e = readdir(dir)))
        found = e->d_name[0] != '.' && !strncmp(e->d_name, prefix, strlen(prefix)) &&
                ends_with(e->d_name, suffix) && snprintf(name, size, "%s", e->d_name) < (int)size;
    if (dir)
        (void)closedir(dir);
    return found;
}
