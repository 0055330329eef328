#include "cuda/kernel/tensor_lorentzian.cuh"
#include "cuda/kernel/tensor_kernel.cuh"

/* The table of spatial weights knows the window. */
const tensor_form &tensor_lorentzian()
{
    static const tensor_form form = {
        {{tensor_kernel<false, false>, tensor_kernel<false, true>},
         {tensor_kernel<false, false>, tensor_kernel<false, true>}},
        {{tensor_split_kernel<false, false>, tensor_split_kernel<false, true>},
         {tensor_split_kernel<false, false>, tensor_split_kernel<false, true>}},
        {},
        {},
        OCTAVE,
        SAMPLE_UNIT,
        SAMPLE_OF_128,
        PATCHES,
    };

    return form;
}
