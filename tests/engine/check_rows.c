/* Checks every row kernel that this processor runs against the plain C one, to the bit, in the
 * manner of checkasm: odd widths, unaligned rows, guard bytes around all that is written.
 *
 *     check-rows [SET]              one set of kernels only, as in BILATCAM_CPU
 *     check-rows --benchmark        times instead
 *
 * A new kernel set is a new row of cpu_table and needs nothing here. Exit status 0: all agree;
 * 1: not; 77: the set does not run here. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "engine/simd/cpu.h"
#include "engine/simd/half.h"
#include "engine/simd/plan.h"
#include "tests/lib/images.h"

#define N(array) (int)(sizeof(array) / sizeof((array)[0]))
#define WIDTH_MAX 1024
#define REACH 40 /* samples in front of and behind rows that windows may read */
#define GUARD 64
#define GUARD_BYTE 0x5A

static const int widths[] = {1, 2, 7, 8, 9, 15, 16, 17, 31, 32, 33, 63, 64, 65, 130, 959};

/* An output row with guards: `row` has room for whole vectors. */
struct guarded_row {
    uint8_t memory[GUARD + WIDTH_MAX * 4 + GUARD];
    uint8_t *row;
    size_t size;
};

static void guard(struct guarded_row *g, size_t size, size_t misalign)
{
    memset(g->memory, GUARD_BYTE, sizeof(g->memory));
    g->row = g->memory + GUARD / 2 + misalign;
    g->size = size;
}

static bool guard_intact(const struct guarded_row *g)
{
    for (const uint8_t *p = g->memory; p < g->memory + sizeof(g->memory); p++)
        if ((p < g->row || p >= g->row + g->size) && *p != GUARD_BYTE)
            return false;
    return true;
}

static size_t whole_vectors(int n)
{
    return ((size_t)n + ROW_LANES_MAX - 1) / ROW_LANES_MAX * ROW_LANES_MAX;
}

struct check {
    const struct row_kernels *set;
    uint64_t rng;
    uint64_t seed; /* of the case at hand */
    long n_cases, n_failed;
};

static unsigned below(struct check *c, unsigned n)
{
    return (unsigned)(random_next(&c->rng) % n);
}

static void report(struct check *c, bool ok, const char *what, int width)
{
    c->n_cases++;
    if (ok)
        return;
    c->n_failed++;
    printf("FAIL %s %s: width %d, seed %llu\n", c->set->name, what, width,
           (unsigned long long)c->seed);
}

/* Random, all 0, all 255, or 0 and 255. */
static void fill_bytes(struct check *c, uint8_t *p, size_t n)
{
    const unsigned kind = below(c, 4);

    for (size_t i = 0; i < n; i++) {
        const uint8_t r = (uint8_t)below(c, 256);

        p[i] = kind == 0 ? r : kind == 1 ? 0 : kind == 2 ? 255 : r & 1 ? 255 : 0;
    }
}

static void check_split(struct check *c, int n)
{
    static struct guarded_row a, b, want_a, want_b;
    uint8_t in[2 * WIDTH_MAX + 1];

    fill_bytes(c, in, sizeof(in));
    guard(&a, (size_t)n, 1);
    guard(&b, (size_t)n, 3);
    guard(&want_a, (size_t)n, 0);
    guard(&want_b, (size_t)n, 0);
    c->set->split(in + 1, a.row, b.row, n);
    row_kernels_c.split(in + 1, want_a.row, want_b.row, n);
    report(c,
           !memcmp(a.row, want_a.row, (size_t)n) && !memcmp(b.row, want_b.row, (size_t)n) &&
               guard_intact(&a) && guard_intact(&b),
           "split", n);
}

static void check_merge(struct check *c, int n)
{
    static struct guarded_row out, want;
    uint8_t a[WIDTH_MAX], b[WIDTH_MAX];

    fill_bytes(c, a, sizeof(a));
    fill_bytes(c, b, sizeof(b));
    guard(&out, 2 * (size_t)n, 1);
    guard(&want, 2 * (size_t)n, 0);
    c->set->merge(a, b, out.row, n);
    row_kernels_c.merge(a, b, want.row, n);
    report(c, !memcmp(out.row, want.row, 2 * (size_t)n) && guard_intact(&out), "merge", n);
}

