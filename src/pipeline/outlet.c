#include "pipeline/outlet.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/thread.h"
#include "base/workers.h"
#include "picture/card.h"
#include "picture/convert.h"
#include "picture/stretch.h"

#define LARGE (1280 * 720) /* pixels, from which on two threads convert a picture */
#define NARROW (1.0 / 16)  /* of all levels, in which hardly anything is seen */
#define N_NARROW 50        /* pictures in a row that use few levels, before that is told */

/* Makes the frames in the layout of @o->picture. */
static int make_frames(struct outlet *o)
{
    struct frame *const frames[] = {&o->scratch, &o->scratch_before, &o->card};
    size_t bytes = 0;
    uint8_t *memory;

    for (int i = 0; i < format_table[o->picture.format].planes; i++)
        bytes += o->picture.stride[i] * (size_t)frame_plane_rows(&o->picture, i);
    memory = malloc(3 * bytes);
    if (!memory)
        return -ENOMEM;
    free(o->memory);
    o->memory = memory;
    for (int i = 0; i < 3; i++) {
        *frames[i] = o->picture;
        frame_attach(frames[i], memory + (size_t)i * bytes);
    }
    o->drawn = -1;
    return 0;
}

static bool same_layout(const struct frame *f, const struct frame *want)
{
    if (f->format != want->format || f->width != want->width || f->height != want->height ||
        f->colour.matrix != want->colour.matrix || f->colour.range != want->colour.range)
        return false;
    for (int i = 0; i < format_table[f->format].planes; i++)
        if (f->stride[i] != want->stride[i])
            return false;
    return true;
}

/* Memory is the limit, and two threads read and write it faster than one. */
static void share_out(struct outlet *o)
{
    const struct frame *const source = &o->config.picture;

    if (!o->workers && online_cpus() > 1 && source->width * source->height >= LARGE &&
        !same_layout(source, &o->picture) && workers_create(&o->workers, "convert", 2))
        o->workers = NULL; /* one it is */
}

/* The sink may want another size than the pictures have. */
static int prepare(struct outlet *o)
{
    const struct frame *const source = &o->config.picture;
    const bool same =
        o->sink->picture.width == source->width && o->sink->picture.height == source->height;
    int r;

    if (!o->memory || !same_layout(&o->picture, &o->sink->picture)) {
        o->picture = o->sink->picture;
        r = make_frames(o);
        if (r)
            return r;
    }
    share_out(o);
    scaler_destroy(o->scaler);
    o->scaler = NULL;
    if (same)
        return 0;
    frame_free(&o->resized);
    o->resized = (struct frame){.format = o->picture.format,
                                .width = source->width,
                                .height = source->height,
                                .colour = o->picture.colour};
    r = frame_alloc(&o->resized);
    return r ? r : scaler_create(&o->scaler, &o->picture, &o->resized);
}

static int open_sink(struct outlet *o, struct error *err)
{
    int r = o->ops->open(&o->sink, &o->config, err);

    if (r)
        return r;
    r = prepare(o);
    if (r) {
        (void)o->sink->ops->close(o->sink, NULL);
        o->sink = NULL;
        return error_set(err, r, "out of memory for '%s'", o->config.name);
    }
    return 0;
}

static void lose(struct outlet *o, int code, const struct error *why)
{
    log_warning("%s; pictures are dropped until it can be used", why->text);
    if (o->sink)
        (void)o->sink->ops->close(o->sink, NULL);
    o->sink = NULL;
    (void)snprintf(o->trouble, sizeof(o->trouble), "%.319s", why->text);
    /* What happened before is no reason to try at once. */
    o->retry.changes = stream_device_changes(o->stream);
    device_retry_fails(&o->retry, code, o->config.name);
}

int outlet_open(struct outlet *o, struct stream *stream, const struct sink_ops *ops,
                const struct sink_config *config, bool wait, struct error *err)
{
    int r;

    o->ops = ops;
    o->config = *config;
    o->stream = stream;
    o->drawn = o->shown_state = -1;
    device_retry_init(&o->retry, retry_limits_of(ops->unannounced));
    r = open_sink(o, err);
    if (r && wait && ops->device && r != -ECANCELED && !err->usage) {
        lose(o, r, err);
        return 0;
    }
    return r;
}

int outlet_close(struct outlet *o, struct error *err)
{
    const int r = o->sink ? o->sink->ops->close(o->sink, err) : 0;

    device_release_stop(&o->retry.release);
    scaler_destroy(o->scaler);
    workers_destroy(o->workers);
    frame_free(&o->resized);
    free(o->memory);
    return r;
}

bool outlet_holds(const struct outlet *o)
{
    return o->ops->virtual_camera;
}

/* What is not live comes soon enough, and a window waits for that. */
bool outlet_wants_card(const struct outlet *o)
{
    return outlet_holds(o) || (o->ops->card && stream_live(o->stream));
}

