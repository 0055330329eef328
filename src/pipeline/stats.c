#include "pipeline/stats.h"

#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"

#define SUB_BITS 5 /* 32 buckets to an octave */
#define FLOOR_NS 1024
#define OLD_NS (2 * NS_PER_S) /* the age of a second that is not the last one any more */

struct stats_recorder {
    pthread_mutex_t lock; /* guards the rest */
    struct stats s;
    int64_t t_second_ns;                  /* when the present second began; 0 = no frame yet */
    struct histogram span[N_SPANS];       /* of the present second */
    int64_t t_processor_ns, processor_ns; /* when it was looked at last, and what it was then */
    double processor_percent;             /* between the last two looks; 0 = not yet */
};

/* Octave and position inside it, both from the bits of the number. */
static int bucket_of(int64_t ns)
{
    const uint64_t v = ns < FLOOR_NS ? FLOOR_NS : (uint64_t)ns;
    const int octave = 63 - __builtin_clzll(v);
    const int index = ((octave - 10) << SUB_BITS) + (int)((v >> (octave - SUB_BITS)) & 31);

    return index < HISTOGRAM_BUCKETS ? index : HISTOGRAM_BUCKETS - 1;
}

static int64_t bucket_middle(int index)
{
    const int octave = (index >> SUB_BITS) + 10;
    const int64_t low = (int64_t)(32 + (index & 31)) << (octave - SUB_BITS);

    return low + ((int64_t)1 << (octave - SUB_BITS)) / 2;
}

void histogram_add(struct histogram *h, int64_t ns)
{
    h->n++;
    h->bucket[bucket_of(ns)]++;
    if (ns > h->max_ns)
        h->max_ns = ns;
}

int64_t histogram_percentile(const struct histogram *h, double percent)
{
    const double wanted = ceil((double)h->n * percent / 100.0);
    uint64_t n = 0;

    if (!h->n || wanted >= (double)h->n)
        return h->max_ns;
    for (int i = 0; i < HISTOGRAM_BUCKETS; i++) {
        n += h->bucket[i];
        if (n && (double)n >= wanted) {
            const int64_t middle = bucket_middle(i);

            return middle < h->max_ns ? middle : h->max_ns;
        }
    }
    return h->max_ns;
}

int stats_create(struct stats_recorder **ret)
{
    struct stats_recorder *r = calloc(1, sizeof(*r));

    if (!r)
        return -ENOMEM;
    if (pthread_mutex_init(&r->lock, NULL)) {
        free(r);
        return -ENOMEM;
    }
    r->s.radius_min_used = r->s.radius_last = -1;
    *ret = r;
    return 0;
}

void stats_destroy(struct stats_recorder *r)
{
    if (!r)
        return;
    (void)pthread_mutex_destroy(&r->lock);
    free(r);
}

void stats_input(struct stats_recorder *r, uint64_t in, uint64_t dropped, uint64_t bad,
                 uint64_t reconnects)
{
    (void)pthread_mutex_lock(&r->lock);
    r->s.frames_in = in;
    r->s.frames_dropped = dropped;
    r->s.frames_bad = bad;
    r->s.reconnects = reconnects;
    (void)pthread_mutex_unlock(&r->lock);
}

static struct percentiles percentiles_of(const struct histogram *h)
{
    return (struct percentiles){
        .p50_ns = histogram_percentile(h, 50),
        .p95_ns = histogram_percentile(h, 95),
        .p99_ns = histogram_percentile(h, 99),
        .max_ns = h->max_ns,
    };
}

static struct timing timing_of(const struct histogram spans[N_SPANS], double fps)
{
    return (struct timing){
        .fps = fps,
        .latency = percentiles_of(&spans[SPAN_LATENCY]),
        .camera = percentiles_of(&spans[SPAN_CAMERA]),
        .added = percentiles_of(&spans[SPAN_ADDED]),
        .filter = percentiles_of(&spans[SPAN_FILTER]),
    };
}

/* Keeps what the second that ends now was like, and begins the next. */
static void end_second(struct stats_recorder *r, int64_t t_now_ns)
{
    const double seconds = (double)(t_now_ns - r->t_second_ns) / 1e9;

    r->s.second = timing_of(r->span, (double)r->span[0].n / seconds);
    r->s.t_second_ns = t_now_ns;
    memset(r->span, 0, sizeof(r->span));
    r->t_second_ns = t_now_ns;
}

