/* DESIGN
 * One stream of PipeWire, which its session manager links to the camera. The library tells in a
 * thread of its own that there are pictures; read() takes all of them and copies the newest. In
 * place it could not be used: that memory may be taken away whenever the loop runs, and belongs to
 * another program, which may change or shorten it at any time. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/event.h"
#include "base/log.h"
#include "pipewire/connection.h"
#include "pipewire/format.h"
#include "pipewire/nodes.h"
#include "source/pipewire_camera.h"
#include "source/pipewire_picture.h"
#include "source/pipewire_turn.h"
#include "source/source.h"
#include "source/live.h"

#define START_NS (5 * NS_PER_S)   /* to the first frame */
#define SLOW_NS (5 * NS_PER_S)    /* between those of a camera that tells no rate */
#define STATIC_NS (10 * NS_PER_S) /* between those of a screen that stands still */
#define MAX_READY 64              /* more than there can be buffers */

struct pipewire_source {
    struct source base;
    struct pipewire_connection connection;
    struct pipewire_nodes nodes;
    const struct pipewire_node *node; /* the camera */
    char shown[128];                  /* its description */
    struct pw_stream *stream;
    struct spa_hook listener;
    int stop_fd;
    int64_t timeout_ns; /* between frames */
    bool started;       /* a frame has come */
    bool rateless;      /* the camera does not tell how many come */
    uint64_t n_taken;
    struct pipewire_copy copy;
    struct pipewire_turner turner;
    bool held;    /* the copy is whole, and was not read yet */
    bool puzzled; /* a transform was unknown, and that was told */

    /* Guarded by the loop's lock. */
    enum pw_stream_state state;
    char trouble[160];              /* why it is in the state of an error */
    struct pipewire_picture agreed; /* width 0 = not known yet */
    bool changed;                   /* they look different now */
    bool has_buffers;
    bool tells_turn; /* the buffers say how the picture in them is turned */
};

/* --- what the daemon tells, with the loop locked where nothing else is said --- */

static void on_state(void *data, enum pw_stream_state old, enum pw_stream_state state,
                     const char *error)
{
    struct pipewire_source *p = data;

    (void)old;
    p->state = state;
    (void)snprintf(p->trouble, sizeof(p->trouble), "%s", error ? error : "no reason");
    event_ring(p->connection.event_fd);
}

static void on_param(void *data, uint32_t id, const struct spa_pod *param)
{
    struct pipewire_source *p = data;
    uint8_t memory[1024];
    struct spa_pod_builder b = SPA_POD_BUILDER_INIT(memory, sizeof(memory));
    const struct spa_pod *params[PIPEWIRE_MAX_BUFFER_PARAMS];
    struct pipewire_picture f;

    /* It is also cleared when the camera goes, and when it rests. */
    if (id != SPA_PARAM_Format || !param)
        return;
    p->changed = !pipewire_agreed(param, &f) ||
                 (p->agreed.frame.width &&
                  (!frame_alike(&f.frame, &p->agreed.frame) || f.fourth != p->agreed.fourth));
    if (!p->changed) {
        p->agreed = f;
        (void)pw_stream_update_params(p->stream, params,
                                      pipewire_buffers(&b, f.frame.format, params));
    }
    event_ring(p->connection.event_fd);
}

static void on_add_buffer(void *data, struct pw_buffer *b)
{
    struct pipewire_source *p = data;

    p->has_buffers = true;
    p->tells_turn = spa_buffer_find_meta_data(b->buffer, SPA_META_VideoTransform,
                                              sizeof(struct spa_meta_videotransform)) != NULL;
    event_ring(p->connection.event_fd);
}

/* In the thread of pictures, without the lock: the library would hand the call to the loop and,
 * where the stream is destroyed meanwhile, run it on memory that was freed (0.3.65). */
static void on_process(void *data)
{
    struct pipewire_source *p = data;

    event_ring(p->connection.event_fd);
}

static const struct pw_stream_events stream_events = {
    .version = PW_VERSION_STREAM_EVENTS,
    .state_changed = on_state,
    .param_changed = on_param,
    .add_buffer = on_add_buffer,
    .process = on_process,
};

