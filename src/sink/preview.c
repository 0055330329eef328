/* A live window.
 *
 * One rule: write never waits for the window. Frames go through three buffers: the writer fills
 * one and swaps it with `ready`; the window thread swaps that with the one that it shows.
 * The window thread waits inside the window system, so a third thread, the waker, tells it of
 * new frames. The writer does not do that itself, because a stuck display server may hold the
 * window system's locks for any time. A window thread that does not come back from there is
 * left behind, and frees what is left once it does. */
#include "sink.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "preview_window.h"
#include "thread.h"

#define OPEN_LIMIT_NS 5000000000 /* for the window to stand */
#define CLOSE_LIMIT_NS 500000000 /* for the threads to end */

enum window_state { WINDOW_OPENING, WINDOW_OPEN, WINDOW_FAILED };

struct preview {
    struct sink base;
    const struct sink_control *control;
    pthread_t window_thread;
    struct frame incoming; /* the writer's; owns its memory, as do `ready` and `shown` */

    pthread_mutex_t lock; /* guards the members from here to `abandoned` */
    pthread_cond_t changed;
    struct frame ready;
    bool fresh;     /* `ready` was not shown yet */
    bool announced; /* the window thread was woken for it */
    bool stop;
    enum window_state state;
    struct error why; /* with WINDOW_FAILED */
    bool ended;       /* the window thread, and the waker with it */
    bool abandoned;   /* close did not wait for that */

    struct frame shown;            /* the window thread's */
    struct preview_window *window; /* the window thread's; the waker may wake it */
};

/* ----------------------------------------------------------------- threads */

/* Takes the newest frame for showing, if there is one. */
static bool take_ready(struct preview *p)
{
    bool fresh;

    (void)pthread_mutex_lock(&p->lock);
    fresh = p->fresh;
    if (fresh) {
        const struct frame f = p->shown;

        p->shown = p->ready;
        p->ready = f;
    }
    p->fresh = false;
    p->announced = false;
    (void)pthread_mutex_unlock(&p->lock);
    return fresh;
}

static bool is_stopped(struct preview *p)
{
    bool stop;

    (void)pthread_mutex_lock(&p->lock);
    stop = p->stop;
    (void)pthread_mutex_unlock(&p->lock);
    return stop;
}

static void show_until_stopped(struct preview *p)
{
    struct preview_events happened = {.redraw = true};

    while (!is_stopped(p) && !happened.lost) {
        if (take_ready(p)) {
            preview_window_set(p->window, &p->shown);
            happened.redraw = true;
        }
        if (happened.redraw)
            preview_window_draw(p->window);
        happened = preview_window_wait(p->window);
        if (happened.quit || happened.lost)
            p->control->quit(p->control->user);
    }
}

static void *waker_main(void *arg)
{
    struct preview *p = arg;
    bool stop = false;

    while (!stop) {
        (void)pthread_mutex_lock(&p->lock);
        while (!p->stop && !(p->fresh && !p->announced))
            (void)pthread_cond_wait(&p->changed, &p->lock);
        stop = p->stop;
        p->announced = true;
        (void)pthread_mutex_unlock(&p->lock);
        preview_window_wake(p->window);
    }
    return NULL;
}

/* Opens the window and starts the waker, and tells preview_open() how that went. */
static int start_window(struct preview *p, pthread_t *waker)
{
    struct error why = {0};
    int r = preview_window_open(&p->window, &p->base.picture, &why);

    if (!r) {
        r = thread_start(waker, "preview-wake", waker_main, p);
        if (r)
            (void)error_set(&why, r, "preview window: cannot start a thread: %s", strerror(-r));
    }
    (void)pthread_mutex_lock(&p->lock);
    p->state = r ? WINDOW_FAILED : WINDOW_OPEN;
    p->why = why;
    (void)pthread_cond_broadcast(&p->changed);
    (void)pthread_mutex_unlock(&p->lock);
    return r;
}

static void destroy(struct preview *p)
{
    frame_free(&p->incoming);
    frame_free(&p->ready);
    frame_free(&p->shown);
    (void)pthread_cond_destroy(&p->changed);
    (void)pthread_mutex_destroy(&p->lock);
    free(p);
}

