#pragma once
/* Bytes from outside, read value by value, and what a test with its own way to fail defines. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct input {
    const uint8_t *data;
    size_t left;
};

/* The next value; what lies beyond the end is 0. */
static inline uint8_t input_u8(struct input *in)
{
    if (!in->left)
        return 0;
    in->left--;
    return *in->data++;
}

/* Fails with @what when something that must hold does not. */
void must(bool holds, const char *what);

/* Whether every byte may be read, where something watches. */
void bytes_touch(const void *data, size_t size);
