/* The row kernels of one instruction set, made from its vector operations. Included last by
 * its file, which then defines a `const struct row_kernels` with ROW_KERNELS in it. */
#include "engine/simd/rows_blur.h"
#include "engine/simd/rows_fixed.h"
#include "engine/simd/rows_float.h"
#include "engine/simd/rows_planes.h"
#include "engine/simd/time/mean_strip.h"
#include "engine/simd/time/noise_rows.h"
#include "engine/simd/time/search_rows.h"

#define KERNELS(of)                                                                                \
    {                                                                                              \
        [ROWS_FIXED] = {fixed_pair_##of, fixed_single_##of, fixed_grey_##of},                      \
        [ROWS_GAUSSIAN] = {gaussian_pair_##of, gaussian_single_##of, gaussian_grey_##of},          \
        [ROWS_LORENTZIAN] = {lorentzian_pair_##of, lorentzian_single_##of, lorentzian_grey_##of},  \
    }
#define BOTH_KERNELS(of)                                                                           \
    [DISTANCE_EUCLIDEAN] = KERNELS(of), [DISTANCE_MANHATTAN] = KERNELS(of##_manhattan)

#define ROW_KERNELS                                                                                \
    .filter = {BOTH_KERNELS(rows)}, .each = {BOTH_KERNELS(each)}, .luma = {fixed_luma, real_luma}, \
    .chroma = {fixed_chroma, real_chroma}, .luma16 = {fixed_luma16, real_luma16},                  \
    .chroma16 = {fixed_chroma16, real_chroma16}, .factors = real_factors, .split = split_bytes,    \
    .merge = merge_bytes, .split16 = split_words, .blur_rows = blur_rows,                          \
    .blur_columns = blur_columns, .box_rows = box_rows, .box_columns = box_columns,                \
    .brightness = mean_brightness, .mean = mean_strip, .search = search_row,                       \
    .search_smooth = search_smooth, .halve = search_halve, .halve_luma = search_halve_luma,        \
    .noise = noise_row

/* To follow ROW_KERNELS where there is ROWS_TABLE. */
#define TABLE_KERNELS                                                                              \
    .filter[DISTANCE_EUCLIDEAN][ROWS_TABLE][ROWS_PAIR] = table_pair_rows,                          \
    .table_luma = table_luma, .table_chroma = table_chroma