/* Why nothing more will come. With the loop locked. */
static int trouble(const struct pipewire_source *p, struct error *err)
{
    const char *const name = p->shown;

    if (p->connection.lost)
        return pipewire_ended(err);
    if (p->node->gone)
        return error_set(err, -ENODEV, "camera '%s' has gone", name);
    if (p->state == PW_STREAM_STATE_ERROR)
        return error_set(err, -EIO, "PipeWire gives no pictures of '%s': %s", name, p->trouble);
    if (p->state == PW_STREAM_STATE_UNCONNECTED)
        return error_set(err, -EIO, "PipeWire gives no more pictures of '%s'", name);
    if (p->changed)
        return error_set(err, -EIO, "the pictures of '%s' have changed", name);
    return 0;
}

/* --- frames --- */

/* Holds the newest whole one of the frames that are ready: some programs send a damaged one to tell
 * of something else. With the loop locked. */
static void take_newest(struct pipewire_source *p)
{
    struct pw_buffer *ready[MAX_READY];
    int n = 0;

    while (n < MAX_READY && (ready[n] = pw_stream_dequeue_buffer(p->stream)))
        n++;
    if (n == 0)
        return;
    p->base.n_dropped += p->held;
    p->held = false;
    for (int i = n - 1; i >= 0; i--) {
        if (p->held) {
            p->base.n_dropped++;
        } else {
            p->held = pipewire_copy_take(&p->copy, ready[i]->buffer);
            p->base.n_bad += !p->held;
            p->copy.frame.seq = p->n_taken + (uint64_t)i;
        }
    }
    for (int i = 0; i < n; i++)
        (void)pw_stream_queue_buffer(p->stream, ready[i]);
    p->n_taken += (uint64_t)n;
}

/* Has the turner follow what the camera says of the picture in the copy. Nonsense counts as what
 * was before. @may_differ: in format and size, too. */
static int follow_turn(struct pipewire_source *p, bool may_differ, struct error *err)
{
    const struct frame *const raw = &p->copy.frame;
    struct turn turn = p->turner.turn;

    if (!pipewire_turn_of(p->copy.transform, &turn) && !p->puzzled) {
        log_warning("camera '%s' says in an unknown way (%u) how its pictures are turned: ignored",
                    p->shown, p->copy.transform);
        p->puzzled = true;
    }
    if (p->turner.shape.width && turn_equal(turn, p->turner.turn))
        return 0;
    if (!may_differ && !pipewire_turn_keeps_shape(&p->turner, raw, turn))
        return error_set(err, -EIO, "the pictures of '%s' have changed", p->shown);
    if (pipewire_turner_set(&p->turner, raw, turn))
        return error_set(err, -ENOMEM, "cannot read '%s': out of memory", p->shown);
    return 0;
}

/* --- opening and closing --- */

static void pipewire_close(struct source *s)
{
    struct pipewire_source *p = (struct pipewire_source *)s;

    if (!p)
        return;
    if (p->stream)
        pipewire_end_stream(&p->connection, p->stream);
    pipewire_nodes_finish(&p->nodes);
    pipewire_disconnect(&p->connection);
    pipewire_turner_finish(&p->turner);
    pipewire_copy_finish(&p->copy);
    free(p);
}

static int connect_stream(struct pipewire_source *p, const struct source_config *config,
                          struct error *err)
{
    uint8_t memory[4096];
    struct spa_pod_builder b = SPA_POD_BUILDER_INIT(memory, sizeof(memory));
    const struct spa_pod *requests[PIPEWIRE_MAX_REQUESTS];
    const int n = pipewire_camera_request(p->node, config, &b, requests, &p->rateless, err);
    int r;

    if (n < 0)
        return n;
    pipewire_lock(&p->connection);
    p->state = PW_STREAM_STATE_CONNECTING;
    p->stream =
        pw_stream_new(p->connection.core, PIPEWIRE_NODE_NAME, pipewire_camera_properties(p->node));
    r = p->stream ? 0 : -errno;
    if (p->stream) {
        pw_stream_add_listener(p->stream, &p->listener, &stream_events, p);
        r = pw_stream_connect(p->stream, PW_DIRECTION_INPUT, PW_ID_ANY,
                              PW_STREAM_FLAG_AUTOCONNECT | PW_STREAM_FLAG_MAP_BUFFERS |
                                  PW_STREAM_FLAG_DONT_RECONNECT | PW_STREAM_FLAG_RT_PROCESS,
                              requests, (uint32_t)n);
    }
    pipewire_unlock(&p->connection);
    return r < 0
               ? error_set(err, r, "PipeWire gives no pictures of '%s': %s", p->shown, strerror(-r))
               : 0;
}

