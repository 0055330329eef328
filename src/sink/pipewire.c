/* DESIGN
 * One stream of PipeWire, whose node is the camera; no module and no right is needed for it. We
 * drive the graph, so that it runs when a picture comes and only then. The first reader decides on
 * the format, and all that come get the same one, which pictures are converted to right into the
 * memory that readers see. That memory is our own and sealed, so that no reader can change what
 * another one sees. The node stays as long as the daemon does: browsers give up a camera whose node
 * vanished. Facts were measured with PipeWire 0.3.65 and 1.4.2 (November 2026). */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <spa/param/buffers.h>

#include "base/clock.h"
#include "base/event.h"
#include "base/log.h"
#include "base/text.h"
#include "picture/colour.h"
#include "picture/convert.h"
#include "pipewire/connection.h"
#include "pipewire/format.h"
#include "sink/pipewire_memory.h"
#include "sink/sink.h"
#include "sink/turns.h"

#define PRIORITY "1100"           /* of the default camera; those of V4L2 have up to 1000 */
#define HUNG_NS (300 * NS_PER_MS) /* a reader that keeps all buffers for so long has hung */
#define MAX_BUFFERS 8             /* some readers take as many as they are let */
#define MAX_NAME 127              /* bytes of what people see */

struct pipewire {
    struct sink base;
    struct pipewire_connection connection;
    struct pw_stream *stream;
    struct spa_hook listener;
    struct turns turns;
    struct fraction fps;
    int format; /* the only one that is offered; -1 = all */
    int stop_fd;

    /* Guarded by the loop's lock. */
    enum pw_stream_state state;
    char trouble[160];   /* why it is in the state of an error */
    struct frame agreed; /* what readers get, packed and without planes; width 0 = nothing yet */
    size_t size;         /* of such a picture */
    struct pw_buffer *buffers[MAX_BUFFERS];
    int n_buffers;
    struct pw_buffer *shown[2]; /* the last ones, which links name still, or NULL */
    int failed;                 /* negative errno: there is no memory for them */
    int64_t t_free_ns;          /* when one was free last, or when readers came */
    int64_t pts;                /* of the last picture */
    uint64_t seq;               /* of the next one */
};

/* --- what the daemon tells, with the loop locked --- */

static void on_state(void *data, enum pw_stream_state old, enum pw_stream_state state,
                     const char *error)
{
    struct pipewire *p = data;

    (void)old;
    p->state = state;
    (void)snprintf(p->trouble, sizeof(p->trouble), "%s", error ? error : "no reason");
    if (state == PW_STREAM_STATE_STREAMING)
        p->t_free_ns = now_ns();
    event_ring(p->connection.event_fd);
}

/* What memory a format needs. Readers may take the header for granted. */
static void ask_for_buffers(struct pipewire *p)
{
    uint8_t memory[512];
    struct spa_pod_builder b = SPA_POD_BUILDER_INIT(memory, sizeof(memory));
    const struct spa_pod *params[2];

    params[0] = spa_pod_builder_add_object(
        &b, SPA_TYPE_OBJECT_ParamBuffers, SPA_PARAM_Buffers, SPA_PARAM_BUFFERS_buffers,
        SPA_POD_CHOICE_RANGE_Int(6, 2, MAX_BUFFERS), SPA_PARAM_BUFFERS_blocks, SPA_POD_Int(1),
        SPA_PARAM_BUFFERS_size, SPA_POD_Int((int)p->size), SPA_PARAM_BUFFERS_stride,
        SPA_POD_Int((int)p->agreed.stride[0]), SPA_PARAM_BUFFERS_dataType,
        SPA_POD_CHOICE_FLAGS_Int(1 << SPA_DATA_MemFd | 1 << SPA_DATA_MemPtr));
    params[1] = spa_pod_builder_add_object(&b, SPA_TYPE_OBJECT_ParamMeta, SPA_PARAM_Meta,
                                           SPA_PARAM_META_type, SPA_POD_Id(SPA_META_Header),
                                           SPA_PARAM_META_size,
                                           SPA_POD_Int(sizeof(struct spa_meta_header)));
    (void)pw_stream_update_params(p->stream, params, 2);
}

static void on_param(void *data, uint32_t id, const struct spa_pod *param)
{
    struct pipewire *p = data;
    struct pipewire_picture agreed;

    if (id != SPA_PARAM_Format)
        return;
    p->agreed = (struct frame){.width = 0};
    if (!param || !pipewire_agreed(param, &agreed))
        return;
    p->agreed = agreed.frame;
    p->size = frame_layout_packed(&p->agreed);
    ask_for_buffers(p);
}

