/* A virtual camera whose driver lies. Bytes: the pictures (columns / 2 - 1, rows - 1), how they are
 * to be written (yu12, at a pace, as a caller's memory has them), frames per second, then what
 * kernel.h says. */
#include "tests/fuzz/fuzz.h"
#include "tests/lib/kernel.h"

#include "base/log.h"
#include "sink/sink.h"

enum { N_FRAMES = 10 };

static void write_frame(struct sink *s, const struct frame *f)
{
    struct error err = {.text = ""};
    int r;

    kernel_operation();
    r = s->ops->write(s, f, NULL, &err);
    must(!r || (r < 0 && err.text[0]), "an error is told in words");
    kernel_operation();
    must(s->ops->readers(s) >= -1, "a number of readers");
}

static void write_frames(struct sink *s, size_t slack)
{
    struct frame f = frame_like(&s->picture);

    picture_alloc(&f, slack, 1);
    for (int i = 0; i < N_FRAMES; i++)
        write_frame(s, &f);
    picture_free(&f);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct input in = {data, size};
    struct error err = {.text = ""};
    struct sink_config config = {.name = "/dev/video0", .format = -1, .stop_fd = KERNEL_STOP_FD};
    uint8_t how;
    struct sink *s;
    int r;

    config.picture.format = FRAME_YUYV;
    config.picture.width = 2 + 2 * input_u8(&in);
    config.picture.height = 1 + input_u8(&in);
    how = input_u8(&in);
    config.format = how & 1 ? FRAME_I420 : FRAME_YUYV;
    config.pace = how & 2;
    config.fps = (struct fraction){input_u8(&in), 1};

    log_set_level(LOG_QUIET);
    kernel_start(KERNEL_LOOPBACK, in.data, in.left);
    r = sink_v4l2loopback.open(&s, &config, &err);
    must(!r || err.text[0], "an error is told in words");
    if (!r) {
        write_frames(s, how >> 4);
        kernel_operation();
        (void)s->ops->close(s, &err);
    }
    kernel_stop();
    return 0;
}
