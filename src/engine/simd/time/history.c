#include "engine/simd/time/history.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "engine/simd/time/mean.h"
#include "engine/simd/time/noise.h"
#include "engine/simd/time/raw.h"
#include "engine/simd/time/search.h"
#include "engine/time/past.h"
#include "filter/mean_count.h"
#include "filter/noise.h"
#include "picture/colour.h"

#define BAND 64  /* rows of a frame that a worker takes at a time, whole blocks */
#define BEFORE 1 /* of `raw` */

struct history {
    struct workers *workers;
    int n_threads;
    const struct row_kernels *kernels;
    /* One per worker: */
    struct mean_scratch *scratch;
    struct noise_sums *sums;
    struct past past;
    struct noise noise;
    struct tint tint; /* of the newest frame */
    /* All that has the size of the picture: */
    struct frame shape;                        /* as frames come in */
    struct frame raw[FILTER_MAX_WINDOW + 1];   /* in planes, the newest first; one is spare */
    struct frame words[FILTER_MAX_WINDOW + 1]; /* likewise, where samples have 16 bits */
    int n_raw;                                 /* that are made */
    uint8_t *brightness; /* of the newest: the mean luma of cells, rounded; from LEVELS_PAD on */
    struct levels mean[2];
    struct search *search;
    uint8_t *counts; /* for the report */
    /* Of the newest frame: */
    bool averages, measures;
    int n_frames; /* of `raw`, that a window in time sees */
    int newest;   /* of `mean` */
    /* The frame at work: */
    const struct frame *in;
    struct mean_job job;
    struct noise_job noise_job;
    int part_rows;
    bool differs[FRAME_MAX_SIDE / BAND + 1]; /* from the frame before, by bands */
};

int history_create(struct history **ret, struct workers *workers, int n_threads,
                   const struct row_kernels *kernels)
{
    struct history *h = calloc(1, sizeof(*h));

    if (!h)
        return -ENOMEM;
    h->workers = workers;
    h->n_threads = n_threads;
    h->kernels = kernels;
    h->sums = calloc((size_t)n_threads, sizeof(*h->sums));
    if (!h->sums) {
        free(h);
        return -ENOMEM;
    }
    noise_init(&h->noise);
    *ret = h;
    return 0;
}

static void free_mean(struct history *h)
{
    for (int i = 0; i < 2; i++)
        levels_free(&h->mean[i]);
    search_destroy(h->search);
    h->search = NULL;
    free(h->counts);
    h->counts = NULL;
    free(h->scratch);
    h->scratch = NULL;
}

static void free_frames(struct history *h)
{
    for (int i = 0; i < h->n_raw; i++) {
        raw_free(&h->raw[i]);
        raw_free(&h->words[i]);
    }
    h->n_raw = 0;
    free(h->brightness);
    h->brightness = NULL;
    h->shape = (struct frame){0};
    free_mean(h);
}

void history_destroy(struct history *h)
{
    if (!h)
        return;
    free_frames(h);
    free(h->sums);
    free(h);
}

void history_forget(struct history *h)
{
    past_forget(&h->past);
}

static int make_mean(struct history *h)
{
    const struct frame *f = &h->raw[0];

    if (h->scratch)
        return 0;
    for (int i = 0; i < 2; i++)
        if (levels_alloc(&h->mean[i], f))
            return -ENOMEM;
    h->counts = malloc(frame_counts_size(f));
    h->scratch = aligned_alloc(FRAME_ALIGN, (size_t)h->n_threads * sizeof(*h->scratch));
    if (h->scratch)
        memset(h->scratch, 0, (size_t)h->n_threads * sizeof(*h->scratch));
    return h->counts && h->scratch ? search_create(&h->search, f) : -ENOMEM;
}

static bool has_words(const struct history *h)
{
    return format_table[h->shape.format].bytes > 1;
}

