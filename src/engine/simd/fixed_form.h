#pragma once
/* How a filter is put into 16 bits, integers or halves, by plan.c, and whether that holds the
 * bound. Pure functions; any thread. */
#include "engine/simd/rows.h"
#include "picture/colour.h"

struct fixed_form {
    enum row_arithmetic arithmetic;
    int shift;     /* of ROWS_TABLE */
    int octaves;   /* of ROWS_FIXED: in 2^16 units of squared distance */
    double scale;  /* plane units per level of R'G'B' */
    double per_x;  /* units of squared distance per unit of the weight's exponent */
    double range;  /* exponents from here on weigh nothing */
    unsigned half; /* added to distances so that they are rounded to an index */
    double factor; /* of plan_make_each(), at the greatest sigma; else 0 */
};

/* The finest steps of distance with which planes still fit 16 bits; halves have but one. */
struct fixed_form fixed_form_make(const struct filter *f, const struct colour_distance *l,
                                  enum row_arithmetic arithmetic);

/* ROWS_FIXED where each pixel has a factor, for a sigma-color of @f's or less. */
struct fixed_form fixed_form_make_each(const struct filter *f, const struct colour_distance *l);

/* Whether the filter's mean is within the bound. */
bool fixed_form_holds(const struct filter *f, const struct colour_distance *l,
                      const struct fixed_form *form, enum row_layout layout);

/* A spatial distance, and what it leaves of the range of ROWS_FIXED and ROWS_HALF. */
unsigned fixed_space(const struct fixed_form *form, double x);
unsigned fixed_rest(const struct fixed_form *form, unsigned z);

/* The weight at distance @z, in Q15 or as the bits of a half, and an entry of ROWS_TABLE. */
int fixed_weight(const struct fixed_form *form, unsigned z);
int fixed_table_weight(int index);

/* The exponent of a spatial weight. */
double space_exponent(const struct filter *f, int dx, int dy);
