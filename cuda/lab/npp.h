#pragma once
/* NVIDIA's Performance Primitives as rungs of the ladder, where they are installed: of the CUDA
 * toolkit's libnppif, the filters that are nearest to ours. Context: one thread at a time. */
#include <stdbool.h>

#include <cuda_runtime_api.h>

#include "cuda/kernel/bilateral.h"

/* Loads the library at the first call, and tells of it. */
bool npp_here(void);

/* They filter grey, the whole picture; the last one with Gaussian weights and a square window. 0;
 * -ENOTSUP: it does not take that; -ENOMEM. */
int npp_gaussian(const struct bilateral_params *p, cudaStream_t stream);
int npp_box(const struct bilateral_params *p, cudaStream_t stream);
int npp_bilateral(const struct bilateral_params *p, cudaStream_t stream);