/* Memory for @n frames like @in and one spare one, and what else is needed. */
static int make_memory(struct history *h, const struct frame *in, int n)
{
    if (!frame_alike(&h->shape, in))
        free_frames(h);
    h->shape = frame_like(in);
    for (; h->n_raw < n + 1; h->n_raw++) {
        if (raw_alloc(&h->raw[h->n_raw], in))
            return -ENOMEM;
        if (has_words(h) && raw_alloc_words(&h->words[h->n_raw], in)) {
            raw_free(&h->raw[h->n_raw]);
            return -ENOMEM;
        }
    }
    if (!h->brightness)
        h->brightness = calloc(LEVELS_PAD + levels_cells_bytes(&h->raw[0]), 1);
    if (!h->brightness)
        return -ENOMEM;
    return h->averages ? make_mean(h) : 0;
}

static void run_bands(struct history *h, void (*fn)(void *arg, int worker, int item))
{
    workers_run(h->workers, fn, h, (h->in->height + BAND - 1) / BAND);
}

static int band_end(const struct history *h, int item)
{
    return (item + 1) * BAND < h->in->height ? (item + 1) * BAND : h->in->height;
}

static void measure_brightness(struct history *h, const struct frame *f, int first, int last)
{
    const size_t stride = f->stride[0] / 2;

    for (int y = first; y < last; y += 2)
        h->kernels->brightness(raw_row(f, 0, y), raw_row(f, 0, y + 1),
                               h->brightness + LEVELS_PAD + (size_t)y / 2 * stride,
                               past_cells(f->width));
}

/* Brings a band into planes, to the spare frame. */
static void take_band(void *arg, int worker, int item)
{
    struct history *h = arg;
    struct frame *to = &h->raw[h->n_raw - 1], *words = &h->words[h->n_raw - 1];
    const int first = item * BAND, last = band_end(h, item);

    (void)worker;
    raw_take(to, h->kernels, h->in, first, last);
    if (has_words(h))
        raw_take_words(words, h->in, first, last);
    if (h->measures)
        measure_brightness(h, to, first, last);
    h->differs[item] = !(has_words(h) ? raw_same(words, &h->words[0], first, last)
                                      : raw_same(to, &h->raw[0], first, last));
}

/* The spare frame becomes the newest. Returns whether it is the very one that was it before. */
static bool take_frame(struct history *h)
{
    const struct frame spare = h->raw[h->n_raw - 1], words = h->words[h->n_raw - 1];
    bool differs = false;

    run_bands(h, take_band);
    memmove(&h->raw[1], &h->raw[0], (size_t)(h->n_raw - 1) * sizeof(h->raw[0]));
    memmove(&h->words[1], &h->words[0], (size_t)(h->n_raw - 1) * sizeof(h->words[0]));
    h->raw[0] = spare;
    h->words[0] = words;
    for (int y = 0; y < h->in->height; y += BAND)
        differs = differs || h->differs[y / BAND];
    return !differs;
}

static void gather_row(void *arg, int worker, int item)
{
    const struct history *h = arg;

    h->kernels->noise(&h->noise_job, &h->sums[worker], item);
}

static void add_sums(struct noise_sums *to, const struct noise_sums *from)
{
    for (int c = 0; c < NOISE_ALL_CLASSES; c++) {
        to->flat[c] += from->flat[c];
        for (int i = 0; i < NOISE_BINS; i++)
            to->blocks[c][i] += from->blocks[c][i];
    }
    to->moved += from->moved;
    to->left += from->left;
    for (int i = 0; i < NOISE_PAIRS; i++)
        to->covariance[i] += from->covariance[i];
    tint_add(&to->tint, &from->tint);
}

static void gather_noise(struct history *h, const struct frame *before,
                         const struct motion_vector *vectors, enum noise_compared compared)
{
    h->noise_job = (struct noise_job){.now = &h->raw[0],
                                      .before = before,
                                      .vectors = vectors,
                                      .known = &h->noise,
                                      .form = noise_form_of(h->in)};
    memset(h->sums, 0, (size_t)h->n_threads * sizeof(*h->sums));
    workers_run(h->workers, gather_row, h, h->in->height / NOISE_BLOCK);
    for (int i = 1; i < h->n_threads; i++)
        add_sums(&h->sums[0], &h->sums[i]);
    noise_update(&h->noise, &h->sums[0], compared);
    h->tint = tint_find(&h->sums[0].tint);
}

