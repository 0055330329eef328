#pragma once
/* Private to the source of PipeWire's cameras: which one it is, and which of its pictures.
 * Context: one thread. */
#include <spa/pod/builder.h>

#include "pipewire/nodes.h"
#include "source/source.h"

#define PIPEWIRE_MAX_REQUESTS (1 + FRAME_N_FORMATS)

/* The camera called @name, or the best one for "": never one that bilatcam makes, and for ""
 * neither a virtual one of v4l2loopback, which may be ours as well, nor what is no camera: the
 * screen must not be shown where a camera was unplugged. For that reason numbers, which others get,
 * name no camera that @returns. With the loop locked. -ENODEV: there is none; -EINVAL: it is our
 * own. */
int pipewire_camera_choose(const struct pipewire_nodes *nodes, const char *name, bool returns,
                           const struct pipewire_node **ret, struct error *err);

/* Builds what to ask of @node, best first: the one of its modes that comes nearest to what @config
 * wants, and then all that the program takes, as the camera may be in use with another one. Sets
 * @rateless where no mode tells its rate, as with libcamera: what is agreed on then is only what
 * was asked for. Not with the loop locked. Returns how many; -EINVAL: it gives nothing that is
 * wanted; or as pipewire_round_trip. */
int pipewire_camera_request(const struct pipewire_node *node, const struct source_config *config,
                            struct spa_pod_builder *b,
                            const struct spa_pod *ret[PIPEWIRE_MAX_REQUESTS], bool *rateless,
                            struct error *err);

/* Those of a stream to @node: no other camera may take the place of one that goes, as it could be
 * our own. The stream takes them; NULL: out of memory. */
struct pw_properties *pipewire_camera_properties(const struct pipewire_node *node);
