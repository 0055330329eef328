#include "pipeline/stages.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/thread.h"

int stages_init(struct stages *s, int stop_fd, uint64_t max_frames)
{
    int r = stream_create(&s->stream, stop_fd, max_frames);

    if (r)
        return r;
    r = output_init(&s->output, s->stream);
    if (r)
        stream_destroy(s->stream);
    return r;
}

static size_t in_pages(size_t bytes)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);

    return (bytes + page - 1) / page * page;
}

static int make_slots(struct stages *s, int n, struct error *err)
{
    struct frame shape = s->capture.picture;
    const size_t frame_bytes = in_pages(frame_layout(&shape));
    const size_t slot_bytes = 2 * frame_bytes + in_pages(frame_counts_size(&shape));
    const size_t bytes = slot_bytes * (size_t)n;
    uint8_t *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    if (memory == MAP_FAILED)
        return error_set(err, -ENOMEM, "out of memory for %d frames of %dx%d", 2 * n, shape.width,
                         shape.height);
    s->memory = memory;
    s->bytes = bytes;
    for (int i = 0; i < n; i++, memory += slot_bytes) {
        s->slots[i].raw = s->slots[i].out = shape;
        frame_attach(&s->slots[i].raw, memory);
        frame_attach(&s->slots[i].out, memory + frame_bytes);
        s->slots[i].counts = memory + 2 * frame_bytes;
    }
    return 0;
}

int stages_connect(struct stages *s, enum ring_policy policy, int n_outputs, struct error *err)
{
    const int n_captured = policy == RING_LATEST ? 1 : STAGES_LOSSLESS_CAPACITY;
    const int n_filtered = fan_capacity(policy, n_outputs);
    struct slot *next = s->slots;
    const int r = make_slots(s, n_captured + n_filtered + 1 + s->filtering.depth, err);

    if (r)
        return r;
    if (ring_create(&s->captured, policy, n_captured) ||
        fan_create(&s->filtered, policy, n_outputs))
        return error_set(err, -ENOMEM, "out of memory for the rings");
    for (int i = 0; i < n_captured; i++)
        ring_add(s->captured, next++);
    for (int i = 0; i < n_filtered; i++)
        fan_add(s->filtered, next++);
    capture_connect(&s->capture, s->captured, next++);
    output_connect(&s->output, s->filtered);
    filtering_connect(&s->filtering, s->captured, s->filtered, next, s->memory, s->bytes);
    return 0;
}

static int start(struct stages *s, const char *name, void *(*run)(void *), void *arg,
                 struct error *err)
{
    const int r = thread_start(&s->threads[s->n_threads], name, run, arg);

    if (r)
        return error_set(err, r, "cannot start thread %s: %s", name, strerror(-r));
    s->n_threads++;
    return 0;
}

int stages_start(struct stages *s, struct error *err)
{
    int r = 0;

    tally_begin(&s->output.tally);
    for (int i = 0; i < s->output.n_writers && r == 0; i++) {
        char name[24] = "output"; /* of at most 15 characters, with one digit */

        if (i > 0)
            (void)snprintf(name, sizeof(name), "output-%d", i + 1);
        r = start(s, name, writer_run, &s->output.writers[i], err);
    }
    if (r == 0)
        r = start(s, "filter", filtering_run, &s->filtering, err);
    if (r == 0)
        r = start(s, "capture", capture_run, &s->capture, err);
    return r;
}

void stages_stats(struct stages *s, struct stats *ret)
{
    stats_snapshot(stream_stats(s->stream), ret);
    ret->frames_dropped +=
        ret->frames_not_shown + ring_dropped(s->captured) + fan_dropped(s->filtered);
}

void stages_join(struct stages *s)
{
    /* Those that did start must not wait for those that did not. */
    if (s->n_threads && s->n_threads < 2 + s->output.n_writers) {
        stream_signal(s->stream, STREAM_EVENT_STOP);
        ring_close(s->captured);
        fan_close(s->filtered);
    }
    for (int i = 0; i < s->n_threads; i++)
        (void)pthread_join(s->threads[i], NULL);
    s->n_threads = 0;
}

int stages_close(struct stages *s)
{
    int result, r;

    stages_join(s);
    r = output_close(&s->output);
    filtering_close(&s->filtering);
    capture_close(&s->capture);
    if (s->memory)
        (void)munmap(s->memory, s->bytes);
    ring_destroy(s->captured);
    fan_destroy(s->filtered);
    result = stream_result(s->stream);
    stream_destroy(s->stream);
    return result ? result : r;
}
