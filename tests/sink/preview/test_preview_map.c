/* The map of frames averaged: which count is shown how, and where. */
#include "tests/lib/unit.h"

#include <string.h>

#include "sink/preview/map.h"

#define DARK 0xd20a0e16u
#define BRIGHT 0xd296d7f5u

/* Dark is one frame, bright is the most, and what is half way in doublings is half way between. */
static void test_palette(void **state)
{
    static const struct {
        int most, count; /* frames, halves of a frame */
        uint32_t argb;
    } cases[] = {
        {16, 0, DARK},       {16, 2, DARK},  {16, 8, 0xd2507386u},  {16, 32, BRIGHT},
        {16, 255, BRIGHT},   {64, 2, DARK},  {64, 16, 0xd2507386u}, {64, 128, BRIGHT},
        {4, 4, 0xd2507386u}, {4, 8, BRIGHT}, {2, 2, DARK},          {2, 3, 0xd25c8498u},
        {2, 4, BRIGHT},      {1, 2, DARK},   {1, 3, BRIGHT},        {0, 2, DARK},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        uint32_t palette[256];

        preview_map_palette(palette, cases[i].most);
        if (palette[cases[i].count] != cases[i].argb)
            fail_msg("%d halves of at most %d frames are %08x", cases[i].count, cases[i].most,
                     palette[cases[i].count]);
    }
}

/* The more frames, the brighter. */
static void test_palette_rises(void **state)
{
    (void)state;
    for (int most = 1; most <= 64; most++) {
        uint32_t palette[256];

        preview_map_palette(palette, most);
        for (int i = 1; i < 256; i++)
            for (int shift = 0; shift < 24; shift += 8)
                assert_true((palette[i] >> shift & 255) >= (palette[i - 1] >> shift & 255));
    }
}

/* A pixel for each block, the partial ones at the edges, too; nothing beside them. */
static void test_render(void **state)
{
    static const uint8_t counts[] = {2, 3, 4, 5, 6, 7};
    const struct frame f = {.format = FRAME_GREY, .width = 18, .height = 9, .counts = counts};
    uint32_t palette[256], pixels[2][5];

    (void)state;
    for (uint32_t i = 0; i < 256; i++)
        palette[i] = 100 + i;
    memset(pixels, 0, sizeof(pixels));
    preview_map_render(&f, palette, pixels[0], 5);
    for (int y = 0; y < 2; y++)
        for (int x = 0; x < 5; x++)
            assert_int_equal(pixels[y][x], x < 3 ? 102 + 3 * y + x : 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_palette),
        cmocka_unit_test(test_palette_rises),
        cmocka_unit_test(test_render),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
