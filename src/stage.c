#include "stage.h"

#include <poll.h>
#include <unistd.h>

#include "log.h"

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
    (void)!write(s->stop_fd, &(uint64_t){1}, sizeof(uint64_t));
}

bool shared_stopping(const struct shared *s)
{
    struct pollfd fd = {.fd = s->stop_fd, .events = POLLIN};

    return poll(&fd, 1, 0) > 0;
}
