#include "engine/time/motion.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define MAX_WINDOW 16
#define MAX_CANDIDATES 64

struct vector {
    int x, y; /* samples of its level */
};

struct grid {
    int cols, rows;
    struct vector *vector;
};

/* What level 0 found of a block, and what that weighs in a mean. */
struct match {
    struct motion_vector v;
    int weight_x, weight_y;
};

struct motion_search {
    struct grid grid[MOTION_TOP + 1]; /* one vector per block */
    struct match *matched;
    struct motion_vector *found; /* once means are taken */
};

static int clamp(int v, int low, int high)
{
    return v < low ? low : v > high ? high : v;
}

/* --- the pyramid --- */

int pyramid_create(struct pyramid *p, int width, int height)
{
    *p = (struct pyramid){0};
    for (int k = 0; k <= MOTION_TOP; k++) {
        p->level[k].width = width;
        p->level[k].height = height;
        p->level[k].sample = malloc((size_t)width * (size_t)height * sizeof(uint16_t));
        if (!p->level[k].sample) {
            pyramid_finish(p);
            return -ENOMEM;
        }
        width = (width + 1) / 2;
        height = (height + 1) / 2;
    }
    return 0;
}

void pyramid_finish(struct pyramid *p)
{
    for (int k = 0; k <= MOTION_TOP; k++)
        free(p->level[k].sample);
    *p = (struct pyramid){0};
}

static void halve(struct motion_level *to, const struct motion_level *from)
{
    for (int y = 0; y < to->height; y++) {
        const uint16_t *a = from->sample + (size_t)(2 * y) * (size_t)from->width;
        const uint16_t *b = 2 * y + 1 < from->height ? a + from->width : a;
        uint16_t *row = to->sample + (size_t)y * (size_t)to->width;

        for (int x = 0; x < to->width; x++) {
            const int right = 2 * x + 1 < from->width ? 2 * x + 1 : 2 * x;

            row[x] = (uint16_t)((a[2 * x] + a[right] + b[2 * x] + b[right] + 2) >> 2);
        }
    }
}

void pyramid_build(struct pyramid *p, const struct frame *f)
{
    struct motion_level *full = &p->level[0];

    for (int y = 0; y < full->height; y++)
        for (int x = 0; x < full->width; x++)
            full->sample[(size_t)y * (size_t)full->width + (size_t)x] =
                (uint16_t)(4 * frame_byte(f, 0, x, y));
    for (int k = 1; k <= MOTION_TOP; k++)
        halve(&p->level[k], &p->level[k - 1]);
}

/* --- the search --- */

int motion_create(struct motion_search **ret, int width, int height)
{
    struct motion_search *m = calloc(1, sizeof(*m));

    if (!m)
        return -ENOMEM;
    for (int k = 0; k <= MOTION_TOP; k++) {
        const int side = k == 0 ? MOTION_BLOCK : 4 << k;
        struct grid *g = &m->grid[k];

        g->cols = (width + side - 1) / side;
        g->rows = (height + side - 1) / side;
        g->vector = calloc((size_t)g->cols * (size_t)g->rows, sizeof(*g->vector));
        if (!g->vector)
            goto no_memory;
    }
    m->matched = calloc((size_t)m->grid[0].cols * (size_t)m->grid[0].rows, sizeof(*m->matched));
    m->found = calloc((size_t)m->grid[0].cols * (size_t)m->grid[0].rows, sizeof(*m->found));
    if (!m->matched || !m->found)
        goto no_memory;
    *ret = m;
    return 0;
no_memory:
    motion_destroy(m);
    return -ENOMEM;
}

void motion_destroy(struct motion_search *m)
{
    if (!m)
        return;
    for (int k = 0; k <= MOTION_TOP; k++)
        free(m->grid[k].vector);
    free(m->matched);
    free(m->found);
    free(m);
}

/* The block that is matched: @side x @side samples of one level from (x, y), which may lie outside
 * of the picture. */
struct window {
    const struct motion_level *now, *before;
    int x, y, side;
    uint16_t sample[MAX_WINDOW * MAX_WINDOW];
};

static bool inside(const struct motion_level *l, int x, int y, int side)
{
    return x >= 0 && y >= 0 && x + side <= l->width && y + side <= l->height;
}

static int sample_at(const struct motion_level *l, int x, int y)
{
    x = frame_nearest(x, l->width);
    y = frame_nearest(y, l->height);
    return l->sample[(size_t)y * (size_t)l->width + (size_t)x];
}

