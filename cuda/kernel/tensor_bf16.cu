#include "cuda/kernel/tensor_bf16.cuh"
#include "cuda/kernel/tensor_kernel.cuh"

#define SQUARE(radius) tensor_square_kernel<radius>

const tensor_form &tensor_bf16()
{
    static const tensor_form form = {
        {{tensor_kernel<false, false>, tensor_kernel<false, true>},
         {tensor_kernel<true, false>, tensor_kernel<true, true>}},
        {{tensor_split_kernel<false, false>, tensor_split_kernel<false, true>},
         {tensor_split_kernel<true, false>, tensor_split_kernel<true, true>}},
        {NULL, NULL, NULL, NULL, SQUARE(4), SQUARE(5), SQUARE(6), SQUARE(7), SQUARE(8), SQUARE(9),
         SQUARE(10), SQUARE(11), SQUARE(12), SQUARE(13), SQUARE(14), SQUARE(15), SQUARE(16)},
        OCTAVE,
        SAMPLE_UNIT,
        SAMPLE_OF_128,
        PATCHES,
    };

    return form;
}
