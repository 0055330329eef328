#pragma once
/* Private to the source of PipeWire's cameras: pictures turned upright, where the camera says of a
 * buffer how what is in it was turned. Context: one thread at a time. */
#include "base/error.h"
#include "picture/frame.h"
#include "picture/turn.h"

struct mjpeg;

struct pipewire_turner {
    struct turn turn;   /* from the camera's picture to the upright one */
    struct frame shape; /* of the upright one: format, size and colour */

    /* What is made of a picture on the way, if need be, in this order; they own their memory. */
    struct mjpeg *mjpeg;
    struct frame decoded, turnable, turned;
};

/* What undoes @transform, a value of enum spa_meta_videotransform_value. False: there is none such.
 */
bool pipewire_turn_of(uint32_t transform, struct turn *ret);

/* Turns pictures like @raw by @turn from now on; or leaves all as it is. -ENOMEM. */
int pipewire_turner_set(struct pipewire_turner *t, const struct frame *raw, struct turn turn);
void pipewire_turner_finish(struct pipewire_turner *t); /* accepts all zeros */

/* Whether pictures like @raw have the same format and size as now when they are turned by @turn. */
bool pipewire_turn_keeps_shape(const struct pipewire_turner *t, const struct frame *raw,
                               struct turn turn);

/* Has @ret show @raw upright until the next call: itself, or what is turned of it. False: it is a
 * damaged JPEG. */
bool pipewire_turn(struct pipewire_turner *t, const struct frame *raw, struct frame *ret);
