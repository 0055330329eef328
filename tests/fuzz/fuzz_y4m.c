/* A YUV4MPEG2 file of any bytes, read to its end or to what is wrong with it. */
#include "tests/fuzz/fuzz.h"

#include <errno.h>
#include <sys/eventfd.h>

#include "source/source.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static int stop_fd = -1;
    struct error err = {.text = ""};
    struct source *s;
    struct frame f;
    uint64_t n = 0;
    int r;

    if (stop_fd < 0)
        stop_fd = eventfd(0, EFD_CLOEXEC);
    r = source_y4m.open(
        &s,
        &(struct source_config){.name = memory_file(data, size), .format = -1, .stop_fd = stop_fd},
        &err);
    if (r) {
        must(err.text[0], "an error is told in words");
        return 0;
    }
    while (!(r = s->ops->read(s, &f, &err))) {
        must(f.seq == n++, "frames are numbered");
        picture_touch(&f);
        must(!s->depth || !(frame_sample(&f, 0, 0, 0) & ((1 << (16 - s->depth)) - 1)),
             "words have their bits at the top");
        s->ops->release(s);
    }
    must(r == -ENODATA || r == -EBADMSG, "a file ends, or is broken");
    must(s->ops->read(s, &f, &err) == r, "the end stays the end");
    s->ops->close(s);
    return 0;
}
