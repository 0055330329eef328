/* `test:`, a camera that needs no hardware: a clean scene, noise like a sensor's, and a rate.
 *
 * All arithmetic is on integers: for a seed, frame N has the same bytes on every machine, whatever
 * was rendered before it. Noise is added to R'G'B', then pixels are converted to Y'CbCr (BT.601,
 * limited range) and chroma is averaged over the pixels that share it. */
#include "source/source.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/event.h"
#include "base/pace.h"
#include "base/text.h"
#include "picture/colour.h"
#include "source/pattern_noise.h"
#include "source/scene.h"

#define DEFAULT_WIDTH 1280
#define DEFAULT_HEIGHT 720
#define MAX_FPS 1000
#define ASK_PIXELS 65536 /* between looks for a stop: rendered in less than a millisecond */
#define CHUNK NOISE_RUN  /* columns rendered at once: stays in the first-level cache */
#define USAGE "allowed: test:scene=portrait|chart,noise=0..50,seed=0..4294967295"

struct pattern {
    struct source base;
    struct scene *scene;
    struct frame frame; /* owns its memory */
    uint32_t noise_level, seed;
    struct pattern_noise noise;
    int stop_fd;
    struct pace pace; /* its number is that of the frame that read gives next */
};

/* ------------------------------------------------------------- Y'CbCr */

/* BT.601, limited range, times 32768; the rows of chroma sum to nothing, so grey stays grey. */
static const int16_t to_yuv[3][3] = {
    {8414, 16520, 3208},
    {-4857, -9535, 14392},
    {14392, -12052, -2340},
};

struct chunk {
    uint8_t rgb[3][CHUNK];
    int16_t sum[3][CHUNK]; /* R'G'B' added up over the pixels that share a chroma sample */
    uint8_t luma[CHUNK], chroma[2][CHUNK], pairs[CHUNK];
};

/* The factors of a loop are in variables of 16 bits: the products are made in half the time. */
static void make_luma(const struct chunk *c, int n, uint8_t *restrict out)
{
    const int16_t r = to_yuv[0][0], g = to_yuv[0][1], b = to_yuv[0][2];

    for (int x = 0; x < n; x++)
        out[x] = (uint8_t)((r * c->rgb[0][x] + g * c->rgb[1][x] + b * c->rgb[2][x] + (16 << 15) +
                            (1 << 14)) >>
                           15);
}

static void sum_chroma(struct chunk *c, int n, int hshift, bool first)
{
    for (int i = 0; i < 3; i++) {
        const uint8_t *v = c->rgb[i];
        int16_t *sum = c->sum[i];

        if (first)
            memset(sum, 0, sizeof(c->sum[i]));
        if (hshift)
            for (int x = 0; x < n / 2; x++)
                sum[x] = (int16_t)(sum[x] + v[2 * x] + v[2 * x + 1]);
        else
            for (int x = 0; x < n; x++)
                sum[x] = (int16_t)(sum[x] + v[x]);
    }
}

/* @n chroma samples of component @i; each is the mean of 1 << @shift pixels. */
static void make_chroma(const struct chunk *c, int i, int n, int shift, uint8_t *restrict out)
{
    const int16_t r = to_yuv[i][0], g = to_yuv[i][1], b = to_yuv[i][2];
    const int offset = (128 << (15 + shift)) + (1 << (14 + shift));

    for (int x = 0; x < n; x++)
        out[x] = (uint8_t)((r * c->sum[0][x] + g * c->sum[1][x] + b * c->sum[2][x] + offset) >>
                           (15 + shift));
}

static void interleave(uint8_t *restrict out, const uint8_t *restrict a, const uint8_t *restrict b,
                       int n)
{
    for (int x = 0; x < n; x++) {
        out[2 * x] = a[x];
        out[2 * x + 1] = b[x];
    }
}

/* Where column @x of row @y of a plane is: one byte each, or two of a pair. */
static uint8_t *place(const struct frame *f, int plane, int x, int y)
{
    return f->plane[plane] + (size_t)y * f->stride[plane] + x;
}

/* Writes @n samples of a component as words. */
static void store_words(const struct frame *f, int component, int x, int y, const uint8_t *from,
                        int n)
{
    uint16_t *const to = (uint16_t *)(void *)place(f, component, 2 * x, y);

    for (int i = 0; i < n; i++)
        to[i] = (uint16_t)(from[i] << 8);
}

/* Writes @n chroma samples from column @x of row @y; a packed format's luma goes with them. */
static void store_chroma(const struct frame *f, struct chunk *c, int x, int y, int n, int shift)
{
    const bool words = format_table[f->format].bytes > 1;
    const bool planar = format_table[f->format].planes == 3 && !words;

    for (int i = 0; i < 2; i++) {
        make_chroma(c, i + 1, n, shift, planar ? place(f, i + 1, x, y) : c->chroma[i]);
        if (words)
            store_words(f, i + 1, x, y, c->chroma[i], n);
    }
    if (format_table[f->format].planes == 2)
        interleave(place(f, 1, 2 * x, y), c->chroma[0], c->chroma[1], n);
    if (format_table[f->format].planes > 1)
        return;
    interleave(c->pairs, c->chroma[0], c->chroma[1], n);
    if (f->format == FRAME_YUYV)
        interleave(place(f, 0, 4 * x, y), c->luma, c->pairs, 2 * n);
    else
        interleave(place(f, 0, 4 * x, y), c->pairs, c->luma, 2 * n);
}

