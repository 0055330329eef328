#pragma once
/* A JPEG with restart markers, cut between rows of blocks into JPEGs of their own: after such a
 * marker nothing depends on what is before it, so that they can be decoded at the same time.
 * (ITU-T T.81, sections B.2 and E.1.4.) */
#include <stddef.h>
#include <stdint.h>

enum { JPEG_SLICES_MAX = 8 };

struct jpeg_slices {
    int n;
    size_t header;    /* bytes before the first block */
    size_t height_at; /* where in it the height is */
    struct jpeg_slice {
        int y, height;   /* rows of the picture */
        size_t from, to; /* bytes of the blocks, with no restart marker around them */
        int n_restarts;  /* in the JPEG before @from */
    } slice[JPEG_SLICES_MAX];
};

/* Cuts the @size bytes of @jpeg into at most @n_max slices (2 to JPEG_SLICES_MAX). -EINVAL: it
 * cannot be cut. That is so where it is not a JPEG of three components as in jpeg_layout.h, or has
 * no restart markers at the ends of rows of blocks, or not the expected ones. */
int jpeg_slices_find(struct jpeg_slices *ret, const uint8_t *jpeg, size_t size, int n_max);

/* Bytes that jpeg_slices_write() writes for slice @i. */
size_t jpeg_slices_size(const struct jpeg_slices *s, int i);

/* Writes slice @i of @jpeg to @to, as a JPEG. */
void jpeg_slices_write(const struct jpeg_slices *s, int i, const uint8_t *jpeg, uint8_t *to);
