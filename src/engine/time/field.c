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

/* Replaces the @n values from @v, @step apart, by the means around them. */
static void smooth_line(const struct field *f, double *v, int n, size_t step, int reach)
{
    for (int i = 0; i < n; i++)
        f->line[i] = v[(size_t)i * step];
    for (int i = 0; i < n; i++) {
        double sum = 0.0;

        for (int k = -reach; k <= reach; k++)
            sum += f->line[frame_nearest(i + k, n)];
        v[(size_t)i * step] = sum / (2 * reach + 1);
    }
}

void field_box(struct field *f, int reach)
{
    for (int y = 0; y < f->height; y++)
        smooth_line(f, field_at(f, 0, y), f->width, 1, reach);
    for (int x = 0; x < f->width; x++)
        smooth_line(f, field_at(f, x, 0), f->height, (size_t)f->width, reach);
}
