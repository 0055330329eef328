#include "kernels.h"

#include <errno.h>

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
static bool has_fast_half2(void)
{
    int device = 0, major = 0;

    return cudaGetDevice(&device) == cudaSuccess &&
           cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device) ==
               cudaSuccess &&
           major >= 7;
}

extern "C" int bilateral_launch(const bilateral_params *p, cudaStream_t stream)
{
    if (half2_suits(p) && has_fast_half2())
        return bilateral_errno(half2_launch(p, stream));
    return bilateral_errno(generic_launch(p, stream));
}
