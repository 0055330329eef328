#pragma once
/* The kernels that time_filter_start() chooses from. C++ only. */
#include "cuda/kernel/time.h"

cudaError_t half2_time_launch(const time_filter &f, cudaStream_t stream);
cudaError_t words_time_launch(const time_filter &f, cudaStream_t stream);

/* Does what half2_time leaves undone where `noise` says that half precision does not suit. */
cudaError_t words_time_launch_if_unsuited(const time_filter &f, cudaStream_t stream);

/* Whether only the device knows the range sigmas. */
static inline bool time_filter_asks(const time_filter &f)
{
    return f.most_sigma <= 0.0;
}
