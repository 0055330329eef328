#pragma once
/* How many programs take pictures from a v4l2loopback node, as the module tells its writer from
 * 0.13 on; before, how many have it open. */
#include <stdbool.h>
#include <stdint.h>

struct loopback_readers {
    const char *path; /* of the node */
    int fd;           /* the writer's */
    uint32_t event;   /* its number in this version of the module; 0 = it has none */
    int n;            /* as told last */
    int64_t t_ask_ns; /* when to ask again */
    int opens;        /* where it has none: of all nodes, */
    bool settles;     /* and whether that has just changed */
};

/* @path and @fd live as long as it is used. */
void loopback_readers_init(struct loopback_readers *r, const char *path, int fd);

/* -1: it cannot be told. Waits for nobody. */
int loopback_readers_count(struct loopback_readers *r);
