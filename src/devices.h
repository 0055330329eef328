#pragma once
/* Notices when video devices come, go or become accessible, from /dev itself: that needs no udev,
 * and works in containers and before udev has run. Context: main. */
#include <stdbool.h>

/* A descriptor that is readable when something changed, or a negative errno. */
int devices_watch(void);

/* Reads what changed; true if a video device did. */
bool devices_changed(int fd);
