#pragma once
/* The seam between C and CUDA: what a kernel is told, and the functions that start kernels.
 *
 * bilateral_prepare() turns a filter and two frames in device memory into one struct of plain
 * numbers; bilateral_launch() chooses the kernel and the grid. Functions return 0 or -errno.
 * Context: any thread; the current device is meant. */
#include <stdbool.h>

#include <cuda_runtime_api.h>

#include "cuda/kernel/params.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Starts the best kernel for @p on @stream. Does not wait. -EIO, -ENODEV: see bilateral_errno. */
int bilateral_launch(const struct bilateral_params *p, cudaStream_t stream);

/* Whether the best kernel for @p takes blocks of several shapes: 1 to 8 warps. All of them give
 * the same bytes; which is the quickest depends on the GPU. */
bool bilateral_tunable(const struct bilateral_params *p);

/* Whether the device has the shared memory that a block of @warps warps needs. */
bool bilateral_warps_fit(const struct bilateral_params *p, int warps);

/* The warps that are taken where @p->warps is 0. */
int bilateral_rule(const struct bilateral_params *p);

/* 0 when this program has machine code (or PTX) for the current device, else -ENODEV. */
int bilateral_supported(void);

/* A CUDA status as -errno: -ENOMEM, -ENODEV or -EIO. */
int bilateral_errno(cudaError_t status);

#ifdef __cplusplus
}
#endif
