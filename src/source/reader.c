#include "source/reader.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/event.h"
#include "base/thread.h"
#include "source/bursts.h"

#define FIRST_NS (20 * NS_PER_S)   /* to the first picture: cameras send whole ones seldom */
#define SILENT_NS (5 * NS_PER_S)   /* between two of a live stream; wireless ones pause, too */
#define PIECE_NS (30 * NS_PER_S)   /* the same of one that comes in pieces */
#define CLOSE_NS (300 * NS_PER_MS) /* for the thread to end, and to say goodbye to the camera */

/* Freed by the last of the two that use it. */
struct reader {
    char name[SOURCE_NAME_MAX];
    char file[128];
    int threads;
    struct decoder
        decoder; /* the thread's; of all once the first picture is there, till it goes on */
    struct bursts bursts; /* the thread's */
    int64_t silent_ns;    /* set before the first picture */
    int bell;             /* rung: there is a picture, or the end */
    int stop_fd;          /* rung by close */

    pthread_mutex_t lock; /* guards the rest */
    pthread_cond_t changed;
    int n_users;
    bool goes_on; /* the first picture was taken */
    bool closes;
    bool full; /* there is a picture */
    AVFrame *picture;
    uint64_t n_dropped, n_bad;
    int end_code;     /* how it ended; or 0 */
    struct error end; /* the same in words */
};

static void free_reader(struct reader *r)
{
    av_frame_free(&r->picture);
    event_close(r->bell);
    event_close(r->stop_fd);
    (void)pthread_cond_destroy(&r->changed);
    (void)pthread_mutex_destroy(&r->lock);
    free(r);
}

static void leave(struct reader *r)
{
    bool last;

    (void)pthread_mutex_lock(&r->lock);
    last = --r->n_users == 0;
    (void)pthread_cond_broadcast(&r->changed);
    (void)pthread_mutex_unlock(&r->lock);
    if (last)
        free_reader(r);
}

/* ------------------------------------------------------------------ the thread */

/* Holds a live picture back until it is due. With the lock held. */
static void hold(struct reader *r)
{
    const struct decoder *d = &r->decoder;
    const int64_t pts = d->frame->best_effort_timestamp;
    const int64_t shown_ns =
        pts == AV_NOPTS_VALUE ? BURSTS_NO_TIME
                              : av_rescale_q(pts, d->stream->time_base, (AVRational){1, NS_PER_S});
    const struct timespec due = timespec_of(bursts_due(&r->bursts, shown_ns, now_ns()));
    int code = 0;

    while (!code && !r->closes)
        code = pthread_cond_timedwait(&r->changed, &r->lock, &due);
}

/* Waits where the picture before must not be lost. False: nobody wants any more. */
static bool put(struct reader *r)
{
    bool ret;

    (void)pthread_mutex_lock(&r->lock);
    /* How long the first picture waits to be taken says nothing of the stream. */
    if (r->decoder.live && r->goes_on)
        hold(r);
    while (r->full && !r->decoder.live && !r->closes)
        (void)pthread_cond_wait(&r->changed, &r->lock);
    if (r->full) {
        av_frame_unref(r->picture);
        r->n_dropped++;
    }
    av_frame_move_ref(r->picture, r->decoder.frame);
    r->full = true;
    r->n_bad = r->decoder.n_bad;
    event_ring(r->bell);
    while (!r->goes_on && !r->closes)
        (void)pthread_cond_wait(&r->changed, &r->lock);
    ret = !r->closes;
    (void)pthread_mutex_unlock(&r->lock);
    return ret;
}

/* A live stream never just ends, nor is it damaged by what it lost. */
static int live_end(const struct reader *r, struct error *ret)
{
    const int cut = r->decoder.cut;
    char why[AV_ERROR_MAX_STRING_SIZE];

    if (!cut || cut == AVERROR(EIO))
        return error_set(ret, -EIO, "%s has ended", r->file);
    return error_set(ret, -EIO, "%s broke off: %s", r->file, video_strerror(cut, why, sizeof(why)));
}

static void note_end(struct reader *r, int code, const struct error *why)
{
    (void)pthread_mutex_lock(&r->lock);
    r->end = *why;
    r->end_code = code;
    if (r->decoder.live && (code == -ENODATA || code == -EBADMSG))
        r->end_code = live_end(r, &r->end);
    r->n_bad = r->decoder.n_bad;
    event_ring(r->bell);
    (void)pthread_mutex_unlock(&r->lock);
}

static void begin(struct reader *r)
{
    const bool pieces = video_input_in_pieces(&r->decoder.in);

    bursts_init(&r->bursts, pieces);
    r->silent_ns = pieces ? PIECE_NS : SILENT_NS;
}

