/* The CPU engine: frames cut into bands of rows, which a pool of threads takes one after the
 * other. The work itself is in band.c, the inner loops in the row kernels of rows.h. */
#include "engine/engine.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/thread.h"
#include "base/workers.h"
#include "engine/simd/band.h"
#include "engine/simd/blur.h"
#include "engine/simd/cpu.h"
#include "engine/simd/plan.h"
#include "engine/simd/time/history.h"

#define BLUR_ROWS_LEAST 64 /* of a band */

struct simd {
    struct engine base;
    bool busy; /* a frame is submitted and not yet collected */
    const struct row_kernels *kernels;
    struct workers *workers;
    int n_threads;
    struct band *band; /* one per worker */
    struct blur *blur; /* likewise */
    struct history *history;
    bool looks_back; /* the newest frame */
    /* What `plan` was made for: */
    bool planned, each, words;
    struct filter filter;
    struct colour colour;
    enum row_layout layout;
    struct row_plan plan;
    struct blur_plan blur_plan;
    /* The frame at work: */
    struct band_input input;
    const struct frame *out;
    int band_rows;
};

static void describe(char *device, size_t size, int n_threads, const struct row_kernels *kernels)
{
    (void)snprintf(device, size, "%d thread%s, %s", n_threads, n_threads == 1 ? "" : "s",
                   kernels->label);
}

static int simd_probe(const char *wanted, char *device, size_t size, struct error *err)
{
    const struct row_kernels *kernels;
    const int r = cpu_choose_kernels(&kernels, err);

    (void)wanted;
    if (r == 0)
        describe(device, size, online_cpus(), kernels);
    return r;
}

static void simd_destroy(struct engine *e)
{
    struct simd *s = (struct simd *)e;

    if (!s)
        return;
    history_destroy(s->history);
    workers_destroy(s->workers);
    for (int i = 0; s->band && i < s->n_threads; i++)
        band_finish(&s->band[i]);
    for (int i = 0; s->blur && i < s->n_threads; i++)
        blur_finish(&s->blur[i]);
    free(s->band);
    free(s->blur);
    free(s);
}

/* With @n_threads, 0 for one per processor. Where the system does not let so many start, one has to
 * do: others need threads, too. */
static int start(struct simd *s, int n_threads)
{
    int r;

    s->n_threads = n_threads ? n_threads : online_cpus();
    r = workers_create(&s->workers, "filter", s->n_threads);
    if (r == -EAGAIN && !n_threads) {
        log_warning("the system lets no %d threads start: one filters", s->n_threads);
        s->n_threads = 1;
        r = workers_create(&s->workers, "filter", 1);
    }
    if (r)
        return r;
    s->band = calloc((size_t)s->n_threads, sizeof(s->band[0]));
    s->blur = calloc((size_t)s->n_threads, sizeof(s->blur[0]));
    return s->band && s->blur ? history_create(&s->history, s->workers, s->n_threads, s->kernels)
                              : -ENOMEM;
}

static int simd_create(struct engine **ret, const struct engine_config *config, struct error *err)
{
    const struct row_kernels *kernels;
    struct simd *s;
    int r = cpu_choose_kernels(&kernels, err);

    if (r)
        return r;
    s = calloc(1, sizeof(*s));
    if (!s)
        return error_set(err, -ENOMEM, "out of memory for the CPU engine");
    s->base.ops = &engine_simd;
    s->base.depth = 1;
    s->kernels = kernels;
    r = start(s, config->threads);
    if (r) {
        const int n_threads = s->n_threads;

        simd_destroy(&s->base);
        return error_set(err, r, "cannot start the CPU engine with %d thread%s: %s", n_threads,
                         n_threads == 1 ? "" : "s", strerror(-r));
    }
    s->base.threads = s->n_threads;
    s->base.threads_most = config->threads > 0 ? 0 : s->n_threads;
    describe(s->base.device, sizeof(s->base.device), s->n_threads, kernels);
    *ret = &s->base;
    return 0;
}

/* Every byte of memory that frames come in is as quick for the CPU as any other. */
static int simd_pin(struct engine *e, void *memory, size_t bytes)
{
    (void)e;
    (void)memory;
    (void)bytes;
    return 0;
}

static void simd_unpin(struct engine *e, void *memory)
{
    (void)e;
    (void)memory;
}

static bool same_filter(const struct filter *a, const struct filter *b)
{
    return a->kind == b->kind && a->radius == b->radius && a->sigma_space == b->sigma_space &&
           a->sigma_color == b->sigma_color && a->range == b->range && a->distance == b->distance &&
           a->window == b->window && a->temporal == b->temporal && a->sigma_time == b->sigma_time;
}

static void make_plan(struct simd *s, const struct frame *in, const struct filter *filter)
{
    const enum row_layout layout = plan_layout(in->format);
    const bool words = format_table[in->format].bytes > 1;
    const bool each = filter_looks_back(filter);
    struct filter f = *filter;

    if (filter_averages(filter))
        f.temporal = 1; /* a mean is filtered like a frame */
    if (each)
        f.sigma_color = s->input.sigma_color;
    if (s->planned && same_filter(&s->filter, &f) && s->layout == layout && s->each == each &&
        s->words == words && s->colour.matrix == in->colour.matrix &&
        s->colour.range == in->colour.range)
        return;
    if (each)
        plan_make_each(&s->plan, &f, in->colour, layout, f.temporal, words);
    else if (words)
        plan_make_words(&s->plan, filter, in->colour, layout);
    else
        plan_make(&s->plan, filter, in->colour, layout, s->kernels->prefers);
    s->planned = true;
    s->each = each;
    s->words = words;
    s->filter = f;
    s->colour = in->colour;
    s->layout = layout;
}

