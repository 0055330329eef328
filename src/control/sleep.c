#include "control/sleep.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "control/bus.h"

#define LOGIND "org.freedesktop.login1"
#define LOGIND_PATH "/org/freedesktop/login1"
#define LOGIND_MANAGER "org.freedesktop.login1.Manager"

/* A camera that hangs must not hold the machine up. logind itself waits 5 s, unless it is told to
 * wait otherwise. */
#define DELAY_NS (2 * NS_PER_S)

struct control_sleep {
    const struct control_host *host;
    struct control_bus *bus;
    sd_event_source *limit; /* once */
    int inhibitor;          /* descriptor; logind lets the machine sleep once it is closed; -1 */
    bool asleep;            /* or about to be */
    bool told;              /* that it goes unnoticed */
};

static void release(struct control_sleep *s)
{
    if (s->inhibitor >= 0)
        (void)close(s->inhibitor);
    s->inhibitor = -1;
    (void)sd_event_source_set_enabled(s->limit, SD_EVENT_OFF);
}

static int on_limit(sd_event_source *source, uint64_t time_us, void *userdata)
{
    struct control_sleep *s = userdata;

    (void)source, (void)time_us;
    if (s->inhibitor >= 0)
        log_warning("camera not released in time: suspending anyway");
    release(s);
    return 0;
}

static int on_inhibitor(sd_bus_message *m, void *userdata, sd_bus_error *e)
{
    const sd_bus_error *const refused = sd_bus_message_get_error(m);
    struct control_sleep *s = userdata;
    int fd, r = refused ? 0 : sd_bus_message_read(m, "h", &fd);

    (void)e;
    if (refused) {
        log_debug("sleep does not wait for the camera: %s", refused->message);
        return 0;
    }
    if (s->told)
        log_debug("sleep is noticed again");
    s->told = false;
    if (s->inhibitor >= 0)
        (void)close(s->inhibitor);
    s->inhibitor = r < 0 ? -1 : fcntl(fd, F_DUPFD_CLOEXEC, 3); /* @m keeps its own */
    if (s->inhibitor < 0)
        log_debug("sleep does not wait for the camera: %s", strerror(r < 0 ? -r : errno));
    return 0;
}

/* A logind that is not there need not be started for it. */
static int inhibit(struct control_sleep *s, sd_bus *bus)
{
    sd_bus_message *m = NULL;
    int r = sd_bus_message_new_method_call(bus, &m, LOGIND, LOGIND_PATH, LOGIND_MANAGER, "Inhibit");

    if (r >= 0)
        r = sd_bus_message_append(m, "ssss", "sleep", "bilatcam",
                                  "the camera is released before the machine sleeps", "delay");
    if (r >= 0)
        r = sd_bus_message_set_auto_start(m, false);
    if (r >= 0)
        r = sd_bus_call_async(bus, NULL, m, on_inhibitor, s, 0);
    sd_bus_message_unref(m);
    return r;
}

static void fall_asleep(struct control_sleep *s)
{
    (void)sd_event_source_set_time(s->limit, (uint64_t)((now_ns() + DELAY_NS) / NS_PER_US));
    (void)sd_event_source_set_enabled(s->limit, SD_EVENT_ONESHOT);
    s->asleep = true;
    s->host->sleep(s->host->user, true);
}

static void wake(struct control_sleep *s)
{
    (void)sd_event_source_set_enabled(s->limit, SD_EVENT_OFF);
    s->asleep = false;
    s->host->sleep(s->host->user, false);
}

static int on_sleep(sd_bus_message *m, void *userdata, sd_bus_error *e)
{
    struct control_sleep *s = userdata;
    int asleep;

    (void)e;
    if (sd_bus_message_read(m, "b", &asleep) < 0)
        return 0;
    if (asleep) {
        fall_asleep(s);
        return 0;
    }
    wake(s);
    if (s->inhibitor < 0)
        (void)inhibit(s, sd_bus_message_get_bus(m));
    return 0;
}

/* logind may come to the bus after us, or restart: then it does not say that the machine has woken.
 */
static int on_logind(sd_bus_message *m, void *userdata, sd_bus_error *e)
{
    struct control_sleep *s = userdata;
    const char *name, *from, *to;

    (void)e;
    if (sd_bus_message_read(m, "sss", &name, &from, &to) < 0 || !*to)
        return 0;
    if (s->asleep)
        wake(s);
    if (s->inhibitor < 0)
        (void)inhibit(s, sd_bus_message_get_bus(m));
    return 0;
}

static int join(void *user, sd_bus *bus)
{
    struct control_sleep *s = user;
    int r = sd_bus_match_signal_async(bus, NULL, LOGIND, LOGIND_PATH, LOGIND_MANAGER,
                                      "PrepareForSleep", on_sleep, NULL, s);

    if (r >= 0)
        r = sd_bus_add_match_async(bus, NULL,
                                   "type='signal',sender='org.freedesktop.DBus',"
                                   "member='NameOwnerChanged',arg0='" LOGIND "'",
                                   on_logind, NULL, s);
    return r < 0 ? r : inhibit(s, bus);
}

/* Without the bus nobody would say when the machine has woken, or is to sleep again. */
static void leave(void *user)
{
    struct control_sleep *s = user;

    release(s);
    if (s->asleep)
        wake(s);
}

static void failed(void *user, int code)
{
    struct control_sleep *s = user;

    if (s->told)
        return;
    if (code)
        log_debug("no system bus (%s): sleep goes unnoticed", strerror(-code));
    else
        log_debug("the system bus is gone: sleep goes unnoticed from now on");
    s->told = true;
}

static const struct control_bus_ops bus_ops = {sd_bus_open_system, join, leave, failed};

int control_sleep_open(struct control_sleep **ret, sd_event *event, const struct control_host *host)
{
    const char *const address = getenv("DBUS_SYSTEM_BUS_ADDRESS");
    struct control_sleep *s = calloc(1, sizeof(*s));
    int r;

    if (!s)
        return -ENOMEM;
    s->host = host;
    s->inhibitor = -1;
    r = sd_event_add_time(event, &s->limit, CLOCK_MONOTONIC, UINT64_MAX, 0, on_limit, s);
    if (r >= 0)
        r = control_bus_open(&s->bus, event, &bus_ops,
                             address ? address : "unix:path=/run/dbus/system_bus_socket", s);
    if (r < 0) {
        control_sleep_close(s);
        return r;
    }
    *ret = s;
    return 0;
}

void control_sleep_close(struct control_sleep *s)
{
    if (!s)
        return;
    s->asleep = false; /* the host need not wake any more */
    control_bus_close(s->bus);
    sd_event_source_disable_unref(s->limit);
    free(s);
}

void control_sleep_allow(struct control_sleep *s)
{
    if (s && s->asleep)
        release(s);
}
