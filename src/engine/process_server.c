/* The half of an engine in a process of its own that is the process. */
#include "engine/process.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/log.h"
#include "engine/process_orders.h"

struct server {
    const struct engine_ops *ops;
    struct engine *engine;
    uint8_t *memory;
    size_t bytes;
};

static int serve_map(struct server *s, size_t bytes)
{
    if (s->memory) {
        s->engine->ops->unpin(s->engine, s->memory);
        (void)munmap(s->memory, s->bytes);
    }
    s->memory = map_memory(MEMORY_FD, bytes);
    s->bytes = bytes;
    if (!s->memory)
        return -ENOMEM;
    (void)s->engine->ops->pin(s->engine, s->memory, bytes); /* else it is slower */
    return 0;
}

static int serve_picture(struct server *s, const struct order *o, struct engine_report *ret)
{
    struct pictures p;
    int r;

    if (!s->memory || place_pictures(&p, &o->shape, s->memory) > s->bytes)
        return -EINVAL;
    if (o->forget)
        s->engine->ops->forget(s->engine);
    if (o->kind == ORDER_PASS)
        return s->engine->ops->pass(s->engine, &p.in);
    r = s->engine->ops->submit(s->engine, &p.in, &p.out, &o->filter);
    if (r == 0)
        r = s->engine->ops->collect(s->engine);
    if (r)
        return r;
    s->engine->ops->report(s->engine, ret);
    if (ret->counts)
        memcpy(p.counts, ret->counts, frame_counts_size(&p.in));
    return 0;
}

static void serve(struct server *s, const struct order *o, struct answer *a)
{
    if (o->kind == ORDER_CREATE && !s->engine) {
        a->code = s->ops->create(&s->engine, &o->config, &a->err);
        if (a->code == 0)
            memcpy(a->device, s->engine->device, sizeof(a->device));
    } else if (o->kind == ORDER_MAP && s->engine) {
        a->code = serve_map(s, o->bytes);
    } else if (o->kind != ORDER_CREATE && s->engine) {
        a->code = serve_picture(s, o, &a->report);
    }
}

/* Ends the process with its owner, whatever the engine hangs in. */
static void *watch_owner(void *unused)
{
    struct pollfd fd = {.fd = SOCKET_FD};

    (void)unused;
    while (poll(&fd, 1, -1) < 0 && errno == EINTR)
        ;
    _exit(0);
}

int engine_process_main(const struct engine_ops *const *engines, int argc, char **argv)
{
    struct server s = {.ops = NULL};
    pthread_t watcher;
    struct order o;

    if (argc != 2 || strcmp(argv[0], PROCESS_NAME))
        return -1;
    (void)prctl(PR_SET_NAME, PROCESS_NAME); /* else it is called after its path, "exe" */
    log_init();
    log_set_level(LOG_ERROR);
    /* A terminal and systemd tell every process to stop; the owner is the one to decide. */
    (void)signal(SIGINT, SIG_IGN);
    (void)signal(SIGTERM, SIG_IGN);
    (void)signal(SIGHUP, SIG_IGN);
    s.ops = engine_find(engines, argv[1]);
    if (!s.ops || s.ops->missing || pthread_create(&watcher, NULL, watch_owner, NULL))
        return 1;
    while (recv(SOCKET_FD, &o, sizeof(o), 0) == sizeof(o)) {
        struct answer a = {.code = -EINVAL};

        serve(&s, &o, &a);
        if (send(SOCKET_FD, &a, sizeof(a), MSG_NOSIGNAL) != sizeof(a))
            break;
    }
    if (s.engine)
        s.engine->ops->destroy(s.engine);
    return 0;
}
