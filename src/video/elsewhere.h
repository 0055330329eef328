#pragma once
/* QuickTime movies can name other files that have their samples. libav says nothing of that, opens
 * none, and may read what stands in the movie itself in that place. */
#include <stdint.h>

/* The numbers of the tracks of the movie @fd whose samples are in another file, at most @n of them.
 * Returns how many; 0 where it is no movie, too. The place in @fd stays. */
int elsewhere_tracks(int fd, uint32_t *ret, int n);