/* An even number of rows, so that rows which share chroma stay together, and few enough for
 * every thread to get some. */
static int choose_band_rows(const struct simd *s, const struct frame *in)
{
    const int n = workers_used(s->workers), share = (in->height + n - 1) / n;
    const int most = band_rows(&s->plan, in, s->input.n_frames);

    return share >= most ? most : (share + 1) / 2 * 2;
}

static void run_band(void *arg, int worker, int item)
{
    struct simd *s = arg;
    const int first = item * s->band_rows, last = first + s->band_rows;

    band_run(&s->band[worker], s->kernels, &s->plan, &s->input, s->each, s->out, first,
             last < s->out->height ? last : s->out->height);
}

/* To begin with, a band takes as many rows as the window has; few bands are to share that out. */
static int blur_band_rows(const struct simd *s, const struct frame *in)
{
    const int n = 2 * workers_used(s->workers), share = (in->height + n - 1) / n;

    return (share < BLUR_ROWS_LEAST ? BLUR_ROWS_LEAST : share + 1) / 2 * 2;
}

static void run_blur(void *arg, int worker, int item)
{
    struct simd *s = arg;
    const int first = item * s->band_rows, last = first + s->band_rows;

    blur_run(&s->blur[worker], s->kernels, &s->blur_plan, s->input.frame[0], s->out, first,
             last < s->out->height ? last : s->out->height);
}

static int submit_blur(struct simd *s, const struct frame *in, struct frame *out,
                       const struct filter *f)
{
    history_forget(s->history);
    for (int i = 0; i < s->n_threads; i++)
        if (blur_prepare(&s->blur[i], in))
            return -ENOMEM;
    if (!same_filter(&s->blur_plan.filter, f) || s->blur_plan.format != in->format)
        blur_plan_make(&s->blur_plan, f, in->format);
    s->looks_back = false;
    s->input.frame[0] = in;
    s->out = out;
    s->band_rows = blur_band_rows(s, in);
    workers_run(s->workers, run_blur, s, (in->height + s->band_rows - 1) / s->band_rows);
    s->busy = true;
    return 0;
}

/* What is to be filtered in space. */
static int take_frame(struct simd *s, const struct frame *in, const struct filter *filter)
{
    s->looks_back = filter_looks_back(filter);
    if (!s->looks_back) {
        history_forget(s->history);
        s->input.frame[0] = in;
        s->input.n_frames = 1;
        s->input.mean = NULL;
        return 0;
    }
    if (history_add(s->history, in, filter))
        return -ENOMEM;
    history_input(s->history, filter, &s->input);
    return 0;
}

static int simd_submit(struct engine *e, const struct frame *in, struct frame *out,
                       const struct filter *filter)
{
    struct simd *s = (struct simd *)e;

    if (s->busy)
        return -EBUSY;
    if (!engine_takes(in->format, filter))
        return -EINVAL;
    workers_use(s->workers, s->base.threads);
    if (filter->kind != FILTER_BILATERAL && filter->radius > 0 &&
        format_table[in->format].bytes == 1)
        return submit_blur(s, in, out, filter);
    if (take_frame(s, in, filter))
        return -ENOMEM;
    if (filter->radius == 0 && !s->looks_back) {
        frame_copy(out, in);
        s->busy = true;
        return 0;
    }
    make_plan(s, in, filter);
    s->band_rows = choose_band_rows(s, in);
    for (int i = 0; i < s->n_threads; i++)
        if (band_prepare(&s->band[i], &s->plan, in, s->input.n_frames, s->band_rows))
            return -ENOMEM;
    s->out = out;
    workers_run(s->workers, run_band, s, (in->height + s->band_rows - 1) / s->band_rows);
    s->busy = true;
    return 0;
}

static int simd_collect(struct engine *e)
{
    struct simd *s = (struct simd *)e;

    if (!s->busy)
        return -EAGAIN;
    s->busy = false;
    return 0;
}

static void simd_forget(struct engine *e)
{
    history_forget(((struct simd *)e)->history);
}

static void simd_report(struct engine *e, struct engine_report *ret)
{
    struct simd *s = (struct simd *)e;

    *ret = (struct engine_report){0};
    if (s->looks_back)
        history_report(s->history, ret);
}

const struct engine_ops engine_simd = {
    .name = "simd",
    .help = "the CPU, with the vector instructions that this processor has",
    .probe = simd_probe,
    .create = simd_create,
    .destroy = simd_destroy,
    .release = engine_release_nothing,
    .pin = simd_pin,
    .unpin = simd_unpin,
    .submit = simd_submit,
    .collect = simd_collect,
    .pass = engine_pass_nothing,
    .forget = simd_forget,
    .report = simd_report,
};
