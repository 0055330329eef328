#include "pipeline/capture.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/event.h"
#include "base/log.h"
#include "base/pace.h"
#include "base/thread.h"
#include "base/url.h"
#include "picture/colour.h"

#define OTHER_NS (2 * NS_PER_S) /* "auto" waits so long for the camera that it lost */

/* Reopen the camera after this long with only damaged frames. */
#define DAMAGED_NS NS_PER_S

/* What is assumed of a camera that is not there yet. */
#define ASSUMED_WIDTH 1280
#define ASSUMED_HEIGHT 720
#define ASSUMED_FPS 30

static struct source_config config_of(const struct capture *c, const char *name, bool again)
{
    const bool keep = again && !c->request.width;

    return (struct source_config){
        .name = name,
        .width = keep ? c->picture.width : c->request.width,
        .height = keep ? c->picture.height : c->request.height,
        .fps = c->request.fps,
        .format = c->request.format,
        .depth = c->request.depth,
        .live_depth = c->request.live_depth,
        .threads = c->request.threads,
        .again = again,
        .returns = *c->found != '\0',
        .became_interlaced = c->became_interlaced,
        .stop_fd = c->wait_fd,
    };
}

static void close_source(struct capture *c)
{
    if (!c->source)
        return;
    c->n_dropped_before += c->source->n_dropped;
    c->n_bad_before += c->source->n_bad;
    c->became_interlaced = c->source->became_interlaced;
    c->source->ops->close(c->source);
    c->source = NULL;
    c->run++;
    camera_delay_reset(&c->delay);
}

/* Makes room for pictures that are not as the slots are. */
static int prepare_pictures(struct capture *c)
{
    const struct source *s = c->source;
    const bool jpeg = s->format == FRAME_MJPG;
    const struct frame shape = {.format = jpeg ? working_format(s->format, 8) : c->picture.format,
                                .width = s->width,
                                .height = s->height};
    int r;

    if (jpeg && !c->mjpeg && mjpeg_create(&c->mjpeg, online_cpus(), c->request.jpegs))
        return -ENOTSUP;
    c->direct = shape.width == c->picture.width && shape.height == c->picture.height &&
                shape.format == c->picture.format;
    if (c->direct || scaler_suits(c->scaler, &shape))
        return 0;
    scaler_destroy(c->scaler);
    c->scaler = NULL;
    frame_free(&c->scratch);
    c->scratch = shape;
    r = frame_alloc(&c->scratch);
    return r ? r : scaler_create(&c->scaler, &c->picture, &shape);
}

static int open_source(struct capture *c, const char *name, bool again, struct error *err)
{
    const struct source_config config = config_of(c, name, again);
    const int r = c->request.ops->open(&c->source, &config, err);

    if (r)
        return r;
    (void)snprintf(c->found, sizeof(c->found), "%s", c->source->reopen);
    c->retry.limits = retry_limits_of(c->source->ops->unannounced || c->request.ops->unannounced);
    return 0;
}

/* Keeps what the first source is like. */
static void adopt(struct capture *c)
{
    const struct source *s = c->source;
    const enum frame_format format =
        working_format(s->format, s->live ? c->request.live_depth : c->request.depth);
    const struct colour colour = colour_in(format, s->colour);

    (void)snprintf(c->name, sizeof(c->name), "%s", s->name);
    c->format = s->format;
    c->picture =
        (struct frame){.format = format, .width = s->width, .height = s->height, .colour = colour};
    c->fps = s->fps;
}

/* There is no source yet: the picture shall be as the user asks. */
static int assume(struct capture *c, struct error *err)
{
    const struct capture_request *w = &c->request;
    const char *problem;
    char shown[101];

    (void)snprintf(c->name, sizeof(c->name), "camera '%s'",
                   url_public(w->name, shown, sizeof(shown)));
    c->format = w->format < 0 ? FRAME_YUYV : (enum frame_format)w->format;
    c->picture = (struct frame){.format = working_format(c->format, w->live_depth),
                                .width = w->width ? w->width : ASSUMED_WIDTH,
                                .height = w->height ? w->height : ASSUMED_HEIGHT,
                                .colour = colour_in(c->format, (struct colour){0})};
    problem = frame_size_problem(c->picture.width, c->picture.height);
    if (problem)
        return error_usage(err, "size %dx%d: %s", w->width, w->height, problem);
    c->fps = w->fps.num ? w->fps : (struct fraction){ASSUMED_FPS, 1};
    return 0;
}

