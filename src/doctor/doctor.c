#include "doctor/doctor.h"

#include <errno.h>
#include <stdarg.h>
#include <string.h>
#include <unistd.h>

#include "base/text.h"
#include "doctor/checkup.h"
#include "settings/settings.h"

/* --- the report --- */

static void report(const struct checkup *c, const char *head, const char *fmt, va_list ap)
{
    char text[2 * PATH_MAX];

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

bool ends_with(const char *text, const char *end)
{
    const size_t n = strlen(text), m = strlen(end);

    return n >= m && !strcmp(text + n - m, end);
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

/* --- the configuration and the verdict --- */

static bool in_container(const struct checkup *c)
{
    return system_has(c, "/.dockerenv") || system_has(c, "/run/.containerenv") ||
           system_has(c, "/run/systemd/container");
}

/* A device that the configuration names must be there; "auto", files and scenes need no look. */
static bool check_named(const struct checkup *c, const char *path, const char *key,
                        const char *device)
{
    if (strncmp(device, "/dev/", 5) || system_has(c, device))
        return true;
    report_problem(c, "configuration '%s': the device of %s = %s is not there", path, key, device);
    report_fix(c, "connect it, or set %s = auto in that file", key);
    return false;
}

static bool check_config(const struct checkup *c, const char *given)
{
    char path[SETTINGS_PATH_MAX];
    struct settings s;
    struct error err;
    int r;

    settings_init(&s);
    if (!given && !settings_find_file(path, sizeof(path))) {
        report_ok(c, "no configuration file: every setting has its default");
        return true;
    }
    if (!given)
        given = path;
    r = settings_load(&s, given, &err);
    if (r) {
        report_problem(c, "%s", err.text);
        report_fix(c, r == -EINVAL ? "correct that line; bilatcam --help tells what is allowed"
                                   : "make it a file that this user can read, or remove it");
        return false;
    }
    if (!check_named(c, given, "input", s.input) || !check_named(c, given, "output", s.output))
        return false;
    report_ok(c, "configuration '%s' is valid", given);
    return true;
}

static bool verdict(const struct checkup *c)
{
    const struct {
        bool there;
        const char *missing;
    } need[] = {{*c->camera, "no usable camera"},
                {*c->loopback, "no usable virtual camera"},
                {c->engine, "no engine"},
                {c->config, "bad configuration"}};
    char missing[128] = "";
    size_t n = 0;

    for (size_t i = 0; i < sizeof(need) / sizeof(need[0]); i++)
        if (!need[i].there)
            n += (size_t)snprintf(missing + n, sizeof(missing) - n, "%s%s", n ? ", " : "",
                                  need[i].missing);
    if (n)
        report_problem(c, "camera to virtual camera cannot work yet: %s", missing);
    else
        report_ok(c, "camera to virtual camera can work: %s to %s", c->camera, c->loopback);
    return !n;
}

bool doctor_run(const struct doctor_system *s, const char *config_path, FILE *out)
{
    struct checkup c = {.system = s, .out = out};

    c.container = in_container(&c);
    check_module(&c);
    check_video(&c);
    check_engines(&c);
    c.config = check_config(&c, config_path);
    check_session(&c);
    return verdict(&c);
}
