/* Is the kernel module v4l2loopback there, and if not, at which step did it get lost? */
#include <string.h>
#include <sys/stat.h>

#include "base/text.h"
#include "doctor/checkup.h"

#define MODULE "v4l2loopback"
#define MODULE_OPTIONS "options " MODULE " " LOOPBACK_OPTIONS
#define MAX_DEPTH 8 /* of folders of modules */

/* How a signed module file ends. */
#define SIGNATURE "~Module signature appended~\n"

/* --- files --- */

static bool is_module(const char *name)
{
    static const char *const ends[] = {".ko", ".ko.xz", ".ko.gz", ".ko.zst"};

    if (strncmp(name, MODULE ".", strlen(MODULE ".")))
        return false;
    for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++)
        if (!strcmp(name + strlen(MODULE), ends[i]))
            return true;
    return false;
}

/* Links are no folders: "build" leads out of the modules. */
static bool is_folder(const struct checkup *c, const char *path, const struct dirent *e)
{
    char full[PATH_MAX];
    struct stat st;

    if (e->d_name[0] == '.')
        return false;
    if (e->d_type != DT_UNKNOWN)
        return e->d_type == DT_DIR;
    return system_path(c, full, "%s", path) && lstat(full, &st) == 0 && S_ISDIR(st.st_mode);
}

/* The file of the module below @folder. */
static bool find_below(const struct checkup *c, const char *folder, int depth, char file[PATH_MAX])
{
    DIR *dir = system_folder(c, folder);
    const struct dirent *e;
    bool found = false;

    while (dir && !found && (e = readdir(dir))) {
        char path[PATH_MAX];

        if (snprintf(path, sizeof(path), "%s/%s", folder, e->d_name) >= (int)sizeof(path))
            continue;
        if (is_module(e->d_name)) {
            memcpy(file, path, sizeof(path));
            found = true;
        } else if (depth < MAX_DEPTH && is_folder(c, path, e)) {
            found = find_below(c, path, depth + 1, file);
        }
    }
    if (dir)
        (void)closedir(dir);
    return found;
}

static bool module_of_kernel(const struct checkup *c, const char *kernel, char file[PATH_MAX])
{
    char folder[300];

    (void)snprintf(folder, sizeof(folder), "/lib/modules/%s", kernel);
    return find_below(c, folder, 0, file);
}

/* Another kernel that has the module. */
static bool other_kernel(const struct checkup *c, char *kernel, size_t size)
{
    DIR *dir = system_folder(c, "/lib/modules");
    const struct dirent *e;
    bool found = false;

    while (dir && !found && (e = readdir(dir))) {
        char file[PATH_MAX];

        found = e->d_name[0] != '.' && module_of_kernel(c, e->d_name, file) &&
                snprintf(kernel, size, "%s", e->d_name) < (int)size;
    }
    if (dir)
        (void)closedir(dir);
    return found;
}

/* The version of the source that DKMS builds the module from. */
static bool dkms_version(const struct checkup *c, char *version, size_t size)
{
    char name[128];

    if (system_find(c, "/usr/src", MODULE "-", "", name, sizeof(name)))
        return snprintf(version, size, "%s", name + strlen(MODULE "-")) < (int)size;
    /* Beside versions, DKMS keeps links called kernel-RELEASE there. */
    return system_find(c, "/var/lib/dkms/" MODULE, "0.", "", version, size);
}

static bool have_headers(const struct checkup *c)
{
    char path[128];

    (void)snprintf(path, sizeof(path), "/lib/modules/%s/build/Makefile", c->system->kernel);
    return system_has(c, path);
}

/* --- Secure Boot --- */

bool system_has_secure_boot(const struct checkup *c)
{
    static const char folder[] = "/sys/firmware/efi/efivars";
    unsigned char value[5] = {0}; /* four bytes of attributes, then the variable */
    char name[128], path[sizeof(folder) + sizeof(name)];
    FILE *f;

    if (!system_find(c, folder, "SecureBoot-", "", name, sizeof(name)))
        return false;
    (void)snprintf(path, sizeof(path), "%s/%s", folder, name);
    f = system_file(c, path);
    if (!f)
        return false;
    if (fread(value, 1, sizeof(value), f) != sizeof(value))
        value[4] = 0;
    (void)fclose(f);
    return value[4] == 1;
}

