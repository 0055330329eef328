/* Checks an engine against the reference: every filter and radius, both windows, both range
 * kernels, every format, R'G'B' too, pictures on which filters go wrong, sizes from 2x1 up, padded
 * strides.
 *
 *     check-engines ENGINE [--quick] [--share N] [--seed N] [--threads N]
 *
 * --quick takes few radii, for emulators and sanitizers; --share: of the same cases every N-th;
 * --seed draws other cases, for tuning must not be right for those of one seed only; --threads: of
 * the CPU engine.
 *
 * Exit status 0: within the bound of the image contract; 1: not; 77: no such engine here. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/table.h"
#include "tests/engine/bound.h"

#define N(array) (int)(sizeof(array) / sizeof((array)[0]))

static const int sizes[][2] = {
    {2, 1}, {2, 2}, {4, 3}, {14, 9}, {16, 16}, {18, 7}, {62, 21}, {66, 35}, {130, 17},
};
static const int pads[] = {0, 2, 13, 64};
static const double sigma_colors[] = {18, 5, 30, 60, 100, 1, 200};
static const double sigma_spaces[] = {0, 0, 0.5, 3, 40}; /* 0 = auto */

/* What is filtered, but for the numbers. */
struct style {
    enum filter_kind kind;
    enum window_shape window;
    enum range_kernel range;
    enum colour_metric distance;
};

static const struct style bilateral[] = {
    {FILTER_BILATERAL, WINDOW_DISC, RANGE_GAUSSIAN},
    {FILTER_BILATERAL, WINDOW_DISC, RANGE_LORENTZIAN},
    {FILTER_BILATERAL, WINDOW_SQUARE, RANGE_GAUSSIAN},
    {FILTER_BILATERAL, WINDOW_SQUARE, RANGE_LORENTZIAN},
};
static const struct style manhattan[] = {
    {FILTER_BILATERAL, WINDOW_DISC, RANGE_GAUSSIAN, DISTANCE_MANHATTAN},
    {FILTER_BILATERAL, WINDOW_SQUARE, RANGE_LORENTZIAN, DISTANCE_MANHATTAN},
};
static const struct style blurs[] = {
    {FILTER_GAUSSIAN, WINDOW_SQUARE, RANGE_GAUSSIAN},
    {FILTER_BOX, WINDOW_SQUARE, RANGE_GAUSSIAN},
};

/* Cases are drawn so that a slow reference is affordable: at every radius and style each format
 * meets several pictures, sizes and sigmas, and over all radii each value
 * meets each other one. */
struct draw {
    uint64_t rng;
};

/* What is drawn, and how much of it is run. */
struct choice {
    bool quick;
    int share;
    uint64_t seed;
};

static int draw_below(struct draw *d, int n)
{
    return (int)(random_next(&d->rng) % (uint64_t)n);
}

struct test_case {
    struct filter filter;
    struct frame shape;
    enum image_kind image;
    int pad_in, pad_out;
    uint64_t seed;
};

static void describe(const struct test_case *t, const char *verdict, const char *what)
{
    static const char *const kinds[] = {"bilateral", "gaussian", "box"};
    static const char *const matrices[] = {"bt601", "bt709", "bt2020", "rgb"};

    printf("%s %s: %s, radius %d, %s, %s, %s, sigma-space %g, sigma-color %g, %s %dx%d %s %s, "
           "image %s, "
           "pads %d %d, seed %llu\n",
           verdict, what, kinds[t->filter.kind], t->filter.radius,
           t->filter.window == WINDOW_DISC ? "disc" : "square",
           t->filter.range == RANGE_GAUSSIAN ? "gaussian" : "lorentzian",
           t->filter.distance == DISTANCE_MANHATTAN ? "manhattan" : "euclidean",
           t->filter.sigma_space, t->filter.sigma_color, format_table[t->shape.format].name,
           t->shape.width, t->shape.height, matrices[t->shape.colour.matrix],
           t->shape.colour.range == COLOUR_FULL ? "full" : "limited", image_names[t->image],
           t->pad_in, t->pad_out, (unsigned long long)t->seed);
}

/* Bytes that filters of up to this radius see of a picture are of two costs for the reference:
 * taps and pixels. Large windows go with the smaller pictures. */
static bool affordable(const struct test_case *t)
{
    const long work =
        (long)t->shape.width * t->shape.height * filter_taps(t->filter.window, t->filter.radius);

    return work < 500000;
}

/* Values at which implementations change their ways, and any between. */
static double draw_sigma_color(struct draw *d)
{
    if (draw_below(d, 2))
        return sigma_colors[draw_below(d, N(sigma_colors))];
    return exp(log(200.0) * draw_below(d, 1001) / 1000.0);
}

