#include "cuda/kernel/tensor_bf16.cuh"
#include "cuda/kernel/tensor_kernel.cuh"

/* Discs for which known_wins() take 1 to 4 % less from radius 13 on, and up to 2 % more at 10 and
 * 12 (2026-11, NVIDIA H200). Squares above radius 16 were not tried. */
#define SQUARE(radius) tensor_known_kernel<true, radius>
#define DISC(radius) tensor_known_kernel<false, radius>

const tensor_form &tensor_bf16()
{
    static const tensor_form form = {
        {{tensor_kernel<false, false>, tensor_kernel<false, true>},
         {tensor_kernel<true, false>, tensor_kernel<true, true>}},
        {{tensor_split_kernel<false, false>, tensor_split_kernel<false, true>},
         {tensor_split_kernel<true, false>, tensor_split_kernel<true, true>}},
        {NULL, NULL, NULL, NULL, SQUARE(4), SQUARE(5), SQUARE(6), SQUARE(7), SQUARE(8), SQUARE(9),
         SQUARE(10), SQUARE(11), SQUARE(12), SQUARE(13), SQUARE(14), SQUARE(15), SQUARE(16)},
        {NULL,     NULL,     NULL,     NULL,     NULL,     NULL,     NULL,     NULL,     NULL,
         NULL,     NULL,     NULL,     NULL,     DISC(13), DISC(14), DISC(15), DISC(16), DISC(17),
         DISC(18), DISC(19), DISC(20), DISC(21), DISC(22), DISC(23), DISC(24), DISC(25)},
        OCTAVE,
        SAMPLE_UNIT,
        SAMPLE_OF_128,
        PATCHES,
    };

    return form;
}
