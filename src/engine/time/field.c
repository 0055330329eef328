#include "engine/time/field.h"

#include <stdlib.h>

#include "picture/frame.h"

bool field_alloc(struct field *f, int width, int height)
{
    const int longest = width > height ? width : height;

    f->width = width;
    f->height = height;
    f->v = calloc((size_t)width * (size_t)height, sizeof(*f->v));
    f->line = calloc((size_t)longest, sizeof(*f->line));
    return f->v && f->line;
}

void field_free(struct field *f)
{
    free(f->v);
    free(f->line);
    *f = (struct field){0};
}

/* Replaces the @n values from @v, @step apart, by their weighed means. */
static void smooth_line(const struct field *f, double *v, int n, size_t step, const double *weight,
                        int reach)
{
    for (int i = 0; i < n; i++)
        f->line[i] = v[(size_t)i * step];
    for (int i = 0; i < n; i++) {
        double sum = 0.0;

        for (int k = -reach; k <= reach; k++)
            sum += weight[k + reach] * f->line[frame_nearest(i + k, n)];
        v[(size_t)i * step] = sum;
    }
}

static void smooth(struct field *f, const double *weight, int reach)
{
    for (int y = 0; y < f->height; y++)
        smooth_line(f, field_at(f, 0, y), f->width, 1, weight, reach);
    for (int x = 0; x < f->width; x++)
        smooth_line(f, field_at(f, x, 0), f->height, (size_t)f->width, weight, reach);
}

void field_box(struct field *f, int reach)
{
    double weight[2 * FIELD_MAX_REACH + 1];

    for (int i = 0; i <= 2 * reach; i++)
        weight[i] = 1.0 / (2 * reach + 1);
    smooth(f, weight, reach);
}

void field_binomial(struct field *f)
{
    smooth(f, (const double[]){0.25, 0.5, 0.25}, 1);
}
