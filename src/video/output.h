#pragma once
/* A file as libav writes it: beside the one that it shall be, which stays as it is until the new
 * one is whole. */
#include <libavformat/avio.h>
#include <limits.h>

#include "base/error.h"

struct video_output {
    AVIOContext *io;
    int fd;
    char path[PATH_MAX]; /* of the file that it shall be; links are followed */
    char beside[PATH_MAX];
};

/* Makes the new file. A failure leaves nothing behind. -ENOENT and so on: of the folder;
 * -EINVAL: what is called @name is no file. */
int video_output_open(struct video_output *out, const char *name, struct error *err);

/* The new file is whole and takes the name. @sync: once the disk has it. A negative errno: there is
 * no new file. */
int video_output_keep(struct video_output *out, bool sync);

/* Removes the new file. Accepts what is all zeros, or kept. */
void video_output_discard(struct video_output *out);
