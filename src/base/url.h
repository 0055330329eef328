#pragma once
/* URLs, and what of them may be shown: who reads a log or a window must not learn how to get into
 * a camera. */
#include <stdbool.h>
#include <stddef.h>

/* Whether @name begins as URLs do: "rtsp://". */
bool is_url(const char *name);

/* @text, a name or any text with one URL in it, with "***" for what may be secret: all before the
 * '@', and all from a query or from the first '=' of a path on. Returns @ret, which has @size bytes
 * and may not be @text. */
const char *url_public(const char *text, char *ret, size_t size);

/* The same in the place of @text itself, no longer than that was. */
void url_hide(char *text);