static void store_rgb(const struct frame *f, const struct chunk *c, int x0, int y, int n)
{
    const uint8_t *const from[3] = {c->rgb[1], c->rgb[2], c->rgb[0]};

    for (int i = 0; i < 3; i++) {
        const struct samples s = frame_samples(f, i);
        uint8_t *to = s.base + (size_t)y * s.stride + x0 * s.step;

        for (int x = 0; x < n; x++)
            to[x * s.step] = from[i][x];
    }
}

/* Renders the rows that share one row of chroma samples, CHUNK columns from @x0. */
static void render_chunk(const struct pattern *p, uint64_t seq, bool noisy, const struct frame *f,
                         int x0, int chroma_row)
{
    const struct format_info *info = &format_table[f->format];
    const bool in_place = info->bytes == 1 && (info->planes > 1 || info->components == 1);
    const int y0 = chroma_row << info->vshift;
    const int n = f->width - x0 < CHUNK ? f->width - x0 : CHUNK;
    const int rows = f->height - y0 < 1 << info->vshift ? 1 : 1 << info->vshift;
    struct chunk c;
    uint8_t *const rgb[3] = {c.rgb[0], c.rgb[1], c.rgb[2]};

    for (int y = y0; y < y0 + rows; y++) {
        scene_row(p->scene, seq, x0, y, n, rgb);
        for (int i = 0; noisy && i < 3; i++)
            pattern_noise_add(&p->noise, seq, x0, y, i, c.rgb[i], n);
        if (f->colour.matrix == COLOUR_RGB) {
            store_rgb(f, &c, x0, y, n);
            continue;
        }
        make_luma(&c, n, in_place ? place(f, 0, x0, y) : c.luma);
        if (info->bytes > 1)
            store_words(f, 0, x0, y, c.luma, n);
        if (info->components == 3)
            sum_chroma(&c, n, info->hshift, y == y0);
    }
    if (info->components == 3 && f->colour.matrix != COLOUR_RGB)
        store_chroma(f, &c, x0 >> info->hshift, chroma_row, n >> info->hshift,
                     info->hshift + (rows == 2));
}

/* -ECANCELED when stopped. */
static int render(const struct pattern *p, uint64_t seq, bool noisy, const struct frame *f)
{
    const int vshift = format_table[f->format].vshift;
    int pixels = 0;

    for (int y = 0; y << vshift < f->height; y++) {
        pixels += f->width;
        if (pixels > ASK_PIXELS && event_rung(p->stop_fd))
            return -ECANCELED;
        pixels = pixels > ASK_PIXELS ? 0 : pixels;
        for (int x = 0; x < f->width; x += CHUNK)
            render_chunk(p, seq, noisy, f, x, y);
    }
    return 0;
}

/* --------------------------------------------------------------- options */

static int parse_number(const char *text, uint32_t max, uint32_t *ret)
{
    char *end;
    unsigned long long v;

    if (text[0] < '0' || text[0] > '9')
        return -EINVAL;
    errno = 0;
    v = strtoull(text, &end, 10);
    if (errno || *end || v > max)
        return -EINVAL;
    *ret = (uint32_t)v;
    return 0;
}

static int parse_scene(const char *text, int *ret)
{
    for (int i = 0; scene_names[i]; i++)
        if (!strcmp(text, scene_names[i])) {
            *ret = i;
            return 0;
        }
    return -EINVAL;
}

static int parse_option(struct pattern *p, int *scene, const char *key, const char *value)
{
    if (!strcmp(key, "scene"))
        return parse_scene(value, scene);
    if (!strcmp(key, "noise"))
        return parse_number(value, NOISE_MAX, &p->noise_level);
    if (!strcmp(key, "seed"))
        return parse_number(value, UINT32_MAX, &p->seed);
    return -ENOENT;
}

static int parse_name(struct pattern *p, int *scene, const char *name, struct error *err)
{
    char copy[128], *rest = copy, *item;
    const char *const options = strchr(name, ':') ? strchr(name, ':') + 1 : "";

    if (snprintf(copy, sizeof(copy), "%s", options) >= (int)sizeof(copy))
        return error_usage(err, "too many options in '%.40s...': " USAGE, name);
    while (*copy && (item = strsep(&rest, ","))) {
        char *value = strchr(item, '=');
        int r;

        if (value)
            *value++ = '\0';
        r = value ? parse_option(p, scene, item, value) : -ENOENT;
        if (r == -ENOENT)
            return error_usage(err, "unknown option '%s' in '%s': " USAGE, item, name);
        if (r)
            return error_usage(err, "'%s' is no value for '%s' in '%s': " USAGE, value, item, name);
    }
    return 0;
}