static int open_wait_fd(struct capture *c)
{
    const int fds[] = {stream_fd(c->stream, STREAM_EVENT_STOP),
                       stream_fd(c->stream, STREAM_EVENT_WAKE)};

    c->wait_fd = epoll_create1(EPOLL_CLOEXEC);
    if (c->wait_fd < 0)
        return -errno;
    for (int i = 0; i < 2; i++) {
        struct epoll_event e = {.events = EPOLLIN};

        if (epoll_ctl(c->wait_fd, EPOLL_CTL_ADD, fds[i], &e))
            return -errno;
    }
    return 0;
}

static void set_state(struct capture *c, enum stream_state state, const char *reason)
{
    c->state = state;
    stream_set_state(c->stream, state, reason);
}

/* "auto" means the camera that there was, and any other only after a while: one that is replugged
 * comes back. The same goes for other names that leave the choice. */
static bool may_take_other(const struct capture *c)
{
    return *c->found && strcmp(c->found, c->request.name) != 0;
}

/* Adds what tells of the camera's release to what the thread waits for. */
static void wait_for_release(struct capture *c)
{
    struct device_release *const release = &c->retry.release;
    struct epoll_event e = {.events = EPOLLIN};

    if (release->fd >= 0 && epoll_ctl(c->wait_fd, EPOLL_CTL_ADD, release->fd, &e))
        device_release_stop(release);
}

/* The state of a lost camera is told when it begins and when it ends, not at every attempt.
 * Context: the source is closed. */
static void note_lost(struct capture *c, int code, const struct error *why)
{
    const int64_t now = now_ns();
    int64_t t_other; /* when another camera may be taken */

    if (c->lost) {
        log_debug("%s", why->text);
    } else {
        log_warning("%s; waiting for the camera", why->text);
        c->t_lost_ns = now;
    }
    c->lost = true;
    t_other = may_take_other(c) ? c->t_lost_ns + OTHER_NS : 0;
    device_retry_fails(&c->retry, code, c->request.name);
    if (now < t_other && t_other < c->retry.pauses.t_next_ns)
        c->retry.pauses.t_next_ns = t_other;
    if (code == -EBUSY)
        wait_for_release(c);
    set_state(c, STREAM_LOST, why->text);
}

/* A camera that is not there yet will be live. */
static void announce(const struct capture *c)
{
    const bool live = c->source ? c->source->live : true;
    const int64_t interval_ns = c->fps.num ? pace_ns(c->fps.num, c->fps.den, 1) : 0;

    stream_announce(c->stream, live, interval_ns);
}

int capture_open(struct capture *c, struct stream *stream, const struct capture_request *request,
                 bool wait, struct error *err)
{
    int r;

    c->stream = stream;
    c->request = *request;
    c->stretch = (struct stretch){.min = request->levels[0], .max = request->levels[1]};
    c->wait_fd = -1;
    device_retry_init(&c->retry, retry_limits_of(request->ops->unannounced));
    if (pthread_mutex_init(&c->lock, NULL))
        return error_set(err, -ENOMEM, "out of memory");
    r = open_wait_fd(c);
    if (r)
        return error_set(err, r, "epoll: %s", strerror(-r));
    set_state(c, STREAM_STARTS, NULL);
    c->t_whole_ns = now_ns();
    r = open_source(c, c->request.name, false, err);
    if (r == 0) {
        adopt(c);
        r = prepare_pictures(c);
        if (r)
            return error_set(err, r, "%s: no memory or no JPEG decoder", c->name);
    } else if (wait && request->ops->device && r != -ECANCELED && !err->usage) {
        note_lost(c, r, err);
        r = assume(c, err);
    }
    if (r == 0)
        announce(c);
    return r;
}

void capture_close(struct capture *c)
{
    if (!c->request.ops)
        return;
    close_source(c);
    mjpeg_destroy(c->mjpeg);
    scaler_destroy(c->scaler);
    frame_free(&c->scratch);
    device_release_stop(&c->retry.release);
    if (c->wait_fd >= 0)
        (void)close(c->wait_fd);
    (void)pthread_mutex_destroy(&c->lock);
}

void capture_connect(struct capture *c, struct ring *out, struct slot *slot)
{
    c->out = out;
    c->slot = slot;
}

void capture_change(struct capture *c, const struct capture_request *request)
{
    (void)pthread_mutex_lock(&c->lock);
    c->next_request = *request;
    c->has_next_request = true;
    (void)pthread_mutex_unlock(&c->lock);
    stream_signal(c->stream, STREAM_EVENT_WAKE);
}

