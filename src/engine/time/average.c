#include "engine/time/average.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "engine/time/guess.h"
#include "engine/time/noise_blocks.h"
#include "picture/colour.h"

struct average {
    struct frame x;         /* the newest frame, a copy; its memory is our own */
    struct stored state[2]; /* of the newest frame, and of the one before */
    struct pyramid pyramid[2];
    int newest; /* of both */
    bool has_past;
    struct motion_search *search;
    struct noise noise;
    struct tint tint; /* of the newest frame */
    struct field nu2;
    struct guess still, moved; /* P_0 and P_1 */
    struct field f;            /* of the mix */
    uint8_t *counts;           /* for the report */
};

int average_create(struct average **ret)
{
    struct average *a = calloc(1, sizeof(*a));

    if (!a)
        return -ENOMEM;
    noise_init(&a->noise);
    *ret = a;
    return 0;
}

/* All that has the size of the picture. */
static void free_memory(struct average *a)
{
    for (int i = 0; i < 2; i++) {
        stored_free(&a->state[i]);
        pyramid_finish(&a->pyramid[i]);
    }
    motion_destroy(a->search);
    a->search = NULL;
    frame_free(&a->x);
    a->x = (struct frame){0};
    field_free(&a->nu2);
    guess_free(&a->still);
    guess_free(&a->moved);
    field_free(&a->f);
    free(a->counts);
    a->counts = NULL;
}

static bool make_memory(struct average *a, const struct frame *x)
{
    bool made;

    free_memory(a);
    a->x = frame_like(x);
    a->counts = malloc(frame_counts_size(x));
    made = !frame_alloc(&a->x);
    for (int i = 0; i < 2; i++)
        made = made && stored_alloc(&a->state[i], x) &&
               !pyramid_create(&a->pyramid[i], x->width, x->height);
    return made && !motion_create(&a->search, x->width, x->height) &&
           field_alloc(&a->nu2, past_cells(x->width), past_cells(x->height)) &&
           guess_alloc(&a->still, x) && guess_alloc(&a->moved, x) &&
           field_alloc(&a->f, past_cells(x->width), past_cells(x->height)) && a->counts;
}

void average_destroy(struct average *a)
{
    if (!a)
        return;
    free_memory(a);
    free(a);
}

void average_forget(struct average *a)
{
    a->has_past = false;
}

double average_level(const struct average *a, int component, int x, int y)
{
    return stored_level(&a->state[a->newest], component, x, y);
}

double average_count(const struct average *a, int x, int y)
{
    return stored_count(&a->state[a->newest], x / 2, y / 2);
}

/* What a level of luma counts for in the length of a colour, squared. */
static double luma_squared(const struct frame *f)
{
    const struct noise_form form = noise_form_of(f);

    return noise_form_luma(&form);
}

double average_noise(const struct average *a, int x, int y)
{
    return luma_squared(&a->x) * *field_at(&a->nu2, x / 2, y / 2);
}

double average_noise_share(const struct average *a)
{
    return a->noise.share;
}

/* The mean of the counts in a block, in halves. */
static uint8_t block_count(const struct average *a, int bx, int by)
{
    double sum = 0.0;
    int n = 0;

    for (int y = by; y < by + FRAME_COUNT_BLOCK && y < a->x.height; y++)
        for (int x = bx; x < bx + FRAME_COUNT_BLOCK && x < a->x.width; x++, n++)
            sum += average_count(a, x, y);
    return (uint8_t)(2.0 * sum / n + 0.5);
}

void average_report(struct average *a, struct engine_report *ret)
{
    const int width = a->x.width, height = a->x.height;
    uint8_t *count = a->counts;
    double sum = 0.0;

    for (int y = 0; y < height; y += FRAME_COUNT_BLOCK)
        for (int x = 0; x < width; x += FRAME_COUNT_BLOCK)
            *count++ = block_count(a, x, y);
    for (int y = 0; y < height; y++)
        for (int x = 0; x < width; x++)
            sum += average_count(a, x, y);
    *ret = (struct engine_report){
        .noise = noise_sigma(&a->noise),
        .noise_share = a->noise.share,
        .frames = sum / width / height,
        .counts = a->counts,
    };
}

static bool repeated(const struct average *a, const struct frame *x)
{
    return a->has_past && frame_squared_error(&a->x, x) == 0.0;
}

/* nu2 from the mean luma of each cell. */
static void spread_noise(struct average *a)
{
    const double unit = luma_squared(&a->x);

    for (int cy = 0; cy < a->nu2.height; cy++)
        for (int cx = 0; cx < a->nu2.width; cx++)
            *field_at(&a->nu2, cx, cy) =
                noise_variance(&a->noise, guess_brightness(&a->x, cx, cy)) / unit;
}

static void count_noise(struct average *a, const struct frame *x,
                        const struct motion_vector *vectors)
{
    const enum noise_compared compared = !a->has_past ? NOISE_FIRST
                                         : vectors    ? NOISE_NEXT
                                                      : NOISE_AT_MOST;
    struct noise_sums sums = {0};

    noise_gather(&sums, &a->noise, x, a->has_past ? &a->x : NULL, vectors);
    noise_update(&a->noise, &sums, compared);
    a->tint = tint_find(&sums.tint);
}

