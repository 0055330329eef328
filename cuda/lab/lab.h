#pragma once
/* The lab: kernels side by side, each checked against the reference and then timed. */
#include <stdbool.h>
#include <stdio.h>

#include "engine.h"
#include "rungs.h"

/* A frame in device memory. */
struct device_picture {
    struct frame frame;
    size_t size;
};

/* What a run of the lab shares. */
struct lab {
    struct engine *truth;
    cudaStream_t stream;
    cudaEvent_t begin, end;
    FILE *csv;
    double clock_ghz; /* of the multiprocessors under load, as last measured */
};

/* Median time of one launch in microseconds, or a negative errno. */
double lab_time(struct lab *lab, int (*launch)(const void *job, cudaStream_t stream),
                const void *job);

int picture_alloc(struct device_picture *d, const struct frame *like);
void picture_free(struct device_picture *d);

/* The parts of the lab; each returns the number of failures. */
int lab_ladder(struct lab *lab);
int lab_shapes(struct lab *lab);
int lab_engine(struct lab *lab);
int lab_roads(void);
int lab_cameras(void);
int lab_fault(void);
