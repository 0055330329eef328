#pragma once
/* What the preview's tests share: frames of two colours, screenshots, keys and mouse. They need a
 * display of their own, which test_preview.sh provides. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "sink/sink.h"

struct rgb {
    int c[3];
};

static const struct rgb red = {{200, 40, 30}}, blue = {{40, 60, 220}};

/* Y'CbCr of @c, rounded. */
static inline void to_yuv(struct rgb c, struct colour colour, uint8_t yuv[3])
{
    const double kr = colour.matrix == COLOUR_BT709 ? 0.2126 : 0.299;
    const double kb = colour.matrix == COLOUR_BT709 ? 0.0722 : 0.114;
    const double luma = kr * c.c[0] + (1.0 - kr - kb) * c.c[1] + kb * c.c[2];
    const bool full = colour.range == COLOUR_FULL;
    const double scale = full ? 1.0 : 224.0 / 255.0;

    yuv[0] = (uint8_t)lround(full ? luma : 16.0 + luma * 219.0 / 255.0);
    yuv[1] = (uint8_t)lround(128.0 + scale * (c.c[2] - luma) / (2.0 * (1.0 - kb)));
    yuv[2] = (uint8_t)lround(128.0 + scale * (c.c[0] - luma) / (2.0 * (1.0 - kr)));
}

/* A frame as @s wants it: @left in its left half, @right in the other. */
static inline struct frame make_frame(const struct sink *s, struct rgb left, struct rgb right)
{
    struct frame f = s->picture;
    uint8_t yuv[2][3];

    assert_int_equal(frame_alloc(&f), 0);
    to_yuv(left, f.colour, yuv[0]);
    to_yuv(right, f.colour, yuv[1]);
    for (int c = 0; c < format_table[f.format].components; c++) {
        const struct samples p = frame_samples(&f, c);

        for (int y = 0; y < p.height; y++)
            for (int x = 0; x < p.width; x++)
                p.base[(size_t)y * p.stride + (size_t)(x * p.step)] = yuv[2 * x >= p.width][c];
    }
    return f;
}

/* ------------------------------------------------------------- screenshots */

struct screenshot {
    int width, height;
    uint8_t rgb[1024 * 768 * 3];
};

/* What to look at, and whom to send keys; another file may have its own. */
#ifndef SCREENSHOT_OF
#define SCREENSHOT_OF "bilatcam"
#define KEYS_TO "--name '^bilatcam$'"
#endif

/* Reads the picture that @command writes to its standard output. */
static inline bool read_picture(struct screenshot *shot, const char *command)
{
    FILE *f = popen(command, "r");
    bool good;

    assert_non_null(f);
    good = fscanf(f, "P6 %d %d 255%*c", &shot->width, &shot->height) == 2 && shot->width <= 1024 &&
           shot->height <= 768;
    if (good) {
        const size_t size = (size_t)shot->width * (size_t)shot->height * 3;

        good = fread(shot->rgb, 1, size, f) == size;
    }
    return !pclose(f) && good;
}

static inline bool take_screenshot(struct screenshot *shot)
{
    return read_picture(shot,
                        "timeout 5 import -window " SCREENSHOT_OF " -depth 8 ppm:- 2> /dev/null");
}

/* The mean of the part from (x0, y0) to (x1, y1), in percent of width and height. */
static inline struct rgb mean(const struct screenshot *s, int x0, int y0, int x1, int y1)
{
    long sum[3] = {0}, n = 0;

    for (int y = s->height * y0 / 100; y < s->height * y1 / 100; y++)
        for (int x = s->width * x0 / 100; x < s->width * x1 / 100; x++, n++)
            for (int c = 0; c < 3; c++)
                sum[c] += s->rgb[((size_t)y * (size_t)s->width + (size_t)x) * 3 + (size_t)c];
    assert_true(n > 0);
    return (struct rgb){{(int)(sum[0] / n), (int)(sum[1] / n), (int)(sum[2] / n)}};
}

static inline bool near(struct rgb a, struct rgb b)
{
    for (int c = 0; c < 3; c++)
        if (abs(a.c[c] - b.c[c]) > 8)
            return false;
    return true;
}

/* Has xdotool do something with the window. A tool that loses its way is asked again. */
static inline void xdotool(const char *what)
{
    char command[320];
    int r = -1;

    (void)snprintf(command, sizeof(command), "timeout 5 xdotool search " KEYS_TO " %s > /dev/null",
                   what);
    for (int i = 0; r && i < 3; i++)
        r = system(command);
    assert_int_equal(r, 0);
}

/* Waits until the window shows @left and @right on the sides of @line (percent of its width), for
 * up to 5 s. The middle is looked at, where nothing is written. */
static inline void expect_sides(int line, struct rgb left, struct rgb right)
{
    static struct screenshot shot;
    struct rgb l = {0}, r = {0};

    for (int i = 0; i < 50; i++) {
        if (take_screenshot(&shot)) {
            l = mean(&shot, 2, 20, line - 4, 60);
            r = mean(&shot, line + 4, 20, 98, 60);
            if (near(l, left) && near(r, right))
                return;
        }
        (void)usleep(100000);
    }
    fail_msg("the window shows %d %d %d and %d %d %d", l.c[0], l.c[1], l.c[2], r.c[0], r.c[1],
             r.c[2]);
}

static inline void expect_halves(struct rgb left, struct rgb right)
{
    expect_sides(50, left, right);
}

static inline void press(const char *key)
{
    char what[60];

    (void)snprintf(what, sizeof(what), "windowfocus key %s", key);
    xdotool(what);
}