/* Whether the file is surely without a signature: one that is compressed may have one. */
static bool is_unsigned(const struct checkup *c, const char *file)
{
    char end[sizeof(SIGNATURE)] = "";
    const size_t n = sizeof(SIGNATURE) - 1;
    FILE *f = ends_with(file, ".ko") ? system_file(c, file) : NULL;
    bool is = false;

    if (!f)
        return false;
    if (fseek(f, 0, SEEK_END) == 0)
        is = fseek(f, -(long)n, SEEK_END) < 0 || fread(end, 1, n, f) != n ||
             memcmp(end, SIGNATURE, n) != 0;
    (void)fclose(f);
    return is;
}

static void check_signature(const struct checkup *c, const char *file)
{
    const char *key = system_has(c, "/var/lib/shim-signed/mok/MOK.der")
                          ? "/var/lib/shim-signed/mok/MOK.der"
                          : "/var/lib/dkms/mok.pub";
    char version[64];

    if (!system_has_secure_boot(c))
        return;
    if (!is_unsigned(c, file)) {
        report_note(c, "Secure Boot is on: it refuses v4l2loopback (\"Key was rejected by "
                       "service\") as long as it does not know the key that signed it");
        report_fix(c, "sudo mokutil --import %s, then restart and choose \"Enroll MOK\"", key);
        return;
    }
    report_problem(c,
                   "Secure Boot is on and v4l2loopback is not signed: the kernel will refuse it");
    if (dkms_version(c, version, sizeof(version)))
        report_fix(c,
                   "sudo dkms install --force " MODULE "/%s -k %s && sudo mokutil --import %s, "
                   "then restart and choose \"Enroll MOK\"",
                   version, c->system->kernel, key);
    else
        report_fix(c, "install v4l2loopback by DKMS, which signs it");
}

/* --- not loaded --- */

/* @package may be empty: headers bring all that DKMS needs, and make it build. */
static void fix_by_install(const struct checkup *c, const char *package)
{
    char wanted[160];

    if (have_headers(c))
        (void)snprintf(wanted, sizeof(wanted), "%s", package);
    else
        (void)snprintf(wanted, sizeof(wanted), "%s%slinux-headers-%s", package, *package ? " " : "",
                       c->system->kernel);
    if (system_has(c, "/usr/bin/apt-get"))
        report_fix(c, "sudo apt-get install %s && " HINT_MODPROBE, wanted);
    else
        report_fix(c, "install what this system calls %s, then: " HINT_MODPROBE, wanted);
}

/* DKMS has the source: why did it not build it? */
static void explain_not_built(const struct checkup *c, const char *version)
{
    const char *kernel = c->system->kernel;
    char log[160];

    (void)snprintf(log, sizeof(log), "/var/lib/dkms/" MODULE "/%s/build/make.log", version);
    if (!have_headers(c)) {
        report_problem(c,
                       "v4l2loopback %s cannot be built for the running kernel %s: the kernel's "
                       "headers are missing",
                       version, kernel);
        fix_by_install(c, "");
    } else if (system_has(c, log)) {
        report_problem(c, "v4l2loopback %s failed to build for the running kernel %s: %s tells why",
                       version, kernel, log);
        report_fix(c,
                   "install a newer v4l2loopback-dkms, or try again: sudo dkms install " MODULE
                   "/%s -k %s",
                   version, kernel);
    } else {
        report_problem(c, "v4l2loopback %s is not built for the running kernel %s", version,
                       kernel);
        report_fix(c, "sudo dkms install " MODULE "/%s -k %s && " HINT_MODPROBE, version, kernel);
    }
}

/* Before anything is installed: who knows it early is not stopped by it later. */
static void announce_secure_boot(const struct checkup *c)
{
    if (system_has_secure_boot(c))
        report_note(c, "Secure Boot is on: v4l2loopback needs its key enrolled once, which takes a "
                       "password and a restart");
}

