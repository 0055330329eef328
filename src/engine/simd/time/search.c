#include "engine/simd/time/search.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "engine/simd/rows.h"

#define BAND 16 /* rows that a worker takes at a time */

struct pyramid_levels {
    struct search_level level[MOTION_TOP + 1]; /* the first one stays empty */
    uint16_t *memory;
};

struct search {
    int newest;
    bool has_newest;
    struct pyramid_levels pyramid[2];
    struct search_grid grid[MOTION_TOP + 1];
    struct search_matched matched;
    int16_t *matched_memory;
    struct motion_vector *found;
    /* The work at hand: */
    const struct row_kernels *kernels;
    const struct frame *frame;
    int level; /* that is made */
    struct search_job job;
};

/* --- memory --- */

static int levels_create(struct pyramid_levels *p, int width, int height)
{
    size_t at[MOTION_TOP + 1], n = 0;

    for (int k = 1; k <= MOTION_TOP; k++) {
        struct search_level *l = &p->level[k];

        width = (width + 1) / 2;
        height = (height + 1) / 2;
        l->width = width;
        l->height = height;
        l->stride = (size_t)(width + 2 * SEARCH_PAD + 31) / 32 * 32 | 32; /* odd, as in raw.c */
        at[k] = n + SEARCH_PAD * (l->stride + 1);
        n += (size_t)(height + 2 * SEARCH_PAD) * l->stride;
    }
    p->memory = calloc(n, sizeof(*p->memory));
    if (!p->memory)
        return -ENOMEM;
    for (int k = 1; k <= MOTION_TOP; k++)
        p->level[k].sample = p->memory + at[k];
    return 0;
}

static int matched_create(struct search *s)
{
    struct search_matched *m = &s->matched;
    const size_t stride = (size_t)s->grid[0].cols + 2 * MOTION_REACH;
    const size_t n = stride * ((size_t)s->grid[0].rows + 2 * MOTION_REACH);

    s->matched_memory = calloc(4 * n, sizeof(*s->matched_memory));
    if (!s->matched_memory)
        return -ENOMEM;
    m->stride = (ptrdiff_t)stride;
    m->x = s->matched_memory + MOTION_REACH * (stride + 1);
    m->y = m->x + n;
    m->weight_x = m->y + n;
    m->weight_y = m->weight_x + n;
    return 0;
}

int search_create(struct search **ret, const struct frame *shape)
{
    struct search *s = calloc(1, sizeof(*s));
    bool made = s;

    if (!s)
        return -ENOMEM;
    for (int i = 0; i < 2; i++)
        made = made && !levels_create(&s->pyramid[i], shape->width, shape->height);
    for (int k = 0; k <= MOTION_TOP; k++) {
        const int side = k == 0 ? MOTION_BLOCK : 4 << k;
        struct search_grid *g = &s->grid[k];

        g->cols = (shape->width + side - 1) / side;
        g->rows = (shape->height + side - 1) / side;
        g->stride = g->cols + 2;
        g->vector = calloc((size_t)g->stride * (size_t)(g->rows + 2), sizeof(*g->vector));
        made = made && g->vector;
    }
    s->found = calloc((size_t)s->grid[0].cols * (size_t)s->grid[0].rows, sizeof(*s->found));
    if (!made || matched_create(s) || !s->found) {
        search_destroy(s);
        return -ENOMEM;
    }
    *ret = s;
    return 0;
}

void search_destroy(struct search *s)
{
    if (!s)
        return;
    for (int i = 0; i < 2; i++)
        free(s->pyramid[i].memory);
    for (int k = 0; k <= MOTION_TOP; k++)
        free(s->grid[k].vector);
    free(s->matched_memory);
    free(s->found);
    free(s);
}

void search_skip(struct search *s)
{
    s->has_newest = false;
}

/* --- the pyramid --- */

static void pad_row(uint16_t *row, int width)
{
    for (int i = 1; i <= SEARCH_PAD; i++) {
        row[-i] = row[0];
        row[width + i - 1] = row[width - 1];
    }
}

static void make_row(const struct search *s, int y)
{
    const struct pyramid_levels *p = &s->pyramid[s->newest];
    const struct search_level *to = &p->level[s->level], *from = to - 1;
    uint16_t *row = to->sample + (size_t)y * to->stride;

    if (s->level == 1) {
        const uint8_t *a = s->frame->plane[0] + (size_t)(2 * y) * s->frame->stride[0];

        s->kernels->halve_luma(a, a + s->frame->stride[0], row, to->width);
    } else {
        const uint16_t *a = from->sample + (size_t)(2 * y) * from->stride;

        s->kernels->halve(a, a + from->stride, row, to->width);
    }
    pad_row(row, to->width);
}

static void make_band(void *arg, int worker, int item)
{
    const struct search *s = arg;
    const struct search_level *l = &s->pyramid[s->newest].level[s->level];
    const int end = (item + 1) * BAND < l->height ? (item + 1) * BAND : l->height;

    (void)worker;
    for (int y = item * BAND; y < end; y++)
        make_row(s, y);
}

/* Rows above and below. */
static void pad_level(const struct search_level *l)
{
    const size_t bytes = (size_t)(l->width + 2 * SEARCH_PAD) * sizeof(*l->sample);
    uint16_t *first = l->sample - SEARCH_PAD;
    uint16_t *last = first + (size_t)(l->height - 1) * l->stride;

    for (size_t i = 1; i <= SEARCH_PAD; i++) {
        memcpy(first - i * l->stride, first, bytes);
        memcpy(last + i * l->stride, last, bytes);
    }
}

static void make_pyramid(struct search *s, struct workers *workers, const struct frame *f)
{
    s->frame = f;
    for (s->level = 1; s->level <= MOTION_TOP; s->level++) {
        const struct search_level *l = &s->pyramid[s->newest].level[s->level];

        workers_run(workers, make_band, s, (l->height + BAND - 1) / BAND);
        pad_level(l);
    }
}

/* --- the search --- */

static void search_one(void *arg, int worker, int item)
{
    const struct search *s = arg;

    (void)worker;
    s->kernels->search(&s->job, item);
}

static void smooth_one(void *arg, int worker, int item)
{
    const struct search *s = arg;

    (void)worker;
    s->kernels->search_smooth(&s->job, item);
}

const struct motion_vector *search_find(struct search *s, struct workers *workers,
                                        const struct row_kernels *kernels, const struct frame *now,
                                        const struct frame *before)
{
    s->kernels = kernels;
    if (!s->has_newest)
        make_pyramid(s, workers, before);
    s->newest = !s->newest;
    make_pyramid(s, workers, now);
    s->has_newest = true;
    for (int k = MOTION_TOP; k >= 0; k--) {
        s->job = (struct search_job){
            .level = k,
            .luma_now = now,
            .luma_before = before,
            .now = &s->pyramid[s->newest].level[k],
            .before = &s->pyramid[!s->newest].level[k],
            .parents = k == 0           ? &s->grid[1]
                       : k < MOTION_TOP ? &s->grid[k + 1]
                                        : NULL,
            .grid = &s->grid[k],
            .matched = s->matched,
            .found = s->found,
        };
        workers_run(workers, search_one, s, s->grid[k].rows);
    }
    workers_run(workers, smooth_one, s, s->grid[0].rows);
    return s->found;
}
