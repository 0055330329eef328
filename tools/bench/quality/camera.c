#include "tools/bench/quality/camera.h"

#include "config-build.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#ifdef HAVE_MJPEG
#include <turbojpeg.h>
#endif

#include "tests/lib/images.h"

#define W CLIP_WIDTH
#define H CLIP_HEIGHT
#define JPEG_QUALITY 80

/* One channel of a picture. */
typedef float channel[W * H];

const char *const noise_names[NOISE_N_KINDS] = {
    [NOISE_WHITE] = "white",
    [NOISE_CORRELATED] = "correlated",
    [NOISE_BLOTCHY] = "blotchy",
    [NOISE_JPEG] = "jpeg",
};

bool frames_alloc(struct frame frames[CLIP_FRAMES], enum frame_format format)
{
    bool made = true;

    for (int t = 0; t < CLIP_FRAMES; t++) {
        frames[t] = (struct frame){.format = format,
                                   .width = W,
                                   .height = H,
                                   .colour = {COLOUR_BT601, COLOUR_FULL},
                                   .t_capture_ns = t * INT64_C(33333333),
                                   .seq = (uint64_t)t};
        made = frame_alloc(&frames[t]) == 0 && made;
    }
    return made;
}

void frames_free(struct frame frames[CLIP_FRAMES])
{
    for (int t = 0; t < CLIP_FRAMES; t++)
        frame_free(&frames[t]);
}

static void render(const struct clip *clip, int t, channel rgb[3])
{
    for (int y = 0; y < H; y++)
        for (int x = 0; x < W; x++) {
            double sum[3] = {0};

            for (int k = 0; k < 4; k++) {
                const struct rgb p =
                    clip->at(x + 0.25 + 0.5 * (k & 1), y + 0.25 + 0.5 * (k >> 1), t);

                for (int i = 0; i < 3; i++)
                    sum[i] += fmin(fmax(p.v[i], 0.0), 255.0) / 4.0;
            }
            for (int i = 0; i < 3; i++)
                rgb[i][y * W + x] = (float)sum[i];
        }
}

static int clamp(int v, int max)
{
    return v < 0 ? 0 : v > max ? max : v;
}

/* The binomial mean of 3x3. */
static void soften(channel c)
{
    static channel from;

    memcpy(from, c, sizeof(from));
    for (int y = 0; y < H; y++)
        for (int x = 0; x < W; x++) {
            float sum = 0;

            for (int dy = -1; dy <= 1; dy++)
                for (int dx = -1; dx <= 1; dx++)
                    sum += (float)((2 - abs(dx)) * (2 - abs(dy))) *
                           from[clamp(y + dy, H - 1) * W + clamp(x + dx, W - 1)];
            c[y * W + x] = sum / 16;
        }
}

/* --- noise --- */

static double uniform(uint64_t *seed)
{
    return (double)(random_next(seed) >> 11) / 9007199254740992.0;
}

static double normal(uint64_t *seed)
{
    const double u = 1.0 - uniform(seed);

    return sqrt(-2.0 * log(u)) * cos(6.283185307179586 * uniform(seed));
}

static void to_unit_variance(channel c)
{
    double sum = 0.0;

    for (int i = 0; i < W * H; i++)
        sum += (double)c[i] * c[i];
    for (int i = 0; i < W * H; i++)
        c[i] /= (float)sqrt(sum / (W * H));
}

/* Takes the luma out of blotches, and adds white noise to it instead. */
static void leave_chroma(channel noise[3], uint64_t *seed)
{
    for (int i = 0; i < W * H; i++) {
        const float luma = 0.299f * noise[0][i] + 0.587f * noise[1][i] + 0.114f * noise[2][i];
        const float white = 0.6f * (float)normal(seed);

        for (int k = 0; k < 3; k++)
            noise[k][i] += white - luma;
    }
}

