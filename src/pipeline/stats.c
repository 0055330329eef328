#include "pipeline/stats.h"

#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/text.h"

#define SUB_BITS 5 /* 32 buckets to an octave */
#define FLOOR_NS 1024

struct stats_recorder {
    pthread_mutex_t lock; /* guards the rest */
    struct stats s;
    int64_t t_second_ns;            /* when the present second began; 0 = no frame yet */
    struct histogram span[N_SPANS]; /* of the present second */
    int radius_min, radius_max;
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

const struct second *stats_last_second(const struct stats *s, int64_t t_now_ns)
{
    const struct second *last = &s->history[(s->n_seconds - 1) % STATS_SECONDS];

    return s->n_seconds && t_now_ns - last->t_end_ns < 2 * NS_PER_S ? last : NULL;
}

/* Keeps what the second that ends now was like, and begins the next. */
static void end_second(struct stats_recorder *r, int64_t t_now_ns)
{
    struct second *second = &r->s.history[r->s.n_seconds++ % STATS_SECONDS];
    const double seconds = (double)(t_now_ns - r->t_second_ns) / 1e9;

    second->t_end_ns = t_now_ns;
    second->fps = (double)r->span[0].n / seconds;
    second->radius_min = r->radius_min;
    second->radius_max = r->radius_max;
    for (int i = 0; i < N_SPANS; i++) {
        second->p50_ns[i] = histogram_percentile(&r->span[i], 50);
        second->p95_ns[i] = histogram_percentile(&r->span[i], 95);
        second->p99_ns[i] = histogram_percentile(&r->span[i], 99);
        second->max_ns[i] = r->span[i].max_ns;
    }
    memset(r->span, 0, sizeof(r->span));
    r->t_second_ns = t_now_ns;
}

static void count_in_second(struct stats_recorder *r, const int64_t span_ns[N_SPANS], int radius,
                            int64_t t_now_ns)
{
    if (!r->t_second_ns)
        r->t_second_ns = t_now_ns;
    if (t_now_ns - r->t_second_ns >= NS_PER_S)
        end_second(r, t_now_ns);
    if (!r->span[0].n)
        r->radius_min = r->radius_max = radius;
    r->radius_min = radius < r->radius_min ? radius : r->radius_min;
    r->radius_max = radius > r->radius_max ? radius : r->radius_max;
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
    count_in_second(r, span_ns, radius, t_now_ns);
    s->radius_requested = radius_requested;
    s->radius_last = radius;
    if (s->radius_min_used < 0 || radius < s->radius_min_used)
        s->radius_min_used = radius;
    if (s->frames_out++ == 0)
        s->t_first_ns = t_now_ns;
    s->t_last_ns = t_now_ns;
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

void stats_balance(struct stats *s, bool ended)
{
    const uint64_t known = s->frames_out + s->frames_dropped + s->frames_bad;

    if (ended && s->frames_in > known)
        s->frames_dropped += s->frames_in - known;
    else
        s->frames_in = known;
}

double stats_fps(const struct stats *s)
{
    const double seconds = (double)(s->t_last_ns - s->t_first_ns) / 1e9;

    return s->frames_out > 1 && seconds > 0.0 ? (double)(s->frames_out - 1) / seconds : 0.0;
}

static void print_text(FILE *out, const char *name, const char *text)
{
    fprintf(out, "\"%s\": ", name);
    json_print_string(out, text);
    fputs(", ", out);
}

static void print_span(FILE *out, const char *name, const struct histogram *h)
{
    fprintf(out, "\"%s\": {\"p50\": %.3f, \"p95\": %.3f, \"p99\": %.3f, \"max\": %.3f}, ", name,
            (double)histogram_percentile(h, 50) / 1e6, (double)histogram_percentile(h, 95) / 1e6,
            (double)histogram_percentile(h, 99) / 1e6, (double)h->max_ns / 1e6);
}

void stats_print_json(const struct stats_header *header, const struct stats *s, FILE *out)
{
    fputc('{', out);
    print_text(out, "engine", header->engine);
    print_text(out, "device", header->device);
    fprintf(out, "\"width\": %d, \"height\": %d, \"fps\": %.3f, ", header->width, header->height,
            stats_fps(s));
    print_text(out, "format_in", header->format_in);
    print_text(out, "format_out", header->format_out);
    fprintf(out,
            "\"frames_in\": %llu, \"frames_out\": %llu, \"frames_dropped\": %llu, "
            "\"frames_bad\": %llu, ",
            (unsigned long long)s->frames_in, (unsigned long long)s->frames_out,
            (unsigned long long)s->frames_dropped, (unsigned long long)s->frames_bad);
    fprintf(out, "\"radius_requested\": %d, \"radius_min_used\": %d, \"radius_last\": %d, ",
            s->radius_requested, s->radius_min_used, s->radius_last);
    print_span(out, "latency_ms", &s->span[SPAN_LATENCY]);
    print_span(out, "camera_ms", &s->span[SPAN_CAMERA]);
    print_span(out, "added_ms", &s->span[SPAN_ADDED]);
    print_span(out, "filter_ms", &s->span[SPAN_FILTER]);
    if (s->noisy_error > 0.0 && s->filtered_error > 0.0)
        fprintf(out, "\"psnr_gain_db\": %.3f, ", 10.0 * log10(s->noisy_error / s->filtered_error));
    fprintf(out, "\"reconnects\": %llu}\n", (unsigned long long)s->reconnects);
}
