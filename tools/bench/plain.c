#include "tools/bench/plain.h"

#include <math.h>

struct plain {
    const uint8_t *in;
    uint8_t *out;
    int width, height, radius;
    float space[65][65]; /* spatial weights, the centre at [radius][radius] */
    float inv_two_sc2;
};

static int clamp(int v, int max)
{
    return v < 0 ? 0 : v > max ? max : v;
}

static void filter_pixel(const struct plain *p, int x, int y)
{
    const uint8_t *centre = p->in + 4 * ((long)y * p->width + x);
    uint8_t *out = p->out + 4 * ((long)y * p->width + x);
    float sum[3] = {0}, sum_w = 0.0F;

    for (int dy = -p->radius; dy <= p->radius; dy++)
        for (int dx = -p->radius; dx <= p->radius; dx++) {
            const int qx = clamp(x + dx, p->width - 1), qy = clamp(y + dy, p->height - 1);
            const uint8_t *q = p->in + 4 * ((long)qy * p->width + qx);
            const float r = (float)(q[0] - centre[0]), g = (float)(q[1] - centre[1]);
            const float b = (float)(q[2] - centre[2]);
            const float w = p->space[dy + p->radius][dx + p->radius] /
                            (1.0F + (r * r + g * g + b * b) * p->inv_two_sc2);

            sum[0] += w * (float)q[0];
            sum[1] += w * (float)q[1];
            sum[2] += w * (float)q[2];
            sum_w += w;
        }
    for (int i = 0; i < 3; i++)
        out[i] = (uint8_t)(sum[i] / sum_w + 0.5F);
    out[3] = centre[3];
}

static void prepare(struct plain *p, float sigma_space, float sigma_color)
{
    p->inv_two_sc2 = 1.0F / (2.0F * sigma_color * sigma_color);
    for (int dy = -p->radius; dy <= p->radius; dy++)
        for (int dx = -p->radius; dx <= p->radius; dx++)
            p->space[dy + p->radius][dx + p->radius] =
                expf(-(float)(dx * dx + dy * dy) / (2.0F * sigma_space * sigma_space));
}

void plain_filter(const uint8_t *in, uint8_t *out, int width, int height, int radius,
                  float sigma_space, float sigma_color)
{
    struct plain p = {.in = in, .out = out, .width = width, .height = height, .radius = radius};

    prepare(&p, sigma_space, sigma_color);
    for (int y = 0; y < height; y++)
        for (int x = 0; x < width; x++)
            filter_pixel(&p, x, y);
}

void plain_filter_openmp(const uint8_t *in, uint8_t *out, int width, int height, int radius,
                         float sigma_space, float sigma_color)
{
    struct plain p = {.in = in, .out = out, .width = width, .height = height, .radius = radius};

    prepare(&p, sigma_space, sigma_color);
#pragma omp parallel for schedule(static)
    for (int y = 0; y < height; y++)
        for (int x = 0; x < width; x++)
            filter_pixel(&p, x, y);
}
