/* Whom the desktop's portal refuses cameras. Somebody has said no once, and is not asked again; the
 * program then finds no camera of PipeWire, and does not say why. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <systemd/sd-bus.h>

#include "base/clock.h"
#include "base/text.h"
#include "doctor/checkup.h"

#define STORE "org.freedesktop.impl.portal.PermissionStore"
#define STORE_PATH "/org/freedesktop/impl/portal/PermissionStore"
#define LIMIT_NS (1000 * NS_PER_MS)

struct look {
    const struct checkup *c;
    bool done;
};

/* Names of Flatpaks and snaps have no other characters, so that none is the shell's. */
static bool is_plain(const char *app)
{
    return app[strspn(app, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-")] ==
           '\0';
}

static void report_refused(const struct checkup *c, const char *app)
{
    char name[256];

    (void)snprintf(name, sizeof(name), "'%.200s'", app);
    (void)utf8_printable(name);
    report_note(c, "the desktop refuses the cameras of PipeWire to %s, without asking",
                *app ? name : "programs that are no Flatpaks");
    if (is_plain(app))
        report_fix(c,
                   "to be asked again: busctl --user call " STORE " " STORE_PATH " " STORE
                   " DeletePermission sss devices camera '%s'",
                   app);
}

/* A program and its permissions, of which the first is "yes" or "no". 0: there is no other one. */
static int read_program(const struct checkup *c, sd_bus_message *m)
{
    const char *app = "";
    char **permissions = NULL;
    int r = sd_bus_message_enter_container(m, 'e', "sas");

    if (r <= 0)
        return r;
    r = sd_bus_message_read(m, "s", &app);
    if (r > 0)
        r = sd_bus_message_read_strv(m, &permissions);
    if (r > 0 && permissions && permissions[0] && !strcmp(permissions[0], "no"))
        report_refused(c, app);
    for (char **p = permissions; p && *p; p++)
        free(*p);
    free(permissions);
    return r < 0 ? r : sd_bus_message_exit_container(m) < 0 ? -EBADMSG : 1;
}

static int on_answer(sd_bus_message *m, void *user, sd_bus_error *e)
{
    struct look *look = user;
    int r = sd_bus_message_is_method_error(m, NULL)
                ? 0
                : sd_bus_message_enter_container(m, 'a', "{sas}");

    (void)e;
    while (r > 0)
        r = read_program(look->c, m);
    look->done = true;
    return 0;
}

static int ask(sd_bus *bus, struct look *look)
{
    sd_bus_message *m = NULL;
    int r = sd_bus_message_new_method_call(bus, &m, STORE, STORE_PATH, STORE, "Lookup");

    if (r >= 0)
        r = sd_bus_message_set_auto_start(m, false);
    if (r >= 0)
        r = sd_bus_message_append(m, "ss", "devices", "camera");
    if (r >= 0)
        r = sd_bus_call_async(bus, NULL, m, on_answer, look, LIMIT_NS / NS_PER_US);
    sd_bus_message_unref(m);
    return r;
}

/* A store that does not run, does not answer or knows of no camera refuses none. */
void check_portal(const struct checkup *c)
{
    const int64_t end_ns = now_ns() + LIMIT_NS;
    struct look look = {.c = c};
    sd_bus *bus = NULL;
    int r = sd_bus_open_user(&bus);

    if (r >= 0)
        r = ask(bus, &look);
    while (r >= 0 && !look.done && now_ns() < end_ns) {
        r = sd_bus_process(bus, NULL);
        if (r == 0)
            r = sd_bus_wait(bus, LIMIT_NS / NS_PER_US);
    }
    sd_bus_close_unref(bus);
}
