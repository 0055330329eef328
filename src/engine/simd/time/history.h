#pragma once
/* What the CPU engine keeps of the frames before: raw frames, the mean over frames, and how much
 * noise there is. The formulas are in engine/time/average.h. Context: one thread at a time; the
 * workers share the work. */
#include "base/workers.h"
#include "engine/engine.h"
#include "engine/simd/band.h"

struct history;

/* Uses @workers, which are @n_threads, and @kernels until destroyed. -ENOMEM. */
int history_create(struct history **ret, struct workers *workers, int n_threads,
                   const struct row_kernels *kernels);
void history_destroy(struct history *h); /* accepts NULL */

/* The next frame has nothing to do with those before. The noise stays known. */
void history_forget(struct history *h);

/* One frame more, for a filter that looks back. -ENOMEM leaves no past. */
int history_add(struct history *h, const struct frame *in, const struct filter *f);

/* What is to be filtered in space then, valid until the next frame. */
void history_input(const struct history *h, const struct filter *f, struct band_input *ret);

/* What engine_ops.report tells after such a frame. */
void history_report(struct history *h, struct engine_report *ret);
