#include "tests/pipeline/bench.h"

#include <poll.h>

#include "base/event.h"
#include "base/thread.h"
#include "tests/pipeline/require.h"

void open_bench(struct bench *b, struct engine *engine)
{
    static const char *const names[] = {"1", "2", "3"};
    struct sink_config sink = {.name = b->node ? b->node : "auto",
                               .picture = {.format = FRAME_YUYV, .width = WIDTH, .height = HEIGHT}};
    const struct filtering_config config = {
        .engine = {.threads = 1},
        .stand_in = b->stand_in ? b->stand_in : &engine_simd,
        .rest_ns = b->rest_ns ? b->rest_ns : FILTERING_REST_NS,
    };
    const struct sink_ops *const ops = b->screen ? b->screen : &screen_ops;
    struct stages *s = &b->stages;
    struct filter_request filter = {.filter = {.radius = 2, .sigma_space = 1, .sigma_color = 20},
                                    .radius_min = 1};
    struct capture_request request = {.ops = &camera_ops,
                                      .width = b->wait ? WIDTH : 0,
                                      .height = b->wait ? HEIGHT : 0,
                                      .format = -1};
    struct error err;

    (void)snprintf(request.name, sizeof(request.name), "%s", sink.name);
    require(stages_init(s, event_open(), b->max_frames) == 0);
    stream_set_filter_request(s->stream, &filter);
    require(capture_open(&s->capture, s->stream, &request, b->wait, &err) == 0);
    filtering_open(&s->filtering, s->stream, engine, &config);
    require(output_open(&s->output, ops, &sink, b->wait, &err) == 0);
    sink.stop_fd = stream_fd(s->stream, STREAM_EVENT_STOP);
    for (int i = 0; i < 3 && b->more[i]; i++) {
        sink.name = names[i];
        require(output_open(&s->output, b->more[i], &sink, b->wait, &err) == 0);
    }
    require(stages_connect(s, b->drops ? RING_LATEST : RING_LOSSLESS, s->output.n_writers, &err) ==
            0);
}

void run_bench(struct bench *b)
{
    struct error err;

    require(stages_start(&b->stages, &err) == 0);
    stages_join(&b->stages);
}

void close_bench(struct bench *b)
{
    const int stop_fd = stream_fd(b->stages.stream, STREAM_EVENT_STOP);
    const int result = stream_result(b->stages.stream);
    struct stats s;

    stages_stats(&b->stages, &s);
    require(s.frames_in == s.frames_out + s.frames_dropped + s.frames_bad);
    require(stages_close(&b->stages) == result);
    event_close(stop_fd);
}

bool eventually(bool (*is_so)(struct bench *b), struct bench *b)
{
    for (int i = 0; i < LIMIT_MS; i++) {
        if (is_so(b))
            return true;
        (void)poll(NULL, 0, 1);
    }
    return false;
}

bool runs(struct bench *b)
{
    return stream_state(b->stages.stream) == STREAM_RUNS;
}

bool is_paused(struct bench *b)
{
    return stream_state(b->stages.stream) == STREAM_PAUSED;
}

bool is_lost(struct bench *b)
{
    return stream_state(b->stages.stream) == STREAM_LOST;
}

struct script {
    struct bench *b;
    void (*play)(struct bench *b);
};

static void *play(void *arg)
{
    const struct script *s = arg;

    s->play(s->b);
    stream_signal(s->b->stages.stream, STREAM_EVENT_STOP);
    return NULL;
}

void run_script(struct bench *b, void (*script)(struct bench *b))
{
    struct script s = {b, script};
    pthread_t player;

    require(thread_start(&player, "player", play, &s) == 0);
    run_bench(b);
    require(pthread_join(player, NULL) == 0);
    require(stream_result(b->stages.stream) == 0);
}

void open_live(struct bench *b)
{
    camera.pause_ms = 2;
    open_bench(b, make_flaky(1, 1000000, false));
}