static void take_request(struct capture *c)
{
    (void)pthread_mutex_lock(&c->lock);
    if (c->has_next_request) {
        close_source(c);
        c->request = c->next_request;
        c->found[0] = '\0';
        c->became_interlaced = false;
        c->retry.limits = retry_limits_of(c->request.ops->unannounced);
        c->retry.pauses = (struct retry){.t_next_ns = 0};
        c->has_next_request = false;
    }
    (void)pthread_mutex_unlock(&c->lock);
}

static void report(struct capture *c)
{
    const struct source *s = c->source;
    const uint64_t dropped = c->n_dropped_before + (s ? s->n_dropped : 0);
    const uint64_t bad = c->n_bad_before + (s ? s->n_bad : 0) + c->n_bad_jpegs;

    stats_input(stream_stats(c->stream), c->n_delivered + dropped + bad, dropped, bad,
                c->n_reconnects);
}

/* --- waiting --- */

/* Takes what is requested, and a change in /dev as a reason to retry at once. */
static void look_around(struct capture *c)
{
    (void)event_clear(stream_fd(c->stream, STREAM_EVENT_WAKE));
    take_request(c);
    device_retry_heed(&c->retry, stream_device_changes(c->stream));
}

/* Until @deadline_ns, a wake-up or a stop. False: a stop. */
static bool wait_until(const struct capture *c, int64_t deadline_ns)
{
    (void)event_wait(c->wait_fd, deadline_ns);
    return !stream_stopping(c->stream);
}

/* Only devices are closed: others may want them, and some have a light. */
static bool stand_by(struct capture *c, enum stream_state why)
{
    if (c->source && c->source->live && c->source->ops->device)
        close_source(c);
    else if (c->source)
        c->source->rested = true;
    c->run++;
    if (c->state != why) {
        log_info("%s: %s", c->name, stream_state_name(why));
        set_state(c, why, NULL);
    }
    c->retry.pauses.t_next_ns = 0;
    device_release_stop(&c->retry.release);
    return wait_until(c, INT64_MAX);
}

/* One attempt, when it is time for it. */
static bool try_to_open(struct capture *c)
{
    const int64_t t_due_ns = device_retry_due(&c->retry);
    const bool other = may_take_other(c);
    struct error err;
    int r;

    if (now_ns() < t_due_ns)
        return wait_until(c, t_due_ns);
    device_release_stop(&c->retry.release);
    r = open_source(c, other ? c->found : c->request.name, true, &err);
    if (r && r != -ECANCELED && other && now_ns() - c->t_lost_ns >= OTHER_NS)
        r = open_source(c, c->request.name, true, &err);
    if (r == 0) {
        r = prepare_pictures(c);
        if (r) {
            (void)error_set(&err, r, "%s: no memory or no JPEG decoder", c->source->name);
            close_source(c);
        }
    }
    c->t_whole_ns = now_ns();
    if (r == 0)
        c->retry.pauses.t_next_ns = c->t_whole_ns + c->retry.pauses.pause_ns;
    else if (r != -ECANCELED)
        note_lost(c, r, &err);
    return !stream_stopping(c->stream);
}

/* --- pictures --- */

/* False: there is nothing more to read. */
static bool handle_read_error(struct capture *c, int code, const struct error *err)
{
    if (code == -ECANCELED)
        return !stream_stopping(c->stream);
    if (code == -ENODATA)
        return false;
    if (!stream_live(c->stream) || (code != -ENODEV && code != -ETIMEDOUT && code != -EIO)) {
        stream_fail(c->stream, code, err);
        return false;
    }
    /* A camera that gives nothing is left running for the pause that it would get anyway. */
    if (code == -ETIMEDOUT && c->lost && now_ns() < c->retry.pauses.t_next_ns)
        return true;
    close_source(c);
    note_lost(c, code, err);
    return true;
}

/* Pictures come: for the first time, or again. */
static void note_running(struct capture *c)
{
    if (c->lost) {
        log_info("%s is back", c->source->name);
        c->n_reconnects++;
    } else if (c->state != STREAM_STARTS) {
        log_info("%s: running", c->source->name);
    }
    c->lost = false;
    retry_works(&c->retry.pauses, now_ns());
    set_state(c, STREAM_RUNS, NULL);
}

