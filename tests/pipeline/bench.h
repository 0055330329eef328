#pragma once
/* The three stages on a bench: with the camera, the engine and the screen of fakes.h.
 * Context: one bench at a time, opened after reset(). */
#include "pipeline/stages.h"
#include "tests/pipeline/fakes.h"

struct bench {
    struct stages stages;
    const struct sink_ops *screen; /* NULL: screen_ops */
    bool wait;                     /* for devices that are not there */
    bool drops;                    /* captured frames that are not taken, as live pictures are */
    const struct engine_ops *stand_in; /* NULL: engine_simd */
    int64_t rest_ns;                   /* 0 = FILTERING_REST_NS */
    const char *node;                  /* what camera and screen are called; NULL: "auto" */
    const struct sink_ops *more[3];    /* outputs beside the screen, called "1", "2" and "3" */
    uint64_t max_frames;               /* 0 = no limit */
};

/* @b is zero, but for the last fields. */
void open_bench(struct bench *b, struct engine *engine);

/* Runs the stages to the end of the stream. */
void run_bench(struct bench *b);

/* Closes all, and checks that every frame which the source had is accounted for. */
void close_bench(struct bench *b);

/* --- live, with a script --- */

#define LIMIT_MS 20000 /* far beyond what anything takes */

/* Waits until something is so. False: it did not come to be. */
bool eventually(bool (*is_so)(struct bench *b), struct bench *b);

bool runs(struct bench *b);
bool is_lost(struct bench *b);
bool is_paused(struct bench *b);

/* As open_bench(), with a camera that goes on and on. */
void open_live(struct bench *b);

/* Runs the stages while another thread plays @script. */
void run_script(struct bench *b, void (*script)(struct bench *b));
