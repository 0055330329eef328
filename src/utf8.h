#pragma once

/* Puts '?' for each byte of @text that is not part of a UTF-8 character, and returns @text. Names
 * of files and of devices may hold any bytes; a bus throws out who sends such. */
char *utf8_mend(char *text);
