#pragma once
/* What films say of their light, as libav has it. Context: any thread. */
#include <libavformat/avformat.h>

#include "picture/film_tags.h"

/* All that the first picture of a film says; else zeros. */
void light_of(const AVFrame *first, struct light *ret);

/* Has the film say it of stream @s. -ENOMEM. */
int light_to_stream(const struct light *light, AVStream *s);

/* The same as options of libx265, which has it in the pictures, too; or empty. */
void light_for_x265(const struct light *light, char *text, size_t size);
