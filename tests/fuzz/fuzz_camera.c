/* A camera whose driver lies. Bytes: what is asked for (format, columns / 2, rows, frames per
 * second), then what kernel.h says. */
#include "tests/fuzz/fuzz.h"
#include "tests/lib/kernel.h"

#include "base/log.h"
#include "source/source.h"

enum { N_FRAMES = 20 };

#define MS INT64_C(1000000)
#define MAX_AGE_NS (6000 * MS)

static int read_frame(struct source *s)
{
    struct error err = {.text = ""};
    struct frame f;
    int r;

    kernel_operation();
    r = s->ops->read(s, &f, &err);
    if (r) {
        must(r < 0 && err.text[0], "an error is told in words");
        return r;
    }
    must(f.t_capture_ns > 0 && f.t_capture_ns <= kernel_now_ns(), "no frame is of the future");
    must(f.t_capture_ns > kernel_now_ns() - MAX_AGE_NS, "what is no time is not believed");
    must(f.format == s->format && f.width == s->width && f.height == s->height,
         "frames are what the source said");
    if (f.format == FRAME_MJPG)
        bytes_touch(f.plane[0], f.bytes);
    else
        picture_touch(&f);
    return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct input in = {data, size};
    struct error err = {.text = ""};
    struct source_config config = {.name = "/dev/video0",
                                   .format = input_u8(&in) % (FRAME_N_FORMATS + 1) - 1,
                                   .width = 2 * input_u8(&in),
                                   .height = input_u8(&in),
                                   .fps = {input_u8(&in), 1},
                                   .stop_fd = KERNEL_STOP_FD};
    struct source *s;
    int r;

    log_set_level(LOG_QUIET);
    kernel_start(KERNEL_CAMERA, in.data, in.left);
    kernel_set_stamps(config.height * MS, config.width * MS / 64);
    r = source_v4l2.open(&s, &config, &err);
    must(!r || err.text[0], "an error is told in words");
    if (!r) {
        /* What failed once may work again: the reader decides, and may well ask once more. */
        for (int i = 0; i < N_FRAMES; i++)
            if (!read_frame(s) && i % 2)
                s->ops->release(s);
        kernel_operation();
        s->ops->close(s);
    }
    kernel_stop();
    return 0;
}
