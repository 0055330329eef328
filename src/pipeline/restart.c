#include "pipeline/restart.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <time.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/thread.h"

/* A driver takes its time to recover. */
static const struct retry_limits limits = {
    .first_ns = NS_PER_S,
    .last_ns = 60 * NS_PER_S,
    .steady_ns = 60 * NS_PER_S,
};

struct rebuild {
    struct rebuild_config config;
    pthread_t thread;
    pthread_mutex_t lock; /* guards the rest */
    pthread_cond_t stopped;
    bool stop;
    struct engine *engine; /* made and not yet taken */
};

/* False: given up. */
static bool wait_for(struct rebuild *r, int64_t ns)
{
    const struct timespec t = timespec_of(now_ns() + ns);
    bool stop;

    (void)pthread_mutex_lock(&r->lock);
    while (!r->stop && pthread_cond_timedwait(&r->stopped, &r->lock, &t) == 0)
        ;
    stop = r->stop;
    (void)pthread_mutex_unlock(&r->lock);
    return !stop;
}

static struct engine *make(const struct rebuild_config *c, struct error *err)
{
    struct engine *e = NULL;

    if (c->ops->create(&e, &c->engine, err))
        return NULL;
    if (e->ops->pin(e, c->memory, c->bytes))
        log_debug("frame memory is not pinned: copies to the device will be slower");
    return e;
}

static void *run(void *arg)
{
    struct rebuild *r = arg;
    const struct rebuild_config *c = &r->config;
    int64_t pause_ns = c->remains ? retry_fails(c->retry, &limits, now_ns()) : 0;
    bool logged = false;

    engine_release(c->remains);
    while (wait_for(r, pause_ns)) {
        struct error err;
        struct engine *e = make(c, &err);

        if (e) {
            (void)pthread_mutex_lock(&r->lock);
            r->engine = e;
            (void)pthread_mutex_unlock(&r->lock);
            break;
        }
        if (logged)
            log_debug("%s", err.text);
        else
            log_warning("%s; retrying, at most once a minute", err.text);
        logged = true;
        pause_ns = retry_fails(c->retry, &limits, now_ns());
    }
    return NULL;
}

int rebuild_start(struct rebuild **ret, const struct rebuild_config *config)
{
    struct rebuild *r = calloc(1, sizeof(*r));

    if (!r)
        return -ENOMEM;
    r->config = *config;
    if (pthread_mutex_init(&r->lock, NULL))
        goto no_lock;
    if (condition_init(&r->stopped))
        goto no_condition;
    if (thread_start(&r->thread, "rebuild", run, r))
        goto no_thread;
    *ret = r;
    return 0;
no_thread:
    (void)pthread_cond_destroy(&r->stopped);
no_condition:
    (void)pthread_mutex_destroy(&r->lock);
no_lock:
    free(r);
    return -EAGAIN;
}

struct engine *rebuild_take(struct rebuild *r)
{
    struct engine *e;

    (void)pthread_mutex_lock(&r->lock);
    e = r->engine;
    r->engine = NULL;
    (void)pthread_mutex_unlock(&r->lock);
    return e;
}

void rebuild_stop(struct rebuild *r)
{
    if (!r)
        return;
    (void)pthread_mutex_lock(&r->lock);
    r->stop = true;
    (void)pthread_cond_signal(&r->stopped);
    (void)pthread_mutex_unlock(&r->lock);
    (void)pthread_join(r->thread, NULL);
    if (r->engine)
        r->engine->ops->destroy(r->engine);
    (void)pthread_cond_destroy(&r->stopped);
    (void)pthread_mutex_destroy(&r->lock);
    free(r);
}