/* Samples in stored steps. */
static void begin_row(const struct history *h, int plane, int y)
{
    const uint8_t *from = raw_row(&h->raw[0], plane, y);
    uint16_t *to = levels_row(h->job.now, plane, y);
    const size_t n = frame_row_bytes(&h->raw[0], plane);

    if (!has_words(h)) {
        for (size_t x = 0; x < n; x++)
            to[x] = (uint16_t)(from[x] << 7);
        return;
    }
    memcpy(to, raw_row(&h->words[0], plane, y), n * sizeof(*to));
    for (size_t x = 0; x < n; x++)
        to[x] >>= 1;
}

/* The mean of what begins is itself. */
static void begin_band(void *arg, int worker, int item)
{
    struct history *h = arg;
    const struct frame *f = &h->raw[0];
    const struct levels *now = h->job.now;
    const int first = item * BAND, last = band_end(h, item);
    const int vshift = format_table[f->format].vshift;

    (void)worker;
    for (int p = 0; p < format_table[f->format].planes; p++)
        for (int y = p ? first >> vshift : first; y < (p ? (last + vshift) >> vshift : last); y++)
            begin_row(h, p, y);
    for (int y = first; y < last; y += 2)
        memset(levels_counts(now, y / 2), MEAN_COUNT_ONE, (size_t)past_cells(f->width));
}

/* Whole rows are read quickest, as long as there is enough to do for every thread. A narrow picture
 * stays whole: no strip but the last one may lack the MEAN_MARGIN columns right of it. The last of
 * three has up to 16 columns less than the others. */
static int strip_width(const struct history *h)
{
    const int width = h->in->width, least = (width + MEAN_STRIP - 1) / MEAN_STRIP;
    const int strips =
        workers_used(h->workers) > 4 && width >= 12 * MEAN_MARGIN ? 3 * least : least;

    return (width + strips * MOTION_BLOCK - 1) / (strips * MOTION_BLOCK) * MOTION_BLOCK;
}

static void average_part(void *arg, int worker, int item)
{
    const struct history *h = arg;
    const int width = strip_width(h), strips = (h->in->width + width - 1) / width;
    struct mean_job job = h->job;

    job.scratch = &h->scratch[worker];
    job.left = item % strips * width;
    job.right = job.left + width < job.x.width ? job.left + width : job.x.width;
    job.top = item / strips * h->part_rows;
    job.bottom = job.top + h->part_rows < job.x.height ? job.top + h->part_rows : job.x.height;
    h->kernels->mean(&job);
}

/* Parts of a strip repeat work at their ends, so there are no more of them than threads need. */
static void average_all(struct history *h)
{
    const int width = strip_width(h), strips = (h->in->width + width - 1) / width;
    const int bands = (h->in->height + BAND - 1) / BAND, n = workers_used(h->workers);
    const int wanted = n > 1 ? (4 * n + strips - 1) / strips : 1;
    const int parts = wanted < bands ? wanted : bands;

    h->part_rows = (bands + parts - 1) / parts * BAND;
    workers_run(h->workers, average_part, h,
                strips * ((h->in->height + h->part_rows - 1) / h->part_rows));
}

static void fill_job(struct history *h, const struct filter *f, const struct motion_vector *vectors)
{
    const bool grey = format_table[h->in->format].components == 1;
    const struct noise *n = &h->noise;
    const struct noise_form form = noise_form_of(h->in);
    const double unit = noise_form_luma(&form);

    h->job = (struct mean_job){
        .x = h->raw[0],
        .words = has_words(h) ? &h->words[0] : NULL,
        .brightness = h->brightness + LEVELS_PAD,
        .before = &h->mean[h->newest],
        .now = &h->mean[!h->newest],
        .vectors = vectors,
        .white = noise_whitening(n->left, n->share, grey),
        .share = (float)n->share,
        .in_luma = noise_luma_light(n->left, n->share, grey),
        .in_chroma = noise_chroma_light(n->left, n->share),
        .neutral = {colour_zero(h->in->colour, 0), colour_zero(h->in->colour, 1),
                    colour_zero(h->in->colour, 2)},
        .tint = {0.0F, (float)h->tint.u, (float)h->tint.v},
        .slack = noise_slack((float)n->share),
        .frames = f->temporal,
    };
    for (int y = 0; y < 256; y++)
        h->job.variance[y] = (float)(noise_variance(n, y) / unit);
}

