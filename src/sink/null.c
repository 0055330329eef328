/* `null:`, where frames end: for measuring, and for filters whose statistics are all one wants. */
#include "sink/sink.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "picture/colour.h"

static int null_open(struct sink **ret, const struct sink_config *config, struct error *err)
{
    struct sink *s;

    if (config->format >= 0 && !format_table[config->format].planes)
        return error_usage(err, "'%s' takes raw frames, not %s", config->name,
                           format_table[config->format].name);
    s = calloc(1, sizeof(*s));
    if (!s)
        return error_set(err, -ENOMEM, "out of memory for '%s'", config->name);
    s->ops = &sink_null;
    (void)snprintf(s->name, sizeof(s->name), "null:");
    s->picture = frame_like(&config->picture);
    if (config->format >= 0)
        s->picture.format = (enum frame_format)config->format;
    s->picture.colour = colour_in(s->picture.format, s->picture.colour);
    (void)frame_layout(&s->picture);
    *ret = s;
    return 0;
}

static int null_write(struct sink *s, const struct frame *f, const struct frame *before,
                      struct error *err)
{
    (void)s;
    (void)f;
    (void)before;
    (void)err;
    return 0;
}

static int null_close(struct sink *s, struct error *err)
{
    (void)err;
    free(s);
    return 0;
}

static bool null_words(const struct sink_config *config)
{
    return config->format < 0;
}

const struct sink_ops sink_null = {
    .name = "null",
    .discards = true,
    .words = null_words,
    .open = null_open,
    .write = null_write,
    .close = null_close,
};
