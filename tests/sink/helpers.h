#pragma once
/* What the tests of sinks share. */
#include "tests/lib/unit.h"

#include <stdlib.h>
#include <string.h>

#include "sink/sink.h"

static const struct colour limited = {COLOUR_BT601, COLOUR_LIMITED};

static inline struct sink_config config_for(const char *name, enum frame_format format, int width,
                                            int height)
{
    return (struct sink_config){
        .name = name,
        .picture = {.format = format, .width = width, .height = height, .colour = limited},
        .format = -1,
        .fps = {30, 1},
        .stop_fd = -1,
    };
}

static inline struct sink *open_well(const struct sink_ops *ops, const struct sink_config *config)
{
    struct error err = {0};
    struct sink *s = NULL;

    if (ops->open(&s, config, &err))
        fail_msg("%s", err.text);
    assert_ptr_equal(s->ops, ops);
    return s;
}

static inline void open_badly(const struct sink_ops *ops, const struct sink_config *config,
                              int code, const char *text)
{
    struct error err = {0};
    struct sink *s = NULL;
    const int r = ops->open(&s, config, &err);

    if (r != code || !strstr(err.text, text))
        fail_msg("'%s' gave %d '%s', not %d '%s'", config->name, r, err.text, code, text);
    assert_null(s);
}

static inline void close_well(struct sink *s)
{
    struct error err = {0};

    if (s->ops->close(s, &err))
        fail_msg("%s", err.text);
}

static inline void write_well(struct sink *s, const struct frame *f)
{
    struct error err = {0};

    if (s->ops->write(s, f, NULL, &err))
        fail_msg("%s", err.text);
}

static inline void write_badly(struct sink *s, const struct frame *f, int code, const char *text)
{
    struct error err = {0};
    const int r = s->ops->write(s, f, NULL, &err);

    if (r != code || !strstr(err.text, text))
        fail_msg("%d '%s', not %d '%s'", r, err.text, code, text);
}

/* A frame as @s wants it, each sample made from its place and @seed. @pad more bytes per row. */
static inline struct frame make_frame(const struct sink *s, int seed, size_t pad)
{
    struct frame f = frame_like(&s->picture);
    size_t size = frame_layout_packed(&f);

    for (int p = 0; p < format_table[f.format].planes; p++) {
        f.stride[p] += pad;
        size += pad * (size_t)frame_plane_rows(&f, p);
    }
    frame_attach(&f, malloc(size));
    assert_non_null(f.plane[0]);
    memset(f.plane[0], 0xEE, size);
    for (int p = 0; p < format_table[f.format].planes; p++)
        for (int y = 0; y < frame_plane_rows(&f, p); y++)
            for (size_t x = 0; x < frame_row_bytes(&f, p); x++)
                f.plane[p][(size_t)y * f.stride[p] + x] =
                    (uint8_t)(seed * 41 + p * 83 + y * 7 + (int)x);
    return f;
}
