#include "filter/camera_delay.h"

#include <stdlib.h>

#define WINDOW_NS INT64_C(2000000000)
#define ONE_OF 10 /* the percentile: so many of the samples are at most one below it */

void camera_delay_reset(struct camera_delay *d)
{
    d->n = d->next = 0;
}

static int compare(const void *a, const void *b)
{
    const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

    return (x > y) - (x < y);
}

int64_t camera_delay_step(struct camera_delay *d, int64_t t_capture_ns, int64_t t_read_ns)
{
    const int64_t delay_ns = t_read_ns > t_capture_ns ? t_read_ns - t_capture_ns : 0;
    int64_t recent[CAMERA_DELAY_FRAMES];
    int n = 0, k;

    d->sample[d->next] = (struct camera_delay_sample){t_read_ns, delay_ns};
    d->next = (d->next + 1) % CAMERA_DELAY_FRAMES;
    d->n += d->n < CAMERA_DELAY_FRAMES;
    for (int i = 0; i < d->n; i++)
        if (t_read_ns - d->sample[i].t_read_ns <= WINDOW_NS)
            recent[n++] = d->sample[i].delay_ns;
    qsort(recent, (size_t)n, sizeof(recent[0]), compare);
    /* Never the lowest of several: a first frame can be younger than all that follow. */
    k = n / ONE_OF;
    if (k == 0 && n > 1)
        k = 1;
    return recent[k];
}
