#include "picture/turn.h"

bool turn_is_none(struct turn t)
{
    return !t.swap && !t.flip_x && !t.flip_y;
}

bool turn_equal(struct turn a, struct turn b)
{
    return a.swap == b.swap && a.flip_x == b.flip_x && a.flip_y == b.flip_y;
}

enum frame_format turn_format(struct turn t, enum frame_format format)
{
    const struct format_info *info = &format_table[format];

    if (!t.swap || info->hshift == info->vshift)
        return format;
    return info->bytes > 1 ? FRAME_I444_16 : FRAME_I444;
}

static void turn_component(const struct samples *to, const struct samples *from, struct turn t)
{
    /* What one step along a row of the result, and one down, is in the picture that is turned. */
    const ptrdiff_t column = from->step, row = (ptrdiff_t)from->stride;
    const ptrdiff_t x_step = (t.flip_x ? -1 : 1) * (t.swap ? row : column);
    const ptrdiff_t y_step = (t.flip_y ? -1 : 1) * (t.swap ? column : row);
    const uint8_t *p = from->base - (t.flip_x ? x_step * (to->width - 1) : 0) -
                       (t.flip_y ? y_step * (to->height - 1) : 0);

    for (int y = 0; y < to->height; y++) {
        uint8_t *out = to->base + (size_t)y * to->stride;
        const uint8_t *in = p + y * y_step;

        for (int x = 0; x < to->width; x++)
            out[x * to->step] = in[x * x_step];
    }
}

void turn_frame(struct frame *dst, const struct frame *src, struct turn t)
{
    for (int c = 0; c < format_table[src->format].components; c++) {
        struct samples to = frame_samples(dst, c), from = frame_samples(src, c);

        for (int i = 0; i < format_table[src->format].bytes; i++, to.base++, from.base++)
            turn_component(&to, &from, t); /* one byte of each sample at a time */
    }
}
