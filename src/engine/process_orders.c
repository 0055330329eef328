#include "engine/process_orders.h"

#include <sys/mman.h>

struct frame picture_shape(const struct frame *f)
{
    struct frame ret = frame_like(f);

    ret.t_capture_ns = f->t_capture_ns;
    ret.seq = f->seq;
    return ret;
}

size_t place_pictures(struct pictures *p, const struct frame *shape, uint8_t *memory)
{
    size_t bytes;

    p->in = picture_shape(shape);
    bytes = (frame_layout(&p->in) + FRAME_ALIGN - 1) / FRAME_ALIGN * FRAME_ALIGN;
    p->out = p->in;
    p->counts = NULL;
    if (memory) {
        frame_attach(&p->in, memory);
        frame_attach(&p->out, memory + bytes);
        p->counts = memory + 2 * bytes;
    }
    return 2 * bytes + frame_counts_size(shape);
}

void *map_memory(int fd, size_t bytes)
{
    void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

    return memory == MAP_FAILED ? NULL : memory;
}
