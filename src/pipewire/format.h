#pragma once
/* Pictures as PipeWire describes them. Pure functions; any thread. */
#include <spa/pod/builder.h>

#include "picture/frame.h"

#define PIPEWIRE_MAX_BROWSER_SIDE 4096 /* browsers take no more, each way */

/* Whether it is one that is offered. */
bool pipewire_carries(enum frame_format format);

/* Pictures of @format as a choice for readers, of rows that are packed, in the size of @like and
 * limited BT.601. @fps may be unknown. */
const struct spa_pod *pipewire_offer(struct spa_pod_builder *b, enum frame_format format,
                                     const struct frame *like, struct fraction fps);

/* What was agreed on, with packed rows and without planes. False: none of those. */
bool pipewire_agreed(const struct spa_pod *param, struct frame *ret);
