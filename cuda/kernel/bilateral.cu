#include "cuda/kernel/bilateral.h"

#include <errno.h>

#include "cuda/kernel/kernels.h"

extern "C" int bilateral_errno(cudaError_t status)
{
    switch (status) {
    case cudaSuccess:
        return 0;
    case cudaErrorMemoryAllocation:
        return -ENOMEM;
    case cudaErrorNoDevice:
    case cudaErrorDevicesUnavailable:
    case cudaErrorInsufficientDriver:
    case cudaErrorNoKernelImageForDevice:
    case cudaErrorInvalidDeviceFunction:
    case cudaErrorUnsupportedPtxVersion:
        return -ENODEV;
    default:
        return -EIO;
    }
}

extern "C" int bilateral_supported(void)
{
    return bilateral_errno(generic_supported());
}

/* sm_61 runs half precision at 1/64 of the rate of single precision. */
extern "C" bool bilateral_has_half2(void)
{
    int device = 0, major = 0;

    return cudaGetDevice(&device) == cudaSuccess &&
           cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device) ==
               cudaSuccess &&
           major >= 7;
}

static bool takes_tensor(const bilateral_params *p)
{
    return !p->words && !p->manhattan && tensor_wins(p);
}

extern "C" bool bilateral_tunable(const bilateral_params *p)
{
    return !p->blur && !p->words && half2_suits(p) && bilateral_has_half2() && !takes_tensor(p);
}

extern "C" bool bilateral_warps_fit(const bilateral_params *p, int warps)
{
    int device = 0, most = 0;

    return cudaGetDevice(&device) == cudaSuccess &&
           cudaDeviceGetAttribute(&most, cudaDevAttrMaxSharedMemoryPerBlockOptin, device) ==
               cudaSuccess &&
           half2_shared_bytes(p, warps) <= size_t(most);
}

extern "C" int bilateral_rule(const bilateral_params *p)
{
    return half2_rule(p);
}

extern "C" int bilateral_launch(const bilateral_params *p, cudaStream_t stream)
{
    if (p->blur)
        return bilateral_errno(p->words ? words_blur_launch(p, stream) : blur_launch(p, stream));
    if (takes_tensor(p))
        return bilateral_errno(tensor_launch(p, stream));
    if (bilateral_tunable(p))
        return bilateral_errno(half2_launch(p, stream));
    if (words_suits(p))
        return bilateral_errno(words_launch(p, stream));
    return bilateral_errno(generic_launch(p, stream));
}