static void *window_main(void *arg)
{
    struct preview *p = arg;
    bool abandoned;
    pthread_t waker;

    if (!start_window(p, &waker)) {
        show_until_stopped(p);
        (void)pthread_join(waker, NULL);
    }
    preview_window_close(p->window);
    (void)pthread_mutex_lock(&p->lock);
    p->ended = true;
    abandoned = p->abandoned;
    (void)pthread_cond_broadcast(&p->changed);
    (void)pthread_mutex_unlock(&p->lock);
    if (abandoned)
        destroy(p);
    return NULL;
}

/* -------------------------------------------------------------------- sink */

static struct timespec deadline(int64_t limit_ns)
{
    const int64_t t = now_ns() + limit_ns;

    return (struct timespec){t / 1000000000, t % 1000000000};
}

/* Ends the threads and frees @p, or leaves that to them. */
static void end(struct preview *p)
{
    const struct timespec until = deadline(CLOSE_LIMIT_NS);
    bool ended;

    (void)pthread_mutex_lock(&p->lock);
    p->stop = true;
    (void)pthread_cond_broadcast(&p->changed);
    while (!p->ended && !pthread_cond_timedwait(&p->changed, &p->lock, &until))
        ;
    ended = p->ended;
    p->abandoned = !ended;
    if (!ended)
        (void)pthread_detach(p->window_thread);
    (void)pthread_mutex_unlock(&p->lock);
    if (!ended)
        return;
    (void)pthread_join(p->window_thread, NULL);
    destroy(p);
}

static int create(struct preview **ret, const struct sink_config *config)
{
    struct preview *p = calloc(1, sizeof(*p));

    if (!p)
        return -ENOMEM;
    (void)pthread_mutex_init(&p->lock, NULL);
    (void)condition_init(&p->changed);
    p->base.ops = &sink_preview;
    (void)snprintf(p->base.name, sizeof(p->base.name), "preview window");
    p->control = config->control;
    p->base.picture = frame_like(&config->picture);
    preview_window_adapt(&p->base.picture);
    (void)frame_layout(&p->base.picture);
    p->incoming = p->ready = p->shown = p->base.picture;
    if (frame_alloc(&p->incoming) || frame_alloc(&p->ready) || frame_alloc(&p->shown)) {
        destroy(p);
        return -ENOMEM;
    }
    *ret = p;
    return 0;
}

/* Waits until the window stands. */
static int wait_open(struct preview *p, struct error *err)
{
    const struct timespec until = deadline(OPEN_LIMIT_NS);
    enum window_state state;
    int r = 0;

    (void)pthread_mutex_lock(&p->lock);
    while (p->state == WINDOW_OPENING && !r)
        r = pthread_cond_timedwait(&p->changed, &p->lock, &until);
    state = p->state;
    if (state == WINDOW_FAILED)
        (void)error_set(err, -ENODEV, "%s", p->why.text);
    (void)pthread_mutex_unlock(&p->lock);
    if (state == WINDOW_OPENING)
        (void)error_set(err, -ENODEV, "preview window: the display does not answer");
    return state == WINDOW_OPEN ? 0 : -ENODEV;
}

static int preview_open(struct sink **ret, const struct sink_config *config, struct error *err)
{
    struct preview *p;
    int r = create(&p, config);

    if (r)
        return error_set(err, r, "preview window: out of memory");
    r = thread_start(&p->window_thread, "preview", window_main, p);
    if (r) {
        destroy(p);
        return error_set(err, r, "preview window: cannot start a thread: %s", strerror(-r));
    }
    r = wait_open(p, err);
    if (r) {
        end(p);
        return r;
    }
    *ret = &p->base;
    return 0;
}

static int preview_write(struct sink *s, const struct frame *f, struct error *err)
{
    struct preview *p = (struct preview *)s;
    struct frame filled;

    (void)err;
    frame_copy(&p->incoming, f);
    filled = p->incoming;
    (void)pthread_mutex_lock(&p->lock);
    p->incoming = p->ready;
    p->ready = filled;
    p->fresh = true;
    (void)pthread_cond_broadcast(&p->changed);
    (void)pthread_mutex_unlock(&p->lock);
    return 0;
}

static int preview_close(struct sink *s, struct error *err)
{
    (void)err;
    if (s)
        end((struct preview *)s);
    return 0;
}

const struct sink_ops sink_preview = {
    .name = "preview",
    .open = preview_open,
    .write = preview_write,
    .close = preview_close,
};
