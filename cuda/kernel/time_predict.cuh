#pragma once
/* Step 1 of engine/time/average.h along the motion: what the frame before has where a cell's
 * samples were, in stored steps. */
#include "cuda/kernel/time_device.cuh"

/* Weights of the samples at -1 .. 2 for a sample @eighths away from 0. */
static __device__ __forceinline__ void cubic(int eighths, float weight[4])
{
    const float a = -0.7f, d = 0.125f * float(eighths), u = 1.0f - d;

    weight[0] = a * d * u * u;
    weight[1] = ((a + 2.0f) * d - (a + 3.0f)) * d * d + 1.0f;
    weight[2] = ((a + 2.0f) * u - (a + 3.0f)) * u * u + 1.0f;
    weight[3] = a * u * d * d;
}

/* Two samples between those of a row, the first one right of that at @x + 1. */
static __device__ __forceinline__ float2 between(const uint16_t *row, int x, int width,
                                                 const float weight[4])
{
    float s[5];

    if (x >= 0 && x + 5 <= width) {
        const uint32_t *at = reinterpret_cast<const uint32_t *>(row + (x & ~1));
        const uint32_t shift = 16 * (x & 1), w1 = __ldg(at + 1), w2 = __ldg(at + 2);
        const uint32_t first = __funnelshift_r(__ldg(at), w1, shift);
        const uint32_t second = __funnelshift_r(w1, w2, shift);

        s[0] = number(first, LOW_HALF);
        s[1] = number(first, HIGH_HALF);
        s[2] = number(second, LOW_HALF);
        s[3] = number(second, HIGH_HALF);
        s[4] = number(w2 >> shift, LOW_HALF);
    } else {
        for (int i = 0; i < 5; i++)
            s[i] = number(__ldg(row + clamp(x + i, width - 1)), LOW_HALF);
    }
    return make_float2(weight[0] * s[0] + weight[1] * s[1] + weight[2] * s[2] + weight[3] * s[3],
                       weight[0] * s[1] + weight[1] * s[2] + weight[2] * s[3] + weight[3] * s[4]);
}

/* To a whole step; what lies between samples stays in 0..255. */
static __device__ __forceinline__ uint32_t step_of(float level, bool is_between)
{
    const uint32_t step = __float2uint_rn(fmaxf(level, 0.0f));

    return is_between ? min(step, 255u * TIME_LEVEL_STEPS) : step;
}

/* A column of two samples on its way down the picture. Rows of one block share what was found
 * between the samples of the rows of the frame before. */
struct luma_column {
    time_vector v;
    int top; /* the first of four rows in `part` */
    float across[4], down[4];
    float2 part[4];
    bool begun;

    __device__ __forceinline__ luma_column() : begun(false)
    {
    }

    /* The pair at (@x, @y). */
    __device__ __forceinline__ uint32_t predict(const time_job &j, int x, int y, time_vector to)
    {
        const time_shape &s = j.shape;
        const bool is_between = (to.x | to.y) & 7;
        const int from = y + (to.y >> 3) - 1;
        int known = 4 + top - from;

        if (!begun || to.x != v.x || to.y != v.y) {
            begun = true;
            v = to;
            cubic(v.x & 7, across);
            cubic(v.y & 7, down);
            known = 0;
        }
        top = from;
#pragma unroll 1
        for (int i = known; i < 4; i++) {
            const uint16_t *row = j.old.level[0] + clamp(from + i, s.height - 1) * s.stride;

            part[0] = part[1];
            part[1] = part[2];
            part[2] = part[3];
            part[3] = between(row, x + (v.x >> 3) - 1, s.width, across);
        }
        float2 sum = {0.0f, 0.0f};

#pragma unroll
        for (int i = 0; i < 4; i++) {
            sum.x += down[i] * part[i].x;
            sum.y += down[i] * part[i].y;
        }
        return step_of(sum.x, is_between) | step_of(sum.y, is_between) << 16;
    }
};

static __device__ __forceinline__ uint32_t predict_chroma(const time_job &j, const uint16_t *level,
                                                          int x, int y, time_vector v)
{
    const time_shape &s = j.shape;
    const int right = (s.width - 1) >> s.hshift, last = (s.height - 1) >> s.vshift;
    const int x0 = x + (v.x >> (3 + s.hshift)), y0 = y + (v.y >> (3 + s.vshift));
    const int part_x = (v.x << (1 - s.hshift)) & 15, part_y = (v.y << (1 - s.vshift)) & 15;
    const float fx = float(part_x) * (1.0f / 16), fy = float(part_y) * (1.0f / 16);
    const uint16_t *upper = level + clamp(y0, last) * s.stride_c;
    const uint16_t *lower = level + clamp(y0 + 1, last) * s.stride_c;
    const int a = clamp(x0, right), b = clamp(x0 + 1, right);

    return step_of((1.0f - fy) * ((1.0f - fx) * number(__ldg(&upper[a]), LOW_HALF) +
                                  fx * number(__ldg(&upper[b]), LOW_HALF)) +
                       fy * ((1.0f - fx) * number(__ldg(&lower[a]), LOW_HALF) +
                             fx * number(__ldg(&lower[b]), LOW_HALF)),
                   part_x || part_y);
}
