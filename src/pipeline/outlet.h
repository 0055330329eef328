#pragma once
/* A sink and what is needed to feed it: pictures in its layout and size, a card while
 * there are none, and another try while a virtual camera is not to be had.
 * Context: opened and closed by main, the rest is its output thread's. */
#include "picture/scale.h"
#include "pipeline/stream.h"
#include "sink/sink.h"
#include "v4l2/device_retry.h"

struct outlet {
    const struct sink_ops *ops;
    struct sink_config config; /* its name lives as long as the outlet */
    struct sink *sink;         /* NULL while it is lost */
    struct stream *stream;

    struct frame picture;                 /* what the sink wants, no planes */
    struct frame scratch, scratch_before; /* a picture and its `before`, so laid out */
    struct frame card;                    /* shown while there are no pictures */
    void *memory;                         /* of all three */
    int drawn;                            /* state that the card tells; -1 = none */
    int shown_state;                      /* by the last write; -1 = a picture, or none yet */
    struct frame resized;                 /* a picture of another size, in the sink's format */
    struct scaler *scaler;                /* from there; NULL while sizes agree */
    struct workers *workers;              /* that convert large pictures; NULL: one thread does */

    int n_narrow; /* pictures so far, all of which use few of their levels; -1: one does not */
    struct device_retry retry; /* of a lost sink */
    char trouble[320];         /* why it is lost; else empty */
};

/* @wait: the outlet retries a device that is not there. */
int outlet_open(struct outlet *o, struct stream *stream, const struct sink_ops *ops,
                const struct sink_config *config, bool wait, struct error *err);
int outlet_close(struct outlet *o, struct error *err);

/* Whether readers expect pictures at all times. */
bool outlet_holds(const struct outlet *o);

/* Whether the card is shown while there are no pictures. */
bool outlet_wants_card(const struct outlet *o);

/* In words, also while it is lost. */
const char *outlet_name(const struct outlet *o);

/* Says what it is like in @ret, but for what was written. */
void outlet_state(struct outlet *o, struct stream_output *ret);

/* Writes @f, and to a sink that compares @before. 0; -EAGAIN: the device is lost, which has been
 * logged; other errors are for good. */
int outlet_write(struct outlet *o, const struct frame *f, const struct frame *before,
                 struct error *err);

/* Writes the card that tells of @state. */
int outlet_write_card(struct outlet *o, enum stream_state state, struct error *err);
