/* Row kernels for processors with AVX-512F, BW, DQ and VL. */
#include "engine/simd/ops_avx512.h"

#include "engine/simd/rows_kernels.h"

const struct row_kernels row_kernels_avx512 = {.name = "avx512", .label = "AVX-512BW", ROW_KERNELS};
