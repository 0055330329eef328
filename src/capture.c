#include "capture.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>

#include "log.h"

#define RECONNECT_FIRST_NS 250000000
#define RECONNECT_LAST_NS 2000000000

int capture_open(struct capture *c, const struct source_ops *ops,
                 const struct source_config *config, struct error *err)
{
    const struct source *s;
    int r;

    c->config = *config;
    r = ops->open(&c->source, config, err);
    if (r)
        return r;
    s = c->source;
    if (s->format == FRAME_MJPG && mjpeg_create(&c->mjpeg))
        return error_set(err, -ENOMEM, "%s: no JPEG decoder", s->name);
    c->shared->live = s->live;
    if (s->fps.num)
        c->shared->interval_ns = (int64_t)s->fps.den * 1000000000 / s->fps.num;
    return 0;
}

void capture_close(struct capture *c)
{
    if (c->source)
        c->source->ops->close(c->source);
    mjpeg_destroy(c->mjpeg);
}

static void report(struct capture *c)
{
    const struct source *s = c->source;
    const uint64_t dropped = c->n_dropped_before + (s ? s->n_dropped : 0);
    const uint64_t bad = c->n_bad_before + (s ? s->n_bad : 0) + c->n_bad_jpegs;

    stats_input(c->shared->stats, c->n_delivered + dropped + bad, dropped, bad, c->n_reconnects);
}

static void set_source_lost(struct shared *s, bool lost)
{
    (void)pthread_mutex_lock(&s->lock);
    s->source_lost = lost;
    (void)pthread_mutex_unlock(&s->lock);
}

static bool stopped_within(const struct shared *s, int64_t ns)
{
    struct pollfd fd = {.fd = s->stop_fd, .events = POLLIN};

    return poll(&fd, 1, (int)(ns / 1000000)) > 0;
}

/* The state of a lost camera is told when it begins and when it ends, not at every attempt. */
static void note_lost(struct capture *c, const struct error *why)
{
    if (c->lost) {
        log_debug("%s", why->text);
        return;
    }
    log_warning("%s; waiting for the camera to come back", why->text);
    c->lost = true;
    c->wait_ns = RECONNECT_FIRST_NS;
    set_source_lost(c->shared, true);
}

static void note_back(struct capture *c)
{
    log_info("%s is back", c->source->name);
    c->lost = false;
    c->n_reconnects++;
    set_source_lost(c->shared, false);
}

/* A camera that went is opened again, with the very same picture, until it is back. False: the
 * program is to stop. */
static bool reconnect(struct capture *c, const struct error *why)
{
    const struct source_ops *ops = c->source->ops;
    struct error err;

    note_lost(c, why);
    /* "auto" must not turn to another camera while one looks elsewhere. */
    (void)snprintf(c->name, sizeof(c->name), "%s", c->source->reopen);
    c->config.name = c->name;
    c->config.width = c->source->width;
    c->config.height = c->source->height;
    c->config.format = (int)c->source->format;
    c->config.exact = true;
    c->n_dropped_before += c->source->n_dropped;
    c->n_bad_before += c->source->n_bad;
    ops->close(c->source);
    c->source = NULL;
    for (;;) {
        if (stopped_within(c->shared, c->wait_ns))
            return false;
        c->wait_ns = c->wait_ns * 2 < RECONNECT_LAST_NS ? c->wait_ns * 2 : RECONNECT_LAST_NS;
        if (ops->open(&c->source, &c->config, &err) == 0)
            return true;
        log_debug("%s", err.text);
    }
}

/* True: read again. */
static bool handle_read_error(struct capture *c, int code, const struct error *err)
{
    if (code == -ECANCELED || code == -ENODATA)
        return false;
    if (c->shared->live && (code == -ENODEV || code == -ETIMEDOUT || code == -EIO))
        return reconnect(c, err);
    shared_fail(c->shared, code, err);
    return false;
}

/* The camera's layout to the working layout. False: the frame is damaged. */
static bool take_picture(struct capture *c, const struct frame *image)
{
    struct slot *slot = c->slot;
    struct error err;
    int r = 0;

    slot->raw.colour = slot->out.colour = image->colour;
    slot->raw.seq = slot->out.seq = image->seq;
    slot->raw.t_capture_ns = slot->out.t_capture_ns = image->t_capture_ns;
    if (image->format == FRAME_MJPG)
        r = mjpeg_decode(c->mjpeg, image, &slot->raw, &err);
    else
        convert_frame(&slot->raw, image);
    if (r)
        log_debug("frame %llu: %s", (unsigned long long)image->seq, err.text);
    return r == 0;
}

/* False: the reader of the ring has gone. */
static bool deliver(struct capture *c, const struct frame *image)
{
    const int64_t t_read = now_ns();
    const bool whole = take_picture(c, image);

    if (c->lost && whole)
        note_back(c);

    c->source->ops->release(c->source);
    c->slot->wait_ns = t_read - image->t_capture_ns;
    c->slot->t_ready_ns = now_ns();
    c->slot->convert_ns = c->slot->t_ready_ns - t_read;
    if (!whole) {
        c->n_bad_jpegs++;
        return true;
    }
    c->n_delivered++;
    if (ring_put(c->out, &c->slot) == 0)
        return true;
    stats_unshown(c->shared->stats, 1);
    return false;
}

void *capture_run(void *arg)
{
    struct capture *c = arg;
    const struct shared *s = c->shared;
    struct error err = {.text = ""};
    bool go_on = true;

    while (go_on) {
        struct frame image;
        const int r = c->source->ops->read(c->source, &image, &err);

        go_on = r ? handle_read_error(c, r, &err) : deliver(c, &image);
        report(c);
        /* A live stream ends when enough frames came out: some may never get there. */
        if (!s->live && s->max_frames && c->n_delivered >= s->max_frames)
            go_on = false;
    }
    ring_close(c->out);
    return NULL;
}
