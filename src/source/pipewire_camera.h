#pragma once
/* Private to the source of PipeWire's cameras: which one it is, and which of its pictures.
 * Context: one thread, not with the loop locked. */
#include <spa/pod/builder.h>

#include "pipewire/nodes.h"
#include "source/source.h"

#define PIPEWIRE_MAX_REQUESTS (1 + FRAME_N_FORMATS)

/* The camera called @name, or the best one for "": never one that bilatcam makes, and for "" no
 * virtual one of v4l2loopback, which may be ours as well.
 * -ENODEV: there is none; -EINVAL: it is our own. */
int pipewire_camera_choose(const struct pipewire_nodes *nodes, const char *name,
                           const struct pipewire_node **ret, struct error *err);

/* Builds what to ask of @node, best first: the one of its modes that comes nearest to what @config
 * wants, and then all that the program takes, as the camera may be in use with another one.
 * Returns how many; -EINVAL: it gives nothing that is wanted; or as pipewire_round_trip. */
int pipewire_camera_request(const struct pipewire_node *node, const struct source_config *config,
                            struct spa_pod_builder *b,
                            const struct spa_pod *ret[PIPEWIRE_MAX_REQUESTS], struct error *err);
