#include "pipewire/format.h"

#include <spa/param/video/format-utils.h>
#include <stddef.h>

#include "config-build.h"

#define ASSUMED_FPS 30 /* readers divide by the rate */

static const struct {
    enum frame_format format;
    enum spa_video_format video; /* SPA_VIDEO_FORMAT_ENCODED: not raw */
    bool carried;                /* by our own cameras */
    enum pipewire_fourth fourth;
} formats[] = {
    {FRAME_YUYV, SPA_VIDEO_FORMAT_YUY2, .carried = true},
    {FRAME_I420, SPA_VIDEO_FORMAT_I420, .carried = true},
    {FRAME_UYVY, SPA_VIDEO_FORMAT_UYVY},
    {FRAME_NV12, SPA_VIDEO_FORMAT_NV12},
    {FRAME_RGB24, SPA_VIDEO_FORMAT_RGB},
    {FRAME_RGB24, SPA_VIDEO_FORMAT_RGBx, .fourth = PIPEWIRE_FOURTH_LAST},
    {FRAME_RGB24, SPA_VIDEO_FORMAT_RGBA, .fourth = PIPEWIRE_FOURTH_LAST},
    {FRAME_RGB24, SPA_VIDEO_FORMAT_xRGB, .fourth = PIPEWIRE_FOURTH_FIRST},
    {FRAME_RGB24, SPA_VIDEO_FORMAT_ARGB, .fourth = PIPEWIRE_FOURTH_FIRST},
    {FRAME_BGR24, SPA_VIDEO_FORMAT_BGR},
    {FRAME_BGR24, SPA_VIDEO_FORMAT_BGRx, .fourth = PIPEWIRE_FOURTH_LAST},
    {FRAME_BGR24, SPA_VIDEO_FORMAT_BGRA, .fourth = PIPEWIRE_FOURTH_LAST},
    {FRAME_BGR24, SPA_VIDEO_FORMAT_xBGR, .fourth = PIPEWIRE_FOURTH_FIRST},
    {FRAME_BGR24, SPA_VIDEO_FORMAT_ABGR, .fourth = PIPEWIRE_FOURTH_FIRST},
#ifdef HAVE_MJPEG
    {FRAME_MJPG, SPA_VIDEO_FORMAT_ENCODED},
#endif
    {FRAME_GREY, SPA_VIDEO_FORMAT_GRAY8},
};

#define N_FORMATS (sizeof(formats) / sizeof(formats[0]))

/* The first of those, which has no fourth byte. */
static size_t find_format(enum frame_format format)
{
    size_t i = 0;

    while (i < N_FORMATS && formats[i].format != format)
        i++;
    return i;
}

bool pipewire_carries(enum frame_format format)
{
    const size_t i = find_format(format);

    return i < N_FORMATS && formats[i].carried;
}

/* N_FORMATS: none of them. */
static size_t find_video(uint32_t subtype, uint32_t video)
{
    size_t i = 0;

    if (subtype == SPA_MEDIA_SUBTYPE_mjpg)
        video = SPA_VIDEO_FORMAT_ENCODED;
    else if (subtype != SPA_MEDIA_SUBTYPE_raw)
        return N_FORMATS;
    while (i < N_FORMATS && formats[i].video != video)
        i++;
    return i;
}

int pipewire_format_of(uint32_t subtype, uint32_t video)
{
    const size_t i = find_video(subtype, video);

    return i < N_FORMATS ? (int)formats[i].format : -1;
}

/* Each value is fixed: browsers pass over a format whose size is a choice. Readers that look at no
 * colours take pictures for what these say. */
const struct spa_pod *pipewire_offer(struct spa_pod_builder *b, enum frame_format format,
                                     const struct frame *like, struct fraction fps)
{
    struct spa_video_info_raw info = {
        .size = SPA_RECTANGLE((uint32_t)like->width, (uint32_t)like->height),
        .framerate = SPA_FRACTION(ASSUMED_FPS, 1),
        .color_range = SPA_VIDEO_COLOR_RANGE_16_235,
        .color_matrix = SPA_VIDEO_COLOR_MATRIX_BT601,
        .transfer_function = SPA_VIDEO_TRANSFER_BT709,
        .color_primaries = SPA_VIDEO_COLOR_PRIMARIES_SMPTE170M,
    };

    info.format = formats[find_format(format)].video;
    if (fps.num && fps.den)
        info.framerate = SPA_FRACTION(fps.num, fps.den);
    return spa_format_video_raw_build(b, SPA_PARAM_EnumFormat, &info);
}

/* All that pictures of @format may come in. A choice begins with what is meant by default. */
static void add_videos(struct spa_pod_builder *b, enum frame_format format)
{
    struct spa_pod_frame f;

    spa_pod_builder_prop(b, SPA_FORMAT_VIDEO_format, 0);
    spa_pod_builder_push_choice(b, &f, SPA_CHOICE_Enum, 0);
    spa_pod_builder_id(b, formats[find_format(format)].video);
    for (size_t i = 0; i < N_FORMATS; i++)
        if (formats[i].format == format)
            spa_pod_builder_id(b, formats[i].video);
    (void)spa_pod_builder_pop(b, &f);
}