/* f of the pixels of a cell. */
static double choose(const struct average *a, struct motion_vector v, int x, int y)
{
    const double d = *field_at(&a->moved.d, x, y) - *field_at(&a->still.d, x, y);
    const double r = *field_at(&a->moved.r, x, y) - *field_at(&a->still.r, x, y);

    if ((!v.x && !v.y) || *field_at(&a->moved.m, x, y) <= 0.0)
        return 0.0;
    return 1.0 / (1.0 + exp(4.0 * d + 2.0 * r + (motion_is_far(v) ? 0.0 : 2.0)));
}

/* f, and in place of what the first guess has of n', L and h what both have together. */
static void mix(struct average *a, const struct motion_vector *vectors)
{
    const int cols = (a->x.width + MOTION_BLOCK - 1) / MOTION_BLOCK;
    struct field *const of_still[] = {&a->still.n, &a->still.part, &a->still.l[0], &a->still.l[1],
                                      &a->still.l[2]};
    const struct field *const of_moved[] = {&a->moved.n, &a->moved.part, &a->moved.l[0],
                                            &a->moved.l[1], &a->moved.l[2]};

    for (int y = 0; y < a->f.height; y++)
        for (int x = 0; x < a->f.width; x++) {
            const struct motion_vector v =
                vectors ? vectors[2 * y / MOTION_BLOCK * cols + 2 * x / MOTION_BLOCK]
                        : (struct motion_vector){0};
            const double f = choose(a, v, x, y);

            *field_at(&a->f, x, y) = f;
            for (size_t i = 0; i < sizeof(of_still) / sizeof(of_still[0]); i++) {
                double *const still = field_at(of_still[i], x, y);

                *still += f * (*field_at(of_moved[i], x, y) - *still);
            }
        }
}

/* P' of a sample. */
static double predicted(const struct average *a, int c, int x, int y)
{
    const int cx = guess_cell_x(&a->x, c, x), cy = guess_cell_y(&a->x, c, y);
    const double still = *field_at(&a->still.p[c], x, y);
    const double p = still + *field_at(&a->f, cx, cy) * (*field_at(&a->moved.p[c], x, y) - still);
    const double l = *field_at(&a->still.l[c], cx, cy), h = *field_at(&a->still.part, cx, cy);
    const double t = c == 1 ? a->tint.u : a->tint.v;
    const int luma = guess_brightness(&a->x, cx, cy) - colour_zero(a->x.colour, 0);

    return c ? p + l + t * luma + h / (1.0 - h) * (p - colour_zero(a->x.colour, c)) : p + l;
}

static void average_in(struct average *a, struct stored *now)
{
    for (int c = 0; c < format_table[a->x.format].components; c++)
        for (int y = 0; y < a->still.p[c].height; y++)
            for (int x = 0; x < a->still.p[c].width; x++) {
                const double n =
                    *field_at(&a->still.n, guess_cell_x(&a->x, c, x), guess_cell_y(&a->x, c, y));
                const double p = predicted(a, c, x, y);

                stored_set_level(now, c, x, y, p + (frame_level(&a->x, c, x, y) - p) / (n + 1.0));
            }
    for (int y = 0; y < a->f.height; y++)
        for (int x = 0; x < a->f.width; x++)
            stored_set_count(now, x, y, fmin(*field_at(&a->still.n, x, y) + 1.0, now->frames));
}

static void begin(struct average *a, struct stored *now)
{
    for (int c = 0; c < format_table[a->x.format].components; c++) {
        const struct samples s = frame_samples(&a->x, c);

        for (int y = 0; y < s.height; y++)
            for (int x = 0; x < s.width; x++)
                stored_set_level(now, c, x, y, frame_level(&a->x, c, x, y));
    }
    for (int y = 0; y < a->f.height; y++)
        for (int x = 0; x < a->f.width; x++)
            stored_set_count(now, x, y, 1.0);
}

int average_add(struct average *a, const struct frame *x, int frames, bool search)
{
    const struct motion_vector *vectors = NULL;
    struct stored *now, *before;

    if (!frame_alike(&a->x, x)) {
        a->has_past = false;
        if (!make_memory(a, x)) {
            free_memory(a);
            return -ENOMEM;
        }
    }
    if (repeated(a, x)) {
        if (noise_repeat(&a->noise))
            begin(a, &a->state[a->newest]);
        spread_noise(a);
        return 0;
    }
    before = &a->state[a->newest];
    a->newest = !a->newest;
    now = &a->state[a->newest];
    now->frames = frames;
    pyramid_build(&a->pyramid[a->newest], x);
    if (a->has_past && frames > 1 && search)
        vectors = motion_find(a->search, &a->pyramid[a->newest], &a->pyramid[!a->newest]);
    count_noise(a, x, vectors);
    frame_copy(&a->x, x);
    spread_noise(a);
    if (a->has_past && frames > 1) {
        struct guess_input in = {
            .x = &a->x, .before = before, .noise = &a->noise, .tint = a->tint, .nu2 = &a->nu2};

        guess_make(&a->still, &in);
        in.vectors = vectors;
        guess_make(&a->moved, &in);
        mix(a, vectors);
        average_in(a, now);
    } else {
        begin(a, now);
    }
    a->has_past = true;
    return 0;
}
