#include "picture/jpeg_slices.h"

#include <errno.h>
#include <string.h>

#include "picture/jpeg_layout.h"

/* Ends the slice before the marker at @at and begins the next, which begins with row @y. */
static void cut(struct jpeg_slices *s, int y, size_t at, int n_restarts)
{
    struct jpeg_slice *next = &s->slice[s->n];

    next[-1].height = y - next[-1].y;
    next[-1].to = at;
    *next = (struct jpeg_slice){.y = y, .from = at + 2, .n_restarts = n_restarts};
    s->n++;
}

int jpeg_slices_find(struct jpeg_slices *ret, const uint8_t *jpeg, size_t size, int n_max)
{
    struct jpeg_slices s = {.n = 1};
    struct jpeg_layout l;
    int64_t across, rows;
    size_t at;
    int n = 0; /* restart markers met */

    if (jpeg_layout_read(&l, jpeg, size) || l.n_components != 3 || !l.interval)
        return -EINVAL;
    s.header = l.header;
    s.height_at = l.height_at;
    across = jpeg_groups_across(&l);
    rows = jpeg_group_rows(&l);
    s.slice[0].from = s.header;
    for (at = jpeg_next_marker(jpeg, s.header, size); at < size && jpeg_is_restart(jpeg[at + 1]);
         at = jpeg_next_marker(jpeg, at + 2, size)) {
        const int64_t groups = (int64_t)l.interval * (n + 1), row = groups / across;

        if (jpeg[at + 1] - JPEG_RST0 != n % 8 || groups >= across * rows)
            return -EINVAL;
        n++;
        if (groups % across == 0 && row * n_max >= s.n * rows)
            cut(&s, (int)row * l.group_height, at, n);
    }
    if (at == size || jpeg[at + 1] != JPEG_EOI || n != (across * rows - 1) / l.interval || s.n < 2)
        return -EINVAL;
    s.slice[s.n - 1].height = l.height - s.slice[s.n - 1].y;
    s.slice[s.n - 1].to = at;
    *ret = s;
    return 0;
}

size_t jpeg_slices_size(const struct jpeg_slices *s, int i)
{
    return s->header + s->slice[i].to - s->slice[i].from + 2;
}

void jpeg_slices_write(const struct jpeg_slices *s, int i, const uint8_t *jpeg, uint8_t *to)
{
    const struct jpeg_slice *slice = &s->slice[i];
    const size_t size = jpeg_slices_size(s, i);

    memcpy(to, jpeg, s->header);
    to[s->height_at] = (uint8_t)(slice->height >> 8);
    to[s->height_at + 1] = (uint8_t)slice->height;
    memcpy(to + s->header, jpeg + slice->from, slice->to - slice->from);
    to[size - 2] = 0xff;
    to[size - 1] = JPEG_EOI;
    /* Restart markers count from 0 again. */
    for (size_t at = jpeg_next_marker(to, s->header, size); at < size - 2;
         at = jpeg_next_marker(to, at + 2, size))
        to[at + 1] = (uint8_t)(JPEG_RST0 + ((to[at + 1] - JPEG_RST0 - slice->n_restarts) & 7));
}
