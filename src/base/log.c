#include "base/log.h"

#include <errno.h>
#include <poll.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/text.h"

#define GRACE_MS 100 /* after a request to stop, for the reader of a message */

static enum log_level max_level = LOG_INFO;
static bool to_journal;
static int stop = -1;       /* readable once the program is to end */
static atomic_bool passing; /* a line is shown that is not to stay */

#define LINE_START "\r\033[K" /* of a terminal, whose line it empties */

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

void log_set_stop(int stop_fd)
{
    stop = stop_fd;
}

/* Whether there is room for a message, or an error that it meets. */
static bool wait_for_room(void)
{
    struct pollfd fds[2] = {{.fd = STDERR_FILENO, .events = POLLOUT},
                            {.fd = stop, .events = POLLIN}};
    int n;

    do
        n = poll(fds, 2, -1);
    while (n < 0 && errno == EINTR);
    return fds[0].revents || poll(fds, 1, GRACE_MS) > 0;
}

void log_until_next(const char *fmt, ...)
{
    char line[256] = LINE_START;
    const size_t prefix = strlen(line);
    va_list ap;

    va_start(ap, fmt);
    (void)vsnprintf(line + prefix, sizeof(line) - prefix, fmt, ap);
    va_end(ap);
    if (!line[prefix] && !atomic_exchange(&passing, false))
        return;
    if (line[prefix] && (max_level < LOG_INFO || !isatty(STDERR_FILENO)))
        return;
    (void)utf8_printable(line + prefix);
    if (line[prefix])
        atomic_store(&passing, true);
    /* It is not worth a wait. */
    if (poll(&(struct pollfd){.fd = STDERR_FILENO, .events = POLLOUT}, 1, 0) > 0)
        (void)!write(STDERR_FILENO, line, strlen(line));
}

void log_message(enum log_level level, const char *fmt, ...)
{
    static const char *const priorities[] = {[LOG_QUIET] = "",
                                             [LOG_ERROR] = "<3>",
                                             [LOG_WARNING] = "<4>",
                                             [LOG_INFO] = "<6>",
                                             [LOG_DEBUG] = "<7>"};
    char line[1024];
    va_list ap;
    int prefix, n;

    if (level > max_level)
        return;
    log_until_next("%s", "");
    prefix = snprintf(line, sizeof(line), "%s", to_journal ? priorities[level] : "bilatcam: ");
    va_start(ap, fmt);
    n = vsnprintf(line + prefix, sizeof(line) - (size_t)prefix - 1, fmt, ap);
    va_end(ap);
    if (n < 0)
        return;
    n = (int)strlen(utf8_printable(line)); /* one line, whatever a name in it holds */
    line[n++] = '\n';
    /* One write per line keeps lines of several threads whole. */
    if (wait_for_room())
        (void)!write(STDERR_FILENO, line, (size_t)n);
}
