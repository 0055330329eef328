#include "cuda/device_past.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "cuda/kernel/bilateral.h"
#include "engine/time/motion.h"
#include "engine/time/noise_blocks.h"
#include "filter/mean_count.h"
#include "filter/noise.h"
#include "picture/colour.h"

#define ALIGN 256

_Static_assert(TIME_BLOCK == MOTION_BLOCK && TIME_ALIKE == MOTION_ALIKE &&
                   TIME_REACH == MOTION_REACH && TIME_HEAVIEST == MOTION_HEAVIEST &&
                   TIME_FAR == MOTION_FAR && TIME_TOP == MOTION_TOP,
               "engine/time/motion.h");

static int align_up(int n, int to)
{
    return (n + to - 1) / to * to;
}

/* --- memory --- */

static struct time_shape shape_of(const struct frame *f)
{
    const struct format_info *info = &format_table[f->format];
    struct time_shape s = {
        .width = f->width,
        .height = f->height,
        .components = info->components,
        .hshift = info->hshift,
        .vshift = info->vshift,
        .stride = align_up(f->width, 16) + 2 * TIME_PAD,
        .stride_c = align_up(f->width >> info->hshift, 16) + 2 * TIME_PAD,
        .cells_x = past_cells(f->width),
        .cells_y = past_cells(f->height),
    };
    int width = f->width, height = f->height;

    for (int k = 0; k <= TIME_TOP; k++) {
        const int side = k ? 4 << k : TIME_BLOCK;

        s.level_width[k] = width;
        s.level_height[k] = height;
        s.level_stride[k] = align_up(width, 16) + 2 * TIME_LEVEL_PAD;
        s.cols[k] = (f->width + side - 1) / side;
        s.rows[k] = (f->height + side - 1) / side;
        width = (width + 1) / 2;
        height = (height + 1) / 2;
    }
    return s;
}

/* Memory that is handed out from the front; NULL: it is only measured. */
struct supply {
    uint8_t *memory;
    size_t used;
};

static void *take(struct supply *s, size_t bytes)
{
    void *const ret = s->memory ? s->memory + s->used : NULL;

    s->used += (bytes + ALIGN - 1) / ALIGN * ALIGN;
    return ret;
}

/* Rows with @pad samples of @bytes around them. */
static void *take_padded(struct supply *s, int stride, int rows, int pad, size_t bytes)
{
    uint8_t *const all = take(s, (size_t)stride * (size_t)(rows + 2 * pad) * bytes);

    return all ? all + ((size_t)pad * (size_t)stride + (size_t)pad) * bytes : NULL;
}

static size_t lay_out(struct device_past *t, uint8_t *memory)
{
    const struct time_shape *s = &t->shape;
    const size_t luma = (size_t)s->stride * (size_t)s->height;
    const int rows_c = (s->height + 1) >> s->vshift;
    const size_t chroma = (size_t)s->stride_c * (size_t)rows_c;
    const size_t n_cells = (size_t)s->cells_x * (size_t)s->cells_y;
    struct supply from = {.memory = memory};

    for (int i = 0; i < 2; i++) {
        struct time_picture *p = &t->picture[i];

        p->luma = take_padded(&from, s->stride, (s->height + 1) / 2 * 2, TIME_PAD, 1);
        for (int c = 0; c < 2; c++)
            p->chroma[c] = take_padded(&from, s->stride_c, rows_c, TIME_PAD, 1);
        for (int k = 1; k <= TIME_TOP; k++)
            p->level[k] = take_padded(&from, s->level_stride[k], s->level_height[k], TIME_LEVEL_PAD,
                                      sizeof(uint16_t));
    }
    for (int c = 0; c < s->components; c++)
        t->words[c] = format_table[t->like.format].bytes > 1
                          ? take(&from, (c ? chroma : luma) * sizeof(uint16_t))
                          : NULL;
    for (int i = 0; i < t->n_stored; i++) {
        for (int c = 0; c < s->components; c++)
            t->stored[i].level[c] = take(&from, (c ? chroma : luma) * sizeof(uint16_t));
        t->stored[i].count = take(&from, n_cells);
    }
    for (int k = 0; k <= TIME_TOP; k++)
        t->vector[k] = take(&from, (size_t)s->cols[k] * (size_t)s->rows[k] * sizeof(*t->vector[k]));
    t->matched = take(&from, (size_t)s->cols[0] * (size_t)s->rows[0] * sizeof(*t->matched));
    t->sums = take(&from, (size_t)(s->width / NOISE_BLOCK) * (size_t)(s->height / NOISE_BLOCK) *
                              sizeof(*t->sums));
    for (int i = 0; i < 2; i++)
        t->cells[i] = t->averages ? take(&from, n_cells * sizeof(*t->cells[i])) : NULL;
    return from.used;
}