static struct filter draw_filter(struct check *c, enum row_arithmetic a)
{
    struct filter f = {
        .radius = 1 + (int)below(c, !row_is_real(a) && a != ROWS_HALF ? 5 : 8),
        .sigma_color = !row_is_real(a) ? 5.0 + below(c, 40) : 1.0 + below(c, 200),
        .range = a == ROWS_LORENTZIAN ? RANGE_LORENTZIAN : RANGE_GAUSSIAN,
        .distance = a != ROWS_TABLE && a != ROWS_HALF && below(c, 2) ? DISTANCE_MANHATTAN
                                                                     : DISTANCE_EUCLIDEAN,
        .window = below(c, 2) ? WINDOW_SQUARE : WINDOW_DISC,
    };

    if (a == ROWS_GAUSSIAN)
        f.sigma_color = below(c, 2) ? 1.0 : 200.0;
    f.sigma_space = below(c, 4) ? filter_auto_sigma(f.radius) : below(c, 2) ? 0.7 : 0.1;
    return f;
}

static void check_planes(struct check *c, const struct row_plan *plan, int n)
{
    static struct guarded_row out[4], want[4];
    const int real = row_is_real(plan->arithmetic);
    const size_t sample = real ? sizeof(float) : sizeof(int16_t);
    const size_t bytes = whole_vectors(n) * sample, used = (size_t)n * sample;
    uint8_t y[WIDTH_MAX + 1], u[WIDTH_MAX + 1], v[WIDTH_MAX + 1];
    bool ok = true;

    fill_bytes(c, y, sizeof(y));
    fill_bytes(c, u, sizeof(u));
    fill_bytes(c, v, sizeof(v));
    for (int i = 0; i < 4; i++) {
        guard(&out[i], bytes, sample * (size_t)i);
        guard(&want[i], bytes, 0);
    }
    c->set->luma[real](&plan->scale, y + 1, out[0].row, n);
    c->set->chroma[real](&plan->scale, u + 1, v + 1,
                         (void *const[3]){out[1].row, out[2].row, out[3].row}, n);
    row_kernels_c.luma[real](&plan->scale, y + 1, want[0].row, n);
    row_kernels_c.chroma[real](&plan->scale, u + 1, v + 1,
                               (void *const[3]){want[1].row, want[2].row, want[3].row}, n);
    for (int i = 0; i < 4; i++)
        ok &= !memcmp(out[i].row, want[i].row, used) && guard_intact(&out[i]);
    report(c, ok, real ? "planes, floating point" : "planes, fixed point", n);
}

/* Of ROWS_TABLE or ROWS_HALF: luma with its chroma, and chroma. */
static void check_mixed_planes(struct check *c, const struct row_plan *plan, int n)
{
    static struct guarded_row out[5], want[5];
    const bool half = plan->arithmetic == ROWS_HALF;
    const size_t sample = half ? 2 : 4, bytes = whole_vectors(n) * sample;
    const struct row_kernels *const sets[2] = {c->set, &row_kernels_c};
    uint8_t y[2 * WIDTH_MAX + 1], u[WIDTH_MAX + 1], v[WIDTH_MAX + 1];
    bool ok = true;

    fill_bytes(c, y, sizeof(y));
    fill_bytes(c, u, sizeof(u));
    fill_bytes(c, v, sizeof(v));
    for (int i = 0; i < 2; i++) {
        const struct row_kernels *set = sets[i];
        int16_t *planes[5];

        for (int k = 0; k < 5; k++) {
            guard(i ? &want[k] : &out[k], bytes, i ? 0 : 2 * (size_t)k);
            planes[k] = (int16_t *)(void *)(i ? &want[k] : &out[k])->row;
        }
        (half ? set->half_luma : set->table_luma)(&plan->scale, y + 1, u + 1, v + 1, planes, n);
        (half ? set->half_chroma : set->table_chroma)(&plan->scale, u + 1, v + 1, planes + 2, n);
    }
    for (int k = 0; k < 5; k++)
        ok &= !memcmp(out[k].row, want[k].row, (size_t)n * sample) && guard_intact(&out[k]);
    report(c, ok, half ? "planes, half precision" : "planes, table", n);
}

/* Rows of planes around one, with samples that differ little or as much as samples can. */
struct surroundings {
    float memory[2 * FILTER_MAX_RADIUS + 1][ROW_PLANES][REACH + WIDTH_MAX + REACH + 1];
    struct row_planes rows[2 * FILTER_MAX_RADIUS + 1];
};

