#pragma once
/* Fits a picture of one size into another: as large as it goes with its shape kept, centred, black
 * beside it. For the rare case that a camera or a virtual camera insists on a size of its own.
 * Linear interpolation between the four nearest samples. Context: one thread at a time. */
#include "picture/frame.h"

struct scaler;

/* For pictures like @src, to be written to pictures like @dst: both raw, of any size and format.
 * -ENOMEM. */
int scaler_create(struct scaler **ret, const struct frame *dst, const struct frame *src);
void scaler_destroy(struct scaler *s); /* accepts NULL */

/* Whether @s was made for pictures like @src. */
bool scaler_suits(const struct scaler *s, const struct frame *src);

/* The samples keep their values: the colour of @dst is the caller's to set. */
void scaler_run(const struct scaler *s, struct frame *dst, const struct frame *src);
