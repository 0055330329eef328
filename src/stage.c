#include "stage.h"

#include <unistd.h>

#include "config.h"
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

int64_t shared_budget_ns(struct shared *s)
{
    int64_t budget;

    if (!s->live)
        return 0;
    (void)pthread_mutex_lock(&s->lock);
    budget = s->wishes.latency_budget;
    (void)pthread_mutex_unlock(&s->lock);
    return budget == BUDGET_AUTO ? s->interval_ns : budget;
}

void shared_stop(struct shared *s)
{
    (void)!write(s->stop_fd, &(uint64_t){1}, sizeof(uint64_t));
}
