#pragma once
/* The trace: a line of CSV for each frame. Lines go through a buffer to a thread of its own, so
 * that neither a disk nor the reader of a pipe holds up a picture. A line that finds no room is
 * left out; how many were is told once, at the end. What is written ends with a whole line. */
#include "base/error.h"
#include "pipeline/ring.h"
#include "pipeline/stats.h"

struct trace;

/* @path "-" is standard output; it stays the caller's. An existing file keeps what is in it until
 * trace_begin(). @stop_fd: readable once the program is to end. Context: main. */
int trace_open(struct trace **ret, const char *path, int stop_fd, struct error *err);

/* Writes the line that names the columns. Accepts NULL. Context: main, before the next. */
void trace_begin(struct trace *t);

/* Accepts NULL. Returns at once. Context: any output thread. */
void trace_frame(struct trace *t, const struct slot *slot, const int64_t span_ns[N_SPANS]);

/* Writes what is in the buffer as long as it gets on, and takes no more lines. Accepts NULL.
 * Returns the first error of writing so far, which has been logged, or 0. Context: any thread,
 * while output threads may still be at work. */
int trace_end(struct trace *t);

/* Ends and closes it. Accepts NULL. Returns the first error of writing, which has been logged, or
 * 0. Context: main, when the output threads have ended. */
int trace_close(struct trace *t);