/* Has the memory laid out for frames like @f, of which @n_stored are kept. */
static int reserve(struct device_past *t, const struct frame *f, int n_stored, bool averages)
{
    size_t size;

    if (t->memory && frame_alike(&t->like, f) && n_stored == t->n_stored && averages == t->averages)
        return 0;
    t->like = frame_like(f);
    t->n_stored = n_stored;
    t->averages = averages;
    t->shape = shape_of(f);
    size = lay_out(t, NULL);
    if (size > t->size) {
        (void)cudaFree(t->memory);
        t->memory = NULL;
        t->size = 0;
        const cudaError_t status = cudaMalloc((void **)&t->memory, size);

        if (status != cudaSuccess)
            return bilateral_errno(status);
        t->size = size;
    }
    (void)lay_out(t, t->memory);
    /* Samples are loaded and stored some at once, those beyond the last one of a row too. */
    return bilateral_errno(cudaMemsetAsync(t->memory, 0, size, t->stream));
}

int device_past_init(struct device_past *t)
{
    struct time_noise none = {0};
    struct noise unknown;
    cudaError_t status;

    noise_init(&unknown);
    memcpy(none.variance, unknown.variance, sizeof(none.variance));
    none.share = unknown.share;
    status = cudaStreamCreateWithFlags(&t->stream, cudaStreamNonBlocking);
    if (status == cudaSuccess)
        status = cudaMalloc((void **)&t->noise, sizeof(*t->noise));
    if (status == cudaSuccess)
        status = cudaMemcpy(t->noise, &none, sizeof(none), cudaMemcpyHostToDevice);
    return bilateral_errno(status);
}

void device_past_finish(struct device_past *t)
{
    if (t->stream) {
        (void)cudaStreamSynchronize(t->stream);
        (void)cudaStreamDestroy(t->stream);
    }
    (void)cudaFree(t->noise);
    (void)cudaFree(t->memory);
}

/* --- a frame --- */

static void set_colours(struct time_job *j, const struct frame *f)
{
    const struct noise_form form = noise_form_of(f);

    memcpy(j->form, form.q, sizeof(j->form));
    for (int c = 0; c < 3; c++)
        j->zero[c] = (float)colour_zero(f->colour, c);
}

/* The least that a pixel's share of the range sigma can be. */
static double least_share(const struct filter *f)
{
    return filter_averages(f) ? sqrt(filter_averaged_share(f, f->temporal, 0.0)) : 1.0;
}

/* Whether the noise has to be known. */
static bool measures(const struct filter *f)
{
    return filter_averages(f) || f->sigma_color <= 0.0;
}

static struct time_job make_job(const struct device_past *t, const struct frame *in,
                                const struct filter *f, bool goes_on,
                                const struct bilateral_params *p)
{
    const uint32_t now = t->number % 2, stored = t->number % (uint32_t)t->n_stored;
    const uint32_t last = (t->number - 1) % (uint32_t)t->n_stored;
    const bool averages = filter_averages(f);
    struct time_job j = {
        .shape = t->shape,
        .now = t->picture[now],
        .before = t->picture[!now],
        .state = t->stored[stored],
        .old = t->stored[last],
        .noise = t->noise,
        .number = t->number,
        .goes_on = goes_on && t->measured,
        .averages = averages,
        .measures = measures(f),
        .searches = averages && goes_on && !f->no_search,
        .frames = averages ? f->temporal : 1,
        .noise_step = noise_step(t->shape.width, t->shape.height),
        .noise_blocks = noise_n_blocks(t->shape.width, t->shape.height),
        .sigma_color = f->sigma_color,
        .sigma_factor = filter_auto_factor(f),
    };

    for (int c = 0; c < t->shape.components; c++) {
        const struct samples s = frame_samples(in, c);

        j.in[c] = (struct bilateral_samples){s.base + (t->words[0] != NULL), (uint32_t)s.stride,
                                             (uint32_t)s.step};
    }
    memcpy(j.words, t->words, sizeof(j.words));
    memcpy(j.vector, t->vector, sizeof(j.vector));
    j.matched = t->matched;
    j.sums = t->sums;
    j.still = t->cells[0];
    j.moved = t->cells[1];
    set_colours(&j, in);
    time_fast_sigmas(p, &j.least_sigma, &j.most_sigma);
    j.least_sigma /= least_share(f);
    return j;
}

