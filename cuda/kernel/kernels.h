#pragma once
/* What the .cu files share: one launcher per kernel, called by bilateral.cu and the lab. */
#include <stdbool.h>
#include <stddef.h>

#include <cuda_runtime_api.h>

#include "cuda/kernel/params.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Any raw format of 8 bits, any bilateral filter, any GPU; single precision. */
cudaError_t generic_launch(const struct bilateral_params *p, cudaStream_t stream);
cudaError_t generic_supported(void);

/* 4:2:2 and 4:2:0, half precision. Planes and strides are multiples of 4 (packed) or 2. */
bool half2_suits(const struct bilateral_params *p);
cudaError_t half2_launch(const struct bilateral_params *p, cudaStream_t stream);

/* The same formats on tensor cores. Whether it can do that on this device, and whether it is
 * quicker there than half2_launch(). */
bool tensor_suits(const struct bilateral_params *p);
bool tensor_wins(const struct bilateral_params *p);
cudaError_t tensor_launch(const struct bilateral_params *p, cudaStream_t stream);
/* The Gaussian in the form for other devices than this one; for the lab. */
cudaError_t tensor_launch_f16(const struct bilateral_params *p, cudaStream_t stream);

/* The filters gaussian and box, for which @p->blur is set; any raw format of 8 bits, any GPU. */
cudaError_t blur_launch(const struct bilateral_params *p, cudaStream_t stream);

/* Samples of 16 bits, @p->words, which those above do not take; any GPU, single precision. The
 * former takes planes of 8 bits, too. */
bool words_suits(const struct bilateral_params *p);
cudaError_t words_launch(const struct bilateral_params *p, cudaStream_t stream);
cudaError_t words_blur_launch(const struct bilateral_params *p, cudaStream_t stream);

/* Whether the device computes in half precision quickly. */
bool bilateral_has_half2(void);

/* Its blocks are 1 to 8 warps below each other, each of 64 pixels by 4 rows: the shared memory of
 * one, and how many are taken where @p->warps is 0. */
size_t half2_shared_bytes(const struct bilateral_params *p, int warps);
int half2_rule(const struct bilateral_params *p);

#ifdef __cplusplus
}
#endif
