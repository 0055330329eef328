#include "cuda/kernel/tensor_f16.cuh"
#include "cuda/kernel/tensor_kernel.cuh"

const tensor_form &tensor_f16()
{
    static const tensor_form form = {
        {{tensor_kernel<false, false>, tensor_kernel<false, true>},
         {tensor_kernel<true, false>, tensor_kernel<true, true>}},
        {}, /* rows of patches are half as wide, and enough for all warps */
        {},
        {},
        OCTAVE,
        SAMPLE_UNIT,
        SAMPLE_OF_128,
        PATCHES,
    };

    return form;
}
