#pragma once
/* Row kernels: the inner loops of the CPU engine, one set per instruction set.
 *
 * DESIGN. Pixels live in planes of samples already scaled for the filter at hand, so that the
 * distance of the image contract is a sum of three squares (struct colour_distance):
 *     |dRGB|^2 = (dY + dC)^2 + dU^2 + dV^2
 * with Y = a y, C = b u + c v, U = d u + e v, V = f v for 8-bit samples y, u, v less 128. For
 * DISTANCE_MANHATTAN Y is grey, and C, U and V are what G', B' and R' are more than that:
 *     |dR| + |dG| + |dB| = |dY + dV| + |dY + dC| + |dY + dU|
 * or, of pictures of R'G'B', whose Y is G', without the dY of dU and dV.
 * Only Y belongs to the pixel alone. In formats that share a chroma column between two luma columns
 * (ROWS_PAIR) even and odd luma columns are planes of their own, and one step of the window
 * serves the four pixel pairs between two chroma columns, which share dC, dU and dV.
 * Sums of w dY, w dU and w dV are collected, and the mean is the centre plus their quotient.
 *
 * Two kinds of arithmetic are for all layouts: ROWS_FIXED is 16-bit fixed point with saturation
 * (rows_fixed.h), the quick one; ROWS_GAUSSIAN and ROWS_LORENTZIAN are single precision floating
 * point (rows_float.h) for filters that 16 bits do not hold. Both are written once in terms of a
 * few vector operations that each instruction set defines in its own file, use no operation whose
 * result may differ between processors, and therefore agree to the bit on all of them. plan.c
 * decides which one a filter gets, also by which one is the quickest of the set.
 *
 * ROWS_TABLE is a third for ROWS_PAIR alone, on processors that look up many weights of a table
 * at once (rows_vnni.c; rows_c.c shows it plainly). It filters two rows at a time and sums exact
 * products of weights and samples in 32 bits. Each of its planes has two 16-bit words a column:
 *     PLANE_Y0  Y + C of both pixels      PLANE_U  u less 128, twice
 *     PLANE_Y1  y less 128 of both        PLANE_V  v less 128, twice
 *     PLANE_C   U and V, each times the square root of 2
 *
 * ROWS_HALF is a fourth, likewise for ROWS_PAIR, on processors that compute in half precision
 * (rows_half.h). Its planes are halves: PLANE_Y0 and PLANE_Y1 Y + C of even and odd pixels, PLANE_U
 * and PLANE_V as above, and no PLANE_C. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "filter/filter.h"

enum row_layout { ROWS_PAIR, ROWS_SINGLE, ROWS_GREY, ROWS_N_LAYOUTS };
enum row_arithmetic {
    ROWS_FIXED,
    ROWS_TABLE,
    ROWS_HALF,
    ROWS_GAUSSIAN,
    ROWS_LORENTZIAN,
    ROWS_N_ARITHMETICS
};

/* Whether planes hold floats, else words of 16 bits. */
static inline bool row_is_real(enum row_arithmetic a)
{
    return a == ROWS_GAUSSIAN || a == ROWS_LORENTZIAN;
}

#define ROW_TABLE_SIZE 128 /* weights of ROWS_TABLE */

/* Kernels work on whole vectors: samples of planes and byte rows up to the next multiple of
 * this must be there to read and to write, whatever they hold. */
#define ROW_LANES_MAX 32

enum row_plane { PLANE_Y0, PLANE_Y1, PLANE_C, PLANE_U, PLANE_V, ROW_PLANES };

/* One row of every plane; int16_t, halves or float, see row_is_real(). Columns are chroma columns,
 * and some before the first and behind the last are filled with the edge's colour. In layouts other
 * than ROWS_PAIR luma is PLANE_Y0 alone; in ROWS_GREY there is nothing else. */
struct row_planes {
    const void *plane[ROW_PLANES];
};

/* Which of the pixel pairs between two chroma columns k apart lie in the window. */
#define TAP_EVEN 1 /* even to even and odd to odd, 2k columns apart; the only one if single */
#define TAP_UP 2   /* even to odd, 2k + 1 columns apart */
#define TAP_DOWN 4 /* odd to even, 2k - 1 columns apart */

/* Of ROWS_TABLE instead: from which of the two rows a tap is in the window. */
#define TAP_UPPER 1
#define TAP_LOWER 2

/* One step of the window: the chroma column k to the right in the row dy below. */
struct row_tap {
    int16_t dy, k;
    /* The spatial weight for TAP_EVEN, TAP_UP, TAP_DOWN, as the arithmetic wants it: ROWS_FIXED
     * and ROWS_HALF what it leaves of the range of distances, twice in one word; ROWS_GAUSSIAN an
     * exponent; ROWS_LORENTZIAN a factor. ROWS_TABLE: distances of the column's pixels, the even
     * one in the lower half, from the even and the odd pixel of the upper row, and from those of
     * the lower row. */
    union {
        uint32_t fixed[4];
        float real[3];
    } space;
};