static struct test_case draw_case(struct draw *d, int radius, const struct style *style,
                                  enum frame_format format)
{
    struct test_case t = {
        .filter = {.kind = style->kind,
                   .radius = radius,
                   .window = style->window,
                   .range = style->range,
                   .distance = style->distance},
        .shape = {.format = format},
    };
    const double ss = sigma_spaces[draw_below(d, N(sigma_spaces))];

    t.filter.sigma_space = ss > 0 ? ss : filter_auto_sigma(radius);
    t.filter.sigma_color = draw_sigma_color(d);
    t.shape.colour.matrix = (enum colour_matrix)draw_below(d, COLOUR_RGB);
    if ((format == FRAME_I444 || format == FRAME_I444_16) && draw_below(d, 2))
        t.shape.colour.matrix = COLOUR_RGB;
    t.shape.colour.range = draw_below(d, 2) ? COLOUR_FULL : COLOUR_LIMITED;
    t.image = (enum image_kind)draw_below(d, IMAGE_N_KINDS);
    t.pad_in = pads[draw_below(d, N(pads))];
    t.pad_out = pads[draw_below(d, N(pads))];
    t.seed = random_next(&d->rng);
    do {
        const int *size = sizes[draw_below(d, N(sizes))];

        t.shape.width = size[0];
        t.shape.height = size[1];
    } while (!affordable(&t));
    return t;
}

static int filter_once(struct engine *e, const struct frame *in, struct frame *out,
                       const struct filter *f)
{
    const int r = e->ops->submit(e, in, out, f);

    return r ? r : e->ops->collect(e);
}

struct totals {
    long n_cases, n_failed;
    struct difference all;
};

static void run_case(struct engine *e, struct engine *truth, const struct test_case *t,
                     struct totals *totals)
{
    struct guarded in = {0}, out = {0}, want = {0};
    struct difference d;
    int r;

    totals->n_cases++;
    if (guarded_alloc(&in, &t->shape, t->pad_in) || guarded_alloc(&out, &t->shape, t->pad_out) ||
        guarded_alloc(&want, &t->shape, 0)) {
        describe(t, "FAIL", "out of memory");
        totals->n_failed++;
        goto done;
    }
    guarded_arm(&out);
    image_fill(&in.frame, t->image, t->seed);
    r = filter_once(truth, &in.frame, &want.frame, &t->filter);
    if (r == 0)
        r = filter_once(e, &in.frame, &out.frame, &t->filter);
    d = frame_difference(&out.frame, &want.frame);
    if (r) {
        describe(t, "FAIL", strerror(-r));
        totals->n_failed++;
    } else if (!within_bound(&d) || (t->filter.radius == 0 && d.max)) {
        describe(t, "FAIL", "bound");
        printf("     max %d, %ld of %ld samples over 1, PSNR %.1f dB\n", d.max, d.n_over_1,
               d.n_samples, difference_psnr(&d));
        totals->n_failed++;
    } else if (guarded_check(&out)) {
        describe(t, "FAIL", "wrote outside the picture");
        totals->n_failed++;
    } else if (d.n_over_1) {
        describe(t, "over 1", "but allowed");
    }
    difference_add(&totals->all, &d);
done:
    guarded_free(&in);
    guarded_free(&out);
    guarded_free(&want);
}

/* Fills the engine to its depth with different filters, asks for one too many, and collects. What
 * passes meanwhile, and that the stream breaks, changes nothing for the frames in flight. */
static void check_flight(struct engine *e, struct engine *truth, struct totals *totals)
{
    enum { MAX_DEPTH = 16 };
    const struct frame shape = {.format = FRAME_YUYV, .width = 66, .height = 35};
    const int depth = e->depth < MAX_DEPTH ? e->depth : MAX_DEPTH;
    struct guarded in[MAX_DEPTH + 1] = {0}, out[MAX_DEPTH + 1] = {0}, want = {0};
    struct filter f = {.sigma_space = 2, .sigma_color = 25};

    totals->n_cases++;
    if (guarded_alloc(&want, &shape, 0))
        goto fail;
    for (int i = 0; i <= depth; i++) {
        f.radius = 1 + i % 5;
        if (guarded_alloc(&in[i], &shape, 0) || guarded_alloc(&out[i], &shape, 0))
            goto fail;
        image_fill(&in[i].frame, IMAGE_NATURAL, (uint64_t)i);
        if (i < depth && e->ops->pass(e, &in[i].frame))
            goto fail;
        e->ops->forget(e);
        if (e->ops->submit(e, &in[i].frame, &out[i].frame, &f) != (i < depth ? 0 : -EBUSY))
            goto fail;
    }
    for (int i = 0; i < depth; i++) {
        struct difference d;

        f.radius = 1 + i % 5;
        if (e->ops->collect(e) || filter_once(truth, &in[i].frame, &want.frame, &f))
            goto fail;
        d = frame_difference(&out[i].frame, &want.frame);
        if (!within_bound(&d))
            goto fail;
    }
    if (e->ops->collect(e) == -EAGAIN)
        goto done;
fail:
    printf("FAIL frames in flight: depth %d\n", e->depth);
    totals->n_failed++;
done:
    for (int i = 0; i <= depth; i++) {
        guarded_free(&in[i]);
        guarded_free(&out[i]);
    }
    guarded_free(&want);
}

