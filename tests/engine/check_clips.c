/* Checks an engine against the reference on clips, for what it does with the frames before: every
 * raw format, both modes in time, pictures that stand, move, change and are cut, and all that ends
 * or bends a past. Every frame is compared, and so is what the engine reports.
 *
 *     check-clips ENGINE [--clips N] [--seed N] [--drift FRAMES] [--threads N]
 *
 * --clips: how many are drawn, by --seed; --drift: instead, two long clips of a small picture;
 * --threads: of the CPU engine, which cuts pictures accordingly.
 *
 * Exit status 0: within the bound of the image contract; 1: not; 77: no such engine here. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/table.h"
#include "tests/engine/bound.h"
#include "tests/engine/clip.h"

#define N(array) (int)(sizeof(array) / sizeof((array)[0]))
#define FRAMES 12
#define FRAME_NS INT64_C(33333333)

/* The last ones are wider than what engines work on at a time. */
static const int sizes[][2] = {{2, 1},   {14, 9},  {50, 33},  {64, 48}, {66, 35},
                               {98, 67}, {30, 90}, {560, 34}, {530, 19}};
static const int of_tint[] = {98, 131}; /* a change of the light's colour needs some blocks */
static const enum frame_format formats[] = {
    FRAME_YUYV, FRAME_UYVY,   FRAME_NV12,    FRAME_I420,    FRAME_I422,   FRAME_I444,
    FRAME_GREY, FRAME_GREY16, FRAME_I420_16, FRAME_I422_16, FRAME_I444_16};
static const int pads[] = {0, 2, 13, 64};
static const int lengths[] = {2, 3, 8, 16, 31, 32, 64};
static const double sigma_colors[] = {0, 0, 18, 5, 60, 1};
static const double sigma_spaces[] = {0, 0, 0.5, 40}; /* 0 = auto */
static const double noises[] = {0, 1.5, 4, 9, 25};

struct draw {
    uint64_t rng;
};

static int draw_below(struct draw *d, int n)
{
    return (int)(random_next(&d->rng) % (uint64_t)n);
}

static void describe(const struct clip *c, int t, const char *what)
{
    static const char *const matrices[] = {"bt601", "bt709", "bt2020", "rgb"};
    const struct filter *f = &c->filter;

    printf("FAIL %s: frame %d of %s, noise %g%s, %s %dx%d %s %s, image %s, radius %d, %s, %s, "
           "sigma-space %g, sigma-color %g, %s of %d, sigma-time %g%s, pads %d %d, events %d, "
           "%sseed %llu\n",
           what, t, clip_contents[c->content], c->noise, c->shared ? " shared" : "",
           format_table[c->shape.format].name, c->shape.width, c->shape.height,
           matrices[c->shape.colour.matrix],
           c->shape.colour.range == COLOUR_FULL ? "full" : "limited", image_names[c->image],
           f->radius, f->window == WINDOW_DISC ? "disc" : "square",
           f->range == RANGE_GAUSSIAN ? "gaussian" : "lorentzian", f->sigma_space, f->sigma_color,
           f->temporal_mode == TEMPORAL_WINDOW ? "window" : "mean", f->temporal, f->sigma_time,
           f->no_search ? ", no search" : "", c->pad_in, c->pad_out, c->events,
           f->distance == DISTANCE_MANHATTAN ? "manhattan, " : "", (unsigned long long)c->seed);
}

struct totals {
    long n_frames, n_failed;
    struct difference all;
    struct count_difference counts;
    int most_of_words; /* in levels of 16 bits, without the mean, which is stored in 15 */
};

struct pair {
    struct engine *e, *truth;
};

static bool same_report(const struct pair *p, const struct frame *shape, struct totals *totals)
{
    struct engine_report got, want;

    p->e->ops->report(p->e, &got);
    p->truth->ops->report(p->truth, &want);
    return fabs(got.noise - want.noise) <= 1e-6 &&
           fabs(got.noise_share - want.noise_share) <= 1e-6 &&
           fabs(got.frames - want.frames) <= want.frames / 16.0 && !got.counts == !want.counts &&
           counts_within_bound(got.counts, want.counts, frame_counts_size(shape), &totals->counts);
}

