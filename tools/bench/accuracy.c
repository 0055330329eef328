/* Sweeps the CPU engine over what it must hold against the reference for every filter and radius,
 * the bilateral one with sigma-color 5..100, on natural pictures and on ones made to be difficult:
 * at most 1 level off and a PSNR of 57 dB or more in every case. The hardest for the PSNR are
 * pictures of few colours, as a checkerboard is: one mean that is very near to half a level rounds
 * the other way in a good part of all pixels.
 *
 *     accuracy-simd
 *
 * Every set of row kernels that runs here meets every case. The table is Markdown; exit status
 * 1 when something is out of bounds. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "engine/engine.h"
#include "engine/simd/cpu.h"
#include "tests/lib/images.h"

#define N(array) (int)(sizeof(array) / sizeof((array)[0]))
#define MAX_SETS 8

static const double sigma_colors[] = {5, 10, 18, 30, 45, 60, 100};
static const enum image_kind kinds[] = {IMAGE_NATURAL, IMAGE_RANDOM, IMAGE_BINARY, IMAGE_CHECKER,
                                        IMAGE_SALT};

static const char *const filters[] = {"bilateral", "gaussian", "box"};

struct score {
    struct difference all;
    double worst_psnr;
    struct filter worst;
};

struct sweep {
    int n_sets;
    const struct row_kernels *set[MAX_SETS];
    struct engine *engine[MAX_SETS], *truth;
    struct score score[MAX_SETS][N(kinds)];
    struct frame in, out, want;
};

static void open_sets(struct sweep *s)
{
    const struct engine_config config = {0};
    struct error err;

    for (const struct cpu_row *row = cpu_table; row->kernels && s->n_sets < MAX_SETS; row++) {
        if (!row->supported())
            continue;
        (void)setenv("BILATCAM_CPU", row->kernels->name, 1);
        s->set[s->n_sets] = row->kernels;
        if (engine_simd.create(&s->engine[s->n_sets++], &config, &err)) {
            fprintf(stderr, "accuracy-simd: %s\n", err.text);
            exit(1);
        }
    }
    if (engine_reference.create(&s->truth, &config, &err) || frame_alloc(&s->in) ||
        frame_alloc(&s->out) || frame_alloc(&s->want)) {
        fprintf(stderr, "accuracy-simd: out of memory\n");
        exit(1);
    }
}

static void run(struct engine *e, const struct frame *in, struct frame *out, const struct filter *f)
{
    if (e->ops->submit(e, in, out, f) || e->ops->collect(e)) {
        fprintf(stderr, "accuracy-simd: the engine failed\n");
        exit(1);
    }
}

static void add(struct score *score, const struct difference *d, const struct filter *f)
{
    const double psnr = difference_psnr(d);

    score->all.max = d->max > score->all.max ? d->max : score->all.max;
    score->all.n_samples += d->n_samples;
    score->all.n_over_1 += d->n_over_1;
    score->all.sum_squares += d->sum_squares;
    if (score->worst_psnr == 0.0 || psnr < score->worst_psnr) {
        score->worst_psnr = psnr;
        score->worst = *f;
    }
}

static void run_case(struct sweep *s, int kind, const struct filter *f)
{
    image_fill(&s->in, kinds[kind], (uint64_t)f->radius);
    run(s->truth, &s->in, &s->want, f);
    for (int i = 0; i < s->n_sets; i++) {
        struct difference d;

        run(s->engine[i], &s->in, &s->out, f);
        d = frame_difference(&s->out, &s->want);
        add(&s->score[i][kind], &d, f);
    }
}

static long print_scores(const struct sweep *s)
{
    long failed = 0;

    printf("| set | picture | samples | max difference | PSNR, dB | worst case, dB |\n"
           "| --- | --- | --- | --- | --- | --- |\n");
    for (int i = 0; i < s->n_sets; i++)
        for (int k = 0; k < N(kinds); k++) {
            const struct score *score = &s->score[i][k];

            printf("| %s | %s | %ld | %d | %.1f | %.1f (%s, radius %d, sigma-color %g, %s) |\n",
                   s->set[i]->label, image_names[kinds[k]], score->all.n_samples, score->all.max,
                   difference_psnr(&score->all), score->worst_psnr, filters[score->worst.kind],
                   score->worst.radius, score->worst.sigma_color,
                   score->worst.range == RANGE_GAUSSIAN ? "gaussian" : "lorentzian");
            failed += score->all.max > 1 || score->worst_psnr < 57.0;
        }
    return failed;
}

int main(void)
{
    const struct frame shape = {.format = FRAME_YUYV, .width = 72, .height = 36};
    static struct sweep s;
    long failed;

    s.in = s.out = s.want = shape;
    open_sets(&s);
    for (int radius = 1; radius <= FILTER_MAX_RADIUS; radius++)
        for (int c = 0; c < N(sigma_colors); c++)
            for (int range = 0; range < 2; range++)
                for (int k = 0; k < N(kinds); k++) {
                    const struct filter f = {
                        .radius = radius,
                        .sigma_space = filter_auto_sigma(radius),
                        .sigma_color = sigma_colors[c],
                        .range = (enum range_kernel)range,
                        .window = (radius + c) % 3 ? WINDOW_DISC : WINDOW_SQUARE,
                    };

                    run_case(&s, k, &f);
                }
    for (int radius = 1; radius <= FILTER_MAX_RADIUS; radius++)
        for (int kind = FILTER_GAUSSIAN; kind <= FILTER_BOX; kind++)
            for (int k = 0; k < N(kinds); k++) {
                const struct filter f = {
                    .kind = (enum filter_kind)kind,
                    .radius = radius,
                    .sigma_space = filter_auto_sigma(radius),
                };

                run_case(&s, k, &f);
            }
    failed = print_scores(&s);
    if (failed)
        printf("%ld of these out of bounds\n", failed);
    return failed ? 1 : 0;
}
