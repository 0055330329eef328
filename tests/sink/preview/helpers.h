#pragma once
/* What the preview's tests share: frames of two colours, screenshots, keys and mouse, a program
 * behind the window. They need a display of their own, which test_preview.sh provides. */
#include "tests/lib/unit.h"

#include <math.h>
#include <pthread.h>
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

/* ----------------------------------------------- the program behind the window */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* guards the next two */
static char adjusted[512];
static int n_quits;

static inline void quit(void *user)
{
    (void)user;
    (void)pthread_mutex_lock(&lock);
    n_quits++;
    (void)pthread_mutex_unlock(&lock);
}

static inline void status(void *user, struct status *ret)
{
    (void)user;
    *ret = (struct status){
        .second = {.fps = 29.97,
                   .latency = {.p50_ns = 43000000, .p99_ns = 55000000},
                   .added = {.p50_ns = 9000000, .p99_ns = 21000000},
                   .camera = {.p50_ns = 34000000}},
        .budget_ns = 33333333,
        .radius_requested = 5,
        .radius_last = 3,
        .sigma_color = 18.0,
        .sigma_space = 2.5,
        .temporal = 16,
        .frames_dropped = 4,
        .engine = "simd",
        .device = "a device with a name that is longer than the panel is wide",
    };
}

static inline void adjust(void *user, const char *key, int steps, char *text, size_t size)
{
    (void)user;
    (void)snprintf(text, size, "HHHHHHHH"); /* letters of one height */
    (void)pthread_mutex_lock(&lock);
    (void)snprintf(adjusted + strlen(adjusted), sizeof(adjusted) - strlen(adjusted), "%s %+d;", key,
                   steps);
    (void)pthread_mutex_unlock(&lock);
}

static inline void toggle_time(void *user, char *text, size_t size)
{
    adjust(user, "time", 0, text, size);
}

static const struct sink_control control = {NULL, status, adjust, toggle_time, quit};

static inline int quits(void)
{
    int n;

    (void)pthread_mutex_lock(&lock);
    n = n_quits;
    (void)pthread_mutex_unlock(&lock);
    return n;
}

static inline void expect_quits(int n)
{
    for (int i = 0; i < 50 && quits() != n; i++)
        (void)usleep(100000);
    assert_int_equal(quits(), n);
}

/* ----------------------------------------------------------------- the window */

static inline struct sink_config window_config(int width, int height)
{
    return (struct sink_config){
        .name = "preview",
        .picture = {.format = FRAME_YUYV, .width = width, .height = height},
        .format = -1,
        .fps = {30, 1},
        .stop_fd = -1,
        .control = &control,
    };
}

static inline struct sink *open_well(const struct sink_config *config)
{
    struct error err = {0};
    struct sink *s = NULL;

    if (sink_preview.open(&s, config, &err))
        fail_msg("%s", err.text);
    assert_ptr_equal(s->ops, &sink_preview);
    (void)pthread_mutex_lock(&lock);
    n_quits = 0;
    *adjusted = '\0';
    (void)pthread_mutex_unlock(&lock);
    return s;
}

static inline struct sink *open_window(int width, int height)
{
    const struct sink_config config = window_config(width, height);

    return open_well(&config);
}

static inline void close_well(struct sink *s)
{
    assert_int_equal(s->ops->close(s, NULL), 0);
}

static inline void write_pair(struct sink *s, struct frame before, struct frame after)
{
    assert_int_equal(s->ops->write(s, &after, &before, NULL), 0);
    frame_free(&before);
    frame_free(&after);
}

/* A window that shows @after, with @before to compare. */
static inline struct sink *open_pair(struct rgb before, struct rgb after)
{
    struct sink *s = open_window(320, 240);

    write_pair(s, make_frame(s, before, before), make_frame(s, after, after));
    expect_halves(after, after);
    return s;
}

/* Pixels of bright text, in a part of the window in percent. */
static inline int bright_pixels(const struct screenshot *s, int x0, int y0, int x1, int y1)
{
    int n = 0;

    for (int y = s->height * y0 / 100; y < s->height * y1 / 100; y++)
        for (int x = s->width * x0 / 100; x < s->width * x1 / 100; x++) {
            const uint8_t *c = &s->rgb[((size_t)y * (size_t)s->width + (size_t)x) * 3];

            n += c[0] > 190 && c[1] > 190 && c[2] > 190;
        }
    return n;
}

/* Waits until there are at least @least and at most @most such pixels. */
static inline void expect_text(int least, int most, int x0, int y0, int x1, int y1)
{
    static struct screenshot shot;
    int n = -1;

    for (int i = 0; i < 60; i++) {
        if (take_screenshot(&shot)) {
            n = bright_pixels(&shot, x0, y0, x1, y1);
            if (n >= least && n <= most)
                return;
        }
        (void)usleep(100000);
    }
    fail_msg("%d bright pixels", n);
}