static void on_add_buffer(void *data, struct pw_buffer *buffer)
{
    struct pipewire *p = data;
    const int r = pipewire_memory_share(&buffer->buffer->datas[0], p->size);

    if (r)
        p->failed = r;
    else if (p->n_buffers < MAX_BUFFERS)
        p->buffers[p->n_buffers++] = buffer;
}

static void on_remove_buffer(void *data, struct pw_buffer *buffer)
{
    struct pipewire *p = data;
    int n = 0;

    for (int i = 0; i < p->n_buffers; i++)
        if (p->buffers[i] != buffer)
            p->buffers[n++] = p->buffers[i];
    p->n_buffers = n;
    for (int i = 0; i < 2; i++)
        if (p->shown[i] == buffer)
            p->shown[i] = NULL;
    pipewire_memory_drop(&buffer->buffer->datas[0]);
}

static const struct pw_stream_events stream_events = {
    .version = PW_VERSION_STREAM_EVENTS,
    .state_changed = on_state,
    .param_changed = on_param,
    .add_buffer = on_add_buffer,
    .remove_buffer = on_remove_buffer,
};

/* --- opening and closing --- */

static int pipewire_close(struct sink *s, struct error *err)
{
    struct pipewire *p = (struct pipewire *)s;

    (void)err;
    if (!p)
        return 0;
    if (p->stream)
        pipewire_end_stream(&p->connection, p->stream);
    pipewire_disconnect(&p->connection);
    free(p);
    return 0;
}

/* What people see. */
static int choose_name(struct pipewire *p, const struct sink_config *config, char ret[MAX_NAME + 1],
                       struct error *err)
{
    const char *const given = strchr(config->name, ':');
    const char *const name = given ? given + 1 : "";

    if (strlen(name) > MAX_NAME)
        return error_usage(err, "output '%.40s...': the name has more than %d bytes", config->name,
                           MAX_NAME);
    if (*name)
        (void)snprintf(ret, MAX_NAME + 1, "%s", name);
    else
        (void)snprintf(ret, MAX_NAME + 1, "bilatcam%s%s", *config->instance ? " " : "",
                       config->instance);
    (void)utf8_printable(ret);
    (void)snprintf(p->base.name, sizeof(p->base.name), "%s (PipeWire)", ret);
    return 0;
}

/* In planes of other sizes GStreamer has longer rows than are told to it, and shows black. */
static bool all_agree_on_planes(const struct frame *picture)
{
    return picture->width % 8 == 0 && picture->height % 2 == 0;
}

/* The sink takes what filters give: what readers want is known only when they come. */
static int choose_picture(struct pipewire *p, const struct sink_config *config, struct error *err)
{
    struct frame *picture = &p->base.picture;

    if (config->format >= 0 && !pipewire_carries((enum frame_format)config->format))
        return error_usage(err, "a PipeWire camera carries yuyv or yu12, not %s",
                           format_table[config->format].name);
    *picture = frame_like(&config->picture);
    if (format_table[picture->format].bytes > 1)
        picture->format = FRAME_YUYV; /* the card has 8 bits */
    picture->colour = colour_in(picture->format, picture->colour);
    (void)frame_layout(picture);
    if (picture->width > PIPEWIRE_MAX_BROWSER_SIDE || picture->height > PIPEWIRE_MAX_BROWSER_SIDE)
        log_info("browsers take no PipeWire camera of more than %dx%d: --size makes pictures "
                 "smaller",
                 PIPEWIRE_MAX_BROWSER_SIDE, PIPEWIRE_MAX_BROWSER_SIDE);
    if (config->format == FRAME_I420 && !all_agree_on_planes(picture))
        log_info("programs that use GStreamer show a PipeWire camera of %dx%d as black in yu12, "
                 "not in yuyv",
                 picture->width, picture->height);
    return 0;
}

static struct pw_properties *node_properties(const char *name, const char *instance)
{
    struct pw_properties *const ret = pw_properties_new(
        PW_KEY_MEDIA_CLASS, "Video/Source", PW_KEY_MEDIA_TYPE, "Video", PW_KEY_MEDIA_CATEGORY,
        "Capture", PW_KEY_MEDIA_ROLE, "Camera", PW_KEY_NODE_DESCRIPTION, name, PW_KEY_NODE_NICK,
        name, PW_KEY_NODE_VIRTUAL, "true", PW_KEY_STREAM_IS_LIVE, "true", PW_KEY_PRIORITY_SESSION,
        PRIORITY, PW_KEY_MEDIA_ICON_NAME, "camera-web", NULL);