static void check_styles(struct engine *e, struct engine *truth, const struct style *styles,
                         int n_styles, const struct choice *choice, struct totals *totals)
{
    static const int quick_radii[] = {0, 1, 2, 5, 9, 16, 17, 32};
    const int repeats = choice->quick ? 1 : 6;
    const int n_radii = choice->quick ? N(quick_radii) : FILTER_MAX_RADIUS + 1;
    struct draw d = {.rng = choice->seed};
    int n = 0;

    for (int i = 0; i < n_radii; i++)
        for (int s = 0; s < n_styles; s++)
            for (int format = 0; format < FRAME_N_FORMATS; format++) {
                const int radius = choice->quick ? quick_radii[i] : i;

                if (!format_filtered((enum frame_format)format))
                    continue;
                for (int k = 0; k < repeats; k++) {
                    const struct test_case t =
                        draw_case(&d, radius, &styles[s], (enum frame_format)format);

                    if (n++ % choice->share == 0)
                        run_case(e, truth, &t, totals);
                }
            }
}

/* Samples of another size with the same filter: what was made for those before is of no use. */
static void check_sizes_of_samples(struct engine *e, struct engine *truth, struct totals *totals)
{
    static const enum frame_format formats[] = {FRAME_I420, FRAME_I420_16, FRAME_I420};
    struct test_case t = {.filter = {.radius = 3, .sigma_space = 2, .sigma_color = 25},
                          .shape = {.width = 66, .height = 35},
                          .image = IMAGE_NATURAL};

    for (int i = 0; i < N(formats); i++) {
        t.shape.format = formats[i];
        run_case(e, truth, &t, totals);
    }
}

static void check_all(struct engine *e, struct engine *truth, const struct choice *choice,
                      struct totals *totals)
{
    check_styles(e, truth, bilateral, N(bilateral), choice, totals);
    check_styles(e, truth, manhattan, N(manhattan), choice, totals);
    check_styles(e, truth, blurs, N(blurs), choice, totals);
    check_sizes_of_samples(e, truth, totals);
    check_flight(e, truth, totals);
}

int main(int argc, char **argv)
{
    struct choice choice = {.share = 1, .seed = 1};
    struct engine_config config = {0};
    struct engine *e = NULL, *truth = NULL;
    struct totals totals = {0};
    struct error err;

    for (int i = 2; i < argc; i++) {
        if (!strcmp(argv[i], "--quick"))
            choice.quick = true;
        else if (!strcmp(argv[i], "--share") && i + 1 < argc)
            choice.share = atoi(argv[++i]);
        else if (!strcmp(argv[i], "--seed") && i + 1 < argc)
            choice.seed = strtoull(argv[++i], NULL, 10);
        else if (!strcmp(argv[i], "--threads") && i + 1 < argc)
            config.threads = atoi(argv[++i]);
        else
            argc = 0;
    }
    if (argc < 2 || choice.share < 1) {
        fprintf(stderr, "usage: check-engines ENGINE [--quick] [--share N] [--seed N] "
                        "[--threads N]\n");
        return 2;
    }
    if (engine_open(&e, engine_table, argv[1], &config, &err)) {
        printf("skipped: %s\n", err.text);
        return 77;
    }
    if (engine_reference.create(&truth, &config, &err)) {
        printf("FAIL: %s\n", err.text);
        e->ops->destroy(e);
        return 1;
    }
    check_all(e, truth, &choice, &totals);
    if (totals.all.max_word > MOST_OF_WORDS) {
        printf("FAIL %d of 16 bits over all cases, at most %d\n", totals.all.max_word,
               MOST_OF_WORDS);
        totals.n_failed++;
    }
    if (totals.all.n_over_1 > totals.all.n_samples / 1000 || difference_psnr(&totals.all) < 50.0) {
        printf("FAIL bound over all cases\n");
        totals.n_failed++;
    }
    printf("engine %s (%s): %ld cases, %ld failed; %ld samples, max difference %d, "
           "%ld over 1, PSNR %.1f dB; of 16 bits %d\n",
           argv[1], e->device, totals.n_cases, totals.n_failed, totals.all.n_samples,
           totals.all.max, totals.all.n_over_1, difference_psnr(&totals.all), totals.all.max_word);
    truth->ops->destroy(truth);
    e->ops->destroy(e);
    return totals.n_failed ? 1 : 0;
}
