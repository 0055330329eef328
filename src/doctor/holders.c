#include "doctor/holders.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/text.h"

/* Looks at nothing but devices: a file may be on a server that does not answer. */
static bool is_device(const char *path, dev_t device)
{
    char target[PATH_MAX];
    struct stat st;

    return readlink(path, target, sizeof(target)) > 5 && !strncmp(target, "/dev/", 5) &&
           stat(path, &st) == 0 && S_ISCHR(st.st_mode) && st.st_rdev == device;
}

static bool has_open(const struct checkup *c, const char *process, dev_t device)
{
    char folder[64], path[PATH_MAX];
    const struct dirent *e;
    bool found = false;
    DIR *dir;

    (void)snprintf(folder, sizeof(folder), "/proc/%.20s/fd", process);
    dir = system_folder(c, folder);
    while (dir && !found && (e = readdir(dir)))
        found = system_path(c, path, "%s/%s", folder, e->d_name) && is_device(path, device);
    if (dir)
        (void)closedir(dir);
    return found;
}

static bool has_mapped(const struct checkup *c, const char *process, const char *device)
{
    char path[64], line[PATH_MAX + 128];
    bool found = false;
    FILE *f;

    (void)snprintf(path, sizeof(path), "/proc/%.20s/maps", process);
    f = system_file(c, path);
    while (f && !found && fgets(line, sizeof(line), f)) {
        const char *name = strchr(line, '/');

        line[strcspn(line, "\n")] = '\0';
        found = name && !strcmp(name, device);
    }
    if (f)
        (void)fclose(f);
    return found;
}

static void add(struct holders *h, const char *name, const char *process, bool streams)
{
    char text[128];

    (void)snprintf(text, sizeof(text), "%s (pid %.20s)", name, process);
    list_add(h->text, sizeof(h->text), ", ", text);
    h->n++;
    if (!strcmp(name, "bilatcam")) {
        h->n_bilatcam++;
        return;
    }
    if (streams) {
        h->n_streaming++;
        h->pid = atoi(process);
    }
}

void holders_find(const struct checkup *c, dev_t device, const char *path, struct holders *ret)
{
    DIR *dir = system_folder(c, "/proc");
    struct holders h = {.n = 0};
    const struct dirent *e;

    while (dir && (e = readdir(dir))) {
        char comm[64], name[64];

        if (!isdigit((unsigned char)e->d_name[0]) || !has_open(c, e->d_name, device))
            continue;
        (void)snprintf(comm, sizeof(comm), "/proc/%.20s/comm", e->d_name);
        if (!system_line(c, comm, name, sizeof(name)))
            (void)snprintf(name, sizeof(name), "a program");
        add(&h, name, e->d_name, has_mapped(c, e->d_name, path));
    }
    if (dir)
        (void)closedir(dir);
    *ret = h;
}
