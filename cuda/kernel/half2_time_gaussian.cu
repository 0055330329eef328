#include "cuda/kernel/half2_time.cuh"

half2_time_function half2_time_gaussian(int radius, bool square)
{
    return choose_time_kernel<false>(radius, square);
}
