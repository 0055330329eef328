#include "cuda/kernel/half2_kernel.cuh"

half2_function half2_gaussian(int radius, bool square)
{
    return choose_kernel<false>(radius, square);
}