static void count_in_second(struct stats_recorder *r, const int64_t span_ns[N_SPANS],
                            int64_t t_now_ns)
{
    if (!r->t_second_ns)
        r->t_second_ns = t_now_ns;
    if (t_now_ns - r->t_second_ns >= NS_PER_S)
        end_second(r, t_now_ns);
    for (int i = 0; i < N_SPANS; i++)
        histogram_add(&r->span[i], span_ns[i]);
}

void stats_output(struct stats_recorder *r, const int64_t span_ns[N_SPANS], int radius_requested,
                  int radius, int64_t t_now_ns)
{
    struct stats *s = &r->s;

    (void)pthread_mutex_lock(&r->lock);
    for (int i = 0; i < N_SPANS; i++)
        histogram_add(&s->span[i], span_ns[i]);
    count_in_second(r, span_ns, t_now_ns);
    s->radius_requested = radius_requested;
    s->radius_last = radius;
    if (s->radius_min_used < 0 || radius < s->radius_min_used)
        s->radius_min_used = radius;
    if (s->frames_out++ == 0)
        s->t_first_ns = t_now_ns;
    s->t_last_ns = t_now_ns;
    (void)pthread_mutex_unlock(&r->lock);
}

void stats_late(struct stats_recorder *r)
{
    (void)pthread_mutex_lock(&r->lock);
    r->s.frames_out++;
    (void)pthread_mutex_unlock(&r->lock);
}

void stats_not_shown(struct stats_recorder *r, uint64_t n)
{
    (void)pthread_mutex_lock(&r->lock);
    r->s.frames_not_shown += n;
    (void)pthread_mutex_unlock(&r->lock);
}

void stats_quality(struct stats_recorder *r, double noisy_error, double filtered_error)
{
    (void)pthread_mutex_lock(&r->lock);
    r->s.noisy_error += noisy_error;
    r->s.filtered_error += filtered_error;
    (void)pthread_mutex_unlock(&r->lock);
}

void stats_snapshot(struct stats_recorder *r, struct stats *ret)
{
    (void)pthread_mutex_lock(&r->lock);
    *ret = r->s;
    (void)pthread_mutex_unlock(&r->lock);
}

double stats_processor(struct stats_recorder *r, int64_t processor_ns, int64_t t_now_ns)
{
    double percent;

    (void)pthread_mutex_lock(&r->lock);
    if (t_now_ns - r->t_processor_ns >= NS_PER_S) {
        if (r->t_processor_ns)
            r->processor_percent = 100.0 * (double)(processor_ns - r->processor_ns) /
                                   (double)(t_now_ns - r->t_processor_ns);
        r->t_processor_ns = t_now_ns;
        r->processor_ns = processor_ns;
    }
    percent = r->processor_percent;
    (void)pthread_mutex_unlock(&r->lock);
    return percent;
}

void stats_balance(struct stats *s, bool ended)
{
    const uint64_t known = s->frames_out + s->frames_dropped + s->frames_bad;

    if (ended && s->frames_in > known)
        s->frames_dropped += s->frames_in - known;
    else
        s->frames_in = known;
}

/* Frames per second between the first and the last write; 0 when there are fewer than two. */
static double fps_of(const struct stats *s)
{
    const double seconds = (double)(s->t_last_ns - s->t_first_ns) / 1e9;

    return s->frames_out > 1 && seconds > 0.0 ? (double)(s->frames_out - 1) / seconds : 0.0;
}

void stats_fill_status(const struct stats *s, int64_t t_now_ns, struct status *ret)
{
    ret->frames_in = s->frames_in;
    ret->frames_out = s->frames_out;
    ret->frames_dropped = s->frames_dropped;
    ret->frames_bad = s->frames_bad;
    ret->reconnects = s->reconnects;
    ret->radius_requested = s->radius_requested;
    ret->radius_min_used = s->radius_min_used;
    ret->radius_last = s->radius_last;
    ret->run = timing_of(s->span, fps_of(s));
    ret->second = (struct timing){.fps = 0.0};
    if (s->t_second_ns && t_now_ns - s->t_second_ns < OLD_NS)
        ret->second = s->second;
    ret->psnr_gain_db = NAN;
    if (s->noisy_error > 0.0 && s->filtered_error > 0.0)
        ret->psnr_gain_db = 10.0 * log10(s->noisy_error / s->filtered_error);
}
