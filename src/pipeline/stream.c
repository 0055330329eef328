#include "pipeline/stream.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"

const char *stream_state_name(enum stream_state state)
{
    static const char *const names[] = {
        [STREAM_RUNS] = "running", [STREAM_STARTS] = "starting", [STREAM_LOST] = "no camera",
        [STREAM_IDLE] = "idle",    [STREAM_PAUSED] = "paused",   [STREAM_ASLEEP] = "asleep",
    };

    return names[state];
}

int shared_init(struct shared *s, int stop_fd)
{
    int *const fds[] = {&s->done_fd, &s->wake_fd, &s->news_fd};

    s->stop_fd = stop_fd;
    s->readers = -1;
    s->done_fd = s->wake_fd = s->news_fd = -1;
    if (pthread_mutex_init(&s->lock, NULL))
        return -ENOMEM;
    for (int i = 0; i < 3; i++) {
        *fds[i] = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
        if (*fds[i] < 0) {
            const int r = -errno;

            shared_finish(s);
            return r;
        }
    }
    return 0;
}

void shared_finish(struct shared *s)
{
    const int fds[] = {s->done_fd, s->wake_fd, s->news_fd};

    for (int i = 0; i < 3; i++)
        if (fds[i] >= 0)
            (void)close(fds[i]);
    (void)pthread_mutex_destroy(&s->lock);
}

static void signal_fd(int fd)
{
    (void)!write(fd, &(uint64_t){1}, sizeof(uint64_t));
}

void shared_hold(struct shared *s, bool *reason, bool on)
{
    bool changes;

    (void)pthread_mutex_lock(&s->lock);
    changes = *reason != on;
    *reason = on;
    (void)pthread_mutex_unlock(&s->lock);
    if (changes)
        signal_fd(s->wake_fd);
}

void shared_devices_changed(struct shared *s)
{
    (void)pthread_mutex_lock(&s->lock);
    s->device_news++;
    (void)pthread_mutex_unlock(&s->lock);
    signal_fd(s->wake_fd);
}

void shared_set_state(struct shared *s, enum stream_state state, const char *reason)
{
    bool changes;

    (void)pthread_mutex_lock(&s->lock);
    changes = s->state != state;
    if (changes && s->state == STREAM_RUNS)
        s->t_ended_ns = now_ns();
    s->state = state;
    (void)snprintf(s->reason, sizeof(s->reason), "%s", reason ? reason : "");
    (void)pthread_mutex_unlock(&s->lock);
    if (changes)
        signal_fd(s->news_fd);
}

enum stream_state shared_state(struct shared *s)
{
    enum stream_state state;

    (void)pthread_mutex_lock(&s->lock);
    state = s->state;
    (void)pthread_mutex_unlock(&s->lock);
    return state;
}

void shared_fail(struct shared *s, int code, const struct error *err)
{
    bool first;

    (void)pthread_mutex_lock(&s->lock);
    first = !s->result;
    if (first)
        s->result = code;
    (void)pthread_mutex_unlock(&s->lock);
    if (first)
        log_error("%s", err->text);
}

void shared_stop(struct shared *s)
{
    signal_fd(s->stop_fd);
}

bool shared_stopping(const struct shared *s)
{
    struct pollfd fd = {.fd = s->stop_fd, .events = POLLIN};

    return poll(&fd, 1, 0) > 0;
}