const struct spa_pod *pipewire_request(struct spa_pod_builder *b, enum frame_format format,
                                       int width, int height, struct fraction fps)
{
    const struct spa_rectangle size = {(uint32_t)width, (uint32_t)height}, least = {1, 1},
                               most = {FRAME_MAX_SIDE, FRAME_MAX_SIDE}, usual = {1280, 720};
    const struct spa_fraction rate = {fps.num, fps.den}, slowest = {0, 1}, fastest = {1000, 1},
                              assumed = {ASSUMED_FPS, 1};
    const size_t i = find_format(format);
    const bool raw = i < N_FORMATS && formats[i].video != SPA_VIDEO_FORMAT_ENCODED;
    struct spa_pod_frame f;

    if (i == N_FORMATS)
        return NULL;
    spa_pod_builder_push_object(b, &f, SPA_TYPE_OBJECT_Format, SPA_PARAM_EnumFormat);
    spa_pod_builder_add(b, SPA_FORMAT_mediaType, SPA_POD_Id(SPA_MEDIA_TYPE_video),
                        SPA_FORMAT_mediaSubtype,
                        SPA_POD_Id(raw ? SPA_MEDIA_SUBTYPE_raw : SPA_MEDIA_SUBTYPE_mjpg), 0);
    if (raw)
        add_videos(b, format);
    if (width)
        spa_pod_builder_add(b, SPA_FORMAT_VIDEO_size, SPA_POD_Rectangle(&size), 0);
    else
        spa_pod_builder_add(b, SPA_FORMAT_VIDEO_size,
                            SPA_POD_CHOICE_RANGE_Rectangle(&usual, &least, &most), 0);
    if (fps.num && fps.den)
        spa_pod_builder_add(b, SPA_FORMAT_VIDEO_framerate, SPA_POD_Fraction(&rate), 0);
    else
        spa_pod_builder_add(b, SPA_FORMAT_VIDEO_framerate,
                            SPA_POD_CHOICE_RANGE_Fraction(&assumed, &slowest, &fastest), 0);
    return spa_pod_builder_pop(b, &f);
}

/* What is not told is as cameras have it. */
static struct colour colour_of(enum frame_format format, const struct spa_video_info_raw *info)
{
    const bool hd = info->color_matrix == SPA_VIDEO_COLOR_MATRIX_BT709 ||
                    info->color_matrix == SPA_VIDEO_COLOR_MATRIX_SMPTE240M ||
                    info->color_matrix == SPA_VIDEO_COLOR_MATRIX_BT2020;
    const bool full = info->color_range == SPA_VIDEO_COLOR_RANGE_0_255 ||
                      (info->color_range == SPA_VIDEO_COLOR_RANGE_UNKNOWN && format == FRAME_GREY);

    if (format == FRAME_MJPG)
        return (struct colour){COLOUR_BT601, COLOUR_FULL};
    if (format == FRAME_RGB24 || format == FRAME_BGR24)
        return (struct colour){COLOUR_RGB, COLOUR_FULL};
    return (struct colour){hd ? COLOUR_BT709 : COLOUR_BT601, full ? COLOUR_FULL : COLOUR_LIMITED};
}

static int side(uint32_t n)
{
    return n > FRAME_MAX_SIDE ? FRAME_MAX_SIDE + 1 : (int)n;
}

static bool parse_jpeg(const struct spa_pod *param, struct spa_video_info_raw *ret)
{
    struct spa_video_info_mjpg info = {.size = {0, 0}};

    if (spa_format_video_mjpg_parse(param, &info) < 0)
        return false;
    ret->size = info.size;
    ret->framerate = info.framerate;
    return true;
}

bool pipewire_agreed(const struct spa_pod *param, struct pipewire_picture *ret)
{
    struct spa_video_info_raw info = {.format = SPA_VIDEO_FORMAT_UNKNOWN};
    uint32_t type, subtype;
    size_t i;

    if (spa_format_parse(param, &type, &subtype) < 0 || type != SPA_MEDIA_TYPE_video ||
        (subtype == SPA_MEDIA_SUBTYPE_raw && spa_format_video_raw_parse(param, &info) < 0) ||
        (subtype == SPA_MEDIA_SUBTYPE_mjpg && !parse_jpeg(param, &info)))
        return false;
    i = find_video(subtype, info.format);
    if (i == N_FORMATS)
        return false;
    ret->frame = (struct frame){.format = formats[i].format,
                                .width = side(info.size.width),
                                .height = side(info.size.height),
                                .colour = colour_of(formats[i].format, &info)};
    ret->fps = (struct fraction){info.framerate.num, info.framerate.denom};
    ret->fourth = formats[i].fourth;
    return true;
}
