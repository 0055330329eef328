#pragma once
/* Numbers in half precision (IEEE 754 binary16) as their bits, for compilers and processors that
 * have none. A double holds every sum, difference and product of two halves, and what it rounds of
 * a fused multiplication and addition never decides how a half is rounded. */
#include <math.h>
#include <stdint.h>
#include <string.h>

#define HALF_OCTAVE 1024 /* from the bits of a half to those of twice as much */
#define HALF_INFINITE 0x7C00

/* 65536 for an infinite one. */
static inline double half_value(uint16_t bits)
{
    const int exponent = bits >> 10 & 31;
    const int fraction = (bits & 1023) + (exponent ? 1024 : 0);
    const double value = fraction * (double)(1U << (exponent ? exponent - 1 : 0)) * 0x1p-24;

    return bits & 0x8000 ? -value : value;
}

/* The nearest half, the even one of two. */
static inline uint16_t half_from(double value)
{
    const double magnitude = fabs(value);
    const uint16_t sign = signbit(value) ? 0x8000 : 0;
    uint64_t bits;

    if (magnitude >= 65520.0)
        return sign | HALF_INFINITE;
    if (magnitude < 0x1p-14)
        return sign | (uint16_t)(magnitude * 0x1p24 + 0x1p52 - 0x1p52);
    memcpy(&bits, &magnitude, sizeof(bits));
    bits += ((uint64_t)1 << 41) - 1 + (bits >> 42 & 1);
    return sign | (uint16_t)((bits >> 42) - (1023 - 15) * HALF_OCTAVE);
}
