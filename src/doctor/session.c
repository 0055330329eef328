/* The user's session: bus, service, display. The filter works without each of them. */
#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "config-build.h"
#include "base/text.h"
#include "doctor/checkup.h"

static const char *variable(const char *name)
{
    const char *value = getenv(name);

    return value ? value : "";
}

/* --- bus --- */

#ifdef HAVE_CONTROL

/* The socket of the user's bus, as libsystemd finds it. False: the address is of another kind, or
 * there is none. */
static bool bus_socket(struct sockaddr_un *ret, socklen_t *ret_size)
{
    static const char path_key[] = "unix:path=", abstract_key[] = "unix:abstract=";
    const char *address = variable("DBUS_SESSION_BUS_ADDRESS");
    const char *runtime = variable("XDG_RUNTIME_DIR"), *rest = "";
    bool abstract = false;
    int n;

    *ret = (struct sockaddr_un){.sun_family = AF_UNIX};
    if (!strncmp(address, path_key, strlen(path_key))) {
        address += strlen(path_key);
    } else if (!strncmp(address, abstract_key, strlen(abstract_key))) {
        address += strlen(abstract_key);
        abstract = true;
    } else if (!*address && *runtime) {
        address = runtime;
        rest = "/bus";
    } else {
        return false;
    }
    n = snprintf(ret->sun_path + abstract, sizeof(ret->sun_path) - abstract, "%.*s%s",
                 (int)strcspn(address, ",;"), address, rest);
    *ret_size = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + abstract + (size_t)n);
    return n >= 0 && (size_t)n < sizeof(ret->sun_path) - abstract;
}

static int try_socket(const struct sockaddr_un *address, socklen_t size)
{
    const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    int r = 0;

    if (fd < 0 || connect(fd, (const struct sockaddr *)address, size) < 0)
        r = -errno;
    if (fd >= 0)
        (void)close(fd);
    return r;
}

static void check_bus(const struct checkup *c)
{
    struct sockaddr_un address;
    socklen_t size;
    int r;

    if (!bus_socket(&address, &size)) {
        report_note(c, "no user bus in this session (DBUS_SESSION_BUS_ADDRESS, XDG_RUNTIME_DIR): "
                       "bilatcamctl cannot control bilatcam");
        report_fix(c, "log in as this user, not by su or sudo");
        return;
    }
    r = try_socket(&address, size);
    if (!r) {
        report_ok(c, "the user bus answers: bilatcamctl can control bilatcam");
        check_portal(c);
        return;
    }
    report_note(c, "the user bus does not answer: %s", strerror(-r));
    report_fix(c, system_has(c, "/usr/bin/apt-get")
                      ? "sudo apt-get install dbus-user-session, then log out and in again"
                      : "systemctl --user start dbus.socket");
}

#else

static void check_bus(const struct checkup *c)
{
    report_note(c, "this bilatcam is built without libsystemd: bilatcamctl cannot control it");
    report_fix(c, "install libsystemd's development files and build bilatcam again");
}

#endif

/* --- service --- */

static bool unit_in(const char *folder, char unit[PATH_MAX])
{
    return snprintf(unit, PATH_MAX, "%s/bilatcam.service", folder) < PATH_MAX &&
           access(unit, F_OK) == 0;
}

static void config_folder(char folder[PATH_MAX])
{
    const char *config = variable("XDG_CONFIG_HOME");

    (void)snprintf(folder, PATH_MAX, "%s%s/systemd/user", *config ? config : variable("HOME"),
                   *config ? "" : "/.config");
}

/* Where systemd looks for the units of users. @unit: the path as it is on this system. */
static bool find_unit(const struct checkup *c, char unit[PATH_MAX])
{
    static const char *const below_root[] = {
        "/etc/systemd/user",           "/run/systemd/user",
        "/usr/local/lib/systemd/user", "/usr/local/share/systemd/user",
        "/usr/lib/systemd/user",       "/lib/systemd/user",
    };
    const char *data = variable("XDG_DATA_HOME");
    char folder[PATH_MAX];

    config_folder(folder);
    if (unit_in(folder, unit))
        return true;
    (void)snprintf(folder, sizeof(folder), "%s%s/systemd/user", *data ? data : variable("HOME"),
                   *data ? "" : "/.local/share");
    if (unit_in(folder, unit))
        return true;
    for (size_t i = 0; i < sizeof(below_root) / sizeof(below_root[0]); i++)
        if (system_path(c, folder, "%s", below_root[i]) && unit_in(folder, unit)) {
            memmove(unit, unit + strlen(c->system->root),
                    strlen(unit) - strlen(c->system->root) + 1);
            return true;
        }
    return false;
}

/* Whether bilatcam.service, or one for a camera of its own, starts with a target. */
static bool wanted_in(const char *wants)
{
    DIR *dir = opendir(wants);
    const struct dirent *e;
    bool found = false;

    while (dir && !found && (e = readdir(dir)))
        found = (!strncmp(e->d_name, "bilatcam.", 9) || !strncmp(e->d_name, "bilatcam@", 9)) &&
                ends_with(e->d_name, ".service");
    if (dir)
        (void)closedir(dir);
    return found;
}

static bool unit_enabled(const struct checkup *c)
{
    static const char *const targets[] = {"default.target.wants", "graphical-session.target.wants"};
    char folder[PATH_MAX], wants[PATH_MAX];
    bool found = false;

    config_folder(folder);
    for (size_t i = 0; i < sizeof(targets) / sizeof(targets[0]) && !found; i++) {
        found = snprintf(wants, sizeof(wants), "%s/%s", folder, targets[i]) < (int)sizeof(wants) &&
                wanted_in(wants);
        if (!found)
            found = system_path(c, wants, "/etc/systemd/user/%s", targets[i]) && wanted_in(wants);
    }
    return found;
}

static void check_service(const struct checkup *c)
{
    char unit[PATH_MAX];

    if (!find_unit(c, unit)) {
        report_note(c, "bilatcam.service is not installed: bilatcam runs when started by hand");
        report_fix(c, "in the folder of its source: sudo meson install -C build");
    } else if (!unit_enabled(c)) {
        report_note(c, "the service '%s' does not start by itself", unit);
        report_fix(c, "systemctl --user enable --now bilatcam");
    } else {
        report_ok(c, "the service '%s' starts at login", unit);
    }
}

/* --- display --- */

static void check_display(const struct checkup *c)
{
#ifdef HAVE_PREVIEW
    const char *wayland = variable("WAYLAND_DISPLAY"), *x = variable("DISPLAY");

    if (*wayland || *x)
        report_ok(c, "display for --preview: %s", *wayland ? wayland : x);
    else
        report_note(c,
                    "no display (WAYLAND_DISPLAY, DISPLAY): --preview needs a graphical session");
#else
    report_note(c, "this bilatcam is built without SDL2: it has no --preview");
#endif
}

void check_session(const struct checkup *c)
{
    check_bus(c);
    check_service(c);
    check_display(c);
}
