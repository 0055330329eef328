#include "control.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <systemd/sd-bus.h>
#include <systemd/sd-event.h>

#include "control_name.h"
#include "control_object.h"
#include "control_systemd.h"
#include "log.h"

/* DESIGN: nothing here waits for a bus. Connecting, asking for the name and asking for signals go
 * on inside the event loop; what fails then is logged, and that bus is done without. */

/* For the one question that is put to a bus and waited for: who sent a message. */
#define CALL_LIMIT_US 2000000

struct control {
    struct control_host host;
    sd_event *event; /* armed, as poll() on its descriptor wants it, except in control_process() */
    sd_bus *user_bus, *system_bus;         /* NULL: not there */
    bool user_bus_ended, system_bus_ended; /* to be closed outside their callbacks, as they must */
    struct control_object *object;         /* on the user's bus */
    struct systemd systemd;
    char name[CONTROL_NAME_MAX];
};

static void leave_user_bus(struct control *c)
{
    control_object_close(c->object);
    c->object = NULL;
    c->user_bus = sd_bus_close_unref(c->user_bus);
    c->user_bus_ended = false;
}

static void leave_system_bus(struct control *c)
{
    c->system_bus = sd_bus_close_unref(c->system_bus);
    c->system_bus_ended = false;
}

static int on_user_bus_gone(sd_bus_message *m, void *userdata, sd_bus_error *e)
{
    struct control *c = userdata;

    (void)m, (void)e;
    if (!c->user_bus_ended)
        log_info("the session bus is gone, and live control with it");
    c->user_bus_ended = true;
    return 0;
}

static int on_system_bus_gone(sd_bus_message *m, void *userdata, sd_bus_error *e)
{
    struct control *c = userdata;

    (void)m, (void)e;
    log_debug("the system bus is gone: sleep goes unnoticed from now on");
    c->system_bus_ended = true;
    return 0;
}

static int on_name(sd_bus_message *m, void *userdata, sd_bus_error *e)
{
    enum { OWNER = 1, ALREADY_OWNER = 4 }; /* of the D-Bus specification */
    struct control *c = userdata;
    const sd_bus_error *refused = sd_bus_message_get_error(m);
    uint32_t answer = 0;

    (void)e;
    if (!refused && sd_bus_message_read(m, "u", &answer) >= 0 &&
        (answer == OWNER || answer == ALREADY_OWNER)) {
        log_debug("live control as '%s' on the session bus", c->name);
        (void)sd_bus_set_method_call_timeout(c->user_bus, CALL_LIMIT_US);
        return 0;
    }
    if (refused)
        log_warning("session bus, name '%s': %s; no live control", c->name, refused->message);
    else
        log_warning("another bilatcam is '%s' on the session bus; no live control of this one",
                    c->name);
    c->user_bus_ended = true;
    return 0;
}

static int on_sleep(sd_bus_message *m, void *userdata, sd_bus_error *e)
{
    const struct control *c = userdata;
    int asleep;

    (void)e;
    if (sd_bus_message_read(m, "b", &asleep) >= 0)
        c->host.sleep(c->host.user, asleep != 0);
    return 0;
}

/* Made by sd-bus itself when the connection ends. */
static int match_end(sd_bus *bus, sd_bus_message_handler_t handler, struct control *c)
{
    return sd_bus_match_signal_async(bus, NULL, "org.freedesktop.DBus.Local",
                                     "/org/freedesktop/DBus/Local", "org.freedesktop.DBus.Local",
                                     "Disconnected", handler, NULL, c);
}

static void open_user_bus(struct control *c)
{
    int r = sd_bus_open_user(&c->user_bus);

    if (r >= 0)
        r = match_end(c->user_bus, on_user_bus_gone, c);
    if (r >= 0)
        r = control_object_open(&c->object, c->user_bus, &c->host);
    if (r >= 0)
        r = sd_bus_request_name_async(c->user_bus, NULL, c->name, 0, on_name, c);
    if (r >= 0)
        r = sd_bus_attach_event(c->user_bus, c->event, SD_EVENT_PRIORITY_NORMAL);
    if (r >= 0)
        return;
    log_info("no session bus (%s): no live control", strerror(-r));
    leave_user_bus(c);
}

static void open_system_bus(struct control *c)
{
    int r = sd_bus_open_system(&c->system_bus);

    if (r >= 0)
        r = match_end(c->system_bus, on_system_bus_gone, c);
    if (r >= 0)
        r = sd_bus_match_signal_async(c->system_bus, NULL, "org.freedesktop.login1",
                                      "/org/freedesktop/login1", "org.freedesktop.login1.Manager",
                                      "PrepareForSleep", on_sleep, NULL, c);
    if (r >= 0)
        r = sd_bus_attach_event(c->system_bus, c->event, SD_EVENT_PRIORITY_NORMAL);
    if (r >= 0)
        return;
    log_debug("no system bus (%s): sleep goes unnoticed", strerror(-r));
    leave_system_bus(c);
}

int control_open(struct control **ret, const char *instance, const struct control_host *host,
                 struct error *err)
{
    struct control *c = calloc(1, sizeof(*c));
    int r;

    if (!c)
        return error_set(err, -ENOMEM, "live control: %s", strerror(ENOMEM));
    c->host = *host;
    if (control_service_name(instance, c->name)) {
        free(c);
        return error_usage(
            err, "instance '%s': must be letters, digits and underscores, at most 64", instance);
    }
    r = sd_event_new(&c->event);
    if (r < 0) {
        free(c);
        return error_set(err, r, "live control: %s", strerror(-r));
    }
    systemd_init(&c->systemd);
    open_user_bus(c);
    open_system_bus(c);
    (void)sd_event_prepare(c->event);
    *ret = c;
    return 0;
}

void control_close(struct control *c)
{
    if (!c)
        return;
    systemd_stopping();
    leave_user_bus(c);
    leave_system_bus(c);
    sd_event_unref(c->event);
    free(c);
}

int control_fd(const struct control *c)
{
    return !c ? -1 : sd_event_get_fd(c->event);
}

void control_process(struct control *c)
{
    int pending;

    if (!c)
        return;
    pending = sd_event_wait(c->event, 0);
    while (pending > 0) {
        (void)sd_event_dispatch(c->event);
        if (c->user_bus_ended)
            leave_user_bus(c);
        if (c->system_bus_ended)
            leave_system_bus(c);
        control_notify(c);
        pending = sd_event_prepare(c->event);
        if (pending == 0)
            pending = sd_event_wait(c->event, 0);
    }
    (void)sd_event_prepare(c->event);
}

void control_ready(struct control *c)
{
    if (!c)
        return;
    systemd_ready(&c->systemd);
    control_notify(c);
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
    control_notify(c);
}

void control_notify(struct control *c)
{
    struct control_status status = {.state = ""};
    struct settings s;

    if (!c)
        return;
    c->host.status(c->host.user, &status);
    systemd_status(&c->systemd, &status);
    if (!c->object)
        return;
    c->host.settings(c->host.user, &s);
    control_object_notify(c->object, &s, status.state);
}
