#pragma once
/* Which row kernels this program has and this processor runs. */
#include "base/error.h"
#include "engine/simd/rows.h"

struct cpu_row {
    const struct row_kernels *kernels;
    bool (*supported)(void);
};

/* Sets built in, best first, `kernels` NULL at the end; the last works everywhere. */
extern const struct cpu_row cpu_table[];

/* The best supported set, or the one that the environment variable BILATCAM_CPU names.
 * -ENODEV: there is no such set, or the processor lacks it; @err says which there are. */
int cpu_choose_kernels(const struct row_kernels **ret, struct error *err);
