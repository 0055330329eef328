#pragma once
/* How the row kernels work on the pairs of pixels between two chroma columns. */
#include "engine/simd/rows.h"

/* Layouts and kinds of taps are constants where these functions are inlined. */
#ifndef INLINE
#define INLINE static inline __attribute__((always_inline))
#endif

/* The pairs of pixels of a tap are worked on side by side: a weight is a long chain of
 * operations, of which a processor keeps only a few in view, so each step is taken for all
 * pairs before the next. Compilers keep that order, once they unroll these loops. */
#define UNROLLED _Pragma("GCC unroll 4")

struct row_pairs {
    int n;
    int from[4], to[4]; /* luma planes of the centre and of the neighbour */
    int space[4];       /* index of the spatial weight */
    bool first[4];      /* the first of its centre */
    bool any[2];        /* whether a centre has one */
};

INLINE struct row_pairs row_pairs(int pairs, enum row_layout layout)
{
    struct row_pairs p = {0};

    if (pairs & TAP_EVEN)
        p.n++;
    if (pairs & TAP_EVEN && layout == ROWS_PAIR) {
        p.from[p.n] = p.to[p.n] = 1;
        p.n++;
    }
    if (pairs & TAP_UP) {
        p.to[p.n] = p.space[p.n] = 1;
        p.n++;
    }
    if (pairs & TAP_DOWN) {
        p.from[p.n] = 1;
        p.space[p.n] = 2;
        p.n++;
    }
    UNROLLED for (int i = 0; i < p.n; i++)
    {
        p.first[i] = !p.any[p.from[i]];
        p.any[p.from[i]] = true;
    }
    return p;
}
