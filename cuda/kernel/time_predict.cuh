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

/* Two samples between those of a row, the first one right of that at @x + 1. INNER: all are in the
 * picture. */
template <bool INNER>
static __device__ __forceinline__ float2 between(const uint16_t *row, int x, int width,
                                                 const float weight[4])
{
    float s[5];

    if (INNER) {
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

    __device__ __forceinline__ luma_column() : v{INT16_MAX, 0}
    {
    }

    template <bool INNER> __device__ __forceinline__ void add_row(const time_job &j, int x, int y)
    {
        const uint16_t *row = j.old.level[0] + clamp(y, j.shape.height - 1) * j.shape.stride;

        part[0] = part[1];
        part[1] = part[2];
        part[2] = part[3];
        part[3] = between<INNER>(row, x, j.shape.width, across);
    }

    template <bool INNER>
    __device__ __forceinline__ void add_rows(const time_job &j, int x, int known)
    {
        if (known == 3)
            add_row<INNER>(j, x, top + 3);
        else if (known == 0)
#pragma unroll
            for (int i = 0; i < 4; i++)
                add_row<INNER>(j, x, top + i);
    }

    /* The pair at (@x, @y), which is at most a row below the last one. */
    __device__ __forceinline__ uint32_t predict(const time_job &j, int x, int y, time_vector to)
    {
        const int from = y + (to.y >> 3) - 1;
        int known = 4 + top - from;

        if (to.x != v.x || to.y != v.y) {
            v = to;
            cubic(v.x & 7, across);
            cubic(v.y & 7, down);
            known = 0;
        }
        top = from;
        x += (v.x >> 3) - 1;
        if (x >= 0 && x + 5 <= j.shape.width)
            add_rows<true>(j, x, known);
        else
            add_rows<false>(j, x, known);
        float2 sum = {0.0f, 0.0f};

#pragma unroll
        for (int i = 0; i < 4; i++) {
            sum.x += down[i] * part[i].x;
            sum.y += down[i] * part[i].y;
        }
        const bool is_between = (v.x | v.y) & 7;

        return step_of(sum.x, is_between) | step_of(sum.y, is_between) << 16;
    }
};

/* The same for one sample of both components of chroma. */
struct chroma_column {
    time_vector v;
    int top;
    float part[2][2]; /* rows, components */

    __device__ __forceinline__ chroma_column() : v{INT16_MAX, 0}
    {
    }

    __device__ __forceinline__ uint32_t predict(const time_job &j, int x, int y, time_vector to)
    {
        const time_shape &s = j.shape;
        const int right = (s.width - 1) >> s.hshift, last = (s.height - 1) >> s.vshift;
        const int part_x = (to.x << (1 - s.hshift)) & 15, part_y = (to.y << (1 - s.vshift)) & 15;
        const float fx = float(part_x) * (1.0f / 16), fy = float(part_y) * (1.0f / 16);
        const int from = y + (to.y >> (3 + s.vshift));
        int known = to.x == v.x && to.y == v.y ? 2 + top - from : 0;

        x += to.x >> (3 + s.hshift);
        v = to;
        top = from;
#pragma unroll
        for (int i = 0; i < 2; i++)
            if (i >= known) {
                const int row = clamp(from + i, last) * s.stride_c;
                const int a = row + clamp(x, right), b = row + clamp(x + 1, right);

#pragma unroll
                for (int c = 0; c < 2; c++) {
                    const float first = number(__ldg(j.old.level[1 + c] + a), LOW_HALF);
                    const float second = number(__ldg(j.old.level[1 + c] + b), LOW_HALF);

                    part[0][c] = part[1][c];
                    part[1][c] = first + fx * (second - first);
                }
            }
        const bool is_between = part_x || part_y;

        return step_of(part[0][0] + fy * (part[1][0] - part[0][0]), is_between) |
               step_of(part[0][1] + fy * (part[1][1] - part[0][1]), is_between) << 16;
    }
};
