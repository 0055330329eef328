#pragma once
/* An engine filters frames. Every engine keeps the image contract (filter.h) within the bound
 * against engine/reference.c: at most 1 level on 99.9 % of samples, at most 2 on all.
 *
 * Frames enter by submit and leave, in the same order, by collect; between the two the engine
 * may hold up to `depth` of them, so that uploads, kernels and downloads overlap. Live video
 * keeps one in flight, files as many as there are. An engine never allocates per frame.
 *
 * An engine may have a past: what it keeps of the frames before. So it sees every frame of a stream
 * once and in order: by submit, or by pass if the frame goes out unfiltered. Single frames can be
 * lost on the way, which `seq` and `t_capture_ns` tell. Where the stream breaks, forget comes
 * before the next frame. Two things the engine notices by itself: a frame of another format, size
 * or colour than the one before ends the past, and one that was just created has none.
 *
 * Context: all functions but probe are called by one thread at a time. */
#include <stdbool.h>

#include "base/error.h"
#include "filter/filter.h"
#include "picture/frame.h"

struct engine;
struct jpeg_device;

struct engine_config {
    int threads;     /* CPU threads to use; 0 = up to one per online CPU, see struct engine */
    bool autotune;   /* a GPU may be timed for what suits it, and that kept on disk */
    char device[32]; /* which GPU: its number or PCI bus ID; "" = auto */
};

/* What an engine learns of the pictures, and what it takes. */
struct engine_report {
    double noise;       /* standard deviation of one channel, levels; 0 = none known */
    double noise_share; /* of its variance, that neighbours have in common (filter/noise.h) */
    double frames;      /* that a pixel is the mean of, on average; 0 = each picture by itself */

    /* The same for each block, as in struct frame. NULL: there are none. Valid until the next
     * submit, collect, pass or destroy. */
    const uint8_t *counts;

    /* Bytes of the device's memory that the engine's process has; 0 = not known, or no device. */
    uint64_t device_memory;
};

struct engine_ops {
    const char *name; /* as on the command line */
    const char *help; /* one line for --list-engines */

    /* In words, why it is not built into this program: it has a name then and nothing else. NULL:
     * it is built in. */
    const char *missing;
    bool on_device;    /* memory and life of its own beside the CPU: it may fail, and may sleep */
    bool only_by_name; /* "auto" passes it over */

    const struct jpeg_device *jpegs; /* is ready while there is an engine; NULL: there is none */

    /* 0 when the engine works on this machine, with the device in words in @device;
     * -ENODEV when it does not, with the reason in @err. Leaves no state behind. @wanted says
     * which device, as in the configuration; engines that are not on_device have only one. */
    int (*probe)(const char *wanted, char *device, size_t size, struct error *err);

    /* Errors: -ENOMEM, -ENODEV, -EIO. */
    int (*create)(struct engine **ret, const struct engine_config *config, struct error *err);
    void (*destroy)(struct engine *e); /* accepts NULL; drops what is in flight, unpins all */

    /* Releases what the process still holds of the device when no engine is left, so that it can
     * sleep. */
    void (*release)(void);

    /* Makes @bytes at @memory (page-aligned, the caller's) quick for the device to reach, until
     * unpin. Memory that is not pinned works too, more slowly. */
    int (*pin)(struct engine *e, void *memory, size_t bytes);
    void (*unpin)(struct engine *e, void *memory);

    /* Starts filtering @in to @out, two different frames of equal format (format_filtered()), size
     * and colour, any strides. Both stay the engine's until collected. A radius of 0 copies.
     * -EBUSY: `depth` frames are in flight already. -EINVAL: the engine cannot take this
     * format, size or filter. -EIO: the device failed; destroy the engine and create it again. */
    int (*submit)(struct engine *e, const struct frame *in, struct frame *out,
                  const struct filter *filter);

    /* Waits until the frame submitted first is done. -EAGAIN: nothing is in flight. Other
     * errors as for submit; that frame's @out is then undefined. */
    int (*collect)(struct engine *e);

    /* @in goes out as it is. What the engine wants of it for its past it takes before the return,
     * without waiting for the device; there is nothing to collect. Frames may be in flight.
     * Errors as for submit. */
    int (*pass)(struct engine *e, const struct frame *in);

    /* The stream broke: another camera, or a pause of any kind. The past says nothing about the
     * frames to come. Those in flight are from before, and are finished. */
    void (*forget)(struct engine *e);

    /* What is known since the frame that was collected last, or nothing (all 0). It may take the
     * time of a frame where memory grew with one before. */
    void (*report)(struct engine *e, struct engine_report *ret);
};

/* The common head of every engine. */
struct engine {
    const struct engine_ops *ops;
    int depth;        /* frames that may be in flight, at least 1 */
    int threads_most; /* CPU threads, where their number was left to it; else 0 */
    int threads;      /* how many filter the next frame; its user may change that where it has
                       * `threads_most`, to 1 or more */
    char device[128]; /* "NVIDIA H200", "2 threads, AVX2" */
};

extern const struct engine_ops engine_reference;
extern const struct engine_ops engine_simd;
extern const struct engine_ops engine_cuda; /* linked only where HAVE_CUDA is set */

/* Whether engines filter frames of @format with @f. */
bool engine_takes(enum frame_format format, const struct filter *f);

/* The row of @engines, a table with NULL at its end, that is called @name; or NULL. */
const struct engine_ops *engine_find(const struct engine_ops *const *engines, const char *name);

/* What decodes JPEGs beside one of @engines, or NULL. */
const struct jpeg_device *engine_jpegs(const struct engine_ops *const *engines);

/* Creates the engine of @engines that is called @name; "auto" takes the first that probes and
 * creates well here. What was passed over and why is told through log_debug. */
int engine_open(struct engine **ret, const struct engine_ops *const *engines, const char *name,
                const struct engine_config *config, struct error *err);

/* Destroys @e (or NULL), the only engine of its kind, and lets its device sleep. */
void engine_release(struct engine *e);

/* The `release` of engines that hold no device. */
void engine_release_nothing(void);

/* The `pass`, `forget` and `report` of engines that have no past. */
int engine_pass_nothing(struct engine *e, const struct frame *in);
void engine_forget_nothing(struct engine *e);
void engine_report_nothing(struct engine *e, struct engine_report *ret);
