#pragma once
/* The three stages on a bench: with a camera, an engine and a screen that fail on purpose.
 * Context: one bench at a time. */
#include "tests/lib/unit.h"

#include <stdatomic.h>

#include "pipeline/stages.h"

#define WIDTH 34
#define HEIGHT 19

/* A camera that goes at frame `goes_at` and comes back after `fails` attempts to open it. */
struct test_camera {
    atomic_int opened, closed;
    int fails;
    atomic_bool absent;            /* cannot be opened at all */
    atomic_bool busy;              /* nor so, because another program has it */
    atomic_int refused;            /* so often */
    int other_width, other_height; /* when it comes back; 0 = as before */
    uint64_t next, goes_at, ends_at;
    int pause_ms;              /* before each frame */
    uint32_t fps;              /* as announced; 0 = 1000 */
    int64_t age_ns, jitter_ns; /* stamps are so old, plus anything up to the jitter */
    bool file;                 /* it is not live */
    bool stays;                /* it is no device: not closed while it rests */
    atomic_int n_rested;       /* so often it did */
    uint64_t first[64];        /* frames after each opening but the first, and each rest */
    int n_first;
    int wait_fd;
    struct stream *until_flaky; /* goes on, slowly, for 10 frames after that engine filters */
    uint8_t memory[4 * WIDTH * HEIGHT * 2];
};
extern struct test_camera camera;
extern const struct source_ops camera_ops;

/* An engine like the CPU's, several deep, that breaks for good at a given frame. */
struct engine *make_flaky(int depth, int breaks_at, bool in_submit);
extern const struct engine_ops flaky_ops;
extern atomic_int n_destroyed, n_pinned;
extern atomic_int n_failures;  /* of attempts to create one */
extern atomic_int engine_ms;   /* that each frame takes it */
extern atomic_int n_submitted; /* to any */

/* A sink that keeps checksums, or fails at a frame: for good, or as a device for some attempts to
 * open it. The one with cards is like a window. */
struct test_screen {
    struct sink sink;
    int n, fails_at;
    bool fails_always; /* at the first frame after each opening, once it has failed */
    atomic_int opened;
    atomic_int open_failures;
    atomic_int n_cards; /* pictures that are no frames */
    uint64_t seq[1024];
    uint64_t sum[1024];
    struct frame first;
};
extern struct test_screen screen;
extern const struct sink_ops screen_ops, card_screen_ops, device_screen_ops;

struct bench {
    struct stages stages;
    const struct sink_ops *screen; /* NULL: screen_ops */
    bool drops;                    /* captured frames that are not taken, as live pictures are */
    bool wait;                     /* for devices that are not there */
    int64_t rest_ns;               /* 0 = FILTERING_REST_NS */
    const char *node;              /* what camera and screen are called; NULL: "auto" */
};

/* To be called first: @goes_at and @ends_at of the camera, @fails_at of the screen. */
void reset(uint64_t goes_at, uint64_t ends_at, int fails_at);

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