static int format_error(const struct source_config *config, struct error *err)
{
    char allowed[160] = "";

    for (int i = 0; i < FRAME_N_FORMATS; i++)
        if (format_table[i].planes)
            list_add(allowed, sizeof(allowed), ", ", format_table[i].name);
    return error_usage(err, "'%s' cannot give %s; allowed: %s", config->name,
                       format_table[config->format].name, allowed);
}

static int set_picture(struct pattern *p, const struct source_config *config, struct error *err)
{
    struct source *s = &p->base;
    const char *problem;

    s->format = config->format < 0 ? FRAME_YUYV : (enum frame_format)config->format;
    s->width = config->width ? config->width : DEFAULT_WIDTH;
    s->height = config->height ? config->height : DEFAULT_HEIGHT;
    s->colour = colour_in(s->format, (struct colour){COLOUR_BT601, COLOUR_LIMITED});
    s->live = config->fps.num && config->fps.den;
    s->fps = s->live ? config->fps : (struct fraction){30, 1};
    p->pace = (struct pace){.num = s->fps.num, .den = s->fps.den};
    if (!format_table[s->format].planes)
        return format_error(config, err);
    problem = frame_size_problem(s->width, s->height);
    if (problem)
        return error_usage(err, "'%s' cannot be %dx%d: %s", config->name, s->width, s->height,
                           problem);
    if (s->fps.num / s->fps.den > MAX_FPS)
        return error_usage(err, "'%s' cannot give %" PRIu32 " frames per second; at most %d",
                           config->name, s->fps.num / s->fps.den, MAX_FPS);
    p->frame = (struct frame){
        .format = s->format, .width = s->width, .height = s->height, .colour = s->colour};
    return 0;
}

/* ------------------------------------------------------------------ source */

static void pattern_close(struct source *s)
{
    struct pattern *p = (struct pattern *)s;

    if (!p)
        return;
    scene_destroy(p->scene);
    frame_free(&p->frame);
    free(p);
}

static int pattern_open(struct source **ret, const struct source_config *config, struct error *err)
{
    struct pattern *p = calloc(1, sizeof(*p));
    int scene = 0, r;

    if (!p)
        return error_set(err, -ENOMEM, "out of memory for '%s'", config->name);
    p->base.ops = &source_pattern;
    p->noise_level = 8;
    p->seed = 1;
    p->stop_fd = config->stop_fd;
    r = parse_name(p, &scene, config->name, err);
    if (!r)
        r = set_picture(p, config, err);
    if (r)
        goto error;
    pattern_noise_init(&p->noise, (int)p->noise_level, p->seed);
    r = frame_alloc(&p->frame);
    if (!r)
        r = scene_create(&p->scene, scene, p->frame.width, p->frame.height, p->stop_fd);
    if (r == -ECANCELED)
        (void)error_set(err, r, "'%s': stopped while its scene was painted", config->name);
    else if (r)
        (void)error_set(err, r, "out of memory for a test picture of %dx%d", p->frame.width,
                        p->frame.height);
    if (r)
        goto error;
    (void)snprintf(p->base.name, sizeof(p->base.name), "test scene '%s', noise %" PRIu32,
                   scene_names[scene], p->noise_level);
    *ret = &p->base;
    return 0;
error:
    pattern_close(&p->base);
    return r;
}

/* A camera does not wait for its reader: passes over the frames that were due before the newest
 * one that is. */
static void skip_missed(struct pattern *p)
{
    const int64_t now = now_ns();

    /* Where it has rested, the scene has as well: it goes on with the frame that comes next. */
    if (!p->pace.t_started_ns || (p->base.rested && pace_due(&p->pace, 0) < now))
        pace_start(&p->pace, now);
    p->base.rested = false;
    while (pace_due(&p->pace, 1) <= now) {
        p->pace.next++;
        p->base.n_dropped++;
    }
}

static int pattern_read(struct source *s, struct frame *ret, struct error *err)
{
    struct pattern *p = (struct pattern *)s;
    int r = event_rung(p->stop_fd) ? -ECANCELED : 0;

    if (s->live)
        skip_missed(p);
    if (!r)
        r = render(p, p->pace.next, p->noise_level > 0, &p->frame);
    if (!r && s->live && event_wait(p->stop_fd, pace_due(&p->pace, 0)))
        r = -ECANCELED;
    if (r)
        return error_set(err, r, "reading the test scene: %s", strerror(-r));
    p->frame.seq = p->pace.next++;
    p->frame.t_capture_ns = now_ns();
    *ret = p->frame;
    return 0;
}

static void pattern_release(struct source *s)
{
    (void)s;
}

static int pattern_truth(const struct source *s, uint64_t seq, struct frame *clean)
{
    return render((const struct pattern *)s, seq, false, clean);
}

const struct source_ops source_pattern = {
    .name = "test",
    .reopens = true,
    .open = pattern_open,
    .close = pattern_close,
    .read = pattern_read,
    .release = pattern_release,
    .truth = pattern_truth,
};
