#pragma once
/* Messages to stderr, one line each, "bilatcam: " in front. State changes are logged once;
 * nothing is logged per frame (count it in stats). Context: any thread. */

enum log_level { LOG_QUIET, LOG_ERROR, LOG_WARNING, LOG_INFO, LOG_DEBUG };

/* Looks whether stderr leads to the system's journal: lines then begin with their priority, which
 * the journal takes off, and not with the program's name. Context: main, before all else. */
void log_init(void);

/* Messages above @level are dropped. The default is LOG_INFO. Context: main, before threads. */
void log_set_level(enum log_level level);

/* From when @stop_fd is readable on, a message whose reader takes nothing is lost, instead of
 * holding up the end: a pager that waits, a terminal that is paused. Context: main, before threads.
 */
void log_set_stop(int stop_fd);

void log_message(enum log_level level, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* A line that the next one takes the place of, and the next message, on a terminal alone and where
 * LOG_INFO is shown. "" takes it away. Context: any thread. */
void log_until_next(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

#define log_error(...) log_message(LOG_ERROR, __VA_ARGS__)
#define log_warning(...) log_message(LOG_WARNING, __VA_ARGS__)
#define log_info(...) log_message(LOG_INFO, __VA_ARGS__)
#define log_debug(...) log_message(LOG_DEBUG, __VA_ARGS__)
