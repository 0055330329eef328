#include "engine/time/guess.h"

#include <math.h>

#include "filter/noise_follow.h"
#include "picture/colour.h"

#define CUBIC -0.7       /* the sharper a cubic, the less a picture that moves is blurred */
#define MOST_BETWEEN 8.0 /* frames that a mean between samples counts for */

bool guess_alloc(struct guess *g, const struct frame *f)
{
    struct field *const by_cell[] = {&g->m,      &g->mean[0], &g->mean[1], &g->mean[2], &g->l[0],
                                     &g->l[1],   &g->l[2],    &g->part,    &g->box[0],  &g->box[1],
                                     &g->box[2], &g->d,       &g->r,       &g->n};
    const struct format_info *info = &format_table[f->format];
    bool made = true;

    for (int c = 0; c < info->components; c++) {
        const int hs = c ? info->hshift : 0, vs = c ? info->vshift : 0;

        made = field_alloc(&g->p[c], (f->width + (1 << hs) - 1) >> hs,
                           (f->height + (1 << vs) - 1) >> vs) &&
               made;
    }
    for (size_t i = 0; i < sizeof(by_cell) / sizeof(by_cell[0]); i++)
        made = field_alloc(by_cell[i], past_cells(f->width), past_cells(f->height)) && made;
    for (int i = 0; i < 3; i++)
        made = field_alloc(&g->e[i], f->width, f->height) && made;
    return made;
}

void guess_free(struct guess *g)
{
    for (int i = 0; i < 3; i++) {
        field_free(&g->p[i]);
        field_free(&g->e[i]);
        field_free(&g->mean[i]);
        field_free(&g->l[i]);
        field_free(&g->box[i]);
    }
    field_free(&g->part);
    field_free(&g->m);
    field_free(&g->d);
    field_free(&g->r);
    field_free(&g->n);
}

/* --- predict --- */

/* Along which the guess is made. */
static struct motion_vector vector_at(const struct guess_input *in, int x, int y)
{
    const int cols = (in->x->width + MOTION_BLOCK - 1) / MOTION_BLOCK;

    if (!in->vectors)
        return (struct motion_vector){0};
    return in->vectors[y / MOTION_BLOCK * cols + x / MOTION_BLOCK];
}

/* The weight of a sample @d away: R. Keys, "Cubic convolution interpolation" (1981). */
static double cubic(double d)
{
    d = fabs(d);
    if (d <= 1.0)
        return ((CUBIC + 2.0) * d - (CUBIC + 3.0)) * d * d + 1.0;
    return d < 2.0 ? CUBIC * (((d - 5.0) * d + 8.0) * d - 4.0) : 0.0;
}

static double linear(double d)
{
    return fmax(1.0 - fabs(d), 0.0);
}

/* A level of the frame before at (@x, @y), which may lie between samples. */
static double interpolate(const struct stored *s, int component, double x, double y)
{
    double (*const weight)(double) = component == 0 ? cubic : linear;
    const int x0 = (int)floor(x), y0 = (int)floor(y);
    double sum = 0.0;

    if (x == x0 && y == y0)
        return stored_level(s, component, x0, y0);
    for (int j = y0 - 1; j <= y0 + 2; j++)
        for (int i = x0 - 1; i <= x0 + 2; i++)
            sum += weight(i - x) * weight(j - y) * stored_level(s, component, i, j);
    return fmin(fmax(sum, 0.0), 255.0);
}

static void predict_component(struct guess *g, const struct guess_input *in, int c)
{
    const struct format_info *info = &format_table[in->x->format];
    const int hs = c ? info->hshift : 0, vs = c ? info->vshift : 0;

    for (int y = 0; y < g->p[c].height; y++)
        for (int x = 0; x < g->p[c].width; x++) {
            const struct motion_vector v = vector_at(in, x << hs, y << vs);

            *field_at(&g->p[c], x, y) = interpolate(in->before, c, x + v.x / (double)(8 << hs),
                                                    y + v.y / (double)(8 << vs));
        }
}

static double predict_count(const struct guess_input *in, int cx, int cy)
{
    const struct motion_vector v = vector_at(in, 2 * cx, 2 * cy);
    const int px = cx + (int)floor(v.x / 16.0 + 0.5), py = cy + (int)floor(v.y / 16.0 + 0.5);
    double m;

    if (px < 0 || py < 0 || px >= past_cells(in->x->width) || py >= past_cells(in->x->height))
        return 0.0;
    m = stored_count(in->before, px, py);
    return v.x % 8 || v.y % 8 ? fmin(m, MOST_BETWEEN) : m;
}

static void predict(struct guess *g, const struct guess_input *in)
{
    for (int c = 0; c < format_table[in->x->format].components; c++)
        predict_component(g, in, c);
    for (int y = 0; y < g->m.height; y++)
        for (int x = 0; x < g->m.width; x++)
            *field_at(&g->m, x, y) = predict_count(in, x, y);
}

