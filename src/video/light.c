#include "video/light.h"

#include <errno.h>
#include <inttypes.h>
#include <libavutil/mastering_display_metadata.h>
#include <stdio.h>

#include "base/text.h"

/* What is no fraction of positive whole numbers is 0. */
static struct fraction fraction_of(AVRational r)
{
    return r.num > 0 && r.den > 0 ? (struct fraction){(uint32_t)r.num, (uint32_t)r.den}
                                  : (struct fraction){0, 1};
}

static AVRational rational(struct fraction f)
{
    return (AVRational){(int)f.num, (int)f.den};
}

static const void *side_data(const AVFrame *f, enum AVFrameSideDataType type)
{
    const AVFrameSideData *side = av_frame_get_side_data(f, type);

    return side ? side->data : NULL;
}

void light_of(const AVFrame *first, struct light *ret)
{
    const AVMasteringDisplayMetadata *m =
        side_data(first, AV_FRAME_DATA_MASTERING_DISPLAY_METADATA);
    const AVContentLightMetadata *c = side_data(first, AV_FRAME_DATA_CONTENT_LIGHT_LEVEL);

    *ret = (struct light){false};
    if (c) {
        ret->max_content = c->MaxCLL;
        ret->max_average = c->MaxFALL;
    }
    if (m && m->has_primaries) {
        ret->has_primaries = true;
        for (int i = 0; i < 6; i++)
            ret->primaries[i / 2][i % 2] = fraction_of(m->display_primaries[i / 2][i % 2]);
        for (int i = 0; i < 2; i++)
            ret->white[i] = fraction_of(m->white_point[i]);
    }
    if (m && m->has_luminance) {
        ret->has_luminance = true;
        ret->darkest = fraction_of(m->min_luminance);
        ret->brightest = fraction_of(m->max_luminance);
    }
}

/* @data, from av_malloc(), becomes the stream's, or is freed. */
static int add(AVStream *s, enum AVPacketSideDataType type, void *data, size_t size)
{
    int r = data ? 0 : -ENOMEM;

    if (!r) {
#if LIBAVFORMAT_VERSION_INT < AV_VERSION_INT(60, 15, 100)
        r = av_stream_add_side_data(s, type, data, size) < 0 ? -ENOMEM : 0;
#else
        AVCodecParameters *p = s->codecpar;

        r = av_packet_side_data_add(&p->coded_side_data, &p->nb_coded_side_data, type, data, size,
                                    0)
                ? 0
                : -ENOMEM;
#endif
    }
    if (r)
        av_free(data);
    return r;
}

static int add_display(const struct light *light, AVStream *s)
{
    AVMasteringDisplayMetadata *m = av_mastering_display_metadata_alloc();

    if (!m)
        return -ENOMEM;
    m->has_primaries = light->has_primaries;
    m->has_luminance = light->has_luminance;
    for (int i = 0; i < 6 && light->has_primaries; i++)
        m->display_primaries[i / 2][i % 2] = rational(light->primaries[i / 2][i % 2]);
    for (int i = 0; i < 2 && light->has_primaries; i++)
        m->white_point[i] = rational(light->white[i]);
    if (light->has_luminance) {
        m->min_luminance = rational(light->darkest);
        m->max_luminance = rational(light->brightest);
    }
    return add(s, AV_PKT_DATA_MASTERING_DISPLAY_METADATA, m, sizeof(*m));
}

static int add_levels(const struct light *light, AVStream *s)
{
    size_t size = 0;
    AVContentLightMetadata *c = av_content_light_metadata_alloc(&size);

    if (!c)
        return -ENOMEM;
    c->MaxCLL = light->max_content;
    c->MaxFALL = light->max_average;
    return add(s, AV_PKT_DATA_CONTENT_LIGHT_LEVEL, c, size);
}

int light_to_stream(const struct light *light, AVStream *s)
{
    int r = 0;

    if (light->has_primaries || light->has_luminance)
        r = add_display(light, s);
    if (!r && (light->max_content || light->max_average))
        r = add_levels(light, s);
    return r;
}

/* In so many parts of 1. */
static int64_t parts(struct fraction f, int64_t n)
{
    return av_rescale(f.num, n, f.den);
}

void light_for_x265(const struct light *light, char *text, size_t size)
{
    static const char names[] = "RGB";
    char item[48];

    *text = '\0';
    if (light->max_content || light->max_average) {
        (void)snprintf(item, sizeof(item), "max-cll=%u,%u", light->max_content, light->max_average);
        list_add(text, size, ":", item);
    }
    if (!light->has_primaries || !light->has_luminance)
        return;
    list_add(text, size, ":", "master-display=");
    for (int i = 0; i < 3; i++) {
        const int c = (i + 1) % 3; /* green, blue and red */

        (void)snprintf(item, sizeof(item), "%c(%" PRId64 ",%" PRId64 ")", names[c],
                       parts(light->primaries[c][0], 50000), parts(light->primaries[c][1], 50000));
        list_add(text, size, "", item);
    }
    (void)snprintf(item, sizeof(item), "WP(%" PRId64 ",%" PRId64 ")", parts(light->white[0], 50000),
                   parts(light->white[1], 50000));
    list_add(text, size, "", item);
    (void)snprintf(item, sizeof(item), "L(%" PRId64 ",%" PRId64 ")", parts(light->brightest, 10000),
                   parts(light->darkest, 10000));
    list_add(text, size, "", item);
}
