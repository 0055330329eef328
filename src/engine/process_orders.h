#pragma once
/* What both halves of an engine in a process of its own know: the owner's (process.c) and that of
 * the process (process_server.c). */
#include <stdint.h>

#include "engine/engine.h"

#define PROCESS_NAME "bilatcam-engine"

/* Descriptors of the process. */
enum { SOCKET_FD = 3, MEMORY_FD = 4, FIRST_FREE_FD = 5 };

enum order_kind { ORDER_CREATE, ORDER_MAP, ORDER_FILTER, ORDER_PASS };

struct order {
    enum order_kind kind;
    struct engine_config config; /* ORDER_CREATE */
    size_t bytes;                /* ORDER_MAP: how much of the shared memory is used from now on */
    struct frame shape;          /* ORDER_FILTER, ORDER_PASS; its planes mean nothing there */
    bool forget;                 /* before that */
    struct filter filter;        /* ORDER_FILTER */
};

struct answer {
    int code;
    struct error err; /* ORDER_CREATE */
    char device[128]; /* ORDER_CREATE */

    /* ORDER_FILTER. Its counts, where there are any, are in the shared memory. */
    struct engine_report report;
};

/* Both pictures and the counts of the second, as they lie in the shared memory. */
struct pictures {
    struct frame in, out;
    uint8_t *counts;
};

/* All that the process is told of @f but where it lies. */
struct frame picture_shape(const struct frame *f);

/* Where pictures of @shape and counts lie in @memory, which may be NULL; returns their bytes. */
size_t place_pictures(struct pictures *p, const struct frame *shape, uint8_t *memory);

/* NULL on failure. */
void *map_memory(int fd, size_t bytes);