/* One frame through both. */
static int filter_both(const struct pair *p, const struct frame *in, struct frame *out,
                       struct frame *want, const struct filter *f)
{
    int r = p->truth->ops->submit(p->truth, in, want, f);

    if (r == 0)
        r = p->truth->ops->collect(p->truth);
    if (r == 0)
        r = p->e->ops->submit(p->e, in, out, f);
    return r ? r : p->e->ops->collect(p->e);
}

static void check_frame(const struct pair *p, const struct clip *c, int t, struct guarded *in,
                        struct guarded *out, struct guarded *want, struct totals *totals)
{
    struct difference d;
    int r;

    totals->n_frames++;
    guarded_arm(out);
    r = filter_both(p, &in->frame, &out->frame, &want->frame, &c->filter);
    if (r) {
        describe(c, t, strerror(-r));
        totals->n_failed++;
        return;
    }
    d = frame_difference(&out->frame, &want->frame);
    difference_add(&totals->all, &d);
    if (!filter_averages(&c->filter) && d.max_word > totals->most_of_words)
        totals->most_of_words = d.max_word;
    if (!within_bound(&d)) {
        describe(c, t, "bound");
        printf("     max %d, %ld of %ld samples over 1, PSNR %.1f dB\n", d.max, d.n_over_1,
               d.n_samples, difference_psnr(&d));
        totals->n_failed++;
    } else if (d.max_word > MOST_OF_WORDS && !filter_averages(&c->filter)) {
        describe(c, t, "16 bits");
        printf("     max %d\n", d.max_word);
        totals->n_failed++;
    } else if (guarded_check(out)) {
        describe(c, t, "wrote outside the picture");
        totals->n_failed++;
    } else if (!same_report(p, &c->shape, totals)) {
        describe(c, t, "reports differ");
        totals->n_failed++;
    }
}

/* What may happen between two frames. Returns whether the same picture comes again. */
static bool happen(const struct pair *p, struct clip *c, struct draw *d, struct frame *in)
{
    switch (draw_below(d, 16)) {
    case 0:
        in->t_capture_ns += 8 * FRAME_NS;
        in->seq += 8;
        break;
    case 1:
        p->e->ops->forget(p->e);
        p->truth->ops->forget(p->truth);
        break;
    case 2:
        c->filter.no_search = !c->filter.no_search;
        break;
    case 3:
        c->filter.radius = c->filter.radius ? c->filter.radius - 1 : 1;
        break;
    case 4:
        c->filter.sigma_color = sigma_colors[draw_below(d, N(sigma_colors))];
        break;
    case 5: /* a frame is lost */
        (void)p->e->ops->pass(p->e, in);
        (void)p->truth->ops->pass(p->truth, in);
        break;
    case 6:
        c->filter.temporal = c->filter.temporal == 1 ? 4 : draw_below(d, 3) ? 8 : 1;
        break;
    case 7:
        return true;
    case 8: /* all but the very picture */
        if (format_table[in->format].bytes > 1)
            in->plane[0][draw_below(d, in->width) * 2] ^= 1;
        return true;
    default:
        break;
    }
    return false;
}

static bool alloc_all(struct guarded *in, struct guarded *scratch, struct guarded *out,
                      struct guarded *want, const struct clip *c)
{
    return !guarded_alloc(in, &c->shape, c->pad_in) && !guarded_alloc(scratch, &c->shape, 0) &&
           !guarded_alloc(out, &c->shape, c->pad_out) && !guarded_alloc(want, &c->shape, 0);
}

