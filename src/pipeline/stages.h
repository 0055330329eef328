#pragma once
/* The three stages and what is between them: a ring, a fan, the slots, and the threads.
 *
 * They are opened one by one, from the front: capture_open(), filtering_open(), output_open(), all
 * with the stream of stages_init(). stages_connect() then makes the slots, for the pictures that
 * capture announces, and gives every stage its ends. Context: main, where nothing else
 * is said. */
#include <pthread.h>

#include "pipeline/capture.h"
#include "pipeline/filtering.h"
#include "pipeline/output.h"
#include "pipeline/ring.h"
#include "pipeline/stats.h"
#include "pipeline/stream.h"

#define STAGES_LOSSLESS_CAPACITY 2
/* Of ring and fan, and what capture and filtering hold. */
#define STAGES_MAX_SLOTS (2 * STAGES_LOSSLESS_CAPACITY + FAN_MAX_READERS + 1 + FILTERING_MAX_DEPTH)
#define STAGES_MAX_THREADS (2 + OUTPUT_MAX_WRITERS)

struct stages {
    struct stream *stream;
    struct capture capture;
    struct filtering filtering;
    struct output output;

    struct ring *captured;
    struct fan *filtered;
    struct slot slots[STAGES_MAX_SLOTS];
    void *memory; /* of all slots */
    size_t bytes;
    pthread_t threads[STAGES_MAX_THREADS];
    int n_threads;
};

/* @s is zero; arguments and errors as of stream_create(). A failure leaves nothing to close. */
int stages_init(struct stages *s, int stop_fd, uint64_t max_frames);

/* @n_outputs: so many there will be when the threads start. */
int stages_connect(struct stages *s, enum ring_policy policy, int n_outputs, struct error *err);

/* Starts the threads. A failure leaves those that did start to stages_join(). */
int stages_start(struct stages *s, struct error *err);

/* The counts so far, with what was dropped between the stages. Context: any thread, once they are
 * connected. */
void stages_stats(struct stages *s, struct stats *ret);

/* Waits for the threads, which a stop or the end of the stream lets end. */
void stages_join(struct stages *s);

/* Joins and closes all, opened or not. Returns the first error of the run, which has been logged,
 * or 0. */
int stages_close(struct stages *s);
