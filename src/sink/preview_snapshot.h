#pragma once
/* A picture before and after the filter, as two PNG files, written by a thread of its own. */
#include <stdbool.h>
#include <stddef.h>

#include "frame.h"

struct preview_snapshot;

/* Copies both frames, which are alike, and starts writing them to new files in $XDG_PICTURES_DIR,
 * else ~/Pictures, else the current folder. @done is called by the thread at its end. -ENOMEM,
 * -EAGAIN. Context: the window thread, as for finish. */
int preview_snapshot_start(struct preview_snapshot **ret, const struct frame *before,
                           const struct frame *after, void (*done)(void *user), void *user);

/* Waits for the end. What came of it in words, in one or two lines: names or why not. */
void preview_snapshot_finish(struct preview_snapshot *s, char *text, size_t size);

/* Whether finish would not wait. */
bool preview_snapshot_ended(struct preview_snapshot *s);
