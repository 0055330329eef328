/* Snapshots: what the files hold, what they are called and where they are. */
#include "unit.h"

#include "config-build.h"

#ifdef HAVE_PNG
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <png.h>

#include "snapshot.h"

#define WIDTH 16
#define HEIGHT 9

static char folder[] = "/tmp/bilatcam-snapshot-XXXXXX";

/* A picture, each sample made from its place and @seed. */
static struct frame make_picture(enum frame_format format, int seed)
{
    struct frame f = {.format = format, .width = WIDTH, .height = HEIGHT};

    assert_int_equal(frame_alloc(&f), 0);
    for (int c = 0; c < format_table[format].components; c++) {
        const struct samples s = frame_samples(&f, c);

        for (int y = 0; y < s.height; y++)
            for (int x = 0; x < s.width; x++)
                s.base[(size_t)y * s.stride + (size_t)(x * s.step)] =
                    (uint8_t)(16 + (seed + 11 * x + 13 * y) % 220);
    }
    return f;
}

/* Writes one, and says what came of it. */
static int snap(enum frame_format format, const char *name, char *text, size_t size)
{
    struct frame before = make_picture(format, 0), after = make_picture(format, 50);
    struct snapshot *s;

    assert_int_equal(snapshot_start(&s, &before, &after, name, NULL, NULL), 0);
    frame_free(&before);
    frame_free(&after);
    return snapshot_finish(s, text, size, NULL, 0);
}

/* R'G'B' bytes, the caller's to free. */
static png_bytep read_png(const char *name)
{
    png_image image = {.version = PNG_IMAGE_VERSION};
    png_bytep rgb;

    if (!png_image_begin_read_from_file(&image, name))
        fail_msg("%s: %s", name, image.message);
    image.format = PNG_FORMAT_RGB;
    assert_int_equal(image.width, WIDTH);
    assert_int_equal(image.height, HEIGHT);
    rgb = malloc(PNG_IMAGE_SIZE(image));
    assert_non_null(rgb);
    if (!png_image_finish_read(&image, NULL, rgb, 0, NULL))
        fail_msg("%s: %s", name, image.message);
    return rgb;
}

static void expect_greys(const char *name, int seed)
{
    png_bytep const rgb = read_png(name);

    for (int y = 0; y < HEIGHT; y++)
        for (int x = 0; x < WIDTH; x++) {
            const int luma = 16 + (seed + 11 * x + 13 * y) % 220;
            const int grey = (int)(255.0 / 219.0 * (luma - 16) + 0.5);

            for (int i = 0; i < 3; i++)
                assert_in_range(rgb[3 * (y * WIDTH + x) + i], grey > 0 ? grey - 1 : 0, grey + 1);
        }
    free(rgb);
    assert_int_equal(unlink(name), 0);
}

/* A picture without chroma has no colour. */
static void test_grey(void **state)
{
    char text[320];

    (void)state;
    assert_int_equal(snap(FRAME_GREY, "grey", text, sizeof(text)), 0);
    expect_greys("grey-before.png", 0);
    expect_greys("grey-after.png", 50);
}

static int make_folder(void **state)
{
    (void)state;
    return mkdtemp(folder) && !chdir(folder) && !setenv("XDG_PICTURES_DIR", ".", 1) ? 0 : -1;
}

static int remove_folder(void **state)
{
    (void)state;
    return rmdir(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_grey),
    };

    return cmocka_run_group_tests_name("snapshot", tests, make_folder, remove_folder);
}
#else
int main(void)
{
    return 77; /* built without libpng */
}
#endif
