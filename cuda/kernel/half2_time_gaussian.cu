#include "cuda/kernel/half2_time.cuh"

half2_time_function half2_time_gaussian(int radius, bool square, bool varies)
{
    return varies ? choose_time_kernel<false, sharp_pair>(radius, square)
                  : choose_time_kernel<false, pair>(radius, square);
}
