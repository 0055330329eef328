#pragma once
/* A bell between threads: a descriptor that is readable from event_ring() to event_clear().
 * Context: any thread; event_ring() also a signal's handler. */
#include <stdbool.h>
#include <stdint.h>

/* The descriptor, close-on-exec and non-blocking, or a negative errno. */
int event_open(void);

/* Accepts -1. */
void event_close(int fd);

void event_ring(int fd);

/* Returns whether it had rung. */
bool event_clear(int fd);

/* Whether @fd, which may be any other descriptor, is readable. -1 never is. */
bool event_rung(int fd);

/* The same, after waiting for it until @t_ns at the longest, INT64_MAX for ever. */
bool event_wait(int fd, int64_t t_ns);