static void *reader_run(void *arg)
{
    struct reader *r = arg;
    struct decoder *d = &r->decoder;
    struct error err = {.text = ""};
    int code = decoder_open(d, r->name, r->file, r->threads, r->stop_fd, &err);

    if (!code)
        begin(r);
    while (!code) {
        code = decoder_next(d, r->file, r->stop_fd, &err);
        if (!code && !put(r))
            code = -ECANCELED;
    }
    note_end(r, code, &err);
    d->in.stop_fd = -1;
    d->in.t_limit_ns = now_ns() + CLOSE_NS;
    decoder_close(d);
    leave(r);
    return NULL;
}

/* ---------------------------------------------------------------- the others */

static int create(struct reader **ret, const char *name, const char *file)
{
    struct reader *r = calloc(1, sizeof(*r));

    if (!r)
        return -ENOMEM;
    (void)snprintf(r->name, sizeof(r->name), "%s", name);
    (void)snprintf(r->file, sizeof(r->file), "%s", file);
    (void)pthread_mutex_init(&r->lock, NULL);
    (void)condition_init(&r->changed);
    r->bell = event_open();
    r->stop_fd = event_open();
    r->picture = av_frame_alloc();
    if (r->bell < 0 || r->stop_fd < 0 || !r->picture) {
        free_reader(r);
        return -ENOMEM;
    }
    *ret = r;
    return 0;
}

static int start(struct reader *r)
{
    pthread_t thread;
    int code;

    r->n_users = 2;
    code = thread_start(&thread, "network", reader_run, r);
    if (code)
        r->n_users = 1;
    else
        (void)pthread_detach(thread);
    return code;
}

/* Until there is a picture or the end. */
static int wait_for_bell(const struct reader *r, int stop_fd, int64_t t_ns, struct error *err)
{
    struct pollfd fds[2] = {{.fd = stop_fd, .events = POLLIN}, {.fd = r->bell, .events = POLLIN}};
    int n;

    do
        n = poll(fds, 2, poll_ms(t_ns, now_ns()));
    while (n < 0 && errno == EINTR && !event_rung(stop_fd));
    if (n < 0 || fds[0].revents)
        return error_set(err, -ECANCELED, "stopped reading %s", r->file);
    return n > 0 ? 0 : error_set(err, -ETIMEDOUT, "%s gives no pictures", r->file);
}

/* How it ended, where there is no picture left. With the lock held. */
static int tell_end(const struct reader *r, struct error *err)
{
    if (r->full || !r->end_code)
        return 0;
    *err = r->end;
    return r->end_code;
}

int reader_open(struct reader **ret, const struct source_config *config, const char *file,
                struct error *err)
{
    struct reader *r;
    int code = create(&r, config->name, file);

    if (code)
        return error_set(err, code, "out of memory for %s", file);
    r->threads = config->threads;
    r->decoder.became_interlaced = config->became_interlaced;
    code = start(r);
    if (code)
        (void)error_set(err, code, "cannot start a thread for %s", file);
    else
        code = wait_for_bell(r, config->stop_fd, now_ns() + FIRST_NS, err);
    if (!code) {
        (void)pthread_mutex_lock(&r->lock);
        code = tell_end(r, err);
        (void)pthread_mutex_unlock(&r->lock);
    }
    if (code)
        reader_close(r);
    else
        *ret = r;
    return code;
}

const struct decoder *reader_decoder(const struct reader *r)
{
    return &r->decoder;
}

const AVFrame *reader_first(const struct reader *r)
{
    return r->picture;
}

int reader_take(struct reader *r, AVFrame *to, int stop_fd, struct error *err)
{
    const int64_t t_ns = r->decoder.live ? now_ns() + r->silent_ns : INT64_MAX;
    int code;

    for (;;) {
        (void)pthread_mutex_lock(&r->lock);
        (void)event_clear(r->bell);
        code = tell_end(r, err);
        if (r->full) {
            av_frame_unref(to);
            av_frame_move_ref(to, r->picture);
            r->full = false;
            r->goes_on = true;
            (void)pthread_cond_broadcast(&r->changed);
            (void)pthread_mutex_unlock(&r->lock);
            return 0;
        }
        (void)pthread_mutex_unlock(&r->lock);
        if (!code)
            code = wait_for_bell(r, stop_fd, t_ns, err);
        if (code)
            return code;
    }
}

void reader_counts(struct reader *r, uint64_t *ret_dropped, uint64_t *ret_bad)
{
    (void)pthread_mutex_lock(&r->lock);
    *ret_dropped = r->n_dropped;
    *ret_bad = r->n_bad;
    (void)pthread_mutex_unlock(&r->lock);
}

void reader_close(struct reader *r)
{
    const struct timespec limit = timespec_of(now_ns() + CLOSE_NS);
    int code = 0;

    if (!r)
        return;
    event_ring(r->stop_fd);
    (void)pthread_mutex_lock(&r->lock);
    r->closes = true;
    (void)pthread_cond_broadcast(&r->changed);
    while (!code && r->n_users > 1)
        code = pthread_cond_timedwait(&r->changed, &r->lock, &limit);
    (void)pthread_mutex_unlock(&r->lock);
    leave(r);
}
