#include "cuda/kernel/half2_kernel.cuh"

template <bool LORENTZIAN> static half2_function choose(int radius)
{
    static const half2_function any[] = {
        half2_kernel<LORENTZIAN, 0, false, manhattan_pair>,
        half2_kernel<LORENTZIAN, 1, false, manhattan_pair>,
        half2_kernel<LORENTZIAN, 2, false, manhattan_pair>,
        half2_kernel<LORENTZIAN, 3, false, manhattan_pair>,
        half2_kernel<LORENTZIAN, 4, false, manhattan_pair>,
        half2_kernel<LORENTZIAN, 5, false, manhattan_pair>,
        half2_kernel<LORENTZIAN, 6, false, manhattan_pair>,
        half2_kernel<LORENTZIAN, 7, false, manhattan_pair>,
        half2_kernel<LORENTZIAN, 8, false, manhattan_pair>,
    };

    return any[radius < int(sizeof(any) / sizeof(any[0])) ? radius : 0];
}

half2_function half2_manhattan(int radius, bool lorentzian)
{
    return lorentzian ? choose<true>(radius) : choose<false>(radius);
}