static struct time_filter make_filter(const struct device_past *t, const struct time_job *j,
                                      const struct filter *f, const struct bilateral_params *p)
{
    struct time_filter ret = {
        .p = *p,
        .n_frames = j->averages ? 1 : t->n_frames,
        .stride = t->shape.stride,
        .stride_c = t->shape.stride_c,
        .steps = t->words[0] && !j->averages ? 256 : TIME_LEVEL_STEPS,
        .stride_luma = t->shape.level_stride[1],
        .stride_count = t->shape.cells_x,
        .luma = f->sigma_color > 0.0 ? NULL : j->now.level[1],
        .count = j->averages ? j->state.count : NULL,
        .noise = t->noise,
    };

    for (int k = 0; k < ret.n_frames; k++) {
        ret.frame[k] = t->stored[(t->number - (uint32_t)k) % (uint32_t)t->n_stored];
        ret.weight[k] =
            f->sigma_time > 0.0 ? (float)exp(-k * k / (2.0 * f->sigma_time * f->sigma_time)) : 1.0F;
    }
    if (f->sigma_color > 0.0) {
        ret.inv_two_sc2 = (float)(0.5 / (f->sigma_color * f->sigma_color));
        ret.least_sigma = f->sigma_color * least_share(f);
        ret.most_sigma = f->sigma_color;
    }
    return ret;
}

static int reserve_knowledge(struct time_knowledge *k, const struct frame *f)
{
    const size_t size = sizeof(*k->memory) + frame_counts_size(f);
    cudaError_t status;

    if (size <= k->size)
        return 0;
    time_knowledge_finish(k);
    status = cudaHostAlloc((void **)&k->memory, size, cudaHostAllocMapped | cudaHostAllocPortable);
    if (status != cudaSuccess)
        return bilateral_errno(status);
    k->size = size;
    return 0;
}

static int mark(const struct device_past *t, int step)
{
    return t->marks ? bilateral_errno(cudaEventRecord(t->marks[step], t->stream)) : 0;
}

static int search(const struct device_past *t, const struct time_job *j)
{
    const int r = time_search(j, t->stream);

    return r == 0 && j->averages && j->goes_on ? time_compare_still(j, t->stream) : r;
}

static int average(const struct device_past *t, const struct time_job *j)
{
    const int r = j->searches && j->goes_on ? time_compare_moved(j, t->stream) : 0;

    return r ? r : time_average(j, t->stream);
}

static int launch(const struct device_past *t, struct time_job *j, const struct time_filter *f,
                  struct time_knowledge *k)
{
    int r = bilateral_errno(cudaHostGetDevicePointer((void **)&j->report, k->memory, 0));

    for (int step = 0; step < DEVICE_PAST_STEPS && r == 0; step++) {
        r = mark(t, step);
        if (r)
            break;
        if (step == 0)
            r = time_unpack(j, t->stream);
        else if (step == 1 && j->measures)
            r = search(t, j);
        else if (step == 2 && j->measures)
            r = time_measure(j, t->stream);
        else if (step == 3 && j->averages)
            r = average(t, j);
        else if (step == 4)
            r = time_filter_start(f, t->stream);
    }
    return r ? r : mark(t, DEVICE_PAST_STEPS);
}

int device_past_filter(struct device_past *t, const struct frame *in, const struct frame *out,
                       const struct filter *f, bool goes_on, struct time_knowledge *k)
{
    const bool averages = filter_averages(f);
    const int n_stored = averages ? 2 : f->temporal > 1 ? f->temporal : 1;
    struct filter known = *f;
    struct bilateral_params p;
    struct time_filter filter;
    struct time_job j;
    int r;

    known.sigma_color = f->sigma_color > 0.0 ? f->sigma_color : 1.0;
    r = bilateral_prepare(&p, in, out, &known);
    if (r == 0)
        r = reserve(t, in, n_stored, averages);
    if (r == 0)
        r = reserve_knowledge(k, in);
    if (r) {
        past_forget(&t->chain);
        return r;
    }
    t->number++;
    t->n_frames = !goes_on ? 1 : t->n_frames < n_stored ? t->n_frames + 1 : n_stored;
    j = make_job(t, in, f, goes_on, &p);
    filter = make_filter(t, &j, f, &p);
    t->measured = j.measures;
    k->like = frame_like(in);
    k->noise = j.measures;
    k->counts = averages;
    k->frames = f->temporal > 1 ? t->n_frames : 0;
    r = launch(t, &j, &filter, k);
    if (r)
        past_forget(&t->chain);
    return r;
}

void time_knowledge_finish(struct time_knowledge *k)
{
    if (k->memory)
        (void)cudaFreeHost(k->memory);
    *k = (struct time_knowledge){0};
}

void time_knowledge_tell(const struct time_knowledge *k, struct engine_report *ret)
{
    *ret = (struct engine_report){.frames = k->frames};
    if (k->noise) {
        struct noise n = {.n_frames = k->memory->n_frames};

        memcpy(n.variance, k->memory->variance, sizeof(n.variance));
        ret->noise = noise_sigma(&n);
        ret->noise_share = k->memory->share;
    }
    if (k->counts) {
        ret->frames =
            (double)k->memory->counted / MEAN_COUNT_STEPS / k->like.width / k->like.height;
        ret->counts = k->memory->counts;
    }
}