/* Whether the plane holds samples less 128 and not what distances are made of. */
static bool is_sample_plane(const struct row_plan *plan, int plane)
{
    return plan->arithmetic == ROWS_TABLE &&
           (plane == PLANE_Y1 || plane == PLANE_U || plane == PLANE_V);
}

static void fill_surroundings(struct check *c, struct surroundings *s, const struct row_plan *plan)
{
    const unsigned spread = below(c, 2) ? 65536 : 3000;
    const bool real = row_is_real(plan->arithmetic);
    const bool half = plan->arithmetic == ROWS_HALF;
    const int per_sample = plan->arithmetic == ROWS_FIXED || half ? 1 : 2; /* 16-bit words */

    for (int y = -plan->reach_y; y <= plan->reach_y; y++)
        for (int p = 0; p < ROW_PLANES; p++) {
            float *floats = s->memory[y + FILTER_MAX_RADIUS][p];
            int16_t *words = (int16_t *)(void *)floats;
            const unsigned range = is_sample_plane(plan, p) ? 256 : spread;

            for (int i = 0; i < N(s->memory[0][0]) * (real ? 1 : per_sample); i++) {
                const int v = (int)below(c, range) - (int)range / 2;

                if (real)
                    floats[i] = (float)v / (float)spread * 8.0F;
                else
                    words[i] = (int16_t)(half ? half_from(v / 32.0) : v);
            }
            s->rows[y + FILTER_MAX_RADIUS].plane[p] =
                words + per_sample * (REACH + (int)below(c, 2));
        }
}

struct filtered {
    struct guarded_row out[8], sums;
};

static void filter_with(const struct row_kernels *set, const struct surroundings *s,
                        const struct row_plan *plan, enum row_layout layout, int n,
                        enum row_joint joint, size_t misalign, struct filtered *ret)
{
    struct row_job job = {
        .plan = plan, .rows = &s->rows[FILTER_MAX_RADIUS], .columns = n, .joint = joint};
    float sums[3 * WIDTH_MAX];
    const size_t sums_bytes = 3 * whole_vectors(n) * sizeof(float);

    for (int i = 0; i < N(ret->out); i++) {
        guard(&ret->out[i], whole_vectors(n), misalign);
        job.out[i] = ret->out[i].row;
    }
    job.sums = sums;
    for (int i = 0; i < N(sums); i++)
        sums[i] = 1000.0F + (float)(i % 7);
    set->filter[plan->distance][plan->arithmetic][layout](&job);
    guard(&ret->sums, 0, 0);
    if (joint == JOINT_STORE && sums_bytes <= sizeof(ret->sums.memory))
        memcpy(ret->sums.memory, sums, sums_bytes);
}

static bool same_sums(const struct filtered *a, const struct filtered *b, int n)
{
    const size_t row = whole_vectors(n) * sizeof(float);

    if (3 * row > sizeof(a->sums.memory))
        return true;
    for (int i = 0; i < 3; i++)
        if (memcmp(a->sums.memory + (size_t)i * row, b->sums.memory + (size_t)i * row,
                   (size_t)n * sizeof(float)))
            return false;
    return true;
}

static void check_filter(struct check *c, const struct row_plan *plan, enum row_layout layout,
                         int n)
{
    static const char *const names[ROWS_N_ARITHMETICS][ROWS_N_LAYOUTS] = {
        {"fixed pair", "fixed single", "fixed grey"},
        {"table pair", NULL, NULL},
        {"half pair", NULL, NULL},
        {"gaussian pair", "gaussian single", "gaussian grey"},
        {"lorentzian pair", "lorentzian single", "lorentzian grey"},
    };
    static struct surroundings s;
    static struct filtered got, want;
    enum row_joint joint = layout == ROWS_PAIR ? (enum row_joint)below(c, 3) : JOINT_NONE;
    bool ok;

    if (plan->arithmetic == ROWS_TABLE && joint == JOINT_STORE)
        joint = JOINT_NONE;
    fill_surroundings(c, &s, plan);
    filter_with(c->set, &s, plan, layout, n, joint, 1, &got);
    filter_with(&row_kernels_c, &s, plan, layout, n, joint, 0, &want);
    ok = same_sums(&got, &want, n);
    for (int i = 0; i < N(got.out); i++)
        ok &= !memcmp(got.out[i].row, want.out[i].row, (size_t)n) && guard_intact(&got.out[i]);
    report(c, ok, names[plan->arithmetic][layout], n);
}

