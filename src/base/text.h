#pragma once
#include <stdbool.h>
#include <stdio.h>

bool ends_with(const char *text, const char *end);

/* Appends @item to the list in @text, which has room for @size bytes, after a @separator if it is
 * not the first. An empty one adds nothing, and what does not fit is cut off. */
void list_add(char *text, size_t size, const char *separator, const char *item);

/* Puts '?' for each byte of @text that is not part of a UTF-8 character, and returns @text. Names
 * of files and of devices may hold any bytes; a bus throws out who sends such. */
char *utf8_repair(char *text);

/* The same, and '?' for each byte of a control character: what is left is one line, and moves no
 * cursor and colours nothing in a terminal. For names and texts from outside, where they come in;
 * a camera may call itself what it likes. */
char *utf8_printable(char *text);

/* Writes @text as a string of JSON, with its quotation marks. Control characters beyond ASCII, too,
 * are escaped: who looks at the file has a terminal. '?' as for utf8_repair(). */
void json_print_string(FILE *out, const char *text);

/* Writes @text as a quoted field of CSV, with '?' as for utf8_printable(). */
void csv_print_string(FILE *out, const char *text);
