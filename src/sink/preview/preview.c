/* A live window.
 *
 * One rule: write never waits for the window. Pictures go through three buffers: the writer fills
 * one and swaps it with `ready`; the window thread swaps that with the one that it shows.
 * The window thread waits inside the window system, so a third thread, the waker, tells it of
 * new frames. The writer does not do that itself, because a stuck display server may hold the
 * window system's locks for any time. A window thread that does not come back from there is
 * left behind, and frees what is left once it does. */
#include "sink/sink.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/thread.h"
#include "picture/snapshot.h"
#include "sink/preview/show.h"
#include "sink/preview/window.h"

#define OPEN_LIMIT_NS (5 * NS_PER_S)     /* for the window to stand */
#define CLOSE_LIMIT_NS (500 * NS_PER_MS) /* for the threads to end */
#define SAVE_LIMIT_NS (5 * NS_PER_S)     /* and for a snapshot to be written */

enum window_state { WINDOW_OPENING, WINDOW_OPEN, WINDOW_FAILED, WINDOW_GONE };

/* A picture before and after the filter. Both own their memory. */
struct pair {
    struct frame before, after;
    uint8_t *counts; /* memory for those of `after` */
    bool compared;   /* `before` was given: this is no card */
};

struct preview {
    struct sink base;
    bool alone;

    pthread_mutex_t control_lock;       /* guards `control`, and is held while it is called */
    const struct sink_control *control; /* NULL once close has begun: then it may end any time */
    struct sink_control guarded;        /* the same for the window thread, with the lock */

    pthread_t window_thread;
    struct pair incoming; /* the writer's, as the next */
    bool loss_logged;

    pthread_mutex_t lock; /* guards the members from here to `abandoned` */
    pthread_cond_t changed;
    struct pair ready;
    bool fresh;     /* `ready` was not shown yet */
    bool announced; /* the window thread was woken for it */
    bool stop;
    enum window_state state;
    struct error why; /* with WINDOW_FAILED */
    bool saving;      /* a snapshot is being written */
    bool ended;       /* the window thread, and the waker with it */
    bool abandoned;   /* close did not wait for that */

    struct pair shown;             /* the window thread's */
    struct preview_window *window; /* the window thread's; others may wake it */
    struct preview_show show;      /* the window thread's */
};

static atomic_int n_left_behind; /* window threads */

/* SDL serves one window thread; the one before may have been left behind and still be closing. */
static pthread_mutex_t window_system = PTHREAD_MUTEX_INITIALIZER;

/* ------------------------------------------------------------------ control */

static void guarded_status(void *user, struct status *ret)
{
    struct preview *p = user;

    status_init(ret);
    (void)pthread_mutex_lock(&p->control_lock);
    if (p->control)
        p->control->status(p->control->user, ret);
    (void)pthread_mutex_unlock(&p->control_lock);
}

static void guarded_adjust(void *user, const char *key, int steps, char *text, size_t size)
{
    struct preview *p = user;

    *text = '\0';
    (void)pthread_mutex_lock(&p->control_lock);
    if (p->control)
        p->control->adjust(p->control->user, key, steps, text, size);
    (void)pthread_mutex_unlock(&p->control_lock);
}

static void guarded_toggle_time(void *user, char *text, size_t size)
{
    struct preview *p = user;

    *text = '\0';
    (void)pthread_mutex_lock(&p->control_lock);
    if (p->control)
        p->control->toggle_time(p->control->user, text, size);
    (void)pthread_mutex_unlock(&p->control_lock);
}

static void guarded_quit(void *user)
{
    struct preview *p = user;

    (void)pthread_mutex_lock(&p->control_lock);
    if (p->control)
        p->control->quit(p->control->user);
    (void)pthread_mutex_unlock(&p->control_lock);
}

/* A window thread that is left behind must not use what ends before it does. */
static void release_control(struct preview *p)
{
    (void)pthread_mutex_lock(&p->control_lock);
    p->control = NULL;
    (void)pthread_mutex_unlock(&p->control_lock);
}