/* The engines keep their pasts from clip to clip, which mostly differ in size or format. */
static void run_clip(const struct pair *p, struct clip c, struct totals *totals)
{
    struct guarded in = {0}, scratch = {0}, out = {0}, want = {0};
    struct draw d = {.rng = c.seed};
    int again = 0;

    if (!alloc_all(&in, &scratch, &out, &want, &c)) {
        describe(&c, 0, "out of memory");
        totals->n_failed++;
    } else {
        for (int t = 0; t < c.frames; t += !again) {
            if (!again)
                clip_paint(&c, t, &in.frame, &scratch.frame);
            in.frame.t_capture_ns = t ? in.frame.t_capture_ns + FRAME_NS : 0;
            in.frame.seq++;
            check_frame(p, &c, t, &in, &out, &want, totals);
            if (again)
                again--;
            else if (clip_stops(&c, t))
                again = NOISE_STILL;
            else
                again = c.events && happen(p, &c, &d, &in.frame);
        }
    }
    guarded_free(&in);
    guarded_free(&scratch);
    guarded_free(&out);
    guarded_free(&want);
}

/* How much the reference has to do, per frame. */
static bool affordable(const struct clip *c)
{
    const long taps = filter_taps(c->filter.window, c->filter.radius);
    const int n = c->filter.temporal_mode == TEMPORAL_WINDOW ? c->filter.temporal : 1;

    return (long)c->shape.width * c->shape.height * taps * n < 400000;
}

static struct clip draw_clip(struct draw *d, int i)
{
    struct clip c = {
        .filter = {.radius = draw_below(d, 4) ? draw_below(d, 7) : draw_below(d, 33),
                   .window = (enum window_shape)draw_below(d, 2),
                   .range = (enum range_kernel)draw_below(d, 2),
                   .temporal_mode = draw_below(d, 4) ? TEMPORAL_RECURSIVE : TEMPORAL_WINDOW,
                   .no_search = !draw_below(d, 4)},
        .shape = {.format = formats[i % N(formats)]},
        .content = (enum content)draw_below(d, CONTENT_N),
        .image = (enum image_kind)draw_below(d, IMAGE_N_KINDS),
        .noise = noises[draw_below(d, N(noises))],
        .speed = {draw_below(d, 60) / 8.0 - 3.0, draw_below(d, 40) / 8.0 - 2.0},
        .pad_in = pads[draw_below(d, N(pads))],
        .pad_out = pads[draw_below(d, N(pads))],
        .frames = FRAMES,
        .events = draw_below(d, 2),
        .seed = random_next(&d->rng),
    };
    const double ss = sigma_spaces[draw_below(d, N(sigma_spaces))];
    const double faster = draw_below(d, 4) ? 1.0 : 8.0;

    c.shared = c.seed / 2 % 3 == 0;
    if (c.content == CONTENT_TINT) {
        c.filter.radius %= 3; /* affordable */
        c.filter.temporal_mode = TEMPORAL_RECURSIVE;
    }
    c.speed[0] *= faster;
    c.speed[1] *= faster;
    c.filter.sigma_space = ss > 0 ? ss : filter_auto_sigma(c.filter.radius);
    c.filter.sigma_color = sigma_colors[draw_below(d, N(sigma_colors))];
    c.filter.sigma_time = draw_below(d, 2) ? 0.0 : 1.5;
    c.filter.temporal = lengths[draw_below(d, N(lengths))];
    if (c.filter.temporal_mode == TEMPORAL_WINDOW && c.filter.temporal > FILTER_MAX_WINDOW)
        c.filter.temporal = 2 + draw_below(d, FILTER_MAX_WINDOW - 1);
    c.shape.colour.matrix = (enum colour_matrix)draw_below(d, COLOUR_RGB);
    c.shape.colour.range = draw_below(d, 2) ? COLOUR_FULL : COLOUR_LIMITED;
    if (format_table[c.shape.format].components == 3 && !format_table[c.shape.format].hshift &&
        c.seed % 2)
        c.shape.colour.matrix = COLOUR_RGB;
    do {
        const int *any = sizes[draw_below(d, N(sizes))];
        const int *size = c.content == CONTENT_TINT ? of_tint : any;

        c.shape.width = size[0];
        c.shape.height = size[1];
    } while (!affordable(&c));
    return c;
}

