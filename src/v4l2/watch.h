#pragma once
/* Notices when video devices come, go or become accessible, and when another program releases
 * one, from /dev itself: that needs no udev, and works in containers and before udev has run. */
#include <stdbool.h>
#include <stdint.h>

#include "base/retry.h"

/* A descriptor that is readable when something changed, or a negative errno. */
int devices_watch(void);

/* Reads what changed; true if a video device did. */
bool devices_changed(int fd);

/* What is known of a device that another program has.
 * Context: one thread, which calls device_release_watch after it has closed the device itself, and
 * device_release_stop before it opens it: so what it closes is not taken for news. */
struct device_release {
    int fd; /* readable when somebody closed a device; -1 = not watched */
    /* They may be false: others look at devices, too. The next is never: nobody closed it yet. */
    struct retry alarms;
};

void device_release_init(struct device_release *r);

/* @name is the path of the device; else any video device is watched. */
void device_release_watch(struct device_release *r, const char *name);
void device_release_stop(struct device_release *r);

/* When it is worth to try, because somebody has closed the device; INT64_MAX: nobody has. */
int64_t device_release_due(struct device_release *r);
