#pragma once
/* The governor in a model of a machine with a camera, frame by frame. */
#include "tests/lib/unit.h"

#include "filter/camera_delay.h"
#include "filter/governor.h"

#define MS 1e6
#define MAX_FRAMES 4000

/* A machine whose filter costs load * (fixed + per_tap * taps), with noise. */
struct machine {
    double fixed_ns, per_tap_ns, other_ns;
    double noise; /* of the cost, uniform, +- this part */
    uint64_t rng;
};

/* 10 ms at radius 10 of 33 ms: fits alone, not when the load is four times that. */
extern const struct machine laptop;

/* Stamps frames so long before they can be read, plus anything from 0 to the jitter. Either the
 * frames are late by the jitter, or their stamps are early. */
struct camera {
    double age_ns, jitter_ns;
    bool early;
    struct camera_delay delay;
};

struct run {
    struct governor governor;
    struct machine machine;
    double cost[LADDER_RUNGS]; /* taps of each rung: those of a disc, or others */
    double fresh; /* what a frame costs of that after a gap, or where a mean begins; 0 = all */
    bool alone;   /* the newest frame was filtered by itself, while others are averaged */
    int64_t t_filtered_ns;
    struct camera camera;
    double late_ns; /* our own reading */
    int64_t t_ns, interval_ns;
    uint64_t seq;
    int n;
    int radius[MAX_FRAMES];
    double latency_ns[MAX_FRAMES];
};

/* What is asked of the governor: @radius of a disc, at least 1, a frame interval of budget. */
struct governor_config request_of(int radius, int64_t interval_ns);

void start(struct run *r, int radius, int64_t interval_ns, struct machine m);
void frame(struct run *r, double load);
void frames(struct run *r, int n, double load);

/* Of the radius, among the frames @from to before @to. */
int changes(const struct run *r, int from, int to);

/* What the governor promises of a stretch: 95 % in time, and never late for long. */
void check_budget(const struct run *r, int from, int to, double budget_ns);
void check_rises_by_one(const struct run *r);
