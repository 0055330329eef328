#include "cuda/kernel/tensor_kernel.cuh"

tensor_function tensor_bf16(bool square, bool odd_radius)
{
    if (square)
        return odd_radius ? tensor_kernel<true, true> : tensor_kernel<true, false>;
    return odd_radius ? tensor_kernel<false, true> : tensor_kernel<false, false>;
}
