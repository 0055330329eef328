#include "control/control.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <systemd/sd-bus.h>
#include <systemd/sd-event.h>

#include "base/log.h"
#include "control/bus.h"
#include "control/name.h"
#include "control/object.h"
#include "control/sleep.h"
#include "control/systemd.h"

/* DESIGN: nothing here waits for a bus. Connecting, asking for the name and asking for signals go
 * on inside the event loop; what fails then is logged, and retried. */

/* For the one question that is put to a bus and waited for: who sent a message. */
#define CALL_LIMIT_US 2000000

/* Last logged state of the name on the bus. */
enum live { LIVE_UNTOLD, LIVE_NONE, LIVE_QUEUED, LIVE_OURS };

struct control {
    struct control_host host;
    sd_event *event; /* armed, as poll() on its descriptor wants it, except in control_process() */
    struct control_bus *session;
    struct control_sleep *sleep;
    struct control_object *object; /* on the session's bus; NULL: not there */
    enum live live;
    struct systemd systemd;
    char name[CONTROL_NAME_MAX];
};

/* Whether that is a change, which is to be logged. */
static bool set_live(struct control *c, enum live live)
{
    const bool differs = c->live != live;

    c->live = live;
    return differs;
}

static void take_name(struct control *c)
{
    const enum log_level level = c->live == LIVE_UNTOLD ? LOG_DEBUG : LOG_INFO;

    if (set_live(c, LIVE_OURS))
        log_message(level, "live control as '%s' on the session bus", c->name);
}

/* The answer to the request for the name. */
static int on_name(sd_bus_message *m, void *userdata, sd_bus_error *e)
{
    enum { IN_QUEUE = 2 }; /* of the D-Bus specification */
    const sd_bus_error *const refused = sd_bus_message_get_error(m);
    struct control *c = userdata;
    uint32_t answer = 0;

    (void)e;
    (void)sd_bus_set_method_call_timeout(sd_bus_message_get_bus(m), CALL_LIMIT_US);
    if (refused) {
        if (set_live(c, LIVE_NONE))
            log_warning("session bus, name '%s': %s; no live control", c->name, refused->message);
        control_bus_renew(c->session);
    } else if (sd_bus_message_read(m, "u", &answer) >= 0 && answer == IN_QUEUE) {
        if (set_live(c, LIVE_QUEUED))
            log_warning("another bilatcam is '%s' on the session bus; no live control of this one "
                        "until that one ends",
                        c->name);
    } else {
        take_name(c);
    }
    return 0;
}

/* Some name is ours; the queue for it may have been long. */
static int on_name_acquired(sd_bus_message *m, void *userdata, sd_bus_error *e)
{
    struct control *c = userdata;
    const char *name;

    (void)e;
    if (sd_bus_message_read(m, "s", &name) >= 0 && !strcmp(name, c->name))
        take_name(c);
    return 0;
}

static int join_session(void *user, sd_bus *bus)
{
    struct control *c = user;
    int r = control_object_open(&c->object, bus, &c->host);

    if (r >= 0)
        r = sd_bus_match_signal_async(bus, NULL, "org.freedesktop.DBus", "/org/freedesktop/DBus",
                                      "org.freedesktop.DBus", "NameAcquired", on_name_acquired,
                                      NULL, c);
    if (r >= 0)
        r = sd_bus_request_name_async(bus, NULL, c->name, SD_BUS_NAME_QUEUE, on_name, c);
    return r;
}

static void leave_session(void *user)
{
    struct control *c = user;

    control_object_close(c->object);
    c->object = NULL;
}

static void session_failed(void *user, int code)
{
    struct control *c = user;

    if (!set_live(c, LIVE_NONE))
        return;
    if (code)
        log_info("no session bus (%s): no live control", strerror(-code));
    else
        log_info("the session bus is gone, and live control with it");
}

static int open_session(struct control *c)
{
    static const struct control_bus_ops ops = {sd_bus_open_user, join_session, leave_session,
                                               session_failed};
    const char *const address = getenv("DBUS_SESSION_BUS_ADDRESS");
    const char *const folder = getenv("XDG_RUNTIME_DIR");
    char usual[SETTINGS_PATH_MAX] = "";

    if (folder)
        (void)snprintf(usual, sizeof(usual), "unix:path=%s/bus", folder);
    return control_bus_open(&c->session, c->event, &ops, address ? address : usual, c);
}

static void close_all(struct control *c)
{
    control_bus_close(c->session);
    control_sleep_close(c->sleep);
    sd_event_unref(c->event);
    free(c);
}

int control_open(struct control **ret, const char *instance, const struct control_host *host,
                 struct error *err)
{
    struct control *c = calloc(1, sizeof(*c));
    int r;

    if (!c)
        return error_set(err, -ENOMEM, "live control: %s", strerror(ENOMEM));
    c->host = *host;
    if (instance && control_service_name(instance, c->name)) {
        free(c);
        return error_usage(err, "instance '%s': " CONTROL_INSTANCE_RULE, instance);
    }
    systemd_init(&c->systemd);
    r = sd_event_new(&c->event);
    if (r >= 0 && instance)
        r = open_session(c);
    if (r >= 0 && instance)
        r = control_sleep_open(&c->sleep, c->event, &c->host);
    if (r < 0) {
        close_all(c);
        return error_set(err, r, "live control: %s", strerror(-r));
    }
    (void)sd_event_prepare(c->event);
    *ret = c;
    return 0;
}

void control_close(struct control *c)
{
    if (!c)
        return;
    systemd_stopping();
    close_all(c);
}

int control_fd(const struct control *c)
{
    return !c ? -1 : sd_event_get_fd(c->event);
}

/* Tells what changed, if anything. */
static void tell(struct control *c)
{
    struct status status;
    struct settings s;

    c->host.status(c->host.user, &status);
    systemd_status(&c->systemd, &status);
    if (status.asleep)
        control_sleep_allow(c->sleep);
    if (!c->object)
        return;
    c->host.settings(c->host.user, &s);
    control_object_notify(c->object, &s, &status);
}

/* The event loop is armed before and after, also for what the bus had no room to send. */
void control_process(struct control *c)
{
    if (!c)
        return;
    if (sd_event_wait(c->event, 0) > 0)
        (void)sd_event_dispatch(c->event);
    do {
        tell(c);
        while (sd_event_run(c->event, 0) > 0)
            tell(c);
    } while (sd_event_prepare(c->event) > 0 && sd_event_dispatch(c->event) > 0);
}

void control_ready(struct control *c)
{
    if (!c)
        return;
    systemd_ready(&c->systemd);
    control_process(c);
}

void control_reloading(struct control *c, bool reloading)
{
    if (!c)
        return;
    systemd_reloading(&c->systemd, reloading);
}

void control_progress(struct control *c)
{
    if (!c)
        return;
    systemd_progress(&c->systemd);
    control_process(c);
}

void control_snapshot_done(struct control *c, int result, const char *path, struct error *err)
{
    if (!c)
        return;
    if (c->object)
        control_object_snapshot_done(c->object, result, path, err);
    control_process(c);
}
