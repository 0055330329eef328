#pragma once
/* A camera, an engine and a screen that fail on purpose: as a test sets their fields, or when a
 * function of the test says so, which returns 0 or a negative errno. Context: one of each at a
 * time. */
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "engine/engine.h"
#include "pipeline/stream.h"
#include "sink/sink.h"
#include "source/source.h"

#define WIDTH 34
#define HEIGHT 19

/* A camera that goes at frame `goes_at` and comes back after `fails` attempts to open it. */
struct fake_camera {
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
    bool still;                /* pictures are what is in `memory` */
    bool stays;                /* it is no device: not closed while it rests */
    atomic_int n_rested;       /* so often it did */
    uint64_t first[64];        /* frames after each opening but the first, and each rest */
    int n_first;
    int wait_fd;
    struct stream *until_flaky; /* goes on, slowly, for 10 frames after that engine filters */
    /* Both may be NULL; the first may change what the source is like. */
    int (*on_open)(struct source *s, bool again);
    int (*on_read)(struct source *s);
    uint8_t memory[4 * WIDTH * HEIGHT * 2];
};
extern struct fake_camera camera;
extern const struct source_ops camera_ops;

/* Engines like the CPU's, several deep, that break for good at a given frame. */
struct fake_engines {
    atomic_int n_destroyed, n_pinned, n_submitted;
    atomic_int n_failures; /* of attempts to create one */
    atomic_int frame_ms;   /* that each frame takes */
    /* Both may be NULL; the second is asked whenever the engine sees a frame. */
    int (*on_create)(void);
    int (*on_frame)(void);
};
extern struct fake_engines engines;

/* What they report after the frame numbered @seq. */
static inline double reported_noise(uint64_t seq)
{
    return (double)seq + 0.25;
}

static inline double reported_share(uint64_t seq)
{
    return (double)(seq % 50) / 100.0;
}

static inline double reported_frames(uint64_t seq)
{
    return (double)seq / 2.0 + 1.0;
}

static inline uint8_t reported_count(uint64_t seq)
{
    return (uint8_t)(seq + 2);
}

extern const struct engine_ops flaky_ops;
struct engine *make_flaky(int depth, int breaks_at, bool in_submit);

/* A sink that keeps checksums, or fails at a frame: for good, or as a device for some attempts to
 * open it. The one with cards is like a window. */
#define SCREEN_KEEPS 1024
struct fake_screen {
    struct sink sink;
    atomic_int n, fails_at;
    bool fails_always; /* at the first frame after each opening, once it has failed */
    atomic_int opened, closed;
    atomic_int open_failures;
    atomic_int n_counted;       /* frames with counts, which are right */
    bool any_counts;            /* also those of an engine that is no fake, or shown again */
    atomic_int n_cards;         /* pictures that are no frames */
    uint64_t card_sum;          /* of the last of them */
    uint64_t seq[SCREEN_KEEPS]; /* of the first frames */
    uint64_t sum[SCREEN_KEEPS];
    /* All may be NULL; the first may change what the sink is like, the last counts its readers. */
    int (*on_open)(struct sink *s);
    int (*on_write)(void);
    int (*on_count)(void);
};
extern struct fake_screen screen;
extern const struct sink_ops screen_ops, card_screen_ops, device_screen_ops;

/* To be called first: @goes_at and @ends_at of the camera, @fails_at of the screen. Nothing fails
 * by itself, but a second engine cannot be made. */
void reset(uint64_t goes_at, uint64_t ends_at, int fails_at);