/* Of variance 1 in each channel, or about that. */
static void make_noise(channel noise[3], enum noise_kind kind, uint64_t *seed)
{
    const int softer = kind == NOISE_CORRELATED ? 1 : kind == NOISE_BLOTCHY ? 4 : 0;

    for (int k = 0; k < 3; k++) {
        for (int i = 0; i < W * H; i++)
            noise[k][i] = (float)normal(seed);
        for (int n = 0; n < softer; n++)
            soften(noise[k]);
        to_unit_variance(noise[k]);
    }
    if (kind == NOISE_BLOTCHY)
        leave_chroma(noise, seed);
}

static void add_noise(channel rgb[3], channel noise[3])
{
    for (int k = 0; k < 3; k++)
        for (int i = 0; i < W * H; i++) {
            const float c = rgb[k][i];

            rgb[k][i] = fminf(fmaxf(c + sqrtf(25.0f + 0.35f * c) * noise[k][i], 0.0f), 255.0f);
        }
}

/* --- frames --- */

static uint8_t level(double v)
{
    return (uint8_t)fmin(fmax(floor(v + 0.5), 0.0), 255.0);
}

/* One sample of chroma, at @x and @y of its plane, and those of luma that share it. */
static void to_samples(const struct frame *f, channel rgb[3], int x, int y)
{
    const int w = 1 << format_table[f->format].hshift, h = 1 << format_table[f->format].vshift;
    double u = 0.0, v = 0.0;

    for (int i = y * h; i < (y + 1) * h; i++)
        for (int k = x * w; k < (x + 1) * w; k++) {
            const double luma =
                0.299 * rgb[0][i * W + k] + 0.587 * rgb[1][i * W + k] + 0.114 * rgb[2][i * W + k];

            f->plane[0][(size_t)i * f->stride[0] + (size_t)k] = level(luma);
            u += (rgb[2][i * W + k] - luma) / 1.772 / (w * h);
            v += (rgb[0][i * W + k] - luma) / 1.402 / (w * h);
        }
    f->plane[1][(size_t)y * f->stride[1] + (size_t)x] = level(128.0 + u);
    f->plane[2][(size_t)y * f->stride[2] + (size_t)x] = level(128.0 + v);
}

static void to_frame(const struct frame *f, channel rgb[3])
{
    for (int y = 0; y < H >> format_table[f->format].vshift; y++)
        for (int x = 0; x < W >> format_table[f->format].hshift; x++)
            to_samples(f, rgb, x, y);
}

#ifdef HAVE_MJPEG
static bool compress_frame(const struct frame *f)
{
    const int subsampling = f->format == FRAME_I420 ? TJSAMP_420 : TJSAMP_422;
    int strides[3] = {(int)f->stride[0], (int)f->stride[1], (int)f->stride[2]};
    uint8_t *planes[3] = {f->plane[0], f->plane[1], f->plane[2]};
    const tjhandle to = tjInitCompress(), from = tjInitDecompress();
    uint8_t *jpeg = NULL;
    unsigned long size = 0;
    const bool done = to && from &&
                      !tjCompressFromYUVPlanes(to, (const uint8_t **)planes, W, strides, H,
                                               subsampling, &jpeg, &size, JPEG_QUALITY, 0) &&
                      !tjDecompressToYUVPlanes(from, jpeg, size, planes, W, strides, H, 0);

    tjFree(jpeg);
    (void)tjDestroy(to);
    (void)tjDestroy(from);
    return done;
}
#else
static bool compress_frame(const struct frame *f)
{
    (void)f;
    return false;
}
#endif

bool film_shoot(struct film *f, const struct clip *clip, enum noise_kind kind,
                enum frame_format format)
{
    static channel rgb[3], noise[3];
    uint64_t seed = 1;
    bool made = frames_alloc(f->clean, format) && frames_alloc(f->noisy, format);

    for (int t = 0; t < CLIP_FRAMES && made; t++) {
        render(clip, t, rgb);
        for (int k = 0; k < 3; k++)
            soften(rgb[k]);
        to_frame(&f->clean[t], rgb);
        make_noise(noise, kind, &seed);
        add_noise(rgb, noise);
        to_frame(&f->noisy[t], rgb);
        made = kind != NOISE_JPEG || compress_frame(&f->noisy[t]);
    }
    return made;
}

void film_free(struct film *f)
{
    frames_free(f->clean);
    frames_free(f->noisy);
}
