#include "cuda/kernel/half2_kernel.cuh"

half2_function half2_lorentzian(int radius, bool square)
{
    return choose_kernel<true>(radius, square);
}