/* Rows around one, and a filter whose weights are drawn: with any, sets agree. */
static void check_blur_rows(struct check *c, int n)
{
    static uint8_t in[2 * FILTER_MAX_RADIUS + 1][WIDTH_MAX];
    static struct guarded_row out, want;
    const uint8_t *rows[2 * FILTER_MAX_RADIUS + 1];
    struct blur_taps t = {.reach = (int)below(c, FILTER_MAX_RADIUS + 1)};
    const size_t used = (size_t)n * sizeof(int16_t);

    for (int i = 0; i < N(rows); i++) {
        fill_bytes(c, in[i], sizeof(in[i]));
        rows[i] = in[i] + below(c, 2);
    }
    for (int k = 0; k <= t.reach; k++)
        t.weight[k] = 0x10001 * below(c, 32768 / (unsigned)(t.reach + 1) + 1);
    guard(&out, used, 2);
    guard(&want, used, 0);
    c->set->blur_rows(&rows[FILTER_MAX_RADIUS], &t, (int16_t *)(void *)out.row, n);
    row_kernels_c.blur_rows(&rows[FILTER_MAX_RADIUS], &t, (int16_t *)(void *)want.row, n);
    report(c, !memcmp(out.row, want.row, used) && guard_intact(&out), "gaussian, rows", n);
}

static void check_blur_columns(struct check *c, int n)
{
    enum { FAR = 2 * FILTER_MAX_RADIUS };
    static int16_t in[FAR + WIDTH_MAX + 4 * ROW_LANES_MAX + FAR];
    static struct guarded_row out, want;
    struct blur_taps t = {.reach = (int)below(c, FILTER_MAX_RADIUS + 1)};
    const int step = 1 + (int)below(c, 2);

    for (int i = 0; i < N(in); i++)
        in[i] = (int16_t)((int)(below(c, 8) ? below(c, 255 * BLUR_LEVEL + 1) : 255 * BLUR_LEVEL) -
                          128 * BLUR_LEVEL);
    for (int k = 0; k <= t.reach; k++)
        t.weight[k] = below(c, 16384 / (unsigned)(t.reach + 1) + 1) |
                      below(c, 16384 / (unsigned)(t.reach + 1) + 1) << 16;
    guard(&out, whole_vectors(n), 1);
    guard(&want, whole_vectors(n), 0);
    c->set->blur_columns(in + FAR + 1, step, &t, out.row, n);
    row_kernels_c.blur_columns(in + FAR + 1, step, &t, want.row, n);
    report(c, !memcmp(out.row, want.row, (size_t)n) && guard_intact(&out), "gaussian, columns", n);
}

static void check_box(struct check *c, int n)
{
    static uint16_t in[FILTER_MAX_RADIUS + WIDTH_MAX + FILTER_MAX_RADIUS + ROW_LANES_MAX];
    static uint32_t sums[N(in) + ROW_LANES_MAX + 1];
    static struct guarded_row out, want;
    const struct box_taps t = {
        .reach = {(int)below(c, FILTER_MAX_RADIUS + 1), (int)below(c, FILTER_MAX_RADIUS + 1)},
        .two = below(c, 2),
        .per = 1.0F / (float)(4000 + below(c, 9000)),
    };
    const size_t used = (size_t)n * sizeof(uint16_t);
    uint8_t more[WIDTH_MAX], less[WIDTH_MAX];

    for (int i = 0; i < N(in); i++)
        in[i] = (uint16_t)below(c, 16576);
    fill_bytes(c, more, sizeof(more));
    fill_bytes(c, less, sizeof(less));
    guard(&out, used, 2);
    guard(&want, used, 0);
    memcpy(out.row, in, used);
    memcpy(want.row, in, used);
    c->set->box_rows((uint16_t *)(void *)out.row, more + 1, less, t.two ? 3 : 1, n);
    row_kernels_c.box_rows((uint16_t *)(void *)want.row, more + 1, less, t.two ? 3 : 1, n);
    report(c, !memcmp(out.row, want.row, used) && guard_intact(&out), "box, rows", n);
    guard(&out, whole_vectors(n), 1);
    guard(&want, whole_vectors(n), 0);
    c->set->box_columns(in + FILTER_MAX_RADIUS, &t, sums, out.row, n);
    row_kernels_c.box_columns(in + FILTER_MAX_RADIUS, &t, sums, want.row, n);
    report(c, !memcmp(out.row, want.row, (size_t)n) && guard_intact(&out), "box, columns", n);
}

