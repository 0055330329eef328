#pragma once
/* The filter in time on the device: what its kernels are told, and what starts them.
 *
 * The arithmetic is that of engine/time/average.h, motion.h, noise_blocks.h, filter/noise.h and
 * filter/tint.h. Vectors, sums of noise and votes are integers, the very ones of the reference. For
 * a frame start, on one stream and in this order, as far as the filter needs them, time_unpack(),
 * time_search(), time_compare_still(), time_measure(), time_compare_moved() and time_average(), and
 * time_filter_start() at the end. Functions return 0 or -errno. Context: any thread; the current
 * device is meant. */
#include <stdbool.h>
#include <stdint.h>

#include <cuda_runtime_api.h>

#include "cuda/kernel/params.h"
#include "filter/noise_follow.h"
#include "filter/tint.h"

#ifdef __cplusplus
extern "C" {
#endif

#define TIME_TOP 4        /* the highest level of a pyramid; [0] is luma itself */
#define TIME_PAD 64       /* edge samples repeated around luma, so that searches need no bounds */
#define TIME_LEVEL_PAD 32 /* and around the other levels */
#define TIME_BLOCK 8      /* luma samples with one vector */
#define TIME_ALIKE 7      /* MOTION_ALIKE and the others of engine/time/motion.h */
#define TIME_REACH 4
#define TIME_HEAVIEST 32
#define TIME_FAR 8
#define TIME_BINS 320
#define TIME_LEFT (2 + NOISE_PAIRS) /* sums over quiet blocks */
#define TIME_MAX_WINDOW 8
#define TIME_LEVEL_STEPS 128 /* of a level, in stored levels */

/* All pictures and states of one engine. Strides count samples. */
struct time_shape {
    int width, height, components, hshift, vshift;
    int stride, stride_c; /* of luma and of chroma */
    int cells_x, cells_y; /* cells of 2x2 luma samples; level 1 has their size */
    int level_width[TIME_TOP + 1], level_height[TIME_TOP + 1];
    int level_stride[TIME_TOP + 1];
    int cols[TIME_TOP + 1], rows[TIME_TOP + 1]; /* of blocks */
};

/* A raw frame taken apart. Pointers are to sample (0, 0). */
struct time_picture {
    uint8_t *luma, *chroma[2];
    uint16_t *level[TIME_TOP + 1]; /* [1]: the sum of each cell's luma */
};

/* The mean over frames as engine/time/stored.h has it, or a frame alone in the same units; one of
 * 16 bits has its own. */
struct time_stored {
    uint16_t *level[3];
    uint8_t *count; /* rows of cells_x */
};

/* What a cell of the frame differs by from a guess (average.h): E, and the mean of |e|^2. */
struct time_cell {
    float e[3], square;
};

struct time_vector {
    int16_t x, y; /* at level 0 in eighths of a sample, at the others in whole ones */
};

/* What level 0 found of a block, and what that weighs in a mean. */
struct time_match {
    struct time_vector v;
    uint16_t weight_x, weight_y;
};

/* The sums of each component over a block of noise. */
struct time_sums {
    int of[4]; /* one for nothing */
};

/* What engine/time/average.h takes of the noise, but for its variance: rho, by how much a misfit
 * may be further away, T and W; and t. */
struct time_bounds {
    float rho, slack, in_luma, in_chroma, tint[2];
    struct noise_white white;
};

/* What is known of the noise, on the device. */
struct time_noise {
    double variance[NOISE_ALL_CLASSES], low[NOISE_ALL_CLASSES], share; /* struct noise */
    double known[NOISE_PAIRS];                                         /* its `left` */
    int above[NOISE_ALL_CLASSES], n_frames;
    struct noise_show show;
    uint32_t starts_again; /* what noise_repeat() returns */
    uint32_t changed;      /* number of the newest frame that is not the one before it again */
    /* struct noise_sums, and how many pixels count for how much; all 0 between frames. */
    uint32_t blocks[NOISE_ALL_CLASSES][TIME_BINS], flat[NOISE_ALL_CLASSES];
    unsigned long long left[TIME_LEFT];               /* `moved`, `left`, `covariance` */
    uint32_t tint_votes[TINT_MEASURES][2][TIME_BINS]; /* struct tint_sums */
    unsigned long long tint_all;
    unsigned long long counted;

    /* What follows from it for the frame in hand. */
    struct time_bounds bounds;
    float nu2[256];         /* by the mean luma of a cell */
    float inv_two_sc2[256]; /* 1 / (2 sigma_color^2), likewise */
    float inv_share[256];   /* 1 / filter_averaged_share(), by the stored count */
    uint32_t unsuited;      /* "auto" gives sigmas that half precision cannot do */
};

/* What a frame has the host know, in memory of the host that the device can reach. */
struct time_report {
    double variance[NOISE_ALL_CLASSES], share;
    int n_frames;               /* that were measured */
    unsigned long long counted; /* what all pixels count for, in 1/MEAN_COUNT_STEPS */
    uint8_t counts[];           /* as in struct engine_report */
};

/* One frame. */
struct time_job {
    struct time_shape shape;
    struct bilateral_samples in[3]; /* of samples of 16 bits their upper bytes */
    struct time_picture now, before;
    uint16_t
        *words[3]; /* samples of 16 bits: until they are unpacked, those of `before`; or NULL */
    struct time_stored state, old;
    struct time_vector *vector[TIME_TOP + 1];
    struct time_match *matched;      /* those of level 0 before means are taken */
    struct time_sums *sums;          /* of all blocks of noise: those counted have the newest */
    struct time_cell *still, *moved; /* compared with both guesses; `moved` near what moves */
    struct time_noise *noise;
    struct time_report *report;
    uint32_t number; /* of the frame, from 1 */
    bool goes_on;    /* `before` and `old` are of the frame before */
    bool averages, searches, measures;
    int frames;                     /* that count at most */
    int64_t form[3][3];             /* M^T M of the colours in 1/4096 */
    float zero[3];                  /* colour_zero() of each component */
    int noise_step;                 /* of blocks of noise, one of so many in each row is counted */
    int noise_blocks;               /* that are counted in all */
    double sigma_color;             /* 0 = sigma_factor times the root of the variance */
    double sigma_factor;            /* filter_auto_factor() */
    double least_sigma, most_sigma; /* that time_filter_start() can do quickly, at a share of 1 */
};

/* Takes the raw frame `in` apart: into `now` and `words` where it measures, with its pyramid where
 * it averages too, else into `state`. Notes whether it differs from `before`. */
int time_unpack(const struct time_job *j, cudaStream_t stream);

/* The vectors, if it searches and goes on. */
int time_search(const struct time_job *j, cudaStream_t stream);

/* `still` from what was unpacked. */
int time_compare_still(const struct time_job *j, cudaStream_t stream);

/* Noise, and all tables that depend on it. */
int time_measure(const struct time_job *j, cudaStream_t stream);

/* `moved` from the vectors, where there are any that are not 0, which also writes what they predict
 * there to `state`. */
int time_compare_moved(const struct time_job *j, cudaStream_t stream);

/* `state` from `old`, of which both were compared. */
int time_average(const struct time_job *j, cudaStream_t stream);

/* The bilateral filter of stored frames. `in` of @p is not used, nor are its sigmas. */
struct time_filter {
    struct bilateral_params p;
    struct time_stored frame[TIME_MAX_WINDOW]; /* the one that is filtered first */
    int n_frames, stride, stride_c;
    int steps;                     /* of a level, in `frame` */
    float weight[TIME_MAX_WINDOW]; /* of each frame */
    int stride_luma, stride_count;
    const uint16_t *luma;           /* sums of cells; NULL: `inv_two_sc2` for all */
    const uint8_t *count;           /* of cells; NULL: each is of one frame */
    const struct time_noise *noise; /* the tables, unless both are NULL */
    float inv_two_sc2;
    double least_sigma, most_sigma; /* of all pixels; 0 and 0: `noise` knows */
};

int time_filter_start(const struct time_filter *f, cudaStream_t stream);

/* The range sigmas that time_filter_start() does in half precision. */
void time_fast_sigmas(const struct bilateral_params *p, double *ret_least, double *ret_most);

#ifdef __cplusplus
}
#endif