/* Taps of the same kind one after the other, so that no branch depends on a single tap. */
struct row_run {
    uint8_t pairs; /* TAP_* */
    bool flush;    /* ROWS_FIXED, ROWS_HALF: sums must be widened behind this run */
    int16_t n_taps;
};

#define ROW_TAPS_MAX ((2 * FILTER_MAX_RADIUS + 1) * (2 * FILTER_MAX_RADIUS + 1))

/* Coefficients of the planes (a to f of struct colour_distance, scaled) and back. */
struct row_scale {
    float a, b, c, d, e, f; /* plane units per level */
    int16_t q[6];           /* the same in fixed point, units of 1/128; ROWS_HALF: as halves */
    int16_t chroma[2];      /* ROWS_HALF: how much of U and of V makes C, negative, as halves */
    float y, v, u, uv;      /* levels: y per Y; v per V; u per U, less uv per level of v */
};

struct row_plan {
    enum row_arithmetic arithmetic;
    enum colour_metric distance;
    int common; /* DISTANCE_MANHATTAN: 1, or 0 where Y is a channel of its own */
    struct row_scale scale;
    uint16_t octaves; /* ROWS_FIXED: in 2^16 units of distance */
    int shift; /* ROWS_TABLE: right, makes a distance an index, of which the last one stands for
                * all beyond */
    uint8_t table[2][ROW_TABLE_SIZE]; /* low and high bytes of the weights of ROWS_TABLE */
    int reach_x, reach_y;             /* the furthest k and dy of a tap */
    struct row_tap own;  /* the two pixels of the column itself to each other, as TAP_EVEN */
    struct row_run here; /* of row_kernels.each: the column itself in the frames before */
    struct row_tap here_tap;
    /* Of row_kernels.each: what the frame so many before counts; ROWS_GAUSSIAN an exponent,
     * ROWS_LORENTZIAN a factor. */
    float time[FILTER_MAX_WINDOW];
    float per_unit;     /* of row_kernels.each and ROWS_FIXED: see `factors` */
    uint16_t centre;    /* ROWS_FIXED, ROWS_HALF: a pixel's weight to itself */
    int n_taps, n_runs; /* all but the column itself; of ROWS_TABLE, all */
    struct row_run run[ROW_TAPS_MAX];
    struct row_tap tap[ROW_TAPS_MAX]; /* in the order of the runs */
};

/* What to do with a chroma row that two luma rows share: the first stores its sums, the second
 * adds them and writes the row. ROWS_TABLE, with both at once, knows JOINT_NONE and JOINT_ADD. */
enum row_joint { JOINT_NONE, JOINT_STORE, JOINT_ADD };

struct row_job {
    const struct row_plan *plan;
    const struct row_planes *rows; /* of the row to filter; rows[dy] for the others */
    /* Of row_kernels.each: the same row of the frame k before is rows[k * frame_step]. */
    int n_frames, frame_step;
    /* Likewise: what a squared distance is multiplied by, of even luma (all luma if single) and of
     * odd luma; rounded up to whole vectors. */
    const float *per[2];
    /* ROWS_FIXED instead: squares are cut off at `limit` and multiplied by `factor`. */
    const uint16_t *limit[2], *factor[2];
    int columns;
    enum row_joint joint;
    float *sums; /* 3 rows of `columns`, rounded up to whole vectors, unless JOINT_NONE */
    /* Even luma (all luma if single), odd luma, u, v; of ROWS_TABLE those of the lower row, too,
     * of which u and v are left alone if JOINT_ADD. */
    uint8_t *out[8];
    /* Of floating point: where levels less 128 go instead, rounded up to whole vectors; or NULL. */
    float *levels[4];
};

/* Half of a Gaussian, along rows or columns. Two samples at the same distance are added and have
 * their weight once, so that the centre is there twice. All weights make half of 2^16 along
 * columns, where that makes BLUR_LEVEL of BLUR_UNIT, and half of 2^15 along rows. */
struct blur_taps {
    int reach;
    uint32_t weight[FILTER_MAX_RADIUS + 1]; /* of samples at even and, upper half, odd places */
};

#define BLUR_UNIT 64   /* of a byte, so that two fit 15 bits */
#define BLUR_LEVEL 128 /* of a level between the two halves, where level 128 is 0 */

/* Half of a box: a window that reaches so far, or three times that and another one. */
struct box_taps {
    int reach[2];
    bool two;
    float per; /* along rows: levels for each unit of the sum */
};

static inline int box_reach(const struct box_taps *t)
{
    return t->two && t->reach[1] > t->reach[0] ? t->reach[1] : t->reach[0];
}

struct mean_job;
struct search_job;
struct noise_job;
struct noise_sums;