/* The camera's layout to the working layout. False: the frame is damaged. */
static bool take_picture(struct capture *c, const struct frame *image)
{
    struct slot *slot = c->slot;
    struct frame *const to = c->direct ? &slot->raw : &c->scratch;
    struct error err;
    int r = 0;

    slot->run = c->run;
    slot->raw.colour = slot->out.colour = to->colour = colour_in(to->format, image->colour);
    slot->raw.seq = slot->out.seq = image->seq;
    slot->raw.t_capture_ns = slot->out.t_capture_ns = image->t_capture_ns;
    slot->raw.t_show_ns = slot->out.t_show_ns = image->t_show_ns;
    if (image->y4m_tags)
        (void)snprintf(slot->y4m_tags, sizeof(slot->y4m_tags), "%s", image->y4m_tags);
    slot->raw.y4m_tags = slot->out.y4m_tags = image->y4m_tags ? slot->y4m_tags : NULL;
    if (image->format == FRAME_MJPG)
        r = mjpeg_decode(c->mjpeg, image, to, &err);
    else
        convert_frame(to, image);
    if (r == 0 && !c->direct)
        scaler_run(c->scaler, &slot->raw, to);
    stretch_frame(&c->stretch, &slot->raw);
    if (r)
        log_debug("frame %llu: %s", (unsigned long long)image->seq, err.text);
    return r == 0;
}

/* Sometimes a picture is damaged, and the last good one stays. A camera that gives nothing else
 * is as good as one that gives nothing. */
static bool tolerate_damage(struct capture *c)
{
    const int64_t limit = 5 * stream_interval_ns(c->stream);
    struct error err;

    if (now_ns() - c->t_whole_ns <= (limit > DAMAGED_NS ? limit : DAMAGED_NS))
        return true;
    (void)error_set(&err, -ETIMEDOUT, "%s gives only damaged pictures", c->source->name);
    return handle_read_error(c, -ETIMEDOUT, &err);
}

/* What is known of the frame in the slot: @t_wait_ns and @t_read_ns are around its reading. */
static void note_times(struct capture *c, int64_t t_wait_ns, int64_t t_read_ns)
{
    struct slot *slot = c->slot;
    const int64_t t_capture_ns = slot->raw.t_capture_ns;
    int64_t t_readable_ns;

    slot->wait_ns = t_read_ns - t_capture_ns;
    slot->camera_ns = camera_delay_step(&c->delay, t_capture_ns, t_wait_ns, t_read_ns);
    t_readable_ns = t_capture_ns + slot->camera_ns;
    slot->t_readable_ns = t_readable_ns < t_read_ns ? t_readable_ns : t_read_ns;
    slot->t_ready_ns = now_ns();
    slot->convert_ns = slot->t_ready_ns - t_read_ns;
}

/* False: the reader of the ring has gone. */
static bool deliver(struct capture *c, const struct frame *image, int64_t t_wait_ns)
{
    const int64_t t_read = now_ns();
    const bool whole = take_picture(c, image);

    if (whole && c->state != STREAM_RUNS)
        note_running(c);
    c->source->ops->release(c->source);
    note_times(c, t_wait_ns, t_read);
    if (!whole) {
        c->n_bad_jpegs++;
        return tolerate_damage(c);
    }
    c->t_whole_ns = t_read;
    c->n_delivered++;
    if (ring_put(c->out, &c->slot) == 0)
        return true;
    stats_not_shown(stream_stats(c->stream), 1);
    return false;
}

static bool read_one(struct capture *c)
{
    const uint64_t max_frames = stream_max_frames(c->stream);
    struct error err = {.text = ""};
    struct frame image;
    const int64_t t_wait_ns = now_ns();
    const int r = c->source->ops->read(c->source, &image, &err);
    const bool go_on = r ? handle_read_error(c, r, &err) : deliver(c, &image, t_wait_ns);

    report(c);
    /* A live stream ends when enough frames came out: some may never get there. */
    return go_on && (stream_live(c->stream) || !max_frames || c->n_delivered < max_frames);
}

void *capture_run(void *arg)
{
    struct capture *c = arg;
    bool go_on = true;

    while (go_on) {
        enum stream_state held;

        look_around(c);
        held = stream_held(c->stream);
        if (held != STREAM_RUNS) {
            go_on = stand_by(c, held);
            continue;
        }
        if (c->state > STREAM_LOST)
            set_state(c, STREAM_STARTS, NULL);
        go_on = c->source ? read_one(c) : try_to_open(c);
    }
    ring_close(c->out);
    return NULL;
}
