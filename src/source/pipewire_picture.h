#pragma once
/* Private to the source of PipeWire's cameras: a copy of the picture in one of its buffers. What is
 * in a buffer was written by another program, may be anything, and may change while it is read; so
 * nothing is read twice, and nothing of it is used in place. Context: one thread at a time. */
#include <spa/buffer/buffer.h>

#include "pipewire/format.h"

#define PIPEWIRE_MAX_BUFFER_PARAMS 3

/* Builds what to ask of the buffers of pictures of @format: the camera says how large they are, and
 * libcamera has a block for each plane. Returns how many. */
uint32_t pipewire_buffers(struct spa_pod_builder *b, enum frame_format format,
                          const struct spa_pod *ret[PIPEWIRE_MAX_BUFFER_PARAMS]);

struct pipewire_copy {
    struct frame frame;          /* the newest one; owns its memory */
    enum pipewire_fourth fourth; /* of those that are copied */
    size_t capacity;             /* for compressed ones */
    uint8_t *row;                /* with the fourth byte */
    uint32_t transform;          /* how the newest one was turned, as its buffer says; or 0 */
};

/* For pictures like @agreed. pipewire_copy_finish is to follow even where this fails. -ENOMEM. */
int pipewire_copy_init(struct pipewire_copy *c, const struct pipewire_picture *agreed);
void pipewire_copy_finish(struct pipewire_copy *c); /* accepts all zeros */

/* Copies the picture in @b to c->frame, with its stamp. False: it is damaged, and so is c->frame.
 */
bool pipewire_copy_take(struct pipewire_copy *c, const struct spa_buffer *b);
