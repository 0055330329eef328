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

/* What lies between samples stays in 0..255. */
static __device__ __forceinline__ float most_level(bool is_between)
{
    return is_between ? 255.0f * TIME_LEVEL_STEPS : 65535.0f;
}

static __device__ __forceinline__ float2 clamp(float2 v, float most)
{
    return make_float2(fminf(fmaxf(v.x, 0.0f), most), fminf(fmaxf(v.y, 0.0f), most));
}

/* Two levels to whole steps: rounded, they are the low mantissa bits of 2^23. */
static __device__ __forceinline__ uint32_t steps_of(float first, float second)
{
    return __byte_perm(__float_as_uint(first + 8388608.0f), __float_as_uint(second + 8388608.0f),
                       0x5410);
}

/* A column of two luma samples on its way down rows that have one vector. Rows of the frame before
 * that served one row serve the next ones. */
struct luma_column {
    int at[5], top; /* of the samples needed for the first row, the nearest ones in the picture */
    float across[4], down[4];
    float2 part[4]; /* between the samples of a row; four rows by turns */
    float most;

    __device__ __forceinline__ void begin(const time_job &j, int x, int y, time_vector v)
    {
        top = y + (v.y >> 3) - 1;
        most = most_level((v.x | v.y) & 7);
        cubic(v.x & 7, across);
        cubic(v.y & 7, down);
#pragma unroll
        for (int i = 0; i < 5; i++)
            at[i] = clamp(x + (v.x >> 3) - 1 + i, j.shape.width - 1);
#pragma unroll
        for (int i = 0; i < 3; i++)
            part[i] = fetch(j, i);
    }

    __device__ __forceinline__ float2 fetch(const time_job &j, int i) const
    {
        const uint16_t *row = j.old.level[0] + clamp(top + i, j.shape.height - 1) * j.shape.stride;
        float s[5];

#pragma unroll
        for (int k = 0; k < 5; k++)
            s[k] = number(__ldg(row + at[k]), LOW_HALF);
        return make_float2(
            across[0] * s[0] + across[1] * s[1] + across[2] * s[2] + across[3] * s[3],
            across[0] * s[1] + across[1] * s[2] + across[2] * s[3] + across[3] * s[4]);
    }

    /* The pair of row @i; rows are asked for one after the other. */
    __device__ __forceinline__ float2 predict(const time_job &j, int i)
    {
        float2 sum = {0.0f, 0.0f};

        part[(i + 3) % 4] = fetch(j, i + 3);
#pragma unroll
        for (int k = 0; k < 4; k++) {
            sum.x += down[k] * part[(i + k) % 4].x;
            sum.y += down[k] * part[(i + k) % 4].y;
        }
        return clamp(sum, most);
    }
};

/* The same for one sample of both components of chroma. */
struct chroma_column {
    int left, right, top;
    float fx, fy, most;
    float2 part[2];

    __device__ __forceinline__ void begin(const time_job &j, int x, int y, time_vector v)
    {
        const time_shape &s = j.shape;
        const int last = (s.width - 1) >> s.hshift;
        const int part_x = (v.x << (1 - s.hshift)) & 15, part_y = (v.y << (1 - s.vshift)) & 15;

        top = y + (v.y >> (3 + s.vshift));
        left = clamp(x + (v.x >> (3 + s.hshift)), last);
        right = clamp(x + (v.x >> (3 + s.hshift)) + 1, last);
        fx = float(part_x) * (1.0f / 16);
        fy = float(part_y) * (1.0f / 16);
        most = most_level(part_x || part_y);
        part[0] = fetch(j, 0);
    }

    __device__ __forceinline__ float2 fetch(const time_job &j, int i) const
    {
        const time_shape &s = j.shape;
        const int row = clamp(top + i, (s.height - 1) >> s.vshift) * s.stride_c;
        float ret[2];

#pragma unroll
        for (int c = 0; c < 2; c++) {
            const float first = number(__ldg(j.old.level[1 + c] + row + left), LOW_HALF);
            const float second = number(__ldg(j.old.level[1 + c] + row + right), LOW_HALF);

            ret[c] = first + fx * (second - first);
        }
        return make_float2(ret[0], ret[1]);
    }

    __device__ __forceinline__ float2 predict(const time_job &j, int i)
    {
        const float2 upper = part[i % 2], lower = part[(i + 1) % 2] = fetch(j, i + 1);

        return clamp(
            make_float2(upper.x + fy * (lower.x - upper.x), upper.y + fy * (lower.y - upper.y)),
            most);
    }
};