/* Waits so long until @there, which is asked with the loop locked. -ETIMEDOUT: it is not;
 * -ECANCELED: stopped. */
static int wait_for(struct pipewire_source *p, bool (*there)(struct pipewire_source *p),
                    int64_t timeout_ns, struct error *err)
{
    const int64_t t_end_ns = now_ns() + timeout_ns;

    for (;;) {
        bool done;
        int r;

        pipewire_lock(&p->connection);
        r = trouble(p, err);
        done = r == 0 && there(p);
        pipewire_unlock(&p->connection);
        if (r || done)
            return r;
        r = pipewire_wait(&p->connection, p->stop_fd, t_end_ns);
        if (r)
            return error_set(err, r, "stopped");
    }
}

static bool has_format(struct pipewire_source *p)
{
    return p->agreed.frame.width;
}

static int wait_for_format(struct pipewire_source *p, struct error *err)
{
    const int r = wait_for(p, has_format, PIPEWIRE_ANSWER_NS, err);

    return r == -ETIMEDOUT
               ? error_set(err, r,
                           "PipeWire does not connect '%s': its session manager (WirePlumber) "
                           "does not run, or another program has the camera in a format that "
                           "bilatcam does not take",
                           p->shown)
               : r;
}

static int check_size(const struct pipewire_source *p, const struct frame *f, struct error *err)
{
    const char *const problem = frame_size_problem(f->width, f->height);

    return problem ? error_set(err, -EINVAL, "%s gives %dx%d, which cannot be used: %s",
                               p->base.name, f->width, f->height, problem)
                   : 0;
}

/* What the camera gives. With the loop locked. */
static int adopt(struct pipewire_source *p, struct error *err)
{
    const struct fraction fps = p->agreed.fps;
    const char *const name = *p->node->name ? p->node->name : p->node->description;
    struct source *const s = &p->base;
    int r;

    (void)snprintf(s->name, sizeof(s->name), "%.120s (PipeWire)", p->shown);
    (void)snprintf(s->reopen, sizeof(s->reopen), "pipewire:%s", name);
    r = check_size(p, &p->agreed.frame, err);
    if (r)
        return r;
    s->fps = fps.num && fps.den && !p->rateless ? fps : (struct fraction){0, 0};
    p->timeout_ns = p->rateless ? SLOW_NS : source_hang_ns(fps);
    if (!fps.num || !fps.den)
        p->timeout_ns = STATIC_NS;
    if (pipewire_copy_init(&p->copy, &p->agreed))
        return error_set(err, -ENOMEM, "cannot read %s: out of memory", s->name);
    return 0;
}

static bool knows_turn(struct pipewire_source *p)
{
    if (!p->tells_turn)
        return p->has_buffers;
    take_newest(p);
    return p->held;
}

/* The first picture says how all are turned, and so how large they are when upright; the first read
 * gives it, or a newer one. A camera that gives none is taken for one that stands upright, and why
 * there is none the first read tells. */
static int wait_for_turn(struct pipewire_source *p, struct error *err)
{
    const int r = wait_for(p, knows_turn, START_NS, err);

    return r == -ECANCELED ? r : 0;
}

static int adopt_upright(struct pipewire_source *p, struct error *err)
{
    const struct frame *const f = &p->turner.shape;
    struct source *const s = &p->base;
    const int r = follow_turn(p, true, err);

    if (r)
        return r;
    s->format = f->format;
    s->width = f->width;
    s->height = f->height;
    s->colour = f->colour;
    return check_size(p, f, err);
}

static int choose(struct pipewire_source *p, const char *name, bool returns, struct error *err)
{
    int r;

    pipewire_lock(&p->connection);
    r = pipewire_camera_choose(&p->nodes, name, returns, &p->node, err);
    if (r == 0)
        (void)snprintf(p->shown, sizeof(p->shown), "%s", p->node->description);
    pipewire_unlock(&p->connection);
    return r;
}

