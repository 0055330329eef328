#include "pipewire/connection.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/event.h"

#define DESCRIPTORS 24 /* that a connection opens with a stream; 18 were seen (1.6.9) */

static void on_error(void *data, uint32_t id, int seq, int res, const char *message)
{
    struct pipewire_connection *c = data;

    (void)seq;
    /* With these words the library tells that it has closed the connection, whatever the reason:
     * the daemon went, or what it sent could not be read. Other errors are about an object of ours,
     * of which its own events tell. */
    if (id != PW_ID_CORE || (res != -EPIPE && !spa_streq(message, "connection error")))
        return;
    c->lost = true;
    event_ring(c->event_fd);
}

static void on_done(void *data, uint32_t id, int seq)
{
    struct pipewire_connection *c = data;

    if (id != PW_ID_CORE)
        return;
    c->answered = seq;
    event_ring(c->event_fd);
}

static const struct pw_core_events core_events = {
    .version = PW_VERSION_CORE_EVENTS,
    .done = on_done,
    .error = on_error,
};

/* The library reports to stderr what is an ordinary state here: that no daemon runs. */
static void keep_quiet(void)
{
    if (!getenv("PIPEWIRE_DEBUG"))
        pw_log_set_level(SPA_LOG_LEVEL_NONE);
}

static void on_drained(void *data, uint64_t count)
{
    struct pipewire_connection *c = data;

    (void)count;
    c->drained = true;
    pw_thread_loop_signal(c->loop, false);
}

static int do_nothing(struct spa_loop *loop, bool async, uint32_t seq, const void *data,
                      size_t size, void *user_data)
{
    (void)loop, (void)async, (void)seq, (void)data, (void)size, (void)user_data;
    return 0;
}

static int make(struct pipewire_connection *c)
{
    /* Without it the client asks for real-time priority, over a bus. */
    struct pw_properties *const properties = pw_properties_new("module.rt", "false", NULL);
    int r;

    if (!properties)
        return -ENOMEM;
    c->loop = pw_thread_loop_new("pipewire", NULL);
    if (!c->loop) {
        r = errno ? -errno : -ENOMEM;
        pw_properties_free(properties);
        return r == -ENOENT ? -ELIBACC : r; /* a plugin of it */
    }
    c->context = pw_context_new(pw_thread_loop_get_loop(c->loop), properties, 0);
    if (!c->context)
        return -errno;
    c->drain = pw_loop_add_event(pw_thread_loop_get_loop(c->loop), on_drained, c);
    if (!c->drain)
        return errno ? -errno : -ENOMEM;
    /* The library stops the loop by a call into it, which opens a descriptor if no earlier call has
     * left one; without it the stop would wait for ever (1.6.9). */
    r = pw_loop_invoke(pw_thread_loop_get_loop(c->loop), do_nothing, 0, NULL, 0, false, NULL);
    return r < 0 ? r : pw_thread_loop_start(c->loop);
}

static int connect_core(struct pipewire_connection *c)
{
    int r = 0;

    pipewire_lock(c);
    c->core = pw_context_connect(c->context, NULL, 0);
    if (c->core)
        pw_core_add_listener(c->core, &c->listener, &core_events, c);
    else
        r = -errno;
    pipewire_unlock(c);
    return r;
}

/* Where the library gets only some of those that it needs it gives wrong reasons, and with one
 * number of them it ends the program (1.6.9). */
static int look_for_descriptors(int fd)
{
    int spare[DESCRIPTORS], n = 0, r = 0;

    while (r == 0 && n < DESCRIPTORS) {
        spare[n] = fcntl(fd, F_DUPFD_CLOEXEC, 0);
        if (spare[n] < 0)
            r = -errno;
        else
            n++;
    }
    while (n > 0)
        (void)close(spare[--n]);
    return r;
}

bool pipewire_has_folder(void)
{
    const char *const remote = getenv("PIPEWIRE_REMOTE");
    const char *const own = getenv("PIPEWIRE_RUNTIME_DIR");
    const char *const runtime = getenv("XDG_RUNTIME_DIR");

    return (remote && *remote == '/') || (own && *own) || (runtime && *runtime);
}

