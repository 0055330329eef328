#pragma once
/* A stop that comes while a test waits: a thread's function, and what it has, the stop's bell. */
#include <unistd.h>

#include "base/event.h"

static inline void *stop_after_50_ms(void *fd)
{
    (void)usleep(50000);
    event_ring(*(int *)fd);
    return NULL;
}
