#pragma once
/* A file as libav writes it: beside the one that it shall be, which stays as it is until the new
 * one is whole. */
#include <libavformat/avio.h>
#include <limits.h>
#include <stdbool.h>

#include "base/error.h"

struct video_output {
    AVIOContext *io;
    int fd;
    int64_t at, size;    /* where the next bytes go, and how far the file goes */
    int64_t claimed;     /* how far the disk has given it space */
    int64_t n_taken;     /* bytes of packets, which libav may still hold */
    int64_t n_end;       /* of what comes after them all */
    int full;            /* an errno: why a packet was refused, so that it must end now; or 0 */
    bool replaces;       /* there is such a file */
    char path[PATH_MAX]; /* of the file that it shall be; links are followed */
    char beside[PATH_MAX];
};

/* Makes the new file, which only those may use that may use the one it replaces. A failure leaves
 * nothing behind. -ENOENT and so on: of the folder; -EACCES also: the file must not be written to;
 * -EINVAL: what is called @name is no file; -EEXIST: too much is left beside it. */
int video_output_open(struct video_output *out, const char *name, struct error *err);

/* Has the disk keep room for a packet of @size bytes, a picture or not, for those that libav still
 * holds, and for the end of the film, without which it would not play. False: there is none, so
 * that it must end without that packet, and full is set. */
bool video_output_take(struct video_output *out, int size, bool picture);

/* The new file is whole and takes the name. @sync: once the disk has it. A negative errno: there is
 * no new file. */
int video_output_keep(struct video_output *out, bool sync);

/* Removes the new file. Accepts what is all zeros, or kept. */
void video_output_discard(struct video_output *out);

/* What there is where the new file is not kept, for messages. */
const char *video_output_left(const struct video_output *out);
