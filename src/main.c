/* bilatcam: block signals, parse, open, run, close. */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "cli.h"
#include "engine.h"
#include "log.h"
#include "pipeline.h"
#include "v4l2.h"

enum { STATUS_DONE, STATUS_FAILED, STATUS_USAGE };

/* After a request to stop, frames on their way arrive and devices are let go, which takes
 * milliseconds. Only a driver that does not answer takes longer than this. */
#define STOP_MS 5000

#define PROGRESS_NS 60000000000 /* between two lines of progress */

static int open_signals(void)
{
    sigset_t set;

    (void)sigemptyset(&set);
    (void)sigaddset(&set, SIGINT);
    (void)sigaddset(&set, SIGTERM);
    (void)sigaddset(&set, SIGHUP);
    if (pthread_sigmask(SIG_BLOCK, &set, NULL))
        return -1;
    (void)signal(SIGPIPE, SIG_IGN); /* a closed pipe is an error of write() */
    return signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
}

/* SIGHUP: rereads the configuration. A bad file is refused whole. */
static void reload(const struct cli *cli, struct pipeline *p)
{
    struct settings new;
    struct error err;

    if (cli_settings(cli, &new, &err))
        log_error("%s; the running settings stay", err.text);
    else
        pipeline_apply(p, &new);
}

/* One line now and then, for whoever reads the log of a daemon. */
static void log_progress(struct pipeline *p)
{
    struct stats_header header;
    struct stats s;
    const struct second *last;

    pipeline_stats(p, &header, &s);
    last = stats_last_second(&s);
    log_info("%.1f frames/s, latency %.1f ms (p99 %.1f), radius %d of %d, %llu frames, %llu "
             "dropped, %llu damaged",
             last ? last->fps : 0.0, last ? (double)last->p50_ns[STAGE_LATENCY] / 1e6 : 0.0,
             last ? (double)last->p99_ns[STAGE_LATENCY] / 1e6 : 0.0, s.radius_last,
             s.radius_requested, (unsigned long long)s.frames_out,
             (unsigned long long)s.frames_dropped, (unsigned long long)s.frames_bad);
}

/* Lets frames flow until they end, a signal says so, or the window is closed. False: the
 * pipeline did not end in time. */
static bool run(const struct cli *cli, struct pipeline *p, int signal_fd, int quit_fd)
{
    struct pollfd fds[] = {
        {.fd = pipeline_done_fd(p), .events = POLLIN},
        {.fd = signal_fd, .events = POLLIN},
        {.fd = quit_fd, .events = POLLIN},
    };
    int64_t t_progress = now_ns() + PROGRESS_NS;
    bool stopping = false;

    for (;;) {
        const int64_t wait_ns = t_progress > now_ns() ? t_progress - now_ns() : 0;
        const int wait_ms = stopping ? STOP_MS : (int)(wait_ns / 1000000 + 1);
        const int n = poll(fds, stopping ? 1 : 3, wait_ms);
        struct signalfd_siginfo info = {0};

        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0 || (n == 0 && stopping))
            return false;
        if (fds[0].revents)
            return true;
        if (n == 0) {
            log_progress(p);
            t_progress = now_ns() + PROGRESS_NS;
            continue;
        }
        if (fds[1].revents && read(signal_fd, &info, sizeof(info)) == sizeof(info) &&
            info.ssi_signo == SIGHUP) {
            reload(cli, p);
            continue;
        }
        pipeline_stop(p);
        stopping = true;
    }
}

static int write_stats(const char *path, const struct stats_header *header,
                       const struct stats *stats)
{
    FILE *out;
    int failed;

    if (!*path)
        return STATUS_DONE;
    out = strcmp(path, "-") ? fopen(path, "we") : stdout;
    if (!out) {
        log_error("statistics '%s': %s", path, strerror(errno));
        return STATUS_FAILED;
    }
    stats_print_json(header, stats, out);
    failed = ferror(out);
    failed |= out == stdout ? fflush(out) : fclose(out);
    if (!failed)
        return STATUS_DONE;
    log_error("statistics '%s': %s", path, strerror(errno));
    return STATUS_FAILED;
}