/* --- compare --- */

static double base_of(double m)
{
    return 1.0 + 1.0 / fmax(m, 0.5);
}

static double square(double v)
{
    return v * v;
}

static double squared(const double e[3])
{
    return square(e[0]) + NOISE_CHROMA * (square(e[1]) + square(e[2]));
}

/* e = x - P */
static void subtract(struct guess *g, const struct guess_input *in)
{
    const struct format_info *info = &format_table[in->x->format];

    for (int c = 0; c < info->components; c++)
        for (int y = 0; y < in->x->height; y++)
            for (int x = 0; x < in->x->width; x++) {
                const int cx = c ? x >> info->hshift : x, cy = c ? y >> info->vshift : y;

                *field_at(&g->e[c], x, y) =
                    frame_level(in->x, c, cx, cy) - *field_at(&g->p[c], cx, cy);
            }
}

/* A of a cell, from samples of e around it. */
static double mean_around(const struct field *e, int cx, int cy)
{
    static const double weight[4] = {1.0 / 8, 3.0 / 8, 3.0 / 8, 1.0 / 8};
    double sum = 0.0;

    for (int j = 0; j < 4; j++)
        for (int i = 0; i < 4; i++)
            sum += weight[i] * weight[j] *
                   *field_at(e, frame_nearest(2 * cx - 1 + i, e->width),
                             frame_nearest(2 * cy - 1 + j, e->height));
    return sum;
}

/* The mean of |e|^2 over a cell. */
static double mean_square(const struct guess *g, int cx, int cy)
{
    double sum = 0.0;

    for (int j = 0; j < 2; j++)
        for (int i = 0; i < 2; i++) {
            const int x = frame_nearest(2 * cx + i, g->e[0].width);
            const int y = frame_nearest(2 * cy + j, g->e[0].height);

            sum += squared((const double[]){*field_at(&g->e[0], x, y), *field_at(&g->e[1], x, y),
                                            *field_at(&g->e[2], x, y)});
        }
    return sum / 4.0;
}

/* The mean over 3x3 cells, in units of the noise. */
static void misfit(struct field *f, const struct guess_input *in)
{
    field_box(f, 1);
    for (int y = 0; y < f->height; y++)
        for (int x = 0; x < f->width; x++)
            *field_at(f, x, y) /= *field_at(in->nu2, x, y);
}

/* A, and of R what D is not. */
static void gather_cells(struct guess *g, const struct guess_input *in)
{
    for (int y = 0; y < g->r.height; y++)
        for (int x = 0; x < g->r.width; x++) {
            double a[3];

            for (int i = 0; i < 3; i++)
                *field_at(&g->mean[i], x, y) = a[i] = mean_around(&g->e[i], x, y);
            *field_at(&g->r, x, y) = mean_square(g, x, y) - squared(a);
        }
    misfit(&g->r, in);
}

int guess_brightness(const struct frame *f, int cx, int cy)
{
    int sum = 2;

    for (int j = 0; j < 2; j++)
        for (int i = 0; i < 2; i++)
            sum += frame_byte(f, 0, frame_nearest(2 * cx + i, f->width),
                              frame_nearest(2 * cy + j, f->height));
    return sum / 4;
}

static double within(double v, double most)
{
    return fmin(fmax(v, -most), most);
}

/* How much of C is more than @noise. */
static double kept(double c2, double noise)
{
    return c2 > noise ? 1.0 - noise / c2 : 0.0;
}

/* How far a cell's E may be from 0 in C. */
static double clamp_of(const struct guess_input *in, int component, int x, int y)
{
    return (component ? 1.0 : 3.5) * sqrt(*field_at(in->nu2, x, y));
}

static void clamp_means(struct guess *g, const struct guess_input *in, int component)
{
    for (int y = 0; y < g->m.height; y++)
        for (int x = 0; x < g->m.width; x++)
            *field_at(&g->l[component], x, y) =
                within(*field_at(&g->mean[component], x, y), clamp_of(in, component, x, y));
}

/* y - K or c - K of a cell. */
static double colour_of(const struct frame *f, int component, int cx, int cy)
{
    const struct format_info *info = &format_table[f->format];
    const int zero = colour_zero(f->colour, component);

    if (!component)
        return guess_brightness(f, cx, cy) - zero;
    return frame_byte(f, component, 2 * cx >> info->hshift, 2 * cy >> info->vshift) - zero;
}

/* E */
static void take_tint(struct guess *g, const struct guess_input *in)
{
    for (int y = 0; y < g->m.height; y++)
        for (int x = 0; x < g->m.width; x++) {
            *field_at(&g->mean[1], x, y) -= in->tint.u * colour_of(in->x, 0, x, y);
            *field_at(&g->mean[2], x, y) -= in->tint.v * colour_of(in->x, 0, x, y);
        }
}

