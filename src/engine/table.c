#include "engine/table.h"

#include "config-build.h"

#include <stddef.h>

const struct engine_ops *const engine_table[] = {
#ifdef HAVE_CUDA
    &engine_cuda,
#else
    &(const struct engine_ops){.name = "cuda",
                               .missing = "engine 'cuda' is not built into this program"},
#endif
    &engine_simd,
    &engine_reference,
    NULL,
};
