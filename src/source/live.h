#pragma once
/* What was asked of a live source, and what it gives. Context: as source/source.h. */
#include "source/source.h"

/* Tells of a size or rate that was asked for and is not what @s has, or not known to be. */
void source_warn(const struct source *s, const struct source_config *config);

/* How long a device that gives pictures at @fps, 0/0 being unknown, may give none. */
int64_t source_hang_ns(struct fraction fps);