static int open_camera(struct pipewire_source *p, const struct source_config *config,
                       struct error *err)
{
    const char *const name = strchr(config->name, ':') + 1;
    int r = pipewire_connect(&p->connection, err);

    if (r == 0)
        r = pipewire_nodes_find(&p->nodes, &p->connection, p->stop_fd, err);
    if (r == 0)
        r = choose(p, name, config->returns, err);
    if (r == 0)
        r = connect_stream(p, config, err);
    if (r == 0)
        r = wait_for_format(p, err);
    if (r)
        return r;
    pipewire_lock(&p->connection);
    r = adopt(p, err);
    pipewire_unlock(&p->connection);
    if (r == 0)
        r = wait_for_turn(p, err);
    return r ? r : adopt_upright(p, err);
}

static int open_once(struct pipewire_source **ret, const struct source_config *config,
                     struct error *err)
{
    struct pipewire_source *p = calloc(1, sizeof(*p));
    int r;

    if (!p)
        return error_set(err, -ENOMEM, "cannot open '%s': out of memory", config->name);
    p->base.ops = &source_pipewire;
    p->base.live = true;
    p->connection.event_fd = -1;
    p->stop_fd = config->stop_fd;
    r = open_camera(p, config, err);
    if (r)
        pipewire_close(&p->base);
    else
        *ret = p;
    return r;
}

/* Whether a camera that lies on its side was asked for a size that is meant upright. */
static bool asked_wrongly(const struct pipewire_source *p, const struct source_config *config)
{
    return p->turner.turn.swap && config->width && config->width != config->height &&
           (p->base.width != config->width || p->base.height != config->height);
}

static int pipewire_open(struct source **ret, const struct source_config *config, struct error *err)
{
    struct source_config lying = *config;
    struct pipewire_source *p = NULL;
    int r = open_once(&p, config, err);

    if (r == 0 && asked_wrongly(p, config)) {
        lying.width = config->height;
        lying.height = config->width;
        pipewire_close(&p->base);
        r = open_once(&p, &lying, err);
    }
    if (r)
        return r;
    if (!config->again)
        source_warn(&p->base, config);
    log_debug("%s: %s %dx%d", p->base.name, format_table[p->base.format].name, p->base.width,
              p->base.height);
    *ret = &p->base;
    return 0;
}

/* --- reading --- */

/* 1: there is no whole picture. */
static int read_newest(struct pipewire_source *p, struct frame *ret, struct error *err)
{
    int r;

    pipewire_lock(&p->connection);
    r = trouble(p, err);
    if (r == 0)
        take_newest(p);
    pipewire_unlock(&p->connection);
    if (r == 0 && !p->held)
        return 1;
    p->held = false;
    if (r == 0)
        r = follow_turn(p, false, err);
    if (r == 0 && !pipewire_turn(&p->turner, &p->copy.frame, ret)) {
        p->base.n_bad++;
        r = 1;
    }
    return r;
}

static int pipewire_read(struct source *s, struct frame *ret, struct error *err)
{
    struct pipewire_source *p = (struct pipewire_source *)s;
    const int64_t deadline = now_ns() + (p->started ? p->timeout_ns : START_NS);

    for (;;) {
        int r;

        if (event_rung(p->stop_fd))
            return error_set(err, -ECANCELED, "stopped");
        r = read_newest(p, ret, err);
        if (r == 0)
            break;
        if (r < 0)
            return r;
        if (now_ns() >= deadline)
            return error_set(err, -ETIMEDOUT, "camera '%s' gives no pictures", p->shown);
        (void)pipewire_wait(&p->connection, p->stop_fd, deadline);
    }
    p->started = true;
    return 0;
}

/* Frames are ours, until the next one. */
static void pipewire_release(struct source *s)
{
    (void)s;
}

static int pipewire_truth(const struct source *s, uint64_t seq, struct frame *clean)
{
    (void)s;
    (void)seq;
    (void)clean;
    return -ENOTSUP;
}

const struct source_ops source_pipewire = {
    .name = "pipewire",
    .device = true,
    .unannounced = true,
    .reopens = true,
    .open = pipewire_open,
    .close = pipewire_close,
    .read = pipewire_read,
    .release = pipewire_release,
    .truth = pipewire_truth,
};
