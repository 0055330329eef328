/* The engines that there are with AVX-512 in C. */
#include "engine/table.h"

const struct engine_ops *const engine_table[] = {&engine_simd, &engine_reference, NULL};
