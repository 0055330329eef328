/* The filters gaussian and box (blur.h), in terms of the vector operations of the file that
 * includes this, and plain loops that the compiler vectorises for that file's instruction set. */
#include "engine/simd/rows.h"

#define BLUR_BLOCK 4 /* vectors that a weight is loaded for */

static int16_t blur_sample(const uint8_t *const *rows, const struct blur_taps *t, int x)
{
    int sum = -128 * BLUR_LEVEL;

    for (int k = 0; k <= t->reach; k++)
        sum +=
            ((rows[-k][x] + rows[k][x]) * BLUR_UNIT * (int)(t->weight[k] & 0xFFFF) + 16384) >> 15;
    return (int16_t)sum;
}

static inline void blur_rows_block(const uint8_t *const *rows, const struct blur_taps *t,
                                   int16_t *to, int x, int n_vectors, int reach)
{
    V sum[BLUR_BLOCK];

    for (int i = 0; i < n_vectors; i++)
        sum[i] = v_set1(-128 * BLUR_LEVEL);
    for (int k = 0; k <= reach; k++) {
        const uint8_t *above = rows[-k] + x, *below = rows[k] + x;
        const V weight = v_dup(t->weight[k]);

        for (int i = 0; i < n_vectors; i += 2) {
            V first, second;

            v_pair_u8(above + i * LANES, below + i * LANES, &first, &second);
            sum[i] = v_add(sum[i], v_mulhrs(first, weight));
            sum[i + 1] = v_add(sum[i + 1], v_mulhrs(second, weight));
        }
    }
    for (int i = 0; i < n_vectors; i += 2)
        v_store_pair(to + x + i * LANES, sum[i], sum[i + 1]);
}

/* Rows of frames end where they end, so no vector reaches beyond them: the last overlaps. */
static inline void blur_rows_reach(const uint8_t *const *rows, const struct blur_taps *t,
                                   int16_t *to, int n, int reach)
{
    int x = 0;

    for (; x + BLUR_BLOCK * LANES <= n; x += BLUR_BLOCK * LANES)
        blur_rows_block(rows, t, to, x, BLUR_BLOCK, reach);
    for (; x < n && n >= 2 * LANES; x += 2 * LANES)
        blur_rows_block(rows, t, to, x + 2 * LANES <= n ? x : n - 2 * LANES, 2, reach);
    for (; x < n; x++)
        to[x] = blur_sample(rows, t, x);
}

/* A short loop over taps ends so often that processors guess its end wrong, unless the compiler
 * knows it: radius 1 to 3 take a quarter to a third less (Zen 5, AVX2, 2026-11-22). */
static void blur_rows(const uint8_t *const *rows, const struct blur_taps *t, int16_t *to, int n)
{
    if (t->reach == 1)
        blur_rows_reach(rows, t, to, n, 1);
    else if (t->reach == 2)
        blur_rows_reach(rows, t, to, n, 2);
    else if (t->reach == 3)
        blur_rows_reach(rows, t, to, n, 3);
    else if (t->reach == 4)
        blur_rows_reach(rows, t, to, n, 4);
    else
        blur_rows_reach(rows, t, to, n, t->reach);
}

static inline void blur_columns_block(const int16_t *from, int step, const struct blur_taps *t,
                                      uint8_t *to, int n_vectors, int reach)
{
    const V rounded = v_set1(32768 / BLUR_LEVEL), middle = v_set1(128);
    V sum[BLUR_BLOCK];

    for (int i = 0; i < n_vectors; i++)
        sum[i] = v_set1(0);
    for (int k = 0; k <= reach; k++) {
        const int16_t *left = from - k * step, *right = from + k * step;
        const V weight = v_dup(t->weight[k]);

        for (int i = 0; i < n_vectors; i++)
            sum[i] =
                v_add(sum[i],
                      v_mulhrs(v_add(v_load(left + i * LANES), v_load(right + i * LANES)), weight));
    }
    for (int i = 0; i < n_vectors; i++)
        v_store_u8(to + i * LANES, v_add(v_mulhrs(sum[i], rounded), middle));
}

static inline void blur_columns_reach(const int16_t *from, int step, const struct blur_taps *t,
                                      uint8_t *to, int n, int reach)
{
    int x = 0;

    for (; x + BLUR_BLOCK * LANES <= n; x += BLUR_BLOCK * LANES)
        blur_columns_block(from + x, step, t, to + x, BLUR_BLOCK, reach);
    for (; x < n; x += LANES)
        blur_columns_block(from + x, step, t, to + x, 1, reach);
}

static void blur_columns(const int16_t *from, int step, const struct blur_taps *t, uint8_t *to,
                         int n)
{
    if (t->reach == 1)
        blur_columns_reach(from, step, t, to, n, 1);
    else if (t->reach == 2)
        blur_columns_reach(from, step, t, to, n, 2);
    else if (t->reach == 3)
        blur_columns_reach(from, step, t, to, n, 3);
    else if (t->reach == 4)
        blur_columns_reach(from, step, t, to, n, 4);
    else
        blur_columns_reach(from, step, t, to, n, t->reach);
}

static void box_rows(uint16_t *restrict sums, const uint8_t *restrict more,
                     const uint8_t *restrict less, int weight, int n)
{
    for (int x = 0; x < n; x++)
        sums[x] = (uint16_t)(sums[x] + weight * (more[x] - less[x]));
}

/* sums[i] becomes that of all before the i-th of @n samples, rounded up to whole vectors. */
static void box_running(const uint16_t *from, uint32_t *sums, int n)
{
    I before = i_from_f(f_set1(0.0F));

    sums[0] = 0;
    for (int x = 0; x < n; x += LANES) {
        const V samples = v_load((const int16_t *)from + x);
        const I low = i_running(i_low_u(samples));
        const I high = i_add(i_running(i_high_u(samples)), i_last(low));

        i_store(sums + 1 + x, i_add(before, low));
        i_store(sums + 1 + x + LANES / 2, i_add(before, high));
        before = i_add(before, i_last(high));
    }
}

/* The sums of windows around half a vector of samples, of which the first is @at. */
static inline I box_window(const uint32_t *at, const struct box_taps *t)
{
    const I sum = i_sub(i_load(at + t->reach[0] + 1), i_load(at - t->reach[0]));
    I other;

    if (!t->two)
        return sum;
    other = i_sub(i_load(at + t->reach[1] + 1), i_load(at - t->reach[1]));
    return i_add(i_add(sum, sum), i_add(sum, other));
}

static void box_columns(const uint16_t *from, const struct box_taps *t, uint32_t *sums, uint8_t *to,
                        int n)
{
    const int far = box_reach(t);
    const struct box_taps taps = *t;
    const F per = f_set1(t->per), half = f_set1(0.5F);

    box_running(from - far, sums, n + 2 * far);
    for (int x = 0; x < n; x += LANES) {
        const F low = f_from_i(box_window(sums + far + x, &taps));
        const F high = f_from_i(box_window(sums + far + x + LANES / 2, &taps));

        v_store_u8(to + x, v_join(i_from_f(f_add(f_mul(low, per), half)),
                                  i_from_f(f_add(f_mul(high, per), half))));
    }
}
