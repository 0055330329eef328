#pragma once
/* A file of figures that is written beside the pictures: statistics, a trace. It is opened at the
 * start of a run, so that a name which cannot be written is told then, but nothing in it changes
 * before the first piece. Nothing here waits: not for the reader of a pipe, nor for its room.
 * Context: one thread at a time. */
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "base/error.h"

#define OUT_FILE_PIECE 4096 /* PIPE_BUF: a pipe takes so much whole, or nothing of it */

struct out_file {
    const char *what; /* "statistics", for messages; NULL: it was never opened */
    const char *path; /* the caller's, as long as this lives */
    const char *name; /* that, or "standard output" */
    int fd;
    bool own;     /* opened here, not standard output */
    bool regular; /* has room at all times, and what was there before goes */
    bool made;    /* there was no such file */
    bool begun;   /* a piece was written */
    off_t whole;  /* the end of the last whole piece */
};

/* @what and @path stay the caller's; "-" is standard output. A failure leaves nothing open. */
int out_file_open(struct out_file *f, const char *what, const char *path, struct error *err);

/* Writes at most OUT_FILE_PIECE bytes, all of them or, to a pipe or a file, none.
 *   -EPIPE   nobody reads this pipe, which can change if it has a name
 *   -EAGAIN  its reader takes nothing: wait for room */
int out_file_put(struct out_file *f, const char *piece, size_t bytes);

/* Waits at most @ms for room (-1: for ever), or until @wake_fd is readable. Returns whether there
 * is room, or an error that the next piece meets. */
bool out_file_wait(const struct out_file *f, int wake_fd, int ms);

/* Removes what was made and never begun. Accepts what is not open. */
int out_file_close(struct out_file *f);