    if (ret)
        (void)pw_properties_setf(ret, PW_KEY_NODE_NAME, PIPEWIRE_NODE_NAME "%s%s",
                                 *instance ? "." : "", instance);
    return ret;
}

/* With the loop locked. */
static int connect_stream(struct pipewire *p, const char *name, const char *instance)
{
    static const enum frame_format formats[] = {FRAME_YUYV, FRAME_I420};
    uint8_t memory[1024];
    struct spa_pod_builder b = SPA_POD_BUILDER_INIT(memory, sizeof(memory));
    const struct spa_pod *offers[2];
    uint32_t n = 0;

    p->stream =
        pw_stream_new(p->connection.core, PIPEWIRE_NODE_NAME, node_properties(name, instance));
    if (!p->stream)
        return -errno;
    pw_stream_add_listener(p->stream, &p->listener, &stream_events, p);
    for (int i = 0; i < 2; i++)
        if (p->format < 0 ? formats[i] == FRAME_YUYV || all_agree_on_planes(&p->base.picture)
                          : p->format == (int)formats[i])
            offers[n++] = pipewire_offer(&b, formats[i], &p->base.picture, p->fps);
    return pw_stream_connect(p->stream, PW_DIRECTION_OUTPUT, PW_ID_ANY,
                             PW_STREAM_FLAG_DRIVER | PW_STREAM_FLAG_ALLOC_BUFFERS, offers, n);
}

/* The daemon has gone, it was told to remove the camera, or there is no memory for readers. With
 * the loop locked. */
static int trouble(const struct pipewire *p, struct error *err)
{
    if (p->connection.lost)
        return pipewire_ended(err);
    if (p->state == PW_STREAM_STATE_UNCONNECTED)
        return error_set(err, -ENODEV, "PipeWire has removed the camera");
    if (p->failed)
        return error_set(err, p->failed, "PipeWire camera: no memory for its readers: %s",
                         strerror(-p->failed));
    return 0;
}

/* A daemon that is stopped takes every connection. */
static int wait_for_node(struct pipewire *p, struct error *err)
{
    const int64_t t_end_ns = now_ns() + PIPEWIRE_ANSWER_NS;
    bool there = false;
    int r = 0;

    while (r == 0 && !there) {
        r = pipewire_wait(&p->connection, p->stop_fd, t_end_ns);
        if (r)
            return r == -ETIMEDOUT ? pipewire_silent(err) : error_set(err, r, "stopped");
        pipewire_lock(&p->connection);
        there = p->state >= PW_STREAM_STATE_PAUSED;
        r = trouble(p, err);
        if (r == 0 && p->state == PW_STREAM_STATE_ERROR)
            r = error_set(err, -EIO, "PipeWire makes no camera: %s", p->trouble);
        pipewire_unlock(&p->connection);
    }
    return r;
}

static int make_node(struct pipewire *p, const struct sink_config *config, struct error *err)
{
    char name[MAX_NAME + 1];
    int r = choose_name(p, config, name, err);

    if (r == 0)
        r = choose_picture(p, config, err);
    if (r == 0)
        r = pipewire_connect(&p->connection, err);
    if (r)
        return r;
    pipewire_lock(&p->connection);
    r = connect_stream(p, name, config->instance);
    pipewire_unlock(&p->connection);
    if (r < 0)
        return error_set(err, r, "PipeWire makes no camera: %s", strerror(-r));
    return wait_for_node(p, err);
}

static int pipewire_open(struct sink **ret, const struct sink_config *config, struct error *err)
{
    struct pipewire *p = calloc(1, sizeof(*p));
    int r;

    if (!p)
        return error_set(err, -ENOMEM, "cannot open '%s': out of memory", config->name);
    p->base.ops = &sink_pipewire;
    p->connection.event_fd = -1;
    p->stop_fd = config->stop_fd;
    p->format = config->format;
    p->turns = turns_of(config);
    p->fps = (struct fraction){p->turns.pace.num, p->turns.pace.den};
    r = make_node(p, config, err);
    if (r) {
        (void)pipewire_close(&p->base, NULL);
        return r;
    }
    turns_tell(&p->turns, p->base.name);
    *ret = &p->base;
    return 0;
}

/* --- pictures, with the loop locked: the daemon may take a buffer away at any other time --- */

static struct spa_meta_busy *busy_of(const struct pw_buffer *buffer)
{
    return spa_buffer_find_meta_data(buffer->buffer, SPA_META_Busy, sizeof(struct spa_meta_busy));
}

/* A buffer that no reader has, or NULL. The library hands out each in turn, and keeps those that
 * one has. */
