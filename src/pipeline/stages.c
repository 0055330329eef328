#include "pipeline/stages.h"

#include <errno.h>
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

int stages_connect(struct stages *s, enum ring_policy policy, struct error *err)
{
    const int capacity = policy == RING_LATEST ? 1 : STAGES_LOSSLESS_CAPACITY;
    struct slot *next = s->slots;
    const int r = make_slots(s, 2 * capacity + 1 + s->filtering.depth + 1, err);

    if (r)
        return r;
    if (ring_create(&s->captured, policy, capacity) || ring_create(&s->filtered, policy, capacity))
        return error_set(err, -ENOMEM, "out of memory for the rings");
    for (int i = 0; i < capacity; i++) {
        ring_add(s->captured, next++);
        ring_add(s->filtered, next++);
    }
    capture_connect(&s->capture, s->captured, next++);
    output_connect(&s->output, s->filtered, next++);
    filtering_connect(&s->filtering, s->captured, s->filtered, next, s->memory, s->bytes);
    return 0;
}

int stages_start(struct stages *s, struct error *err)
{
    const struct {
        const char *name;
        void *(*run)(void *);
        void *stage;
    } stages[3] = {
        {"output", output_run, &s->output},
        {"filter", filtering_run, &s->filtering},
        {"capture", capture_run, &s->capture},
    };

    for (int i = 0; i < 3; i++) {
        const int r = thread_start(&s->threads[i], stages[i].name, stages[i].run, stages[i].stage);

        if (r)
            return error_set(err, r, "cannot start thread %s: %s", stages[i].name, strerror(-r));
        s->n_threads++;
    }
    return 0;
}

void stages_stats(struct stages *s, struct stats *ret)
{
    stats_snapshot(stream_stats(s->stream), ret);
    ret->frames_dropped +=
        ret->frames_not_shown + ring_dropped(s->captured) + ring_dropped(s->filtered);
}

void stages_join(struct stages *s)
{
    /* Those that did start must not wait for those that did not. */
    if (s->n_threads && s->n_threads < 3) {
        stream_signal(s->stream, STREAM_EVENT_STOP);
        ring_close(s->captured);
        ring_close(s->filtered);
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
    ring_destroy(s->filtered);
    result = stream_result(s->stream);
    stream_destroy(s->stream);
    return result ? result : r;
}
