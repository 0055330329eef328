#pragma once
/* The cameras that PipeWire knows: nodes of the class Video/Source.
 * Context: one thread, not with the loop locked; what the daemon tells of them is guarded by the
 * loop's lock. */
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "pipewire/connection.h"

struct pipewire_nodes;

struct pipewire_node {
    struct pipewire_nodes *nodes;
    struct pw_proxy *proxy;
    struct spa_hook listener;
    uint32_t id, client;
    char serial[24];       /* a number that no other one ever has; or empty */
    char name[256];        /* the same each time that it is there */
    char description[128]; /* what people see, printable */
    char path[64];         /* of its device of Video4Linux; or empty */
    char driver[24];       /* of that; or empty */
    char devices[512];     /* the numbers of all devices that it is made of; or empty */
    int priority;          /* for the default camera */
    bool camera;           /* by its role: others show screens */
    bool own;              /* made by this program, here or in another process */
    bool gone;
};

struct pipewire_nodes {
    struct pipewire_connection *connection;
    struct pw_registry *registry;
    struct spa_hook listener;
    struct pipewire_node **node;
    int n;
    bool found;             /* those that come from now on are of no interest */
    uint32_t own_client[8]; /* the connections of this process */
    int n_own;
};

/* Finds those that there are, and notes from then on which are gone. @n: all zeros; it stays where
 * it is, and pipewire_nodes_finish is to follow even where this fails. Errors as of
 * pipewire_round_trip. */
int pipewire_nodes_find(struct pipewire_nodes *n, struct pipewire_connection *c, int stop_fd,
                        struct error *err);
void pipewire_nodes_finish(struct pipewire_nodes *n);

/* What @name is to a node, the best last. */
enum pipewire_match {
    PIPEWIRE_MATCH_NONE,
    PIPEWIRE_MATCH_SERIAL,
    PIPEWIRE_MATCH_ID,  /* as wpctl shows it; another node gets it when this one has gone */
    PIPEWIRE_MATCH_NAME /* or the description */
};

enum pipewire_match pipewire_node_match(const struct pipewire_node *n, const char *name);

/* Whether it is a device of Video4Linux, and that is in this /dev: a container may lack it. */
bool pipewire_node_is_v4l2(const struct pipewire_node *n);

/* Whether @device is one of those that it is made of: libcamera may need several. Never for 0,
 * which is no device. */
bool pipewire_node_has(const struct pipewire_node *n, dev_t device);

/* Whether a camera is made of one of these devices, of which only libcamera reads a camera. Where
 * none is seen (@n_devices 0), as in containers, any camera that is no device of Video4Linux may be
 * it. With the loop locked. */
bool pipewire_nodes_have_sensor(const struct pipewire_nodes *n, const dev_t *device, int n_devices);
