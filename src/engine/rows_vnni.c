/* Row kernels for processors of the generation that has AVX-512 VBMI and VNNI: those of
 * rows_avx512.c, and weights from a table of 128 that VBMI looks up 64 at a time. */
#include "ops_avx512.h"

#define HAVE_TABLE

typedef struct {
    __m512i low[2], high[2]; /* bytes of 64 entries each */
} T;

static inline T t_load(const uint8_t table[2][ROW_TABLE_SIZE])
{
    return (T){
        .low = {_mm512_loadu_si512(table[0]), _mm512_loadu_si512(table[0] + 64)},
        .high = {_mm512_loadu_si512(table[1]), _mm512_loadu_si512(table[1] + 64)},
    };
}

/* Looks both up in place. Packing saturates to 127, and interleaves within 128 bits as
 * unpacking does in reverse. */
static inline void v_lookup(T t, V *a, V *b, int shift)
{
    const __m128i n = _mm_cvtsi32_si128(shift);
    const V index = _mm512_packs_epi16(_mm512_srl_epi16(*a, n), _mm512_srl_epi16(*b, n));
    const V low = _mm512_permutex2var_epi8(t.low[0], index, t.low[1]);
    const V high = _mm512_permutex2var_epi8(t.high[0], index, t.high[1]);

    *a = _mm512_unpacklo_epi8(low, high);
    if (b != a)
        *b = _mm512_unpackhi_epi8(low, high);
}

#include "rows_kernels.h"

const struct row_kernels row_kernels_vnni = {
    .name = "vnni",
    .label = "AVX-512 VBMI",
    .prefers_table = true,
    ROW_KERNELS,
};
