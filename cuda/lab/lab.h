#pragma once
/* The lab: kernels side by side, each checked against the reference and then timed. */
#include <stdbool.h>
#include <stdio.h>

#include "cuda/lab/rungs.h"
#include "engine/engine.h"

/* A frame in device memory. */
struct device_picture {
    struct frame frame;
    size_t size;
};

/* What a run of the lab shares. */
struct lab {
    struct engine *truth;
    cudaStream_t stream, pair[2];
    cudaEvent_t begin, end;
    void *flush; /* larger than the L2 cache: writing it evicts all else */
    size_t flush_bytes;
    FILE *csv;
    char device[300]; /* its name, compute capability and versions */
    double clock_ghz; /* of the multiprocessors under load, as last measured */
};

/* Makes all but `csv` and prints the device. 0; 1: failed, and said why; 77: no GPU here. */
int lab_open(struct lab *lab);
void lab_close(struct lab *lab); /* accepts one that is half open */

/* Median time of one launch in microseconds, or a negative errno. Many launches on the same picture
 * follow each other, which is then in the L2 cache if it fits. */
double lab_time(struct lab *lab, int (*launch)(const void *job, cudaStream_t stream),
                const void *job);

/* The same for single launches, each after the cache was filled with other data. */
double lab_time_cold(struct lab *lab, int (*launch)(const void *job, cudaStream_t stream),
                     const void *job);

/* The @n times in the order of their length. */
void lab_sort(double *times, int n);

int picture_alloc(struct device_picture *d, const struct frame *like);
void picture_free(struct device_picture *d);

/* Fills @f with noise of colours that R'G'B' bytes can hold. Clipping the others is all that a
 * comparison would see: a filter that does nothing has 31 dB then, as has the right one. */
void picture_fill_rgb(struct frame *f);

/* The bound for kernels that convert to R'G'B' bytes and back, on such a picture. Measured over
 * radius 1 to 10: at most 2 levels and at least 56.1 dB; a radius one less than it should be has
 * 36.5 to 55.4 dB (2026-11, NVIDIA H200). */
#define RGBA_MAX_DIFFERENCE 2
#define RGBA_LEAST_PSNR 55.8
#define RGBA_MAX_RADIUS 10

/* What an engine takes for a frame in pinned memory, in microseconds: the latency of one alone,
 * and the time per frame with as many in flight as there can be. */
struct times {
    double p50, p95, p99, sustained;
};

/* From @n frames each, at most 300. 0 or -errno. */
int lab_times(struct engine *e, const struct frame *like, const struct filter *f, int n,
              struct times *ret);

/* The parts of the lab; each returns the number of failures. */
int lab_ladder(struct lab *lab, const char *only);
int lab_shapes(struct lab *lab);
int lab_radii(struct lab *lab, int only); /* one radius; 0: all */
int lab_engine(struct lab *lab);
int lab_roads(bool quick);
int lab_past(struct lab *lab);
int lab_cameras(void);
int lab_autotune(struct lab *lab);
int lab_fault(void);

/* The rung of the ladder that is a pipeline; returns the number of failures. */
int lab_pipeline(struct lab *lab, const struct frame *like, int radius);

/* One of the processes that lab_cameras() starts. */
int lab_camera(void);
