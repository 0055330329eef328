#pragma once
/* Samples of 9 to 16 bits as files and libraries have them, in the low bits of words, and as frames
 * have them, in the high ones. The words may be anywhere. Pure functions; any thread. */
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* From @depth bits to frames, in place. What exceeds them is the most. */
static inline void words_widen(void *words, size_t bytes, int depth)
{
    const uint16_t most = (uint16_t)((1U << depth) - 1);
    uint8_t *p = words;

    for (size_t i = 0; i + 1 < bytes; i += 2) {
        uint16_t w;

        memcpy(&w, p + i, sizeof(w));
        w = (uint16_t)((w < most ? w : most) << (16 - depth));
        memcpy(p + i, &w, sizeof(w));
    }
}

/* The other way, rounded to nearest. */
static inline void words_narrow(void *to, const void *from, size_t bytes, int depth)
{
    const uint32_t most = (1U << depth) - 1, half = 1U << (16 - depth) >> 1;
    const uint8_t *p = from;
    uint8_t *q = to;

    for (size_t i = 0; i + 1 < bytes; i += 2) {
        uint16_t w;
        uint32_t n;

        memcpy(&w, p + i, sizeof(w));
        n = (w + half) >> (16 - depth);
        w = (uint16_t)(n < most ? n : most);
        memcpy(q + i, &w, sizeof(w));
    }
}