/* The means of those around each cell. */
static void find_colours(struct guess *g, const struct frame *f)
{
    for (int c = 0; c < format_table[f->format].components; c++) {
        for (int y = 0; y < g->m.height; y++)
            for (int x = 0; x < g->m.width; x++)
                *field_at(&g->box[c], x, y) = colour_of(f, c, x, y);
        field_box(&g->box[c], 3);
    }
}

/* L of luma at one cell from C in its place, and h. */
static void find_part(struct guess *g, int x, int y, double in_luma)
{
    double *luma = field_at(&g->l[0], x, y);

    *luma *= kept(square(*luma), in_luma);
    *field_at(&g->part, x, y) = within(*luma / fmax(*field_at(&g->box[0], x, y), 16.0), 1.0 / 3.0);
}

/* L of chroma at one cell, from C in its place and h. */
static void shrink_chroma(struct guess *g, const struct guess_input *in, int x, int y,
                          double in_chroma)
{
    double *u = field_at(&g->l[1], x, y), *v = field_at(&g->l[2], x, y), keep;
    const double most = clamp_of(in, 1, x, y), part = *field_at(&g->part, x, y);

    *u -= within(part * *field_at(&g->box[1], x, y), most);
    *v -= within(part * *field_at(&g->box[2], x, y), most);
    keep = kept(NOISE_CHROMA * (square(*u) + square(*v)), in_chroma);
    *u *= keep;
    *v *= keep;
}

static void find_light(struct guess *g, const struct guess_input *in)
{
    const bool grey = format_table[in->x->format].components == 1;
    const double in_luma = noise_luma_light(in->noise->left, in->noise->share, grey);
    const double in_chroma = noise_chroma_light(in->noise->left, in->noise->share);

    for (int c = 0; c < format_table[in->x->format].components; c++) {
        clamp_means(g, in, c);
        field_box(&g->l[c], 3);
    }
    find_colours(g, in->x);
    for (int y = 0; y < g->m.height; y++)
        for (int x = 0; x < g->m.width; x++) {
            const double noise = *field_at(in->nu2, x, y) * base_of(*field_at(&g->m, x, y));

            find_part(g, x, y, in_luma * noise);
            if (!grey)
                shrink_chroma(g, in, x, y, in_chroma * noise);
        }
}

/* |W e|^2 */
static double whitened(const struct noise_white *w, const double e[3])
{
    return square(w->y * e[0] + w->yu * e[1] + w->yv * e[2]) + square(w->u * e[1] + w->uv * e[2]) +
           square(w->v * e[2]);
}

/* D of what luma's L and G leave of E, and R. */
static void compare(struct guess *g, const struct guess_input *in)
{
    const bool grey = format_table[in->x->format].components == 1;
    const struct noise_white w = noise_whitening(in->noise->left, in->noise->share, grey);

    for (int y = 0; y < g->d.height; y++)
        for (int x = 0; x < g->d.width; x++) {
            double left[3] = {*field_at(&g->mean[0], x, y) - *field_at(&g->l[0], x, y)};

            for (int c = 1; c < format_table[in->x->format].components; c++)
                left[c] = *field_at(&g->mean[c], x, y) -
                          *field_at(&g->part, x, y) * colour_of(in->x, c, x, y);
            *field_at(&g->d, x, y) = whitened(&w, left);
        }
    misfit(&g->d, in);
    for (int y = 0; y < g->d.height; y++)
        for (int x = 0; x < g->d.width; x++)
            *field_at(&g->r, x, y) += in->noise->share * *field_at(&g->d, x, y);
}

/* n' of a cell. */
static double believed(const struct guess *g, const struct guess_input *in, int x, int y)
{
    const struct motion_vector v = vector_at(in, 2 * x, 2 * y);
    const double m = *field_at(&g->m, x, y), slack = noise_slack((float)in->noise->share);
    const double base = base_of(m) * (v.x % 8 || v.y % 8 ? 1.0 : slack);
    const double d = *field_at(&g->d, x, y), r = *field_at(&g->r, x, y);

    if (m <= 0.0)
        return 0.0;
    return 1.0 / (1.0 / m + 0.8 * fmax(0.0, d - 1.1 * base) + fmax(0.0, r - 1.7 * base));
}

void guess_make(struct guess *g, const struct guess_input *in)
{
    predict(g, in);
    subtract(g, in);
    gather_cells(g, in);
    take_tint(g, in);
    find_light(g, in);
    compare(g, in);
    for (int y = 0; y < g->m.height; y++)
        for (int x = 0; x < g->m.width; x++)
            *field_at(&g->n, x, y) = believed(g, in, x, y);
}