/* Ends the program although a device does not answer: what is known is still reported. */
static void abandon(struct pipeline *p, const struct settings *s)
{
    struct stats_header header;
    struct stats stats;

    log_error("a device did not let go within %d s: ending without it", STOP_MS / 1000);
    pipeline_stats(p, &header, &stats);
    (void)write_stats(s->stats, &header, &stats);
    _exit(STATUS_FAILED);
}

static int close_and_report(struct pipeline *p, const struct settings *s)
{
    struct stats_header header;
    struct stats stats;
    int status;

    pipeline_join(p);
    pipeline_stats(p, &header, &stats);
    status = pipeline_close(p) ? STATUS_FAILED : STATUS_DONE;
    if (status == STATUS_DONE)
        log_info("%llu frames in, %llu out, %llu dropped, %llu damaged",
                 (unsigned long long)stats.frames_in, (unsigned long long)stats.frames_out,
                 (unsigned long long)stats.frames_dropped, (unsigned long long)stats.frames_bad);
    return write_stats(s->stats, &header, &stats) ? STATUS_FAILED : status;
}

static int filter_frames(const struct cli *cli, struct settings *s)
{
    const int signal_fd = open_signals();
    const int quit_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    struct pipeline *p = NULL;
    struct error err = {.text = ""};
    int status = STATUS_FAILED;

    if (signal_fd < 0 || quit_fd < 0) {
        log_error("cannot wait for signals: %s", strerror(errno));
        goto done;
    }
    if (pipeline_open(&p, s, quit_fd, &err)) {
        log_error("%s", err.text);
        status = err.usage ? STATUS_USAGE : STATUS_FAILED;
        goto done;
    }
    if (pipeline_start(p, &err)) {
        log_error("%s", err.text);
        (void)pipeline_close(p);
        goto done;
    }
    if (!run(cli, p, signal_fd, quit_fd))
        abandon(p, s);
    status = close_and_report(p, s);
done:
    if (signal_fd >= 0)
        (void)close(signal_fd);
    if (quit_fd >= 0)
        (void)close(quit_fd);
    return status;
}

static void list_engines(void)
{
    for (int i = 0; engine_table[i]; i++) {
        const struct engine_ops *e = engine_table[i];
        char device[128] = "";
        struct error err;

        if (e->probe(device, sizeof(device), &err))
            printf("%-10s not here: %s\n", e->name, err.text);
        else
            printf("%-10s %s; %s\n", e->name, device, e->help);
    }
}

/* Everything that prints and ends. */
static int print(const struct cli *cli, const struct settings *s)
{
    struct error err;

    switch (cli->command) {
    case CLI_HELP:
        cli_print_help(stdout);
        break;
    case CLI_VERSION:
        cli_print_version(stdout);
        break;
    case CLI_PRINT_CONFIG:
        settings_print(s, stdout);
        break;
    case CLI_LIST_ENGINES:
        list_engines();
        break;
    case CLI_BENCHMARK:
        if (benchmark_run(s, cli->benchmark_format, stdout, &err)) {
            log_error("%s", err.text);
            return STATUS_FAILED;
        }
        break;
    default:
        v4l2_list(stdout);
        break;
    }
    if (fflush(stdout) == 0)
        return STATUS_DONE;
    log_error("standard output: %s", strerror(errno));
    return STATUS_FAILED;
}

int main(int argc, char **argv)
{
    struct settings settings;
    struct error err;
    struct cli cli;
    int status = STATUS_USAGE;

    if (cli_parse(&cli, argc, argv, &err)) {
        log_error("%s", err.text);
        goto done;
    }
    log_set_level(cli.verbosity > 0 ? LOG_DEBUG : cli.verbosity < 0 ? LOG_ERROR : LOG_INFO);
    /* Help, version and lists work with a broken configuration too. */
    if ((cli.command == CLI_RUN || cli.command == CLI_PRINT_CONFIG ||
         cli.command == CLI_BENCHMARK) &&
        cli_settings(&cli, &settings, &err)) {
        log_error("%s", err.text);
        goto done;
    }
    status = cli.command == CLI_RUN ? filter_frames(&cli, &settings) : print(&cli, &settings);
done:
    cli_finish(&cli);
    return status;
}
