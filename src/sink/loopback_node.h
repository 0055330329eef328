#pragma once
/* The node of a virtual camera: which one, and that nobody else writes to it. Of all bilatcams only
 * one at a time has a node, from loopback_node_open() until it closes the descriptor, whatever the
 * version of the module. */
#include <limits.h>

#include "base/error.h"
#include "v4l2/node.h"

/* Opens the node @name for writing; "auto": the best that there is and that can be had. Returns its
 * descriptor, and sets its path and what it is. -EBUSY: another program writes to it. Waits for up
 * to a second, which a readable @stop_fd cuts short. */
int loopback_node_open(const char *name, int stop_fd, char ret_path[PATH_MAX],
                       struct v4l2_node *ret, struct error *err);
