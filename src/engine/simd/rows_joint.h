#pragma once
/* The sums of chroma that two rows share, in terms of the vector operations of the file that
 * includes this. */
#include "engine/simd/rows_pairs.h"

/* Adds what the other row left of one half of the lanes, from column @at on. False: the sums were
 * left for the other row instead. */
INLINE bool joint_chroma(const struct row_job *job, size_t at, F *u, F *v, F *w)
{
    const size_t row = ((size_t)job->columns + ROW_LANES_MAX - 1) / ROW_LANES_MAX * ROW_LANES_MAX;

    if (job->joint == JOINT_ADD) {
        *u = f_add(*u, f_load(job->sums + at));
        *v = f_add(*v, f_load(job->sums + row + at));
        *w = f_add(*w, f_load(job->sums + 2 * row + at));
    } else if (job->joint == JOINT_STORE) {
        f_store(job->sums + at, *u);
        f_store(job->sums + row + at, *v);
        f_store(job->sums + 2 * row + at, *w);
    }
    return job->joint != JOINT_STORE;
}