static struct window window_of(const struct pyramid *now, const struct pyramid *before, int level,
                               int col, int row)
{
    const int block = level == 0 ? MOTION_BLOCK : 4;
    struct window w = {.now = &now->level[level],
                       .before = &before->level[level],
                       .x = col * block - block / 2,
                       .y = row * block - block / 2,
                       .side = 2 * block};

    for (int y = 0; y < w.side; y++)
        for (int x = 0; x < w.side; x++)
            w.sample[y * w.side + x] = (uint16_t)sample_at(w.now, w.x + x, w.y + y);
    return w;
}

static int sad(const struct window *w, struct vector v)
{
    const struct motion_level *l = w->before;
    const int x0 = w->x + v.x, y0 = w->y + v.y;
    int sum = 0;

    if (inside(l, x0, y0, w->side)) {
        for (int y = 0; y < w->side; y++) {
            const uint16_t *a = w->sample + (size_t)(y * w->side);
            const uint16_t *b = l->sample + (size_t)(y0 + y) * (size_t)l->width + x0;

            for (int x = 0; x < w->side; x++)
                sum += abs(a[x] - b[x]);
        }
        return sum;
    }
    for (int y = 0; y < w->side; y++)
        for (int x = 0; x < w->side; x++)
            sum += abs(w->sample[y * w->side + x] - sample_at(l, x0 + x, y0 + y));
    return sum;
}

struct candidates {
    int n;
    struct vector v[MAX_CANDIDATES];
};

static void add(struct candidates *c, int x, int y)
{
    c->v[c->n++] = (struct vector){x, y};
}

static void add_around(struct candidates *c, struct vector v, int reach)
{
    for (int dy = -reach; dy <= reach; dy++)
        for (int dx = -reach; dx <= reach; dx++)
            add(c, v.x + dx, v.y + dy);
}

/* What a vector costs beside its SAD. */
struct price {
    int not_zero, away; /* if it is not 0; for each sample away from @expected */
    struct vector expected;
};

static struct vector cheapest(const struct window *w, const struct candidates *c,
                              const struct price *p)
{
    struct vector best = {0};
    int best_cost = INT32_MAX;

    for (int i = 0; i < c->n; i++) {
        const struct vector v = c->v[i];
        const int cost = sad(w, v) + (v.x || v.y ? p->not_zero : 0) +
                         p->away * (abs(v.x - p->expected.x) + abs(v.y - p->expected.y));

        if (cost < best_cost) {
            best_cost = cost;
            best = v;
        }
    }
    return best;
}

static struct vector twice(const struct grid *g, int col, int row)
{
    const struct vector v =
        g->vector[frame_nearest(row, g->rows) * g->cols + frame_nearest(col, g->cols)];

    return (struct vector){2 * v.x, 2 * v.y};
}

static struct vector search_top(const struct window *w)
{
    const struct price price = {.not_zero = 16, .away = 12};
    struct candidates c = {0};

    add_around(&c, (struct vector){0}, 2);
    return cheapest(w, &c, &price);
}

/* The neighbours of the parent on this block's side come first, then those on the far side. */
static struct vector search_between(const struct window *w, const struct grid *parents, int col,
                                    int row)
{
    const int px = col / 2, py = row / 2;
    const int sx = col % 2 ? 1 : -1, sy = row % 2 ? 1 : -1;
    const struct price price = {.not_zero = 40, .away = 4, .expected = twice(parents, px, py)};
    struct candidates c = {0};

    add_around(&c, (struct vector){0}, 1);
    add_around(&c, price.expected, 1);
    add_around(&c, twice(parents, px + sx, py), 1);
    add_around(&c, twice(parents, px, py + sy), 1);
    add_around(&c, twice(parents, px - sx, py), 1);
    add_around(&c, twice(parents, px, py - sy), 1);
    return cheapest(w, &c, &price);
}

static struct vector search_full(const struct window *w, const struct grid *parents, int col,
                                 int row)
{
    const struct price price = {.not_zero = 230, .away = 11, .expected = twice(parents, col, row)};
    struct candidates c = {0};

    add(&c, 0, 0);
    add_around(&c, price.expected, 1);
    c.v[c.n++] = twice(parents, col - 1, row);
    c.v[c.n++] = twice(parents, col + 1, row);
    c.v[c.n++] = twice(parents, col, row - 1);
    c.v[c.n++] = twice(parents, col, row + 1);
    return cheapest(w, &c, &price);
}

/* --- the fraction --- */

