#pragma once
/* What the lab's .cu files offer to its C files: launchers of kernels that filter packed YUYV,
 * none of which is in the product. They return 0 or -errno. */
#include "cuda/kernel/bilateral.h"

#ifdef __cplusplus
extern "C" {
#endif

/* One thread per pixel pair: everything computed at each tap; weights read from tables in global
 * or in shared memory; the picture and its halo in shared memory. */
int rung_naive(const struct bilateral_params *p, cudaStream_t stream);
int rung_tables_global(const struct bilateral_params *p, cudaStream_t stream);
int rung_tables_shared(const struct bilateral_params *p, cudaStream_t stream);
int rung_tile(const struct bilateral_params *p, cudaStream_t stream);

/* Packed R'G'B'A bytes, as many video filters take them: to them, filter, back. A block loads as
 * many pixels as it has threads and filters those that have their halo within; spatial weights
 * are in constant memory. Square windows of radius 1 to 15. The second form keeps both pictures
 * in memory of the caller's, 8 bytes per pixel, so that several streams can run it. */
int rung_rgba(const struct bilateral_params *p, cudaStream_t stream);
int rung_rgba_in(const struct bilateral_params *p, uint32_t *pictures, cudaStream_t stream);

/* The fused kernel in single precision between kernels that unpack to planes and pack. */
int rung_separate(const struct bilateral_params *p, cudaStream_t stream);

/* The picture as it is: what moving it alone takes. */
int rung_copy(const struct bilateral_params *p, cudaStream_t stream);

/* Clock of the multiprocessors in GHz, read off their own counter. */
double lab_clock_ghz(cudaStream_t stream);

/* Starts a kernel that fails, as a broken device would. */
void lab_break_device(cudaStream_t stream);

#ifdef __cplusplus
}
#endif
