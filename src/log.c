#include "log.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "utf8.h"

static enum log_level max_level = LOG_INFO;
static bool to_journal;

void log_init(void)
{
    const char *stream = getenv("JOURNAL_STREAM"); /* DEVICE:INODE of the journal's socket */
    unsigned long long device, inode;
    struct stat st;

    to_journal = stream && sscanf(stream, "%llu:%llu", &device, &inode) == 2 &&
                 !fstat(STDERR_FILENO, &st) && st.st_dev == device && st.st_ino == inode;
}

void log_set_level(enum log_level level)
{
    max_level = level;
}

void log_message(enum log_level level, const char *fmt, ...)
{
    static const char *const priorities[] = {"", "<3>", "<4>", "<6>", "<7>"};
    char line[1024];
    va_list ap;
    int prefix, n;

    if (level > max_level)
        return;
    prefix = snprintf(line, sizeof(line), "%s", to_journal ? priorities[level] : "bilatcam: ");
    va_start(ap, fmt);
    n = vsnprintf(line + prefix, sizeof(line) - (size_t)prefix - 1, fmt, ap);
    va_end(ap);
    if (n < 0)
        return;
    n = (int)strlen(utf8_printable(line)); /* one line, whatever a name in it holds */
    line[n++] = '\n';
    /* One write per line keeps lines of several threads whole. */
    (void)!write(STDERR_FILENO, line, (size_t)n);
}
