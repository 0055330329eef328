#pragma once
/* What a YUV4MPEG2 stream says of itself, on its way from a source to a sink: pixel aspect, chroma
 * siting, interlacing and comments, which make no difference to the filter and which files keep.
 * Plain data; any thread. */
#include "picture/frame.h"

#define Y4M_MAGIC "YUV4MPEG2"
#define Y4M_LINE_MAX 4096 /* bytes of a header or FRAME line, its end included */

struct y4m_header {
    char tags[Y4M_LINE_MAX]; /* the line after its first word, as it came */
    /* What they say of the pictures; a sink whose pictures differ changes those tags. */
    enum frame_format format;
    int width, height;
    struct fraction fps;
};
