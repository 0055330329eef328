#pragma once
/* Y'CbCr as R'G'B': matrices, ranges and the colour distance of the image contract.
 *
 * R'G'B' here is on a 0..255 scale and not clamped, so that it is linear in Y'CbCr: distances
 * between colours then need only differences of Y'CbCr samples. Pictures of R'G'B' (COLOUR_RGB) are
 * a matrix like others: it only brings G', B' and R' into the order R', G', B'. Source of the
 * coefficients: ITU-R BT.601-7, BT.709-6 and BT.2020-2 (luma weights, quantization to 8 bits), and
 * JFIF for full range. Pure functions; any thread. */
#include "picture/frame.h"

/* @m maps a difference (dY, dU, dV) of 8-bit samples to a difference (dR, dG, dB). */
void colour_to_rgb(struct colour c, double m[3][3]);

/* The Cholesky factor of M^T M, M being the matrix above:
 *     Y1 = a Y + b U + c V,   U1 = d U + e V,   V1 = f V
 * for which |dRGB|^2 = dY1^2 + dU1^2 + dV1^2. U1 and V1 need chroma alone, so that pixels
 * which share a chroma sample share them too. */
struct colour_distance {
    double a, b, c, d, e, f;
};

struct colour_distance colour_distance(struct colour c);

/* The 8-bit sample of @component that has no light, or no colour. */
int colour_zero(struct colour c, int component);

/* What pictures of @format are in that show one in @c: packed R'G'B' is nothing else, and what has
 * less chroma than luma, or none, is Y'CbCr. */
struct colour colour_in(enum frame_format format, struct colour c);

/* The 8-bit Y'CbCr of @from expressed in @to:
 *     out[i] = offset[i] + sum over j of m[i][j] * in[j] */
void colour_convert(struct colour from, struct colour to, double m[3][3], double offset[3]);
