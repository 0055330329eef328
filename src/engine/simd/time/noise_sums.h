#pragma once
/* The sums of a block of noise, in plain C. */
#include <string.h>

#include "engine/simd/time/noise_samples.h"

/* Of no more than fits 32 bits. */
NOISE_STEP int32_t noise_product(const int16_t *a, const int16_t *b, int n)
{
    int32_t sum = 0;

    for (int i = 0; i < n; i++)
        sum += a[i] * b[i];
    return sum;
}

/* S, A and B of one component. */
NOISE_STEP void noise_planes(struct noise_moments *m, int i, const int16_t *c,
                             const struct noise_shape *shape)
{
    int32_t s = 0, a = 0, b = 0;

    for (int k = 0; k < shape->n; k++) {
        s += c[k] * shape->one.at[k];
        a += c[k] * shape->across.at[k];
        b += c[k] * shape->down.at[k];
    }
    m->s[i] = s;
    m->a[i] = a;
    m->b[i] = b;
}

/* S_ij of chroma over @n samples, each shared by @pixels; @luma has their sums. */
NOISE_STEP void noise_products(struct noise_moments *m, const int16_t *luma, const int16_t *u,
                               const int16_t *v, int n, int pixels)
{
    int32_t yu = 0, yv = 0, uu = 0, uv = 0, vv = 0;

    for (int i = 0; i < n; i++) {
        yu += luma[i] * u[i];
        yv += luma[i] * v[i];
        uu += u[i] * u[i];
        uv += u[i] * v[i];
        vv += v[i] * v[i];
    }
    m->ss[0][1] = m->ss[1][0] = yu;
    m->ss[0][2] = m->ss[2][0] = yv;
    m->ss[1][1] = pixels * uu;
    m->ss[1][2] = m->ss[2][1] = pixels * uv;
    m->ss[2][2] = pixels * vv;
}

/* Luma added up over the pixels of each sample of chroma. */
NOISE_STEP const int16_t *noise_fold(struct noise_samples *to, const struct noise_samples *luma,
                                     const struct noise_shape *chroma)
{
    if (!chroma->hshift)
        return luma->at;
    for (int i = 0; i < NOISE_PIXELS / 2; i++) {
        uint32_t both;

        memcpy(&both, luma->at + 2 * i, sizeof(both));
        to->at[i] = (int16_t)((both & 0xFFFF) + (both >> 16));
    }
    for (int y = 0; chroma->vshift && y < NOISE_BLOCK / 2; y++)
        for (int x = 0; x < NOISE_BLOCK / 2; x++)
            to->at[NOISE_BLOCK / 2 * y + x] =
                (int16_t)(to->at[NOISE_BLOCK * y + x] +
                          to->at[NOISE_BLOCK * y + x + NOISE_BLOCK / 2]);
    return to->at;
}

NOISE_STEP void noise_widen(struct noise_samples *restrict to, const struct noise_bytes *from,
                            int n)
{
    for (int i = 0; i < n; i++)
        to->at[i] = from->at[i];
}

NOISE_STEP void noise_differ(struct noise_samples *restrict to, const struct noise_bytes *a,
                             const struct noise_bytes *b, int n)
{
    for (int i = 0; i < n; i++)
        to->at[i] = (int16_t)(a->at[i] - b->at[i]);
}

/* All sums of a block: of itself, or, with @before, of what is different; @c are its samples. */
static inline void noise_sum_all(struct noise_moments *m, struct noise_samples c[3],
                                 const struct noise_bytes now[3], const struct noise_bytes *before,
                                 const struct noise_shape shape[2], int components)
{
    struct noise_samples folded;

    for (int i = 0; i < components; i++) {
        const struct noise_shape *p = &shape[i > 0];

        if (before) {
            noise_differ(&c[i], &now[i], &before[i], p->n);
            m->s[i] = noise_product(c[i].at, p->one.at, p->n);
        } else {
            noise_widen(&c[i], &now[i], p->n);
            noise_planes(m, i, c[i].at, p);
        }
    }
    m->ss[0][0] = noise_product(c[0].at, c[0].at, NOISE_PIXELS);
    if (components > 1)
        noise_products(m, noise_fold(&folded, &c[0], &shape[1]), c[1].at, c[2].at, shape[1].n,
                       shape[1].pixels);
}
