#include "cuda/kernel/half2_time.cuh"

half2_time_function half2_time_lorentzian(int radius, bool square, bool varies)
{
    return varies ? choose_time_kernel<true, sharp_pair>(radius, square)
                  : choose_time_kernel<true, pair>(radius, square);
}
