#pragma once
/* How many frames a mean is of, in a byte: 0, or 1 to 64 less a half in six binary digits. So two
 * numbers beside each other are never more than 3 % apart, and where it matters most, at one frame,
 * 1/64: engines that round to different sides differ by little. Compiled for the CPU and for the
 * GPU. Pure arithmetic. */
#include <stdint.h>
#include <string.h>

#ifdef __CUDACC__
#define MEAN_COUNT_FUNCTION static __host__ __device__ inline
#else
#define MEAN_COUNT_FUNCTION static inline
#endif

#define MEAN_COUNT_ONE 1    /* how one frame is stored */
#define MEAN_COUNT_STEPS 64 /* of a frame, of which all that is stored has whole ones */

#define MEAN_COUNT_DIGITS 18    /* bits of a number as IEEE 754 has it that are left out */
#define MEAN_COUNT_BELOW 0xFBFu /* those that are left of 1/2, less MEAN_COUNT_ONE */

/* The frames that a byte other than 0 stands for. */
MEAN_COUNT_FUNCTION float mean_count_frames(uint8_t count)
{
    const uint32_t bits = (count + MEAN_COUNT_BELOW) << MEAN_COUNT_DIGITS;
    float less;

    memcpy(&less, &bits, sizeof(less));
    return less + 0.5F;
}

/* The nearest byte for 1 to 64 frames; the lower one of two. */
MEAN_COUNT_FUNCTION uint8_t mean_count_of(float frames)
{
    const float less = frames - 0.5F;
    uint32_t bits;

    memcpy(&bits, &less, sizeof(bits));
    bits += (1u << (MEAN_COUNT_DIGITS - 1)) - 1;
    return (uint8_t)((bits >> MEAN_COUNT_DIGITS) - MEAN_COUNT_BELOW);
}
