#pragma once
/* Pictures as PipeWire describes them. Pure functions; any thread. */
#include <spa/pod/builder.h>

#include "picture/frame.h"

#define PIPEWIRE_MAX_BROWSER_SIDE 4096 /* browsers take no more, each way */

/* Where in a pixel of R'G'B' there is a fourth byte, of padding or of transparency. */
enum pipewire_fourth { PIPEWIRE_NO_FOURTH, PIPEWIRE_FOURTH_FIRST, PIPEWIRE_FOURTH_LAST };

struct pipewire_picture {
    struct frame frame; /* packed rows, without planes and without a fourth byte */
    struct fraction fps;
    enum pipewire_fourth fourth;
};

/* Whether it is one that our own cameras offer. */
bool pipewire_carries(enum frame_format format);

/* Pictures of @format as a choice for readers, of rows that are packed, in the size of @like and
 * limited BT.601. @fps may be unknown. */
const struct spa_pod *pipewire_offer(struct spa_pod_builder *b, enum frame_format format,
                                     const struct frame *like, struct fraction fps);

/* Pictures of @format as what is wanted, with a fourth byte or without: of @width x @height, 0x0
 * being any, and at @fps, 0/0 being any rate. NULL: PipeWire has no such format. */
const struct spa_pod *pipewire_request(struct spa_pod_builder *b, enum frame_format format,
                                       int width, int height, struct fraction fps);

/* What was agreed on; the rate may be unknown. A side beyond FRAME_MAX_SIDE is one more than that.
 * False: none that the program knows. */
bool pipewire_agreed(const struct spa_pod *param, struct pipewire_picture *ret);

/* The format of a subtype of media and, if that is raw, of a format of video; or -1. */
int pipewire_format_of(uint32_t subtype, uint32_t video);