const char *outlet_name(const struct outlet *o)
{
    return o->sink ? o->sink->name : o->config.name;
}

void outlet_state(struct outlet *o, struct stream_output *ret)
{
    *ret = (struct stream_output){.virtual_camera = o->sink && o->ops->virtual_camera};
    (void)snprintf(ret->name, sizeof(ret->name), "%.159s", outlet_name(o));
    memcpy(ret->trouble, o->trouble, sizeof(ret->trouble));
    ret->readers = ret->virtual_camera ? o->sink->ops->readers(o->sink) : -1;
}

/* Whether there is a sink to write to: tries to open a lost one when it is time, or when a device
 * came, went or was released. */
static bool available(struct outlet *o)
{
    struct error err;
    int r;

    if (o->sink)
        return true;
    device_retry_heed(&o->retry, stream_device_changes(o->stream));
    if (now_ns() < device_retry_due(&o->retry))
        return false;
    device_release_stop(&o->retry.release);
    r = open_sink(o, &err);
    if (r) {
        log_debug("%s", err.text);
        device_retry_fails(&o->retry, r, o->config.name);
        return false;
    }
    log_info("%s can be used", o->sink->name);
    o->trouble[0] = '\0';
    return true;
}

static int write_now(struct outlet *o, const struct frame *f, const struct frame *before,
                     struct error *err)
{
    const int r = o->sink->ops->write(o->sink, f, before, err);

    if (r == 0)
        retry_works(&o->retry.pauses, now_ns());
    if (r == 0 || r == -ECANCELED || !o->ops->device)
        return r;
    lose(o, r, err);
    return -EAGAIN;
}

static void convert(struct outlet *o, struct frame *to, const struct frame *f)
{
    if (o->workers)
        convert_frame_by(o->workers, to, f);
    else
        convert_frame(to, f);
}

/* @f as the sink wants it: itself, or converted to @scratch. */
static const struct frame *fit(struct outlet *o, const struct frame *f, struct frame *scratch)
{
    if (same_layout(f, &o->picture))
        return f;
    if (o->scaler) {
        convert(o, &o->resized, f);
        scaler_run(o->scaler, scratch, &o->resized);
    } else {
        convert(o, scratch, f);
    }
    scratch->seq = f->seq;
    scratch->t_capture_ns = f->t_capture_ns;
    scratch->t_show_ns = f->t_show_ns;
    scratch->y4m_tags = f->y4m_tags;
    scratch->counts = o->scaler ? NULL : f->counts; /* they are for one size */
    return scratch;
}

/* A sensor of 16 bits may fill so few of them that 8 show nothing. The first seconds tell; a
 * film may begin in the dark. */
static void look_at_levels(struct outlet *o, const struct frame *f)
{
    double share;

    if (o->n_narrow < 0 || !o->config.unstretched || o->ops->discards ||
        format_table[o->picture.format].bytes > 1)
        return;
    share = stretch_share(f);
    if (share <= 0.0)
        return;
    o->n_narrow = share < NARROW ? o->n_narrow + 1 : -1;
    if (o->n_narrow < N_NARROW)
        return;
    o->n_narrow = -1;
    if (stream_first_narrow(o->stream))
        log_warning("the pictures use less than 1/16 of their levels, and hardly show in 8 bits: "
                    "try --levels auto");
}

int outlet_write(struct outlet *o, const struct frame *f, const struct frame *before,
                 struct error *err)
{
    if (!available(o))
        return -EAGAIN;
    o->shown_state = -1;
    look_at_levels(o, f);
    f = fit(o, f, &o->scratch);
    if (before)
        before = o->sink->ops->compare ? fit(o, before, &o->scratch_before) : NULL;
    return write_now(o, f, before, err);
}

int outlet_write_card(struct outlet *o, enum stream_state state, struct error *err)
{
    static const char *const texts[] = {
        [STREAM_RUNS] = "starting the camera",
        [STREAM_STARTS] = "starting the camera",
        [STREAM_LOST] = "no camera",
        [STREAM_IDLE] = "starting the camera",
        [STREAM_PAUSED] = "paused",
        [STREAM_ASLEEP] = "asleep",
    };

    /* Who comes to a virtual camera makes it start; somebody may sit before a window all along. */
    const char *text =
        state == STREAM_IDLE && !o->ops->virtual_camera ? stream_state_name(state) : texts[state];

    if (!available(o))
        return -EAGAIN;
    if (o->shown_state == (int)state && !outlet_holds(o))
        return 0; /* a window keeps it by itself */
    o->shown_state = (int)state;
    /* The first picture is on its way: a card in between would only flash up. */
    if (o->drawn < 0 || (state != STREAM_RUNS && o->drawn != (int)state)) {
        card_draw(&o->card, text);
        o->drawn = (int)state;
    }
    o->card.t_capture_ns = now_ns();
    return write_now(o, &o->card, NULL, err);
}
