#pragma once
/* How a kernel is started while the one before it on the stream ends: its thread blocks take their
 * places, and wait there. That saves a microsecond or two each. Needs compute capability 9.0;
 * others start it when the one before is done.
 *
 * What may a kernel read before it waits? It starts when each thread block of the one before has
 * called let_next_start() or ended. Where that one waits first, all kernels before it are done by
 * then, because none ends before the one before it has. Where it does not, all that was done when
 * it started itself is done, no more. So, of the kernels of a frame, in their order:
 *
 *     unpack               waits first, unless the mean goes on: all before the filter of the frame
 *                          before is done, and that reads nothing that a frame of a mean is
 *                          unpacked into
 *     search_top           waits first
 *     search_between, search_full
 *                          wait for vectors: unpack is done, as search_top has waited
 *     smooth               waits when it has let the next one start
 *     compare_still        does not: unpack is done, as search_full has waited before smooth
 *                          started; without a search it waits
 *     measure              waits first where there was no compare_still; else for the vectors:
 *                          unpack is done, as for that
 *     follow, compare_moved, average
 *                          do not: all before measure is done. follow and average wait for the rest
 *     half2_time           waits first
 *     words_time           waits first
 *     words_time_if_unsuited
 *                          does not: all before half2_time is done
 *
 * And what one writes before it waits, no kernel that may still run reads or writes.
 *
 * What a kernel does before it waits stands behind a condition, if need be one that always holds:
 * in a row of instructions without a branch nvcc 13.0 moves the wait to the front. */
#include <cuda_runtime.h>

/* Until all that was started before is done and can be read. A kernel of start_early() begins with
 * it, or with what nothing before changes. */
static __device__ __forceinline__ void wait_for_before()
{
#if __CUDA_ARCH__ >= 900
    asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}

/* Lets the next kernel take its places when all blocks of this one have theirs. What these waited
 * for is done then. */
static __device__ __forceinline__ void let_next_start()
{
#if __CUDA_ARCH__ >= 900
    asm volatile("griddepcontrol.launch_dependents;");
#endif
}

/* So a kernel that needs nothing of the one before it may begin without waiting. It ends with this,
 * because the next one waits for it alone. One thread block that waits is enough. */
static __device__ __forceinline__ void end_after_before()
{
    if (blockIdx.x + blockIdx.y == 0)
        wait_for_before();
}

template <class... PARAMETERS, class... ARGUMENTS>
static cudaError_t start_early(void (*kernel)(PARAMETERS...), dim3 grid, dim3 block, size_t bytes,
                               cudaStream_t stream, const ARGUMENTS &...arguments)
{
    cudaLaunchAttribute early = {};
    cudaLaunchConfig_t config = {};
    int device = 0, major = 0;
    cudaError_t status = cudaGetDevice(&device);

    if (status == cudaSuccess)
        status = cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device);
    if (status != cudaSuccess)
        return status;
    early.id = cudaLaunchAttributeProgrammaticStreamSerialization;
    early.val.programmaticStreamSerializationAllowed = 1;
    config.gridDim = grid;
    config.blockDim = block;
    config.dynamicSmemBytes = bytes;
    config.stream = stream;
    config.attrs = &early;
    config.numAttrs = major >= 9;
    return cudaLaunchKernelEx(&config, kernel, arguments...);
}
