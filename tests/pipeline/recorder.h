#pragma once
/* An engine on the bench that writes down what it is told. When it breaks, one of the same kind
 * takes over in the place of the CPU's. It changes the first sample of each picture that it
 * filters. Context: one bench at a time. */
#include "tests/lib/unit.h"

#include "tests/pipeline/bench.h"

#define RECORDED_MAX 4096

enum recorded { RECORDED_SUBMIT, RECORDED_COLLECT, RECORDED_PASS, RECORDED_NEVER };

struct call {
    char what; /* 'x' a frame to filter, '-' one that passes, '|' to forget */
    int engine;
    uint64_t seq;
    struct filter filter; /* 'x' */
};

struct recording {
    struct bench *bench;
    bool mixed;            /* every third frame passes */
    atomic_int delay_ms;   /* of each frame that is filtered */
    atomic_int search_ms;  /* and of each in which motion is searched for */
    atomic_int mean_ms;    /* and of each that is averaged with others */
    atomic_bool gate_shut; /* frames to filter wait */
    uint64_t breaks[64];   /* of the stream: the first frames after them */
    int n_breaks;

    struct call calls[RECORDED_MAX];
    atomic_int n_calls;

    /* Engines, the first one and those that take over, are numbered. */
    int n_engines;
    uint64_t n_submitted_to[4], n_collected_from[4];
};
extern struct recording recording;

/* Opens the bench with an engine, and begins to record. The engine breaks in one of its functions,
 * after @breaks_at frames. */
void open_recorded(struct bench *b, int depth, enum recorded breaks_in, int breaks_at);

/* Of the bench, from the next frame on. */
void set_filter(const struct filter *filter);
void set_radius(int radius);

/* Waits for @n calls more. False: they do not come. */
bool await_calls(struct bench *b, int n);

int count_calls(char what);
uint64_t last_seq(void);

/* Checks that every engine saw frames in order, none left out unless some are @missing, and was
 * told to forget where the stream broke and nowhere else; and that one which takes over begins with
 * the frames in flight. */
void check_calls(bool missing);