static void check_set(struct check *c)
{
    static struct row_plan plan;

    for (int w = 0; w < N(widths); w++) {
        c->seed = c->rng;
        check_split(c, widths[w]);
        check_merge(c, widths[w]);
        check_blur_rows(c, widths[w]);
        check_blur_columns(c, widths[w]);
        check_box(c, widths[w]);
        for (int a = 0; a < ROWS_N_ARITHMETICS; a++)
            for (int l = 0; l < ROWS_N_LAYOUTS; l++) {
                const struct filter f = draw_filter(c, (enum row_arithmetic)a);
                const struct colour colour = {(enum colour_matrix)below(c, COLOUR_RGB + 1),
                                              (enum colour_range)below(c, 2)};

                plan_make(&plan, &f, colour, (enum row_layout)l, (enum row_arithmetic)a);
                if (!c->set->filter[plan.distance][plan.arithmetic][l])
                    continue;
                c->seed = c->rng;
                if (plan.arithmetic == ROWS_TABLE || plan.arithmetic == ROWS_HALF)
                    check_mixed_planes(c, &plan, widths[w]);
                else
                    check_planes(c, &plan, widths[w]);
                check_filter(c, &plan, (enum row_layout)l, widths[w]);
            }
    }
    printf("%s: %ld cases, %ld failed\n", c->set->label, c->n_cases, c->n_failed);
}

static double now_ms(void)
{
    struct timespec t;

    (void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

/* Nanoseconds per pixel and tap, or per pixel, of the most used kernels. */
static void benchmark_set(struct check *c)
{
    static struct surroundings s;
    static struct filtered out;
    static struct row_plan plan;
    static const char *const names[] = {"fixed", "table", "half", "gaussian", "lorentzian"};
    const int n = 960, repeats = 20;

    for (int a = 0; a < ROWS_N_ARITHMETICS; a++) {
        const struct filter f = {
            .radius = 5,
            .sigma_space = 2.5,
            .sigma_color = a == ROWS_GAUSSIAN ? 1.0 : 30.0,
            .range = a == ROWS_LORENTZIAN ? RANGE_LORENTZIAN : RANGE_GAUSSIAN,
        };
        const int rows = a == ROWS_TABLE ? 2 : 1;
        double least = 1e9;

        plan_make(&plan, &f, (struct colour){0}, ROWS_PAIR, (enum row_arithmetic)a);
        if (!c->set->filter[plan.distance][plan.arithmetic][ROWS_PAIR])
            continue;
        fill_surroundings(c, &s, &plan);
        for (int i = 0; i < repeats; i++) {
            const double start = now_ms();

            for (int k = 0; k < 10; k++)
                filter_with(c->set, &s, &plan, ROWS_PAIR, n, JOINT_NONE, 0, &out);
            least = now_ms() - start < least ? now_ms() - start : least;
        }
        printf("%-10s %-10s %.4f ns per pixel and tap\n", c->set->name, names[a],
               least * 1e6 / 10.0 / (2.0 * rows * n * filter_taps(WINDOW_DISC, 5)));
    }
}

int main(int argc, char **argv)
{
    const bool benchmark = argc == 2 && !strcmp(argv[1], "--benchmark");
    const char *only = argc == 2 && !benchmark ? argv[1] : NULL;
    long n_checked = 0, n_failed = 0;

    for (const struct cpu_row *row = cpu_table; row->kernels; row++) {
        struct check c = {.set = row->kernels, .rng = 1};

        if (!row->supported() || (only && strcmp(only, row->kernels->name)))
            continue;
        n_checked++;
        if (benchmark)
            benchmark_set(&c);
        else
            check_set(&c);
        n_failed += c.n_failed;
    }
    if (!n_checked) {
        printf("skipped: no kernels called '%s' run here\n", only ? only : "");
        return 77;
    }
    return n_failed ? 1 : 0;
}
