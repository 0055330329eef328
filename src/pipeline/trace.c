#include "pipeline/trace.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/event.h"
#include "base/log.h"
#include "base/out_file.h"
#include "base/thread.h"

#define BUFFER_BYTES ((size_t)256 * 1024) /* more than a minute of a camera */
#define LINE_BYTES 512
#define GRACE_MS 100 /* after the end a reader that takes nothing for so long gets no more */

struct trace {
    struct out_file file; /* the thread's own, but for opening and closing */
    pthread_t thread;
    bool started;
    int stop_fd; /* readable once the program is to end */
    int end_fd;  /* event, rung once `ending` is set */

    pthread_mutex_t lock; /* guards the rest */
    pthread_cond_t changed;
    bool ending, ended;
    int64_t t_ending_ns;
    int error;
    uint64_t n_lines, n_left_out; /* so far, and of them */
    bool told;                    /* how many were left out */
    size_t n;                     /* bytes of whole lines in the buffer */
    char buffer[BUFFER_BYTES];
};

/* ------------------------------------------------------------------- writing */

static uint64_t count_lines(const char *text, size_t n)
{
    uint64_t lines = 0;

    for (size_t i = 0; i < n; i++)
        lines += text[i] == '\n';
    return lines;
}

/* Takes whole lines from the front of the buffer; 0: the end. */
static size_t take_piece(struct trace *t, char *piece)
{
    size_t n;

    (void)pthread_mutex_lock(&t->lock);
    while (!t->n && !t->ending)
        (void)pthread_cond_wait(&t->changed, &t->lock);
    n = t->n < OUT_FILE_PIECE ? t->n : OUT_FILE_PIECE;
    while (n && t->buffer[n - 1] != '\n')
        n--;
    memcpy(piece, t->buffer, n);
    t->n -= n;
    memmove(t->buffer, t->buffer + n, t->n);
    (void)pthread_mutex_unlock(&t->lock);
    return n;
}

/* Nobody reads the pipe: whether that has changed is seen when there is another line. */
static void wait_for_line(struct trace *t)
{
    (void)pthread_mutex_lock(&t->lock);
    for (const uint64_t before = t->n_lines; t->n_lines == before && !t->ending;)
        (void)pthread_cond_wait(&t->changed, &t->lock);
    (void)pthread_mutex_unlock(&t->lock);
}

/* When the end was asked for; 0: it was not. */
static int64_t ending_since(struct trace *t)
{
    int64_t t_ns;

    (void)pthread_mutex_lock(&t->lock);
    t_ns = t->ending ? t->t_ending_ns : 0;
    (void)pthread_mutex_unlock(&t->lock);
    return t_ns;
}

/* The reader of the pipe takes nothing. False: it is not waited for any longer. */
static bool wait_for_room(struct trace *t)
{
    int64_t ms = GRACE_MS;

    if (!ending_since(t) && out_file_wait(&t->file, t->end_fd, -1))
        return true;
    /* A program that was told to stop has no time for a reader that is merely slow. */
    if (event_rung(t->stop_fd))
        ms -= (now_ns() - ending_since(t)) / NS_PER_MS;
    return out_file_wait(&t->file, -1, ms > 0 ? (int)ms : 0);
}

static int write_piece(struct trace *t, const char *piece, size_t n)
{
    for (;;) {
        const bool last = ending_since(t) != 0;
        const int r = out_file_put(&t->file, piece, n);

        if (r == -EPIPE && !last)
            wait_for_line(t);
        else if (r != -EAGAIN || !wait_for_room(t))
            return r;
    }
}

static void *trace_main(void *arg)
{
    struct trace *t = arg;
    char piece[OUT_FILE_PIECE];
    int r = 0;
    size_t n;

    while (r == 0 && (n = take_piece(t, piece)) > 0)
        r = write_piece(t, piece, n);
    (void)pthread_mutex_lock(&t->lock);
    if (r)
        t->n_left_out += count_lines(piece, n) + count_lines(t->buffer, t->n);
    if (r != -EAGAIN && r != -EPIPE)
        t->error = r;
    t->ended = true;
    (void)pthread_cond_broadcast(&t->changed);
    (void)pthread_mutex_unlock(&t->lock);
    if (t->error)
        log_error("trace '%s': %s; no more lines are written", t->file.name, strerror(-r));
    return NULL;
}

/* ------------------------------------------------------------------- lines */

