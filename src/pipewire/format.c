#include "pipewire/format.h"

#include <spa/param/video/format-utils.h>
#include <stddef.h>

#define ASSUMED_FPS 30 /* readers divide by the rate */

static const struct {
    enum frame_format format;
    enum spa_video_format video;
} carried[] = {
    {FRAME_YUYV, SPA_VIDEO_FORMAT_YUY2},
    {FRAME_I420, SPA_VIDEO_FORMAT_I420},
};

#define N_CARRIED (sizeof(carried) / sizeof(carried[0]))

bool pipewire_carries(enum frame_format format)
{
    for (size_t i = 0; i < N_CARRIED; i++)
        if (carried[i].format == format)
            return true;
    return false;
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

    for (size_t i = 0; i < N_CARRIED; i++)
        if (carried[i].format == format)
            info.format = carried[i].video;
    if (fps.num && fps.den)
        info.framerate = SPA_FRACTION(fps.num, fps.den);
    return spa_format_video_raw_build(b, SPA_PARAM_EnumFormat, &info);
}

bool pipewire_agreed(const struct spa_pod *param, struct frame *ret)
{
    struct spa_video_info_raw info = {.format = SPA_VIDEO_FORMAT_UNKNOWN};
    uint32_t type, subtype;

    if (spa_format_parse(param, &type, &subtype) < 0 || type != SPA_MEDIA_TYPE_video ||
        subtype != SPA_MEDIA_SUBTYPE_raw || spa_format_video_raw_parse(param, &info) < 0)
        return false;
    for (size_t i = 0; i < N_CARRIED; i++) {
        if (carried[i].video != info.format)
            continue;
        *ret = (struct frame){.format = carried[i].format,
                              .width = (int)info.size.width,
                              .height = (int)info.size.height,
                              .colour = {COLOUR_BT601, COLOUR_LIMITED}};
        return true;
    }
    return false;
}
