#include "log.h"

#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

static enum log_level max_level = LOG_INFO;

void log_set_level(enum log_level level)
{
    max_level = level;
}

void log_message(enum log_level level, const char *fmt, ...)
{
    char line[1024] = "bilatcam: ";
    const int prefix = sizeof("bilatcam: ") - 1;
    va_list ap;
    int n;

    if (level > max_level)
        return;
    va_start(ap, fmt);
    n = vsnprintf(line + prefix, sizeof(line) - prefix - 1, fmt, ap);
    va_end(ap);
    if (n < 0)
        return;
    n += prefix;
    if (n > (int)sizeof(line) - 2)
        n = (int)sizeof(line) - 2;
    /* A message is one line, whatever a name in it holds. */
    for (int i = 0; i < n; i++)
        if ((unsigned char)line[i] < ' ')
            line[i] = '?';
    line[n++] = '\n';
    /* One write per line keeps lines of several threads whole. */
    (void)!write(STDERR_FILENO, line, (size_t)n);
}
