/* From 8-bit samples to planes, in terms of the vector operations of the file that includes
 * this, and plain loops that the compiler vectorises for that file's instruction set. */
#include "engine/simd/rows.h"

static void fixed_luma(const struct row_scale *s, const uint8_t *y, void *plane, int n)
{
    int16_t *out = plane;
    const V a = v_set1(s->q[0]);

    for (int x = 0; x < n; x += LANES)
        v_store(out + x, v_mulhrs(v_load_u8(y + x), a));
}

static void fixed_chroma(const struct row_scale *s, const uint8_t *u, const uint8_t *v,
                         void *const plane[3], int n)
{
    int16_t *out_c = plane[0], *out_u = plane[1], *out_v = plane[2];
    const V b = v_set1(s->q[1]), c = v_set1(s->q[2]), d = v_set1(s->q[3]);
    const V e = v_set1(s->q[4]), f = v_set1(s->q[5]);

    for (int x = 0; x < n; x += LANES) {
        const V us = v_load_u8(u + x), vs = v_load_u8(v + x);

        v_store(out_c + x, v_add(v_mulhrs(us, b), v_mulhrs(vs, c)));
        v_store(out_u + x, v_add(v_mulhrs(us, d), v_mulhrs(vs, e)));
        v_store(out_v + x, v_mulhrs(vs, f));
    }
}

static void real_luma(const struct row_scale *s, const uint8_t *y, void *plane, int n)
{
    float *restrict out = plane;
    const float a = s->a;

    for (int x = 0; x < n; x++)
        out[x] = (float)(y[x] - 128) * a;
}

static void real_chroma(const struct row_scale *s, const uint8_t *u, const uint8_t *v,
                        void *const plane[3], int n)
{
    float *restrict out_c = plane[0], *restrict out_u = plane[1], *restrict out_v = plane[2];
    const struct row_scale k = *s;

    for (int x = 0; x < n; x++) {
        const float us = (float)(u[x] - 128), vs = (float)(v[x] - 128);

        out_c[x] = us * k.b + vs * k.c;
        out_u[x] = us * k.d + vs * k.e;
        out_v[x] = vs * k.f;
    }
}

static void fixed_luma16(const struct row_scale *s, const uint16_t *y, void *plane, int n)
{
    const V a = v_set1(s->q[0]), middle = v_set1(-32768);

    for (int x = 0; x < n; x += LANES)
        v_store((int16_t *)plane + x,
                v_mulhrs(v_add(v_shl(v_load((const int16_t *)y + x), 1), middle), a));
}

static void fixed_chroma16(const struct row_scale *s, const uint16_t *u, const uint16_t *v,
                           void *const plane[3], int n)
{
    int16_t *out_c = plane[0], *out_u = plane[1], *out_v = plane[2];
    const V b = v_set1(s->q[1]), c = v_set1(s->q[2]), d = v_set1(s->q[3]);
    const V e = v_set1(s->q[4]), f = v_set1(s->q[5]), middle = v_set1(-32768);

    for (int x = 0; x < n; x += LANES) {
        const V us = v_add(v_shl(v_load((const int16_t *)u + x), 1), middle);
        const V vs = v_add(v_shl(v_load((const int16_t *)v + x), 1), middle);

        v_store(out_c + x, v_add(v_mulhrs(us, b), v_mulhrs(vs, c)));
        v_store(out_u + x, v_add(v_mulhrs(us, d), v_mulhrs(vs, e)));
        v_store(out_v + x, v_mulhrs(vs, f));
    }
}

/* Two integers the product of which is just below 2^16: a factor of about @per times @unit, and
 * the largest number that it may be applied to. What bounds them is an integer: with bounds of
 * floats GCC 12 makes no vectors of this. */
static void real_factors(const float *restrict per, float unit, uint16_t *restrict limit,
                         uint16_t *restrict factor, int n)
{
    for (int i = 0; i < n; i++) {
        const float wanted = per[i] * unit, inverse = 65535.0F / wanted;
        const int32_t less = (int32_t)((wanted < inverse ? wanted : inverse) + 0.5F);
        const int32_t small = less > 1 ? less : 1, great = (int32_t)(65535.0F / (float)small);
        const bool many = wanted > 256.0F;

        limit[i] = (uint16_t)(many ? small : great);
        factor[i] = (uint16_t)(many ? great : small);
    }
}

static void real_luma16(const struct row_scale *s, const uint16_t *y, void *to, int n)
{
    float *restrict plane = to;
    const float a = s->a / 128.0F;

    for (int x = 0; x < n; x++)
        plane[x] = (float)(y[x] - 16384) * a;
}

static void real_chroma16(const struct row_scale *s, const uint16_t *u, const uint16_t *v,
                          void *const plane[3], int n)
{
    float *restrict out_c = plane[0], *restrict out_u = plane[1], *restrict out_v = plane[2];
    const struct row_scale k = *s;

    for (int x = 0; x < n; x++) {
        const float us = (float)(u[x] - 16384) / 128.0F, vs = (float)(v[x] - 16384) / 128.0F;

        out_c[x] = us * k.b + vs * k.c;
        out_u[x] = us * k.d + vs * k.e;
        out_v[x] = vs * k.f;
    }
}

static void split_words(const uint16_t *ab, uint16_t *restrict a, uint16_t *restrict b, int n)
{
    for (int i = 0; i < n; i++) {
        a[i] = ab[2 * i];
        b[i] = ab[2 * i + 1];
    }
}

static void split_bytes(const uint8_t *ab, uint8_t *restrict a, uint8_t *restrict b, int n)
{
    for (int i = 0; i < n; i++) {
        a[i] = ab[2 * i];
        b[i] = ab[2 * i + 1];
    }
}

static void merge_bytes(const uint8_t *a, const uint8_t *b, uint8_t *restrict ab, int n)
{
    for (int i = 0; i < n; i++) {
        ab[2 * i] = a[i];
        ab[2 * i + 1] = b[i];
    }
}