static struct pw_buffer *free_buffer(struct pipewire *p)
{
    struct pw_buffer *buffer = NULL;

    for (int i = 0; i < p->n_buffers && !buffer; i++)
        buffer = pw_stream_dequeue_buffer(p->stream);
    return buffer;
}

/* A reader that has hung keeps its buffers for ever, and after some pictures all of them: nobody
 * else would see any more. How many have each is counted in memory that all share. */
static void take_back(struct pipewire *p)
{
    for (int i = 0; i < p->n_buffers; i++) {
        struct spa_meta_busy *const busy = busy_of(p->buffers[i]);

        if (busy)
            __atomic_store_n(&busy->count, 0, __ATOMIC_SEQ_CST);
    }
    p->shown[0] = p->shown[1] = NULL;
}

/* Where one of those readers lives again and gives a buffer back, the count is one too low. */
static void correct_count(const struct pw_buffer *buffer)
{
    struct spa_meta_busy *const busy = busy_of(buffer);

    if (busy)
        __atomic_store_n(&busy->count, 1, __ATOMIC_SEQ_CST);
}

static void count(const struct pw_buffer *buffer, int readers)
{
    struct spa_meta_busy *const busy = buffer ? busy_of(buffer) : NULL;

    if (busy)
        (void)__atomic_add_fetch(&busy->count, (uint32_t)readers, __ATOMIC_SEQ_CST);
}

/* A late reader can still find one of the last two pictures in its place. If its buffer was filled
 * again, the reader would get half of a picture, or one twice. So we count as a reader of both,
 * unless there are no more buffers. */
static void keep_shown(struct pipewire *p, struct pw_buffer *buffer)
{
    if (p->n_buffers <= 2)
        return;
    count(buffer, 1);
    count(p->shown[1], -1);
    p->shown[1] = p->shown[0];
    p->shown[0] = buffer;
}

/* Later than the one before, also where a picture is shown again. */
static int64_t next_pts(struct pipewire *p, const struct frame *f)
{
    p->pts = f->t_capture_ns > p->pts ? f->t_capture_ns : now_ns();
    return p->pts;
}

static void fill(struct pipewire *p, struct spa_buffer *buffer, const struct frame *f)
{
    struct spa_data *const d = &buffer->datas[0];
    struct spa_meta_header *const header =
        spa_buffer_find_meta_data(buffer, SPA_META_Header, sizeof(*header));
    struct frame to = p->agreed;

    frame_attach(&to, d->data);
    convert_frame(&to, f);
    *d->chunk = (struct spa_chunk){.size = (uint32_t)p->size, .stride = (int32_t)to.stride[0]};
    if (header)
        *header = (struct spa_meta_header){.pts = next_pts(p, f), .seq = p->seq};
}

static void push(struct pipewire *p, const struct frame *f)
{
    struct pw_buffer *const buffer = free_buffer(p);
    const int64_t now = now_ns();

    if (buffer) {
        p->t_free_ns = now;
        correct_count(buffer);
        fill(p, buffer->buffer, f);
        keep_shown(p, buffer);
        (void)pw_stream_queue_buffer(p->stream, buffer);
        /* With nothing in the queue the graph must not run: a reader that was late for a picture
         * would find that then, after later ones. */
        (void)pw_stream_trigger_process(p->stream);
    } else if (now - p->t_free_ns > HUNG_NS) {
        take_back(p);
        p->t_free_ns = now;
    }
    p->seq++; /* which tells of a picture that had no buffer */
}

static int pipewire_write(struct sink *s, const struct frame *f, const struct frame *before,
                          struct error *err)
{
    struct pipewire *p = (struct pipewire *)s;
    int r = turns_wait(&p->turns, err);

    (void)before;
    if (r)
        return r;
    pipewire_lock(&p->connection);
    r = trouble(p, err);
    if (r == 0 && p->state == PW_STREAM_STATE_STREAMING && p->agreed.width)
        push(p, f);
    pipewire_unlock(&p->connection);
    return r;
}

static int pipewire_readers(struct sink *s)
{
    struct pipewire *p = (struct pipewire *)s;
    int n;

    pipewire_lock(&p->connection);
    n = p->state == PW_STREAM_STATE_STREAMING;
    pipewire_unlock(&p->connection);
    return n;
}

const struct sink_ops sink_pipewire = {
    .name = "pipewire",
    .device = true,
    .unannounced = true,
    .single = true,
    .virtual_camera = true,
    .open = pipewire_open,
    .write = pipewire_write,
    .readers = pipewire_readers,
    .close = pipewire_close,
};
