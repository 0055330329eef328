#pragma once
/* What the harnesses share: the input, files in memory, and pictures in memory of their exact
 * size. */
#include <stddef.h>
#include <stdint.h>

#include "picture/frame.h"
#include "tests/lib/input.h"

/* libFuzzer calls it with every input. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The next four, low byte first. */
uint32_t input_u32(struct input *in);

/* The path of a file in memory that holds @data, valid until the next call. */
const char *memory_file(const void *data, size_t size);

/* Each plane lies in an allocation of its own, which ends with the last sample of the last row.
 * Rows are @slack bytes longer than their samples. @seed fills samples and padding. */
void picture_alloc(struct frame *f, size_t slack, uint8_t seed);
void picture_free(struct frame *f);

/* Whether every sample may be read, as the sanitizer knows it. */
void picture_touch(const struct frame *f);

/* The bytes between rows, which are nobody's to write, still are what picture_alloc() made them. */
void picture_check_padding(const struct frame *f);
