#pragma once
/* What the GPU engine keeps of the frames before, on the device, and the road of a frame that is
 * filtered with it.
 *
 * All kernels of such frames follow each other on one stream, so each finds what the one before
 * left; only copies over the bus overlap with them. Nothing waits for the host. Context: one
 * thread; zeroed memory is good for all functions. */
#include "cuda/kernel/time.h"
#include "engine/engine.h"
#include "engine/time/past.h"

#define DEVICE_PAST_STEPS 5 /* unpack, search, measure, average, filter */

struct device_past {
    struct past chain;
    cudaStream_t stream;
    struct time_noise *noise;
    uint8_t *memory; /* of pictures of one shape */
    size_t size;
    struct frame like; /* that shape, and what else the memory was laid out for */
    int n_stored;
    bool averages;
    struct time_shape shape;
    struct time_picture picture[2];
    uint16_t *words[3]; /* the newest frame's samples, where they have 16 bits; or NULL */
    struct time_stored stored[TIME_MAX_WINDOW]; /* in use by turns */
    struct time_vector *vector[TIME_TOP + 1];
    struct time_match *matched;
    struct time_sums *sums;
    struct time_cell *cells[2]; /* compared with both guesses */
    uint32_t number;            /* of the newest frame */
    int n_frames;               /* of it and those before that are in `stored` */
    bool measured;              /* that one's noise was measured */
    cudaEvent_t *marks; /* DEVICE_PAST_STEPS + 1, recorded around the steps of a frame; or NULL */
};

/* What is known when a frame is done. */
struct time_knowledge {
    struct time_report *memory;
    size_t size;
    struct frame like;
    bool noise, counts;
    int frames;
};

int device_past_init(struct device_past *t); /* 0 or -errno */
void device_past_finish(struct device_past *t);

/* Starts on @t->stream what makes @out of @in, both on the device. @goes_on: as past_goes_on() said
 * of the frame. @k can be read when all is done. 0 or -errno: what was there before is lost then.
 * -EINVAL: a filter out of range. */
int device_past_filter(struct device_past *t, const struct frame *in, const struct frame *out,
                       const struct filter *f, bool goes_on, struct time_knowledge *k);

void time_knowledge_finish(struct time_knowledge *k);
void time_knowledge_tell(const struct time_knowledge *k, struct engine_report *ret);
