#pragma once
/* How long a camera takes from the stamp that it puts on a frame until the frame can be read. Most
 * cameras stamp the beginning of the exposure or of the transfer, which is 5 to 45 ms earlier. That
 * is the camera's own delay: nothing behind it can make it shorter.
 *
 * Nobody tells when a frame became readable, only when it was read. So the delay is taken to be a
 * low percentile of the times from stamp to reading over the last seconds: whatever one frame
 * took longer than that is jitter, or our own late reading, and counts as ours.
 *
 * A camera that exposes for longer, because a light went out, delivers all its frames later. Where
 * the reader has been waiting since before a frame was due, the frame was late and not the reader;
 * several of these in a row are believed at once.
 *
 * Pure arithmetic: no clock, no I/O. Context: plain data, one owner (the capture thread). */
#include <stdint.h>

#define CAMERA_DELAY_FRAMES 256

struct camera_delay_sample {
    int64_t t_read_ns, delay_ns;
};

struct camera_delay {
    struct camera_delay_sample sample[CAMERA_DELAY_FRAMES];
    int n, next;
    int n_later;               /* frames in a row that were late themselves, and alike */
    int64_t least_ns, most_ns; /* the delays of them */
};

/* Another camera, or the same one opened again: what was learnt says nothing any more. */
void camera_delay_reset(struct camera_delay *d);

/* A frame stamped @t_capture_ns was read at @t_read_ns, for which the reader had been waiting since
 * @t_wait_ns. Returns the camera's own delay as it is
 * known now, in ns, never below 0. */
int64_t camera_delay_step(struct camera_delay *d, int64_t t_capture_ns, int64_t t_wait_ns,
                          int64_t t_read_ns);
