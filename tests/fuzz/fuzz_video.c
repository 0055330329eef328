/* A video file or picture of any bytes, read to its end or to what is wrong with it. What libav
 * makes of them is its own business; what gets over to us is ours. */
#include "tests/fuzz/fuzz.h"

#include <errno.h>
#include <libavutil/mem.h>

#include "source/source.h"

#define MAX_BYTES (64 << 20) /* of one allocation of libav: a few bytes can ask for gigabytes */
#define MAX_FRAMES 64

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct error err = {.text = ""};
    struct source *s;
    struct frame f;
    uint64_t n = 0;
    int r;

    av_max_alloc(MAX_BYTES);
    r = source_video.open(
        &s, &(struct source_config){.name = memory_file(data, size), .format = -1, .stop_fd = -1},
        &err);
    if (r) {
        must(r != -ECANCELED, "nothing stops it");
        must(r < 0 && err.text[0], "an error is told in words");
        return 0;
    }
    must(!frame_size_problem(s->width, s->height), "the size is one that engines take");
    while (n < MAX_FRAMES && !(r = s->ops->read(s, &f, &err))) {
        must(f.seq == n++, "frames are numbered");
        must(f.format == s->format && f.width == s->width && f.height == s->height,
             "all frames are as the first one");
        picture_touch(&f);
        s->ops->release(s);
    }
    if (r) {
        must(r == -ENODATA || r == -EBADMSG || r == -ENOMEM, "a file ends, or is broken");
        must(s->ops->read(s, &f, &err) == r && err.text[0], "the end stays the end");
    }
    s->ops->close(s);
    return 0;
}
