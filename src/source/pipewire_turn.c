#include "source/pipewire_turn.h"

#include <errno.h>
#include <spa/buffer/meta.h>

#include "base/thread.h"
#include "picture/convert.h"

/* The picture in a buffer is the upright one mirrored left to right, if it is flipped, and then
 * turned counter-clockwise by so many degrees, as with the outputs of Wayland. */
static const struct turn turns[] = {
    [SPA_META_TRANSFORMATION_90] = {.swap = true, .flip_x = true},
    [SPA_META_TRANSFORMATION_180] = {.flip_x = true, .flip_y = true},
    [SPA_META_TRANSFORMATION_270] = {.swap = true, .flip_y = true},
    [SPA_META_TRANSFORMATION_Flipped] = {.flip_x = true},
    [SPA_META_TRANSFORMATION_Flipped90] = {.swap = true},
    [SPA_META_TRANSFORMATION_Flipped180] = {.flip_y = true},
    [SPA_META_TRANSFORMATION_Flipped270] = {.swap = true, .flip_x = true, .flip_y = true},
};

bool pipewire_turn_of(uint32_t transform, struct turn *ret)
{
    if (transform >= sizeof(turns) / sizeof(turns[0]))
        return false;
    *ret = turns[transform];
    return true;
}

void pipewire_turner_finish(struct pipewire_turner *t)
{
    mjpeg_destroy(t->mjpeg);
    frame_free(&t->decoded);
    frame_free(&t->turnable);
    frame_free(&t->turned);
}

static int alloc_like(struct frame *ret, const struct frame *like, enum frame_format format)
{
    *ret = frame_like(like);
    ret->format = format;
    return frame_alloc(ret);
}

/* The format to which pictures like @raw are brought to be turned, if need be from a JPEG. */
static enum frame_format decoded_format(const struct frame *raw)
{
    return raw->format == FRAME_MJPG ? working_format(FRAME_MJPG, 8) : raw->format;
}

static struct frame shape_of(const struct frame *raw, struct turn turn)
{
    struct frame ret = frame_like(raw);

    if (turn_is_none(turn))
        return ret;
    ret.format = turn_format(turn, decoded_format(raw));
    ret.width = turn.swap ? raw->height : raw->width;
    ret.height = turn.swap ? raw->width : raw->height;
    return ret;
}

bool pipewire_turn_keeps_shape(const struct pipewire_turner *t, const struct frame *raw,
                               struct turn turn)
{
    const struct frame shape = shape_of(raw, turn);

    return frame_alike(&shape, &t->shape);
}

static int make_room(struct pipewire_turner *t, const struct frame *raw)
{
    const enum frame_format decoded = decoded_format(raw);
    int r = 0;

    if (raw->format == FRAME_MJPG)
        r = mjpeg_create(&t->mjpeg, online_cpus(), NULL) || alloc_like(&t->decoded, raw, decoded);
    if (!r && t->shape.format != decoded)
        r = alloc_like(&t->turnable, raw, t->shape.format);
    if (!r)
        r = alloc_like(&t->turned, &t->shape, t->shape.format);
    return r ? -ENOMEM : 0;
}

int pipewire_turner_set(struct pipewire_turner *t, const struct frame *raw, struct turn turn)
{
    struct pipewire_turner new = {.turn = turn, .shape = shape_of(raw, turn)};
    const int r = turn_is_none(turn) ? 0 : make_room(&new, raw);

    if (r) {
        pipewire_turner_finish(&new);
        return r;
    }
    pipewire_turner_finish(t);
    *t = new;
    return 0;
}

bool pipewire_turn(struct pipewire_turner *t, const struct frame *raw, struct frame *ret)
{
    const struct frame *from = raw;
    struct error err;

    *ret = *raw;
    if (turn_is_none(t->turn))
        return true;
    if (t->mjpeg) {
        if (mjpeg_decode(t->mjpeg, raw, &t->decoded, &err))
            return false;
        from = &t->decoded;
    }
    if (from->format != t->shape.format) {
        convert_frame(&t->turnable, from);
        from = &t->turnable;
    }
    turn_frame(&t->turned, from, t->turn);
    *ret = t->turned;
    ret->t_capture_ns = raw->t_capture_ns;
    ret->seq = raw->seq;
    return true;
}
