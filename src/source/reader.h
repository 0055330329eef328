#pragma once
/* The pictures of a URL, decoded in a thread of its own: much of what libav does there takes long
 * and cannot be interrupted, as to ask for a host's address. Nobody waits for it longer than he
 * wants to. A live stream is read as fast as it comes, and the newest picture is kept; of a film
 * none is left out. Context: one thread at a time. */
#include "source/decode.h"
#include "source/source.h"

struct reader;

/* Returns when the first picture is there. @file is for messages. -ECANCELED: the stop_fd of
 * @config is readable; -EIO, -EINVAL and so on as for decoder_open() and decoder_next(). */
int reader_open(struct reader **ret, const struct source_config *config, const char *file,
                struct error *err);

/* What is read, until the first reader_take(). */
const struct decoder *reader_decoder(const struct reader *r);

/* The first picture, to look at, until the first reader_take(). */
const AVFrame *reader_first(const struct reader *r);

/* The next picture, as a reference of the caller's, in @to.
 *   -ENODATA, -EBADMSG  the end of a film, as decoder_next() has it
 *   -EIO                that of a live stream    -ETIMEDOUT  it gave nothing for some seconds
 *   -EPROTO             a live stream is interlaced now
 *   -ECANCELED          @stop_fd is readable     -ENOMEM */
int reader_take(struct reader *r, AVFrame *to, int stop_fd, struct error *err);

/* Pictures so far that nobody took in time, and that are damaged. */
void reader_counts(struct reader *r, uint64_t *ret_dropped, uint64_t *ret_bad);

/* Accepts NULL. What does not end at once ends by itself later. */
void reader_close(struct reader *r);