/* @goes_on: from the frame before, which was measured, too. */
static void measure(struct history *h, const struct filter *f, bool goes_on)
{
    const struct motion_vector *vectors = NULL;

    if (goes_on && h->averages && !f->no_search)
        vectors = search_find(h->search, h->workers, h->kernels, &h->raw[0], &h->raw[BEFORE]);
    else if (h->averages)
        search_skip(h->search);
    gather_noise(h, goes_on ? &h->raw[BEFORE] : NULL, vectors,
                 !goes_on  ? NOISE_FIRST
                 : vectors ? NOISE_NEXT
                           : NOISE_AT_MOST);
    if (!h->averages)
        return;
    fill_job(h, f, vectors);
    if (goes_on)
        average_all(h);
    else
        run_bands(h, begin_band);
    h->newest = !h->newest;
}

static void repeat(struct history *h)
{
    if (!noise_repeat(&h->noise) || !h->averages)
        return;
    h->job.now = &h->mean[h->newest];
    run_bands(h, begin_band);
}

int history_add(struct history *h, const struct frame *in, const struct filter *f)
{
    const bool goes_on = past_goes_on(&h->past, in, f), measured = goes_on && h->measures;
    const int most = f->temporal > 1 && !filter_averages(f) ? f->temporal : 1;
    bool repeated;

    h->averages = filter_averages(f);
    h->measures = h->averages || f->sigma_color <= 0.0;
    if (make_memory(h, in, most > BEFORE ? most : BEFORE + 1)) {
        free_frames(h);
        history_forget(h);
        return -ENOMEM;
    }
    h->in = in;
    repeated = take_frame(h);
    h->n_frames = !goes_on ? 1 : h->n_frames < most ? h->n_frames + 1 : most;
    if (measured && repeated)
        repeat(h);
    else if (h->measures)
        measure(h, f, measured);
    return 0;
}

void history_input(const struct history *h, const struct filter *f, struct band_input *ret)
{
    /* There are twice as many levels of words (plan_make_words()), but not of their mean. */
    const double scale = has_words(h) && !h->averages ? 2.0 : 1.0;
    const bool is_420 = format_table[h->raw[0].format].vshift > 0;
    double most = 0.0;

    *ret = (struct band_input){.n_frames = h->n_frames,
                               .mean = h->averages ? &h->mean[h->newest] : NULL,
                               .stride = h->raw[0].stride[0] / 2};
    for (int k = 0; k < h->n_frames; k++)
        ret->frame[k] = has_words(h) ? &h->words[k] : &h->raw[k];
    if (f->sigma_color <= 0.0)
        ret->brightness = h->brightness + LEVELS_PAD;
    if (h->averages)
        ret->count = ret->mean->count;
    for (int i = 0; i < 256; i++) {
        const double nu = sqrt(noise_variance(&h->noise, i));
        const double sc =
            scale * (f->sigma_color > 0.0 ? f->sigma_color
                                          : filter_auto_sigma_color(f, nu, h->noise.share, is_420));

        ret->by_brightness[i] = (float)(1.0 / (sc * sc));
        most = fmax(most, sc);
        ret->by_count[i] = 1.0F;
        if (h->averages && i > 0)
            ret->by_count[i] =
                (float)(1.0 / filter_averaged_share(f, (double)mean_count_frames((uint8_t)i),
                                                    h->noise.share));
    }
    /* In steps, so that what depends on it does not change with every frame. */
    ret->sigma_color = exp2(ceil(4.0 * log2(most)) / 4.0);
}

void history_report(struct history *h, struct engine_report *ret)
{
    *ret = (struct engine_report){0};
    if (h->measures) {
        ret->noise = noise_sigma(&h->noise);
        ret->noise_share = h->noise.share;
    }
    if (h->averages) {
        ret->counts = h->counts;
        ret->frames = levels_report(&h->mean[h->newest], &h->raw[0], h->counts);
    } else if (h->past.temporal > 1) {
        ret->frames = h->n_frames;
    }
}
