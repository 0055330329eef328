#pragma once
/* Who has nodes of v4l2loopback open, as the kernel shows it in /sys and /proc: for versions of the
 * module that tell nothing themselves. Context: any thread. */

/* How many times nodes of the module are open, by whomever; -1: not known. Cheap. */
int loopback_opens(void);

/* How many of those @opens are of the node that is open as @fd, besides @fd. Where there are
 * several nodes it goes through the processes of this user, which takes milliseconds. -1: not
 * known, as others have some open, too, or memory of them mapped. */
int loopback_opens_of(int fd, int opens);
