#pragma once
/* What the harnesses share: the input read value by value, and pictures in memory of their exact
 * size. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "picture/frame.h"

/* libFuzzer calls it with every input. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Ends the process with @what when something that must hold does not. */
void must(bool holds, const char *what);

struct input {
    const uint8_t *data;
    size_t left;
};

/* The next value, low byte first; what lies beyond the end is 0. */
uint8_t input_u8(struct input *in);
uint32_t input_u32(struct input *in);

/* The path of a file in memory that holds @data, valid until the next call. */
const char *memory_file(const void *data, size_t size);

/* Each plane lies in an allocation of its own, which ends with the last sample of the last row.
 * Rows are @slack bytes longer than their samples. @seed fills samples and padding. */
void picture_alloc(struct frame *f, size_t slack, uint8_t seed);
void picture_free(struct frame *f);

/* Whether every byte, every sample may be read, as the sanitizer knows it. */
void bytes_touch(const void *data, size_t size);
void picture_touch(const struct frame *f);

/* The bytes between rows, which are nobody's to write, still are what picture_alloc() made them. */
void picture_check_padding(const struct frame *f);
