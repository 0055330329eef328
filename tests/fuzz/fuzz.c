#include "tests/fuzz/fuzz.h"

#include <sanitizer/asan_interface.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define PADDING 0xa5

void must(bool holds, const char *what)
{
    if (holds)
        return;
    fprintf(stderr, "does not hold: %s\n", what);
    abort();
}

uint32_t input_u32(struct input *in)
{
    uint32_t v = 0;

    for (int i = 0; i < 4; i++)
        v |= (uint32_t)input_u8(in) << 8 * i;
    return v;
}

const char *memory_file(const void *data, size_t size)
{
    static char path[32];
    static int fd = -1;

    if (fd < 0) {
        fd = memfd_create("fuzz", MFD_CLOEXEC);
        (void)snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
    }
    must(fd >= 0 && !ftruncate(fd, 0) && pwrite(fd, data, size, 0) == (ssize_t)size,
         "a file in memory can be written");
    return path;
}

void picture_alloc(struct frame *f, size_t slack, uint8_t seed)
{
    for (int p = 0; p < format_table[f->format].planes; p++) {
        const size_t row = frame_row_bytes(f, p), rows = (size_t)frame_plane_rows(f, p);
        const size_t size = (row + slack) * (rows - 1) + row;

        f->stride[p] = row + slack;
        f->plane[p] = malloc(size);
        must(f->plane[p], "memory for a small picture");
        memset(f->plane[p], PADDING, size);
        for (size_t y = 0; y < rows; y++)
            for (size_t x = 0; x < row; x++)
                f->plane[p][y * f->stride[p] + x] = (uint8_t)(seed + x * 7 + y * 13);
    }
}

void picture_free(struct frame *f)
{
    for (int p = 0; p < 3; p++)
        free(f->plane[p]);
}

void bytes_touch(const void *data, size_t size)
{
    const volatile uint8_t *wrong = __asan_region_is_poisoned((void *)data, size);

    if (wrong)
        (void)*wrong;
}

void picture_touch(const struct frame *f)
{
    for (int p = 0; p < format_table[f->format].planes; p++) {
        must(f->stride[p] >= frame_row_bytes(f, p), "rows do not overlap");
        for (size_t y = 0; y < (size_t)frame_plane_rows(f, p); y++)
            bytes_touch(f->plane[p] + y * f->stride[p], frame_row_bytes(f, p));
    }
}

void picture_check_padding(const struct frame *f)
{
    for (int p = 0; p < format_table[f->format].planes; p++)
        for (size_t y = 0; y + 1 < (size_t)frame_plane_rows(f, p); y++)
            for (size_t x = frame_row_bytes(f, p); x < f->stride[p]; x++)
                must(f->plane[p][y * f->stride[p] + x] == PADDING, "padding is left alone");
}
