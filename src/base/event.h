#pragma once
/* A bell between threads: a descriptor that is readable from event_ring() to event_clear().
 * Context: any thread; event_ring() also a signal's handler. */
#include <stdbool.h>

/* The descriptor, close-on-exec and non-blocking, or a negative errno. */
int event_open(void);

/* Accepts -1. */
void event_close(int fd);

void event_ring(int fd);

/* Returns whether it had rung. */
bool event_clear(int fd);

/* Whether @fd, which may be any other descriptor, is readable. -1 never is. */
bool event_rung(int fd);