/* ------------------------------------------------------------ window thread */

/* Takes the newest pictures for showing, if there are new ones. */
static bool take_ready(struct preview *p)
{
    bool fresh;

    (void)pthread_mutex_lock(&p->lock);
    fresh = p->fresh;
    if (fresh) {
        const struct pair swapped = p->shown;

        p->shown = p->ready;
        p->ready = swapped;
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

/* See preview_show_init(). */
static void set_saving(void *user, bool saving)
{
    struct preview *p = user;

    (void)pthread_mutex_lock(&p->lock);
    p->saving = saving;
    (void)pthread_cond_broadcast(&p->changed);
    (void)pthread_mutex_unlock(&p->lock);
}

/* Returns when the program ends, or when the user closed the window. */
static void show_until_stopped(struct preview *p)
{
    bool open = true;

    while (!is_stopped(p) && open) {
        if (!p->show.ui.frozen && take_ready(p))
            preview_show_pictures(&p->show, p->shown.compared ? &p->shown.before : NULL,
                                  &p->shown.after);
        open = preview_show_step(&p->show);
        if (!open && p->alone && !preview_window_lost())
            guarded_quit(p);
    }
}

/* From now on write has nobody to show its frames to, and the waker nobody to wake. */
static void set_gone(struct preview *p)
{
    (void)pthread_mutex_lock(&p->lock);
    p->state = WINDOW_GONE;
    (void)pthread_cond_broadcast(&p->changed);
    (void)pthread_mutex_unlock(&p->lock);
}

static void *waker_main(void *arg)
{
    struct preview *p = arg;
    bool stop = false;

    while (!stop) {
        (void)pthread_mutex_lock(&p->lock);
        while (!p->stop && p->state != WINDOW_GONE && !(p->fresh && !p->announced))
            (void)pthread_cond_wait(&p->changed, &p->lock);
        stop = p->stop || p->state == WINDOW_GONE;
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

static int alloc_pair(struct pair *pair, const struct frame *picture)
{
    pair->before = pair->after = *picture;
    pair->counts = malloc(frame_counts_size(picture));
    return frame_alloc(&pair->before) || frame_alloc(&pair->after) || !pair->counts ? -ENOMEM : 0;
}

static void free_pair(struct pair *pair)
{
    frame_free(&pair->before);
    frame_free(&pair->after);
    free(pair->counts);
}

static void destroy(struct preview *p)
{
    free_pair(&p->incoming);
    free_pair(&p->ready);
    free_pair(&p->shown);
    (void)pthread_cond_destroy(&p->changed);
    (void)pthread_mutex_destroy(&p->lock);
    (void)pthread_mutex_destroy(&p->control_lock);
    free(p);
}

static void *window_main(void *arg)
{
    struct preview *p = arg;
    bool abandoned;
    pthread_t waker;

    (void)pthread_mutex_lock(&window_system);
    if (!start_window(p, &waker)) {
        preview_show_init(&p->show, p->window, &p->guarded, set_saving, p);
        show_until_stopped(p);
        set_gone(p);
        preview_show_finish(&p->show);
        (void)pthread_join(waker, NULL);
    }
    preview_window_close(p->window);
    (void)pthread_mutex_unlock(&window_system);
    (void)pthread_mutex_lock(&p->lock);
    p->ended = true;
    abandoned = p->abandoned;
    (void)pthread_cond_broadcast(&p->changed);
    (void)pthread_mutex_unlock(&p->lock);
    if (abandoned) {
        destroy(p);
        atomic_fetch_sub(&n_left_behind, 1);
    }
    return NULL;
}

/* -------------------------------------------------------------------- sink */

/* Waits for the window thread's end, for a while, and longer where a snapshot would be lost.
 * Context: with the lock. */
static bool wait_ended(struct preview *p)
{
    struct timespec until = timespec_of(now_ns() + SAVE_LIMIT_NS);
    int r = 0;

    while (p->saving && !r)
        r = pthread_cond_timedwait(&p->changed, &p->lock, &until);
    until = timespec_of(now_ns() + CLOSE_LIMIT_NS);
    for (r = 0; !p->ended && !r;)
        r = pthread_cond_timedwait(&p->changed, &p->lock, &until);
    return p->ended;
}

/* The exit handlers of the window system's libraries come after this one, and would wait for
 * locks that a thread which was left behind may hold. */
static void exit_without_it(int status, void *unused)
{
    (void)unused;
    if (!atomic_load(&n_left_behind))
        return;
    (void)snapshots_end(0);
    (void)fflush(NULL);
    _exit(status);
}

/* Ends the threads and frees @p, or leaves that to them. */
static void end(struct preview *p)
{
    bool ended;

    release_control(p);
    (void)pthread_mutex_lock(&p->lock);
    p->stop = true;
    (void)pthread_cond_broadcast(&p->changed);
    ended = wait_ended(p);
    p->abandoned = !ended;
    if (!ended) {
        atomic_fetch_add(&n_left_behind, 1);
        (void)on_exit(exit_without_it, NULL);
        (void)pthread_detach(p->window_thread);
    }
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
    (void)pthread_mutex_init(&p->control_lock, NULL);
    (void)condition_init(&p->changed);
    p->base.ops = &sink_preview;
    (void)snprintf(p->base.name, sizeof(p->base.name), "preview window");
    p->control = config->control;
    p->guarded =
        (struct sink_control){p, guarded_status, guarded_adjust, guarded_toggle_time, guarded_quit};
    p->alone = config->alone;
    p->base.picture = frame_like(&config->picture);
    preview_window_adapt(&p->base.picture);
    (void)frame_layout(&p->base.picture);
    if (alloc_pair(&p->incoming, &p->base.picture) || alloc_pair(&p->ready, &p->base.picture) ||
        alloc_pair(&p->shown, &p->base.picture)) {
        destroy(p);
        return -ENOMEM;
    }
    *ret = p;
    return 0;
}

/* Waits until the window stands. */
static int wait_open(struct preview *p, struct error *err)
{
    const struct timespec until = timespec_of(now_ns() + OPEN_LIMIT_NS);
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

/* Shows the writer's pictures next. */
static void hand_over(struct preview *p)
{
    const struct pair filled = p->incoming;

    (void)pthread_mutex_lock(&p->lock);
    p->incoming = p->ready;
    p->ready = filled;
    p->fresh = true;
    (void)pthread_cond_broadcast(&p->changed);
    (void)pthread_mutex_unlock(&p->lock);
}

static bool is_gone(struct preview *p)
{
    bool gone;

    (void)pthread_mutex_lock(&p->lock);
    gone = p->state == WINDOW_GONE;
    (void)pthread_mutex_unlock(&p->lock);
    return gone;
}

/* There is no display any more: another output goes on without the window. */
static int write_lost(struct preview *p, struct error *err)
{
    if (p->alone)
        return error_set(err, -ENODEV, "preview window: the display has gone");
    if (!p->loss_logged)
        log_warning("preview window: the display has gone; going on without it");
    p->loss_logged = true;
    return 0;
}

static int preview_write(struct sink *s, const struct frame *f, const struct frame *before,
                         struct error *err)
{
    struct preview *p = (struct preview *)s;

    if (preview_window_lost())
        return write_lost(p, err);
    if (is_gone(p))
        return 0;
    frame_copy(&p->incoming.after, f);
    p->incoming.after.counts = f->counts ? p->incoming.counts : NULL;
    if (f->counts)
        memcpy(p->incoming.counts, f->counts, frame_counts_size(f));
    p->incoming.compared = before != NULL;
    if (before)
        frame_copy(&p->incoming.before, before);
    hand_over(p);
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
    .card = true,
    .compare = true,
    .open = preview_open,
    .write = preview_write,
    .close = preview_close,
};
