#pragma once
/* A picture before and after the filter, as two PNG files, written by a thread of its own. */
#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "picture/frame.h"

struct snapshot;

#define SNAPSHOT_NAME_MAX 64 /* bytes */

/* Whether a snapshot can be called @name: 0, or -EINVAL and why not. "" stands for a name made of
 * the time. Context: any thread. */
int snapshot_check_name(const char *name, struct error *err);

/* Copies both frames, which are alike, and starts writing them to the new files NAME-before.png
 * and NAME-after.png in the user's pictures_folder(), where they appear once both are whole. @name:
 * one that snapshot_check_name() takes; NULL or "": one made of the time. @done (or NULL) is called
 * by the thread at its end. -ENOMEM, -EAGAIN. Context: the same thread as for finish. */
int snapshot_start(struct snapshot **ret, const struct frame *before, const struct frame *after,
                   const char *name, void (*done)(void *user), void *user);

/* Waits for the end. What came of it: 0 or a negative errno (-EEXIST), in words in @text, in one or
 * two lines, and in @path (or NULL) the name of the second file. */
int snapshot_finish(struct snapshot *s, char *text, size_t size, char *path, size_t path_size);

/* Whether finish would not wait. */
bool snapshot_ended(struct snapshot *s);

/* The program ends: waits at most @limit_ns for all snapshots in hand. Those that take longer give
 * up and leave no file. 0: there was none; 1: all have ended by themselves; -ECANCELED: one gave
 * up; -ETIMEDOUT: one is stuck, and may leave a file with a temporary name. Context: any thread. */
int snapshots_end(int64_t limit_ns);