/* What engines round differently must fade, not add up; and only here counts get far above 12. */
static struct clip long_clip(int frames, int most)
{
    return (struct clip){
        .filter = {.radius = 1, .sigma_space = 1.0, .temporal = most},
        .shape = {.format = FRAME_I420, .width = 50, .height = 34},
        .content = CONTENT_OBJECT,
        .noise = 4.0,
        .speed = {0.03, 0.02},
        .frames = frames,
        .seed = 5,
    };
}

/* Of whose noise not every block is counted. */
static struct clip large_clip(void)
{
    return (struct clip){
        .filter = {.radius = 1, .sigma_space = 1.0, .temporal = 16},
        .shape = {.format = FRAME_I420, .width = 900, .height = 600},
        .content = CONTENT_OBJECT,
        .noise = 4.0,
        .speed = {1.3, 0.4},
        .frames = 2,
        .seed = 6,
    };
}

static void run_shows(const struct pair *p, struct totals *totals)
{
    static const enum frame_format of[] = {FRAME_I420, FRAME_I422_16, FRAME_YUYV};

    for (int i = 0; i < N(of); i++) {
        struct clip c = long_clip(NOISE_SHOW + 30, i == 2 ? 1 : 16);

        c.filter.no_search = i == 1;
        c.shape.format = of[i];
        c.show = true;
        run_clip(p, c, totals);
    }
}

static void check_all(const struct pair *p, int clips, uint64_t seed, int drift,
                      struct totals *totals)
{
    struct draw d = {.rng = seed};

    for (int i = 0; i < clips && !drift; i++) {
        struct clip c = draw_clip(&d, i);

        if (i % 3 == 0)
            c.filter.distance = DISTANCE_MANHATTAN;
        run_clip(p, c, totals);
    }
    if (!drift) {
        run_clip(p, large_clip(), totals);
        run_shows(p, totals);
    }
    for (int most = 16; most <= FILTER_MAX_TEMPORAL && drift; most *= 4)
        run_clip(p, long_clip(drift, most), totals);
    if (totals->all.n_over_1 > totals->all.n_samples / 1000 ||
        totals->counts.n_off > totals->counts.n / 1000 || difference_psnr(&totals->all) < 50.0) {
        printf("FAIL bound over all clips\n");
        totals->n_failed++;
    }
}

int main(int argc, char **argv)
{
    struct engine_config config = {0};
    struct totals totals = {0};
    struct pair p = {0};
    struct error err;
    uint64_t seed = 1;
    int clips = 140, drift = 0;

    for (int i = 2; i < argc; i++) {
        if (i + 1 == argc)
            argc = 0;
        else if (!strcmp(argv[i], "--clips"))
            clips = atoi(argv[++i]);
        else if (!strcmp(argv[i], "--seed"))
            seed = strtoull(argv[++i], NULL, 10);
        else if (!strcmp(argv[i], "--drift"))
            drift = atoi(argv[++i]);
        else if (!strcmp(argv[i], "--threads"))
            config.threads = atoi(argv[++i]);
        else
            argc = 0;
    }
    if (argc < 2) {
        fprintf(stderr, "usage: check-clips ENGINE [--clips N] [--seed N] [--drift FRAMES] "
                        "[--threads N]\n");
        return 2;
    }
    if (engine_open(&p.e, engine_table, argv[1], &config, &err)) {
        printf("skipped: %s\n", err.text);
        return 77;
    }
    if (engine_reference.create(&p.truth, &config, &err)) {
        printf("FAIL: %s\n", err.text);
        p.e->ops->destroy(p.e);
        return 1;
    }
    check_all(&p, clips, seed, drift, &totals);
    printf("engine %s (%s): %ld frames, %ld failed; max difference %d, %ld of %ld samples over 1, "
           "PSNR %.1f dB; of 16 bits %d without the mean\n",
           argv[1], p.e->device, totals.n_frames, totals.n_failed, totals.all.max,
           totals.all.n_over_1, totals.all.n_samples, difference_psnr(&totals.all),
           totals.most_of_words);
    p.truth->ops->destroy(p.truth);
    p.e->ops->destroy(p.e);
    return totals.n_failed ? 1 : 0;
}