static void put_line(struct trace *t, const char *line, int n)
{
    (void)pthread_mutex_lock(&t->lock);
    if (t->ending || t->ended || t->n + (size_t)n > BUFFER_BYTES) {
        t->n_left_out++;
    } else {
        memcpy(t->buffer + t->n, line, (size_t)n);
        t->n += (size_t)n;
    }
    t->n_lines++;
    (void)pthread_cond_broadcast(&t->changed);
    (void)pthread_mutex_unlock(&t->lock);
}

void trace_begin(struct trace *t)
{
    static const char columns[] =
        "t_ms,seq,radius_requested,radius,wait_ms,convert_ms,filter_ms,"
        "write_ms,latency_ms,budget_ms,camera_ms,added_ms,search,mean,threads\n";

    if (t)
        put_line(t, columns, (int)sizeof(columns) - 1);
}

void trace_frame(struct trace *t, const struct slot *slot, const int64_t span_ns[N_SPANS])
{
    char line[LINE_BYTES];
    int n;

    if (!t)
        return;
    n = snprintf(line, sizeof(line), "%.3f,%" PRIu64 ",%d,%d", (double)slot->raw.t_capture_ns / 1e6,
                 slot->raw.seq, slot->radius_requested, slot->radius);
    for (int i = 0; i <= SPAN_LATENCY; i++)
        n += snprintf(line + n, sizeof(line) - (size_t)n, ",%.3f", (double)span_ns[i] / 1e6);
    n += snprintf(line + n, sizeof(line) - (size_t)n, ",%.3f,%.3f,%.3f,%d,%d,%d\n",
                  (double)slot->budget_ns / 1e6, (double)span_ns[SPAN_CAMERA] / 1e6,
                  (double)span_ns[SPAN_ADDED] / 1e6, !strcmp(slot->search, "on"),
                  *slot->search && strcmp(slot->search, "none"), slot->threads);
    put_line(t, line, n);
}

/* -------------------------------------------------------------- open, close */

/* Takes no more lines and waits until the rest is written: at most @ms, or as long as it takes
 * (-1). Returns the first error of writing so far, or 0. */
static int end_lines(struct trace *t, int ms)
{
    const struct timespec limit = timespec_of(now_ns() + ms * NS_PER_MS);
    uint64_t n = 0;
    int r = 0, error;

    (void)pthread_mutex_lock(&t->lock);
    if (!t->ending)
        t->t_ending_ns = now_ns();
    t->ending = true;
    (void)pthread_cond_broadcast(&t->changed);
    event_ring(t->end_fd);
    while (!t->ended && r == 0)
        r = ms < 0 ? pthread_cond_wait(&t->changed, &t->lock)
                   : pthread_cond_timedwait(&t->changed, &t->lock, &limit);
    error = t->error;
    if (!t->told && !error)
        n = t->n_left_out;
    t->told = true;
    (void)pthread_mutex_unlock(&t->lock);
    if (n)
        log_warning("trace '%s': %" PRIu64
                    " of its lines are left out: they were not taken in time",
                    t->file.name, n);
    return error;
}

int trace_end(struct trace *t)
{
    return t ? end_lines(t, GRACE_MS) : 0;
}

int trace_close(struct trace *t)
{
    int result, r;

    if (!t)
        return 0;
    if (t->started) {
        (void)end_lines(t, -1);
        (void)pthread_join(t->thread, NULL);
    }
    result = t->error;
    r = out_file_close(&t->file);
    if (r && !result) {
        result = r;
        log_error("trace '%s': %s", t->file.name, strerror(-r));
    }
    event_close(t->end_fd);
    (void)pthread_cond_destroy(&t->changed);
    (void)pthread_mutex_destroy(&t->lock);
    free(t);
    return result;
}

int trace_open(struct trace **ret, const char *path, int stop_fd, struct error *err)
{
    struct trace *t = calloc(1, sizeof(*t));
    int r;

    if (!t || pthread_mutex_init(&t->lock, NULL) || condition_init(&t->changed)) {
        free(t);
        return error_set(err, -ENOMEM, "trace '%s': out of memory", path);
    }
    t->stop_fd = stop_fd;
    t->end_fd = event_open();
    r = out_file_open(&t->file, "trace", path, err);
    if (r == 0) {
        r = t->end_fd < 0 ? t->end_fd : thread_start(&t->thread, "trace", trace_main, t);
        t->started = r == 0;
        if (r)
            (void)error_set(err, r, "trace '%s': %s", path, strerror(-r));
    }
    if (r) {
        (void)trace_close(t);
        return r;
    }
    *ret = t;
    return 0;
}