int pipewire_connect(struct pipewire_connection *c, struct error *err)
{
    sigset_t all, before;
    int r;

    c->event_fd = event_open();
    if (c->event_fd < 0)
        return error_set(err, c->event_fd, "cannot use PipeWire: %s", strerror(-c->event_fd));
    pw_init(NULL, NULL);
    keep_quiet();
    /* For the threads that the library starts. */
    (void)sigfillset(&all);
    (void)pthread_sigmask(SIG_SETMASK, &all, &before);
    r = look_for_descriptors(c->event_fd);
    if (r == 0)
        r = make(c);
    if (r == 0)
        r = connect_core(c);
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (r == -EHOSTDOWN || r == -ENOENT || r == -ECONNREFUSED)
        return error_set(
            err, -ENODEV, "PipeWire does not run in this session: %s",
            pipewire_has_folder()
                ? "try systemctl --user start pipewire wireplumber"
                : "it has no XDG_RUNTIME_DIR, as after su or sudo; log in as this user");
    if (r == -ELIBACC)
        return error_set(err, r,
                         "cannot use PipeWire: its plugins are not installed (Debian's package is "
                         "libspa-0.2-modules)");
    return r ? error_set(err, r, "cannot use PipeWire: %s", strerror(-r)) : 0;
}

/* Waits until the loop has called what is queued for it. It does all that is ready before others
 * get the lock, and what is queued already is ready no later than this event. With the loop locked,
 * which is unlocked meanwhile. */
static void drain(struct pipewire_connection *c)
{
    c->drained = false;
    (void)pw_loop_signal_event(pw_thread_loop_get_loop(c->loop), c->drain);
    while (!c->drained)
        pw_thread_loop_wait(c->loop);
}

/* A picture that the loop has yet to send is no longer expected by a stream without a connection:
 * that ended the program (1.6.9). */
void pipewire_end_stream(struct pipewire_connection *c, struct pw_stream *stream)
{
    pipewire_lock(c);
    drain(c);
    (void)pw_stream_disconnect(stream); /* now nothing more is queued for the loop */
    pipewire_unlock(c);
    pw_thread_loop_stop(c->loop); /* after what is queued */
    pipewire_lock(c);
    pw_stream_destroy(stream);
    pipewire_unlock(c);
}

void pipewire_disconnect(struct pipewire_connection *c)
{
    if (c->event_fd < 0)
        return;
    if (c->core) {
        pipewire_lock(c);
        spa_hook_remove(&c->listener);
        (void)pw_core_disconnect(c->core);
        pipewire_unlock(c);
    }
    if (c->loop)
        pw_thread_loop_stop(c->loop);
    if (c->drain)
        pw_loop_destroy_source(pw_thread_loop_get_loop(c->loop), c->drain);
    if (c->context)
        pw_context_destroy(c->context);
    if (c->loop)
        pw_thread_loop_destroy(c->loop);
    event_close(c->event_fd);
    pw_deinit();
    *c = (struct pipewire_connection){.event_fd = -1};
}

void pipewire_lock(struct pipewire_connection *c)
{
    pw_thread_loop_lock(c->loop);
}

void pipewire_unlock(struct pipewire_connection *c)
{
    pw_thread_loop_unlock(c->loop);
}

int pipewire_wait(struct pipewire_connection *c, int stop_fd, int64_t t_ns)
{
    struct pollfd p[2] = {{.fd = stop_fd, .events = POLLIN}, {.fd = c->event_fd, .events = POLLIN}};

    (void)poll(p, 2, poll_ms(t_ns, now_ns()));
    if (event_rung(stop_fd))
        return -ECANCELED;
    if (event_clear(c->event_fd) || now_ns() < t_ns)
        return 0;
    return -ETIMEDOUT;
}

int pipewire_round_trip(struct pipewire_connection *c, int stop_fd, struct error *err)
{
    const int64_t t_end_ns = now_ns() + PIPEWIRE_ANSWER_NS;
    bool answered = false;
    int question, r = 0;

    pipewire_lock(c);
    question = pw_core_sync(c->core, PW_ID_CORE, 0);
    pipewire_unlock(c);
    while (r == 0 && !answered) {
        r = pipewire_wait(c, stop_fd, t_end_ns);
        if (r)
            return r == -ETIMEDOUT ? pipewire_silent(err) : error_set(err, r, "stopped");
        pipewire_lock(c);
        answered = c->answered == question;
        if (c->lost)
            r = pipewire_ended(err);
        pipewire_unlock(c);
    }
    return r;
}

int pipewire_ended(struct error *err)
{
    return error_set(err, -ENODEV, "PipeWire has ended");
}

int pipewire_silent(struct error *err)
{
    return error_set(err, -ETIMEDOUT,
                     "PipeWire does not answer: try systemctl --user restart "
                     "pipewire");
}
