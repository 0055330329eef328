/* The bilateral filter of stored frames: which kernel. */
#include "cuda/kernel/bilateral.h"
#include "cuda/kernel/kernels.h"
#include "cuda/kernel/time_filter.cuh"

/* What is small in half precision weighs nothing there, so that large sigmas set the bound; of
 * the Lorentzian, whose weights end at 1/16384, far colours of large windows would add up to
 * something. */
extern "C" void time_fast_sigmas(const bilateral_params *p, double *ret_least, double *ret_most)
{
    *ret_least = !p->lorentzian ? 0.08 : p->radius <= 10 ? 1.6 : 5.0;
    *ret_most = (double)bilateral_most_sigma(p);
}

extern "C" int time_filter_start(const struct time_filter *f, cudaStream_t stream)
{
    const bilateral_params &p = f->p;
    double least, most;
    cudaError_t status;

    time_fast_sigmas(&p, &least, &most);
    if (p.words || p.manhattan || p.radius < 1 || p.components != 3 || p.hshift != 1 ||
        !bilateral_has_half2() ||
        (!time_filter_asks(*f) && (f->least_sigma < least || f->most_sigma > most)))
        return bilateral_errno(words_time_launch(*f, stream));
    status = half2_time_launch(*f, stream);
    if (status == cudaSuccess && time_filter_asks(*f))
        status = words_time_launch_if_unsuited(*f, stream);
    return bilateral_errno(status);
}
