#include "filter/camera_delay.h"

#include <stdbool.h>

#define WINDOW_NS INT64_C(2000000000)
#define ONE_OF 10 /* the percentile: so many of the samples are at most one below it */

/* A camera that has become slower is so by so much, for so many frames that differ by so little:
 * jitter does not look like that. */
#define LATER_NS INT64_C(10000000)
#define LATER_FRAMES 8
#define LATER_SPREAD_NS INT64_C(5000000)

void camera_delay_reset(struct camera_delay *d)
{
    d->n = d->next = d->n_later = 0;
}

/* Adds @ns to the @n least so far, of which at most @most are kept in order. Returns how many there
 * are. (qsort() allocates memory, and this is done for each frame.) */
static int keep_least(int64_t *least, int n, int most, int64_t ns)
{
    int i = n < most ? n : most - 1;

    if (n == most && ns >= least[i])
        return n;
    for (; i > 0 && least[i - 1] > ns; i--)
        least[i] = least[i - 1];
    least[i] = ns;
    return n < most ? n + 1 : n;
}

static void add(struct camera_delay *d, int64_t t_read_ns, int64_t delay_ns)
{
    d->sample[d->next] = (struct camera_delay_sample){t_read_ns, delay_ns};
    d->next = (d->next + 1) % CAMERA_DELAY_FRAMES;
    d->n += d->n < CAMERA_DELAY_FRAMES;
}

static bool is_recent(const struct camera_delay_sample *s, int64_t t_read_ns)
{
    return t_read_ns - s->t_read_ns <= WINDOW_NS;
}

/* The low percentile of the samples of the window; -1: there are none. */
static int64_t estimate(const struct camera_delay *d, int64_t t_read_ns)
{
    int64_t least[CAMERA_DELAY_FRAMES / ONE_OF + 1];
    int n_recent = 0, n = 0, k;

    for (int i = 0; i < d->n; i++)
        n_recent += is_recent(&d->sample[i], t_read_ns);
    if (!n_recent)
        return -1;
    /* Never the lowest of several: a first frame can be younger than all that follow. */
    k = n_recent / ONE_OF;
    if (k == 0 && n_recent > 1)
        k = 1;
    for (int i = 0; i < d->n; i++)
        if (is_recent(&d->sample[i], t_read_ns))
            n = keep_least(least, n, k + 1, d->sample[i].delay_ns);
    return least[k];
}

/* Whether the camera has become slower for good. Then only the last frames count. */
static bool has_become_slower(struct camera_delay *d, int64_t delay_ns, bool late)
{
    int64_t least = delay_ns, most = delay_ns;

    if (d->n_later) {
        least = least < d->least_ns ? least : d->least_ns;
        most = most > d->most_ns ? most : d->most_ns;
    }
    if (!late || most - least > LATER_SPREAD_NS) {
        least = most = delay_ns;
        d->n_later = 0;
    }
    d->least_ns = least;
    d->most_ns = most;
    d->n_later += late;
    return d->n_later >= LATER_FRAMES;
}

int64_t camera_delay_step(struct camera_delay *d, int64_t t_capture_ns, int64_t t_wait_ns,
                          int64_t t_read_ns)
{
    const int64_t delay_ns = t_read_ns > t_capture_ns ? t_read_ns - t_capture_ns : 0;
    const int64_t known_ns = estimate(d, t_read_ns);
    const bool late =
        known_ns >= 0 && delay_ns > known_ns + LATER_NS && t_wait_ns <= t_capture_ns + known_ns;

    if (has_become_slower(d, delay_ns, late)) {
        camera_delay_reset(d);
        add(d, t_read_ns, d->least_ns);
    }
    add(d, t_read_ns, delay_ns);
    return estimate(d, t_read_ns);
}