/* The instruction set's versions of all that touches every sample. */
struct row_kernels {
    const char *name;  /* as in BILATCAM_CPU */
    const char *label; /* as in the manual of the processor */
    /* By enum colour_metric; ROWS_TABLE and ROWS_HALF have no DISTANCE_MANHATTAN. */
    void (*filter[2][ROWS_N_ARITHMETICS][ROWS_N_LAYOUTS])(const struct row_job *job);
    /* The same with a range sigma for each pixel, and with frames before; NULL: there is none. */
    void (*each[2][ROWS_N_ARITHMETICS][ROWS_N_LAYOUTS])(const struct row_job *job);
    /* The quickest. ROWS_TABLE and ROWS_HALF are for tests in other sets, or NULL. */
    enum row_arithmetic prefers;
    /* 8-bit samples to planes, [0] fixed point and [1] floating point, `n` of them rounded up to
     * whole vectors. */
    void (*luma[2])(const struct row_scale *s, const uint8_t *y, void *plane, int n);
    void (*chroma[2])(const struct row_scale *s, const uint8_t *u, const uint8_t *v,
                      void *const plane[3], int n);
    /* The same from 16-bit samples, in units of 1/128, 15 bits of them. */
    void (*luma16[2])(const struct row_scale *s, const uint16_t *y, void *plane, int n);
    void (*chroma16[2])(const struct row_scale *s, const uint16_t *u, const uint16_t *v,
                        void *const plane[3], int n);
    /* From @n of row_job.per, in units of row_plan.per_unit, to `limit` and `factor`. */
    void (*factors)(const float *per, float unit, uint16_t *limit, uint16_t *factor, int n);
    /* The same for ROWS_TABLE, where it is: `n` columns, of 2 y each. */
    void (*table_luma)(const struct row_scale *s, const uint8_t *y, const uint8_t *u,
                       const uint8_t *v, int16_t *const plane[2], int n);
    void (*table_chroma)(const struct row_scale *s, const uint8_t *u, const uint8_t *v,
                         int16_t *const plane[3], int n);
    /* The same for ROWS_HALF, to halves; there is no plane[0] of chroma. */
    void (*half_luma)(const struct row_scale *s, const uint8_t *y, const uint8_t *u,
                      const uint8_t *v, int16_t *const plane[2], int n);
    void (*half_chroma)(const struct row_scale *s, const uint8_t *u, const uint8_t *v,
                        int16_t *const plane[3], int n);
    /* Every other byte; exactly 2 n bytes of the interleaved row are touched. */
    void (*split)(const uint8_t *ab, uint8_t *a, uint8_t *b, int n);
    void (*merge)(const uint8_t *a, const uint8_t *b, uint8_t *ab, int n);
    void (*split16)(const uint16_t *ab, uint16_t *a, uint16_t *b, int n);
    /* The mean of each 2x2 samples of two rows, rounded: @n of them. */
    void (*brightness)(const uint8_t *a, const uint8_t *b, uint8_t *to, int n);
    /* One row of a Gaussian from rows[-reach] to rows[reach], exactly @n bytes of each, and then
     * along that row: samples @step places apart are of one kind, and what lies @reach of them to
     * either side is there to be read. */
    void (*blur_rows)(const uint8_t *const *rows, const struct blur_taps *t, int16_t *to, int n);
    void (*blur_columns)(const int16_t *from, int step, const struct blur_taps *t, uint8_t *to,
                         int n);
    /* Of a box: moves the window of sums along columns by a row, and sums along a row, with room
     * for @n + 2 reach samples and one sum more, rounded up to whole vectors. */
    void (*box_rows)(uint16_t *sums, const uint8_t *more, const uint8_t *less, int weight, int n);
    void (*box_columns)(const uint16_t *from, const struct box_taps *t, uint32_t *sums, uint8_t *to,
                        int n);
    void (*mean)(const struct mean_job *job); /* time/mean.h */
    /* Row @row of blocks (time/search.h); a row of a level from two of the one below it, or of
     * luma: to @n samples. */
    void (*search)(const struct search_job *job, int row);
    void (*search_smooth)(const struct search_job *job, int row);
    void (*halve)(const uint16_t *a, const uint16_t *b, uint16_t *to, int n);
    void (*halve_luma)(const uint8_t *a, const uint8_t *b, uint16_t *to, int n);
    /* Adds row @row of blocks (time/noise.h). */
    void (*noise)(const struct noise_job *job, struct noise_sums *sums, int row);
};

/* Every set of this program's architecture is built in; cpu.h knows which of them run here. */
extern const struct row_kernels row_kernels_c;
extern const struct row_kernels row_kernels_c_table; /* the same, but with what VNNI prefers */
extern const struct row_kernels row_kernels_c_half;  /* and FP16 */
extern const struct row_kernels row_kernels_avx2;
extern const struct row_kernels row_kernels_avx512; /* if HAVE_AVX512, as the next */
extern const struct row_kernels row_kernels_vnni;
extern const struct row_kernels row_kernels_fp16; /* if HAVE_FP16 */
extern const struct row_kernels row_kernels_neon;