static void explain_not_installed(const struct checkup *c)
{
    const char *kernel = c->system->kernel;
    char folder[128], version[64], other[128];

    (void)snprintf(folder, sizeof(folder), "/lib/modules/%s", kernel);
    if (!system_has(c, folder) && system_find(c, "/lib/modules", "", "", other, sizeof(other))) {
        report_problem(c, "the modules of the running kernel %s are gone, as after an update",
                       kernel);
        report_fix(c, "restart the computer");
        return;
    }
    if (other_kernel(c, other, sizeof(other)))
        report_note(c, "v4l2loopback is installed for kernel %s, but %s is running", other, kernel);
    if (dkms_version(c, version, sizeof(version))) {
        explain_not_built(c, version);
    } else {
        report_problem(c, "v4l2loopback is not installed for the running kernel %s", kernel);
        fix_by_install(c, "v4l2loopback-dkms");
    }
    announce_secure_boot(c);
}

static void explain_not_loaded(const struct checkup *c)
{
    char file[PATH_MAX];

    if (module_of_kernel(c, c->system->kernel, file)) {
        report_problem(c, "v4l2loopback is installed but not loaded");
        report_fix(c, HINT_MODPROBE);
        check_signature(c, file);
    } else if (c->container) {
        report_problem(c, "v4l2loopback is not loaded, and a container cannot load it");
        report_fix(c, "on the host: " HINT_MODPROBE
                      "; then start the container with --device /dev/videoN");
    } else {
        explain_not_installed(c);
    }
}

/* --- loaded, but after the next start? --- */

/* Whether a line of the file begins with @words, as words, and has @part in it. */
static bool file_says(const struct checkup *c, const char *path, const char *words,
                      const char *part)
{
    const size_t n = strlen(words);
    FILE *f = system_file(c, path);
    bool found = false;
    char line[512];

    while (f && !found && fgets(line, sizeof(line), f)) {
        const char *text = line + strspn(line, " \t");

        found = !strncmp(text, words, n) && strchr(" \t\n", text[n]) && strstr(text, part);
    }
    if (f)
        (void)fclose(f);
    return found;
}

static bool folder_says(const struct checkup *c, const char *folder, const char *words,
                        const char *part)
{
    DIR *dir = system_folder(c, folder);
    const struct dirent *e;
    char path[PATH_MAX];
    bool found = false;

    while (dir && !found && (e = readdir(dir)))
        found = ends_with(e->d_name, ".conf") &&
                snprintf(path, sizeof(path), "%s/%s", folder, e->d_name) < (int)sizeof(path) &&
                file_says(c, path, words, part);
    if (dir)
        (void)closedir(dir);
    return found;
}

/* @kind: "modprobe.d" or "modules-load.d". */
static bool configured(const struct checkup *c, const char *kind, const char *words,
                       const char *part)
{
    static const char *const places[] = {"/etc", "/run", "/usr/local/lib", "/usr/lib", "/lib"};
    bool found = false;

    for (size_t i = 0; i < sizeof(places) / sizeof(places[0]) && !found; i++) {
        char folder[64];

        (void)snprintf(folder, sizeof(folder), "%s/%s", places[i], kind);
        found = folder_says(c, folder, words, part);
    }
    return found;
}

static void check_next_start(const struct checkup *c)
{
    if (!configured(c, "modules-load.d", MODULE, "")) {
        report_note(c, "v4l2loopback will not be loaded by itself after a restart");
        report_fix(c, "echo " MODULE " | sudo tee /etc/modules-load.d/bilatcam.conf");
    }
    if (!configured(c, "modprobe.d", "options " MODULE, " exclusive_caps=")) {
        report_note(c, "v4l2loopback will come without exclusive_caps after a restart");
        report_fix(c, "echo " MODULE_OPTIONS " | sudo tee /etc/modprobe.d/bilatcam.conf");
    }
}

void check_module(struct checkup *c)
{
    char version[64];

    c->loaded = system_has(c, "/sys/module/" MODULE);
    if (!c->loaded) {
        explain_not_loaded(c);
        return;
    }
    /* 0.12 does not tell. */
    (void)system_line(c, "/sys/module/" MODULE "/version", version, sizeof(version));
    report_ok(c, "v4l2loopback%s%s is loaded", *version ? " " : "", version);
    if (!c->container)
        check_next_start(c);
}