/* Where the SAD would be least, by two straight lines of equal slope through the SADs one sample
 * to the left (@l), here (@c) and to the right (@r), as a fraction num / den of a sample, at most
 * a half. */
struct fit {
    int num, den;
    bool near_zero; /* noise alone may have moved the least */
};

static struct fit fit_of(int l, int c, int r)
{
    const int rise = (l > r ? l : r) - c, apart = abs(l - r);

    if (rise <= 0)
        return (struct fit){0, 1, true};
    return (struct fit){clamp(l - r, -rise, rise), 2 * rise,
                        6 * rise < c || 5 * apart < 2 * rise ||
                            (2 * apart < rise && 4 * apart < c)};
}

/* To the nearest eighth, halves away from zero. */
static int eighths(struct fit f)
{
    const int n = (16 * abs(f.num) + f.den) / (2 * f.den);

    return f.num < 0 ? -n : n;
}

/* What stands still is left where it is. */
static struct match with_fraction(const struct window *w, struct vector v)
{
    const int c = sad(w, v);
    const struct fit x =
        fit_of(sad(w, (struct vector){v.x - 1, v.y}), c, sad(w, (struct vector){v.x + 1, v.y}));
    const struct fit y =
        fit_of(sad(w, (struct vector){v.x, v.y - 1}), c, sad(w, (struct vector){v.x, v.y + 1}));
    struct match ret = {.weight_x = motion_weight(x.den / 2), .weight_y = motion_weight(y.den / 2)};

    if (v.x || v.y || !x.near_zero || !y.near_zero)
        ret.v = (struct motion_vector){(int16_t)(8 * v.x + eighths(x)),
                                       (int16_t)(8 * v.y + eighths(y))};
    return ret;
}

static void search_block(struct motion_search *m, const struct pyramid *now,
                         const struct pyramid *before, int level, int col, int row)
{
    const struct window w = window_of(now, before, level, col, row);
    struct vector *ret = &m->grid[level].vector[row * m->grid[level].cols + col];

    if (level == MOTION_TOP)
        *ret = search_top(&w);
    else if (level > 0)
        *ret = search_between(&w, &m->grid[level + 1], col, row);
    else
        *ret = search_full(&w, &m->grid[1], col, row);
    if (level == 0)
        m->matched[row * m->grid[0].cols + col] = with_fraction(&w, *ret);
}

/* --- the mean with what moves alike --- */

static bool is_zero(struct motion_vector v)
{
    return !v.x && !v.y;
}

static bool alike(struct motion_vector a, struct motion_vector b)
{
    return abs(a.x - b.x) <= MOTION_ALIKE && abs(a.y - b.y) <= MOTION_ALIKE;
}

/* To the nearest, halves away from zero. */
static int mean_of(int sum, int n)
{
    const int mean = (2 * abs(sum) + n) / (2 * n);

    return sum < 0 ? -mean : mean;
}

static struct motion_vector smoothed(const struct motion_search *m, int col, int row)
{
    const int cols = m->grid[0].cols, rows = m->grid[0].rows;
    const struct motion_vector v = m->matched[row * cols + col].v;
    int x = 0, y = 0, n_x = 0, n_y = 0;

    if (is_zero(v))
        return v;
    for (int r = row - MOTION_REACH; r <= row + MOTION_REACH; r++)
        for (int c = col - MOTION_REACH; c <= col + MOTION_REACH; c++) {
            const bool inside = r >= 0 && r < rows && c >= 0 && c < cols;
            const struct match u = inside ? m->matched[r * cols + c] : (struct match){0};

            if (is_zero(u.v) || !alike(u.v, v))
                continue;
            x += u.weight_x * (u.v.x - v.x);
            y += u.weight_y * (u.v.y - v.y);
            n_x += u.weight_x;
            n_y += u.weight_y;
        }
    return (struct motion_vector){(int16_t)(v.x + mean_of(x, n_x)),
                                  (int16_t)(v.y + mean_of(y, n_y))};
}

const struct motion_vector *motion_find(struct motion_search *m, const struct pyramid *now,
                                        const struct pyramid *before)
{
    for (int level = MOTION_TOP; level >= 0; level--)
        for (int row = 0; row < m->grid[level].rows; row++)
            for (int col = 0; col < m->grid[level].cols; col++)
                search_block(m, now, before, level, col, row);
    for (int row = 0; row < m->grid[0].rows; row++)
        for (int col = 0; col < m->grid[0].cols; col++)
            m->found[row * m->grid[0].cols + col] = smoothed(m, col, row);
    return m->found;
}
