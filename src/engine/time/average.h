#pragma once
/* The time axis of the image contract, in double precision: the mean of each pixel over the frames
 * so far, along its motion, with a count of its own. Slow on purpose; every engine is compared with
 * it. What is kept from frame to frame is rounded as every engine stores it.
 *
 * x is the raw frame, N the most frames that count, levels are 0..255. Pictures are compared by
 * cells of 2x2 luma samples with the chroma that they share. Chroma is repeated on the luma grid
 * where it meets luma, and the nearest edge sample or cell is repeated everywhere. |.|^2 of (Y, U,
 * V) is Y^2 + 4/5 (U^2 + V^2), nearly that in R'G'B' with a level of luma as the unit; nu2 is the
 * variance of the noise in this unit at the rounded mean luma of a cell (noise.h, after this frame
 * was counted), rho the share of it that is left in E, W the matrix that makes what is left white
 * (noise_whitening()). box3, box7: means over 3x3, 7x7 cells.
 *
 *   0. First frame, or after a break: H = x, n = 1. A frame with the same bytes as the one before
 *      changes neither, unless it is a still of a show, with which the mean starts again:
 *      noise_repeat().
 *   1. Predict twice: P_0 = H of the frame before at the same place, with m_0 = n there; P_1 = H
 *      along the block's motion v (motion.h): luma by a cubic of four taps, a = -0.7, kept
 *      in 0..255, chroma linearly;
 *      m_1 = n at the nearest cell, 0 outside of the picture, at most 8 if v has a fraction.
 *      Where v = 0, P_1 = P_0. base = 1 + 1 / max(m, 1/2).
 *   2. Compare: e = x - P for each luma sample, A of a cell is the mean of the 4x4 around, weighed
 *      1 3 3 1 both ways. A change of the light's colour all over the picture is no difference: t,
 *      one for U and one for V, or for B' and R', is tint_find()'s, and 0 in most frames.
 *          E   = A of luma, A - t (y - K) of chroma; y: the rounded mean luma of x in a cell, K:
 *                colour_zero()
 *      Nor is a slow change of light. It is a gain of luma and chroma alike, and where the light
 *      has another colour chroma changes by itself, too:
 *          C   = box7 of E, that of luma clamped to +-3.5 nu, of chroma to +-nu
 *          L_Y = C_Y max(0, 1 - T nu2 base / C_Y^2),  T = noise_luma_light()
 *          h   = L_Y / max(box7 of (y - K), 16), at most 1/3 either way: the part of x that the
 *                change makes
 *          G   = h (c - K) for each of U, V, or B', R'; c: that of x at a cell's upper left sample
 *          S   = C - (h box7 of (c - K), clamped to +-nu)
 *          L   = S max(0, 1 - T nu2 base / |S|^2) of both,  T = noise_chroma_light()
 *          D   = (box3 of |W (E_Y - L_Y, E - G)|^2) / nu2
 *          R   = rho D + (box3 of the cell's mean |e|^2 less |A|^2) / nu2
 *          s   = 1 where v has a fraction, else noise_slack(rho)
 *          n'  = 1 / (1/m + 0.8 max(0, D - 1.1 s base) + max(0, R - 1.7 s base)),  0 if m = 0
 *      What changes in chroma alone may be something as bright that moves: D takes it for that,
 *      and P' follows it all the same.
 *   3. Mix: f = 1 / (1 + exp(4 (D_1 - D_0) + 2 (R_1 - R_0) + b)), 0 if m_1 = 0 or v = 0;
 *      b = 0 where motion_is_far(), else 2; P = P_0 + f (P_1 - P_0), L, h and n' likewise.
 *      P' = P + L of luma, P + L + t (y - K) + g (P - K) of chroma, where g = h / (1 - h) is of P
 *      what h is of x.
 *   4. Average: H = P' + (x - P') / (n' + 1), n = min(n' + 1, N).
 *
 * Of samples of 16 bits x is the level with all of its parts. Motion, noise, the mean luma
 * of cells and the c of G are found from the upper 8 bits: so they are integers of the same size,
 * and what the others would add to nu2 is less than its least value.
 *
 * Stored are H in 1/128 of a level (15 bits) and n in a byte (filter/mean_count.h), both rounded to
 * nearest. H is never filtered in space: that acts on a copy, so the radius has no past.
 * Sources: motion compensated recursive averages as in E. Dubois, S. Sabri, "Noise reduction in
 * image sequences using motion-compensated temporal filtering" (1984). Context: one thread at a
 * time. */
#include <stdbool.h>

#include "engine/engine.h"
#include "filter/noise.h"
#include "picture/frame.h"

#define AVERAGE_MAX_FRAMES 64

struct average;

int average_create(struct average **ret); /* -ENOMEM */
void average_destroy(struct average *a);  /* accepts NULL */

/* The next frame has nothing to do with those before. The noise stays known. */
void average_forget(struct average *a);

/* One raw frame more, of which @frames count at most; 1: the noise is measured, and no more.
 * Without @search all vectors are 0. Another format, size or colour is forgotten by itself, all
 * else that ends the past (past.h) is the caller's to see. -ENOMEM. */
int average_add(struct average *a, const struct frame *x, int frames, bool search);

/* The level of a sample, and how many frames the cell of a luma sample is the mean of. */
double average_level(const struct average *a, int component, int x, int y);
double average_count(const struct average *a, int x, int y);

/* The variance of the noise at the cell of a luma sample of the newest frame. */
double average_noise(const struct average *a, int x, int y);

/* The share of it that neighbours have in common (noise.h). */
double average_noise_share(const struct average *a);

/* What an engine reports, after a frame. */
void average_report(struct average *a, struct engine_report *ret);
