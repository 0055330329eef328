/* The filters gaussian and box (blur.h), in terms of the vector operations of the file that
 * includes this, and plain loops that the compiler vectorises for that file's instruction set. */
#include "engine/simd/rows.h"

#define BLUR_BLOCK 4 /* vectors that a weight is loaded for */

/* 64 times the sum of samples, which 16 bits just hold. */
static inline V blur_pair(const uint8_t *a, const uint8_t *b)
{
    return v_shl(v_add(v_load_low_u8(a), v_load_low_u8(b)), BLUR_SHIFT);
}

static inline void blur_rows_block(const uint8_t *const *rows, const struct blur_taps *t,
                                   int16_t *to, int x, int n_vectors)
{
    V sum[BLUR_BLOCK];

    for (int i = 0; i < n_vectors; i++)
        sum[i] = v_set1(0);
    for (int k = 0; k <= t->reach; k++) {
        const uint8_t *above = rows[-k] + x, *below = rows[k] + x;
        const V weight = v_dup(t->weight[k]);

        for (int i = 0; i < n_vectors; i++)
            sum[i] =
                v_add(sum[i], v_mulhrs(blur_pair(above + i * LANES, below + i * LANES), weight));
    }
    for (int i = 0; i < n_vectors; i++)
        v_store(to + x + i * LANES, sum[i]);
}

/* Rows of frames end where they end, so no vector reaches beyond them. */
static void blur_rows(const uint8_t *const *rows, const struct blur_taps *t, int16_t *to, int n)
{
    int x = 0;

    for (; x + BLUR_BLOCK * LANES <= n; x += BLUR_BLOCK * LANES)
        blur_rows_block(rows, t, to, x, BLUR_BLOCK);
    for (; x + LANES <= n; x += LANES)
        blur_rows_block(rows, t, to, x, 1);
    for (; x < n; x++) {
        int sum = 0;

        for (int k = 0; k <= t->reach; k++) {
            const int pair = (rows[-k][x] + rows[k][x]) << BLUR_SHIFT;

            sum += (pair * (int)(t->weight[k] & 0xFFFF) + 16384) >> 15;
        }
        to[x] = (int16_t)sum;
    }
}

static inline void blur_columns_block(const int16_t *from, int step, const struct blur_taps *t,
                                      uint8_t *to, int n_vectors)
{
    const V rounded = v_set1(32768 >> BLUR_SHIFT);
    V sum[BLUR_BLOCK];

    for (int i = 0; i < n_vectors; i++)
        sum[i] = v_set1(0);
    for (int k = 0; k <= t->reach; k++) {
        const int16_t *left = from - k * step, *right = from + k * step;
        const V weight = v_dup(t->weight[k]);

        for (int i = 0; i < n_vectors; i++)
            sum[i] =
                v_add(sum[i],
                      v_mulhrs(v_add(v_load(left + i * LANES), v_load(right + i * LANES)), weight));
    }
    for (int i = 0; i < n_vectors; i++)
        v_store_u8(to + i * LANES, v_mulhrs(sum[i], rounded));
}

static void blur_columns(const int16_t *from, int step, const struct blur_taps *t, uint8_t *to,
                         int n)
{
    int x = 0;

    for (; x + BLUR_BLOCK * LANES <= n; x += BLUR_BLOCK * LANES)
        blur_columns_block(from + x, step, t, to + x, BLUR_BLOCK);
    for (; x < n; x += LANES)
        blur_columns_block(from + x, step, t, to + x, 1);
}

static void box_rows(uint16_t *restrict sums, const uint8_t *restrict more,
                     const uint8_t *restrict less, int weight, int n)
{
    for (int x = 0; x < n; x++)
        sums[x] = (uint16_t)(sums[x] + weight * (more[x] - less[x]));
}

static inline uint8_t box_level(uint32_t sum, float per)
{
    return (uint8_t)(int32_t)((float)(int32_t)sum * per + 0.5F);
}

/* sums[i] is that of all before the i-th sample. */
static void box_columns(const uint16_t *restrict from, const struct box_taps *t,
                        uint32_t *restrict sums, uint8_t *restrict to, int n)
{
    const int far = t->reach[0] > t->reach[1] ? t->reach[0] : t->reach[1];
    const uint32_t *left[2], *right[2], weight = (uint32_t)t->weight[0];
    const float per = t->per;
    uint32_t sum = 0;

    for (int x = 0; x < n + 2 * far; x++) {
        sums[x] = sum;
        sum += from[x - far];
    }
    sums[n + 2 * far] = sum;
    for (int i = 0; i < 2; i++) {
        left[i] = sums + far - t->reach[i];
        right[i] = sums + far + t->reach[i] + 1;
    }
    if (t->weight[1] == 0) {
        for (int x = 0; x < n; x++)
            to[x] = box_level((right[0][x] - left[0][x]) * weight, per);
        return;
    }
    for (int x = 0; x < n; x++)
        to[x] = box_level((right[0][x] - left[0][x]) * weight + (right[1][x] - left[1][x]), per);
}
