#include "daemon.h"

#include <errno.h>
#include <math.h>
#include <poll.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/event.h"
#include "base/log.h"
#include "control/control.h"
#include "v4l2/watch.h"

#define TICK_NS NS_PER_S
#define FIRST_TICK_NS (50 * NS_PER_MS) /* until the first picture is out */
#define PROGRESS_TICKS 60              /* between two lines of progress */

struct daemon {
    const struct cli *cli;
    struct pipeline *p;
    struct control *control;
    int devices_fd;
    bool ready;
    uint64_t n_rounds; /* of the output stage at the last tick */
    int ticks;
};

/* --- what control may ask --- */

static void host_status(void *user, struct status *ret)
{
    pipeline_status(((struct daemon *)user)->p, ret);
}

static void host_settings(void *user, struct settings *ret)
{
    pipeline_settings(((struct daemon *)user)->p, ret);
}

static int host_set(void *user, const char *key, const char *value, struct error *err)
{
    const int r = pipeline_set(((struct daemon *)user)->p, key, value, err);

    if (r == 0)
        log_info("%s = %s", key, value);
    return r;
}

static int host_reload(void *user, struct error *err)
{
    const struct daemon *d = user;
    struct settings new;
    const int r = cli_settings(d->cli, &new, err);

    if (r)
        log_error("%s; the running settings stay", err->text);
    else
        pipeline_apply(d->p, &new);
    return r;
}

static void host_pause(void *user, bool paused)
{
    pipeline_pause(((struct daemon *)user)->p, paused);
}

static void host_sleep(void *user, bool asleep)
{
    pipeline_sleep(((struct daemon *)user)->p, asleep);
}

static int host_snapshot(void *user, const char *name, struct error *err)
{
    return pipeline_snapshot(((struct daemon *)user)->p, name, err);
}

/* --- live control --- */

static void open_control(struct daemon *d)
{
    const struct control_host host = {
        .user = d,
        .status = host_status,
        .settings = host_settings,
        .set = host_set,
        .reload = host_reload,
        .pause = host_pause,
        .sleep = host_sleep,
        .snapshot = host_snapshot,
    };
    struct settings s;
    struct error err;

    pipeline_settings(d->p, &s);
    if (control_open(&d->control, pipeline_live(d->p) ? s.instance : NULL, &host, &err))
        log_warning("no live control: %s", err.text);
}

/* --- the loop --- */

/* One line a minute, for whoever reads the log of a daemon. */
static void log_progress(const struct status *s)
{
    log_info("%s, %.1f frames/s, latency %.1f ms (p99 %.1f), %.1f ms of it added (p99 %.1f), "
             "radius %d of %d%s, %llu frames, %llu dropped, %llu damaged",
             s->state, s->second.fps, in_ms(s->second.latency.p50_ns),
             in_ms(s->second.latency.p99_ns), in_ms(s->second.added.p50_ns),
             in_ms(s->second.added.p99_ns), s->radius_last, s->radius_requested,
             !strcmp(s->search, "off")    ? " without the search for motion"
             : !strcmp(s->search, "none") ? " without the mean over frames"
                                          : "",
             (unsigned long long)s->frames_out, (unsigned long long)s->frames_dropped,
             (unsigned long long)s->frames_bad);
}

/* For who waits for a file. */
static void show_progress(const struct status *s)
{
    const double left = (double)s->frames_total - (double)s->frames_out;
    char time[32] = "";

    if (s->frames_total && left >= 0.0 && s->run.fps > 0.0) {
        const int seconds = (int)fmin(left / s->run.fps, 359999.0);

        (void)snprintf(time, sizeof(time), ", %d:%02d:%02d left", seconds / 3600, seconds / 60 % 60,
                       seconds % 60);
    }
    log_until_next("%llu frames, %.1f frames/s%s", (unsigned long long)s->frames_out, s->second.fps,
                   time);
}

static void answer_snapshot(struct daemon *d)
{
    struct error err = {.text = ""};
    char path[SETTINGS_PATH_MAX];
    const int r = pipeline_snapshot_result(d->p, path, sizeof(path), &err);

    if (r != -EINPROGRESS)
        control_snapshot_done(d->control, r, path, &err);
}

static void tick(struct daemon *d)
{
    struct status status;

    pipeline_status(d->p, &status);
    if (!d->ready && status.n_rounds) {
        d->ready = true;
        control_ready(d->control);
    }
    if (status.n_rounds != d->n_rounds)
        control_progress(d->control);
    answer_snapshot(d); /* where there are no pictures, nothing else says so */
    d->n_rounds = status.n_rounds;
    if (!pipeline_live(d->p) && status.frames_out)
        show_progress(&status);
    if (d->ready && ++d->ticks % PROGRESS_TICKS == 0)
        log_progress(&status);
}

/* What the loop waits for. */
enum { ON_DONE, ON_STOP, ON_HANGUP, ON_CHANGE, ON_DEVICES, ON_CONTROL, N_FDS };

/* What poll() says is there to be read. False: the end. */
static bool serve(struct daemon *d, const struct pollfd *fds)
{
    struct signalfd_siginfo info;
    struct error err;

    if (fds[ON_DONE].revents || fds[ON_STOP].revents)
        return false;
    if (fds[ON_HANGUP].revents && read(fds[ON_HANGUP].fd, &info, sizeof(info)) == sizeof(info)) {
        control_reloading(d->control, true);
        (void)host_reload(d, &err);
        control_reloading(d->control, false);
    }
    if (fds[ON_CHANGE].revents && event_clear(fds[ON_CHANGE].fd)) {
        control_process(d->control);
        answer_snapshot(d);
    }
    if (fds[ON_DEVICES].revents && devices_changed(d->devices_fd))
        pipeline_devices_changed(d->p);
    if (fds[ON_CONTROL].revents)
        control_process(d->control);
    return true;
}

static void loop(struct daemon *d, int stop_fd, int hangup_fd)
{
    struct pollfd fds[N_FDS] = {
        [ON_DONE] = {.fd = pipeline_done_fd(d->p), .events = POLLIN},
        [ON_STOP] = {.fd = stop_fd, .events = POLLIN},
        [ON_HANGUP] = {.fd = hangup_fd, .events = POLLIN},
        [ON_CHANGE] = {.fd = pipeline_change_fd(d->p), .events = POLLIN},
        [ON_DEVICES] = {.fd = d->devices_fd, .events = POLLIN},
        [ON_CONTROL] = {.fd = control_fd(d->control), .events = POLLIN},
    };
    int64_t t_tick = now_ns() + FIRST_TICK_NS;

    for (;;) {
        const int n = poll(fds, N_FDS, poll_ms(t_tick, now_ns()));

        if (n < 0 && errno != EINTR)
            return;
        if (n > 0 && !serve(d, fds))
            return;
        if (now_ns() >= t_tick) {
            tick(d);
            t_tick = now_ns() + (d->ready ? TICK_NS : FIRST_TICK_NS);
        }
    }
}

void daemon_run(const struct cli *cli, struct pipeline *p, int stop_fd, int hangup_fd)
{
    struct daemon d = {.cli = cli, .p = p, .devices_fd = -1};

    if (pipeline_live(p)) {
        d.devices_fd = devices_watch();
        if (d.devices_fd < 0)
            log_debug("changes in /dev are not noticed: %s", strerror(-d.devices_fd));
    }
    open_control(&d);
    loop(&d, stop_fd, hangup_fd);
    log_until_next("%s", "");
    control_close(d.control);
    if (d.devices_fd >= 0)
        (void)close(d.devices_fd);
}
