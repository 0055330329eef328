#include "control/bus.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>

#include "base/clock.h"
#include "base/retry.h"

#define ACCURACY_US 1000 /* of the timer */

/* DESIGN: one timer does it all. Set to now it closes a connection that has ended, which the
 * connection's own callbacks must not do; set to the end of a pause it makes another one. A socket
 * that appears, seen by inotify, cuts the pause short. The pauses go on all the same: systemd holds
 * the socket of a bus that is restarted, and the folder itself may be another one by then. */

struct control_bus {
    const struct control_bus_ops *ops;
    void *user;
    sd_event *event;
    sd_bus *bus;            /* NULL: none now */
    sd_event_source *timer; /* once */
    sd_event_source *watch; /* of the folder, while there is no connection */
    char folder[PATH_MAX];  /* of the socket */
    const char *name;       /* of it in there; NULL: it is no file, or not known */
    struct retry retry;
};

static const struct retry_limits limits = {
    .first_ns = 100 * NS_PER_MS,
    .last_ns = 60 * NS_PER_S,
    .steady_ns = 10 * NS_PER_S,
};

/* Other kinds of addresses are left to the timer. */
static void find_folder(struct control_bus *b, const char *address)
{
    static const char prefix[] = "unix:path=";
    const char *const path = address + strlen(prefix);
    char *slash;
    size_t n;

    if (strncmp(address, prefix, strlen(prefix)) != 0)
        return;
    n = strcspn(path, ",;");
    if (*path != '/' || n >= sizeof(b->folder))
        return;
    memcpy(b->folder, path, n);
    b->folder[n] = '\0';
    slash = strrchr(b->folder, '/');
    *slash = '\0';
    b->name = slash + 1;
}

static void set_timer(struct control_bus *b, int64_t t_ns)
{
    (void)sd_event_source_set_time(b->timer, (uint64_t)(t_ns / NS_PER_US));
    (void)sd_event_source_set_enabled(b->timer, SD_EVENT_ONESHOT);
}

static void retry_later(struct control_bus *b)
{
    (void)retry_fails(&b->retry, &limits, now_ns());
    set_timer(b, b->retry.t_next_ns);
}

/* Something with the socket's name has appeared, or what is watched is no longer the folder. The
 * bus listens a moment after its socket is there, so an attempt at once would come too early. */
static int on_folder(sd_event_source *source, const struct inotify_event *e, void *userdata)
{
    struct control_bus *b = userdata;

    (void)source;
    if (e->len && strcmp(e->name, b->name) != 0)
        return 0;
    b->retry = (struct retry){0};
    retry_later(b);
    return 0;
}

static void watch_folder(struct control_bus *b)
{
    /* Permissions may follow the creation: that is IN_ATTRIB. */
    const uint32_t mask = IN_CREATE | IN_MOVED_TO | IN_ATTRIB | IN_ONLYDIR;

    b->watch = sd_event_source_disable_unref(b->watch);
    if (b->name)
        (void)sd_event_add_inotify(b->event, &b->watch, *b->folder ? b->folder : "/", mask,
                                   on_folder, b);
}

static int on_end(sd_bus_message *m, void *userdata, sd_bus_error *e)
{
    struct control_bus *b = userdata;

    (void)m, (void)e;
    b->ops->failed(b->user, 0);
    control_bus_renew(b);
    return 0;
}

/* Made by sd-bus itself when the connection ends. */
static int match_end(struct control_bus *b)
{
    return sd_bus_match_signal_async(b->bus, NULL, "org.freedesktop.DBus.Local",
                                     "/org/freedesktop/DBus/Local", "org.freedesktop.DBus.Local",
                                     "Disconnected", on_end, NULL, b);
}

static void leave(struct control_bus *b)
{
    b->ops->leave(b->user);
    b->bus = sd_bus_close_unref(b->bus);
}

static void attempt(struct control_bus *b)
{
    int r;

    /* Before the attempt, so that no socket comes between the two unseen. */
    watch_folder(b);
    r = b->ops->connect(&b->bus);
    if (r >= 0)
        r = match_end(b);
    if (r >= 0)
        r = b->ops->join(b->user, b->bus);
    if (r >= 0)
        r = sd_bus_attach_event(b->bus, b->event, SD_EVENT_PRIORITY_NORMAL);
    if (r >= 0) {
        b->watch = sd_event_source_disable_unref(b->watch);
        retry_works(&b->retry, now_ns());
        return;
    }
    leave(b);
    b->ops->failed(b->user, r);
    retry_later(b);
}

static int on_timer(sd_event_source *source, uint64_t time_us, void *userdata)
{
    struct control_bus *b = userdata;

    (void)source, (void)time_us;
    if (!b->bus) {
        attempt(b);
        return 0;
    }
    leave(b);
    watch_folder(b);
    retry_later(b);
    return 0;
}

int control_bus_open(struct control_bus **ret, sd_event *event, const struct control_bus_ops *ops,
                     const char *address, void *user)
{
    struct control_bus *b = calloc(1, sizeof(*b));
    int r;

    if (!b)
        return -ENOMEM;
    b->ops = ops;
    b->user = user;
    b->event = event;
    find_folder(b, address);
    r = sd_event_add_time(event, &b->timer, CLOCK_MONOTONIC, UINT64_MAX, ACCURACY_US, on_timer, b);
    if (r < 0) {
        free(b);
        return r;
    }
    *ret = b;
    attempt(b);
    return 0;
}

void control_bus_close(struct control_bus *b)
{
    if (!b)
        return;
    leave(b);
    sd_event_source_disable_unref(b->watch);
    sd_event_source_disable_unref(b->timer);
    free(b);
}

void control_bus_renew(struct control_bus *b)
{
    set_timer(b, now_ns());
}
