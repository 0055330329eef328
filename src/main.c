/* bilatcam: block signals, parse, open, run, close. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/event.h"
#include "base/log.h"
#include "base/out_file.h"
#include "base/standard_files.h"
#include "base/thread.h"
#include "benchmark.h"
#include "cli/cli.h"
#include "config-build.h"
#include "daemon.h"
#include "doctor/doctor.h"
#include "engine/process.h"
#include "engine/table.h"
#include "picture/snapshot.h"
#include "pipeline/pipeline.h"
#include "pipewire/list.h"
#include "v4l2/node.h"

enum { STATUS_DONE, STATUS_FAILED, STATUS_USAGE };

/* After a request to stop, devices are released, which takes milliseconds. Only a driver that does
 * not answer, or a frame that takes longer to filter than anybody would watch, is left behind. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define STOP_NS (5 * NS_PER_S) /* they make all of it slower */
#else
#define STOP_NS (700 * NS_PER_MS)
#endif
#define END_NS (3 * NS_PER_S) /* more where it came to its own end, which nobody waits for */
#define STATS_MS 100          /* and what a reader of the statistics may take then */
/* And for a snapshot to be written. systemd waits 5 s for it all. */
#define SNAPSHOT_NS (2500 * NS_PER_MS)
#define FINISH_NS (3 * NS_PER_S) /* and for a file to be made whole */
/* A file of hours is worth more time, unless another signal says that it is not. */
#define FINISH_MOST_NS (60 * NS_PER_S)

static int stop_fd = -1; /* event, rung once the program is to end */
static atomic_int n_stops;

static void on_stop_signal(int number)
{
    (void)number;
    (void)atomic_fetch_add(&n_stops, 1);
    event_ring(stop_fd);
}

/* A terminal that closes ends what runs in it. */
static bool has_terminal(void)
{
    const int fd = open("/dev/tty", O_RDONLY | O_NOCTTY | O_NONBLOCK | O_CLOEXEC);

    if (fd >= 0)
        (void)close(fd);
    return fd >= 0;
}

/* As nohup and the shell leave a signal to a program that is to outlive them. */
static bool inherited_ignored(int number)
{
    struct sigaction now;

    return sigaction(number, NULL, &now) == 0 && now.sa_handler == SIG_IGN;
}

/* From now on signals that stop the program make stop_fd readable, and interrupt what main waits
 * for while devices open. SIGHUP is one of them in a terminal; else it waits in the descriptor
 * that is returned. SIGINT and SIGHUP stay ignored where they are. */
static int open_signals(void)
{
    const struct sigaction stop = {.sa_handler = on_stop_signal};
    const bool heeds_hangup = !inherited_ignored(SIGHUP);
    const bool reloads = heeds_hangup && !has_terminal();
    sigset_t reload;

    stop_fd = event_open();
    (void)sigemptyset(&reload);
    if (reloads)
        (void)sigaddset(&reload, SIGHUP);
    if (stop_fd < 0 || pthread_sigmask(SIG_BLOCK, &reload, NULL) ||
        sigaction(SIGTERM, &stop, NULL) ||
        (!inherited_ignored(SIGINT) && sigaction(SIGINT, &stop, NULL)) ||
        (heeds_hangup && !reloads && sigaction(SIGHUP, &stop, NULL)))
        return -1;
    log_set_stop(stop_fd);
    (void)signal(SIGPIPE, SIG_IGN); /* a closed pipe is an error of write() */
    (void)signal(SIGXFSZ, SIG_IGN); /* and so is a file that may not grow */
    return signalfd(-1, &reload, SFD_CLOEXEC | SFD_NONBLOCK);
}

/* The end of a run, which neither a device that does not answer nor the reader of a pipe must hold
 * up. It outlives main's stack. */
static struct ending {
    struct out_file stats; /* open if they were asked for */
    pthread_mutex_t lock;  /* guards the rest, and p until it is reported */
    struct pipeline *p;    /* NULL while it opens */
    bool finishes;         /* a file needs more time */
    bool reported;
    int status;
} ending = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* The reader of a pipe is not waited for once the program is to end. */
static int put_patiently(struct out_file *f, const char *piece, size_t n)
{
    bool room = true;
    int r = out_file_put(f, piece, n);

    while (r == -EAGAIN && room) {
        room = !event_rung(stop_fd) && out_file_wait(f, stop_fd, -1);
        if (!room)
            room = out_file_wait(f, -1, STATS_MS);
        r = out_file_put(f, piece, n);
    }
    return r;
}

static int write_stats(struct out_file *f, const struct status *status)
{
    char *text = NULL;
    size_t size = 0;
    FILE *const memory = open_memstream(&text, &size);
    int r = -ENOMEM, closed;

    if (memory) {
        status_print_json(status, memory);
        r = fclose(memory) ? -ENOMEM : 0;
    }
    for (size_t done = 0; r == 0 && done < size; done += OUT_FILE_PIECE)
        r = put_patiently(f, text + done,
                          size - done < OUT_FILE_PIECE ? size - done : OUT_FILE_PIECE);
    free(text);
    closed = out_file_close(f);
    r = r ? r : closed;
    if (r)
        log_error("statistics '%s': %s", f->name,
                  r == -EPIPE    ? "nobody reads this pipe"
                  : r == -EAGAIN ? "the reader of this pipe takes nothing"
                                 : strerror(-r));
    return r ? STATUS_FAILED : STATUS_DONE;
}

static void log_counts(const struct status *s)
{
    log_info("%llu frames in, %llu out, %llu dropped, %llu damaged",
             (unsigned long long)s->frames_in, (unsigned long long)s->frames_out,
             (unsigned long long)s->frames_dropped, (unsigned long long)s->frames_bad);
}

/* Tells once how the run was. @forced: while its threads are still at work. */
static int report(struct ending *e, bool forced)
{
    struct status status;
    int exit_status, r = 0;

    status_init(&status);
    (void)pthread_mutex_lock(&e->lock);
    if (!e->reported) {
        if (e->p)
            r = forced ? pipeline_abandon(e->p) : pipeline_result(e->p);
        if (e->p)
            pipeline_status(e->p, &status);
        if (e->stats.what)
            e->status = write_stats(&e->stats, &status);
        if (r)
            e->status = STATUS_FAILED;
        if (e->p)
            log_counts(&status);
    }
    e->reported = true;
    exit_status = e->status;
    (void)pthread_mutex_unlock(&e->lock);
    return exit_status;
}

/* While a snapshot is ended, and what became of it is told. */
static pthread_mutex_t ending_snapshots = PTHREAD_MUTEX_INITIALIZER;

/* Whether there was a snapshot to wait for, so that the rest may need its time now. */
static bool end_snapshots(void)
{
    int r;

    (void)pthread_mutex_lock(&ending_snapshots);
    r = snapshots_end(SNAPSHOT_NS);
    if (r < 0)
        log_warning("no snapshot: it could not be written in %.1f s after the stop%s",
                    (double)(STOP_NS + SNAPSHOT_NS) / 1e9,
                    r == -ETIMEDOUT ? "; a file .bilatcam-* may be left in its folder" : "");
    (void)pthread_mutex_unlock(&ending_snapshots);
    return r == 1 || r == -ECANCELED;
}

static bool has_file_to_finish(void)
{
    bool ret;

    (void)pthread_mutex_lock(&ending.lock);
    ret = ending.finishes;
    (void)pthread_mutex_unlock(&ending.lock);
    return ret;
}

static void set_file_to_finish(bool finishes)
{
    (void)pthread_mutex_lock(&ending.lock);
    ending.finishes = finishes;
    (void)pthread_mutex_unlock(&ending.lock);
}

static void wait_for_devices(void)
{
    const struct timespec limit = timespec_of(STOP_NS), step = timespec_of(100 * NS_PER_MS);
    const int64_t t_end_ns = now_ns() + END_NS;

    while (!n_stops && now_ns() < t_end_ns)
        (void)nanosleep(&step, NULL);
    (void)nanosleep(&limit, NULL);
}

/* A frame or an encoder that takes long holds up the end of a file. Returns whether that came. */
static bool wait_for_file(void)
{
    const struct timespec usual = timespec_of(FINISH_NS), step = timespec_of(100 * NS_PER_MS);
    const int64_t t_end_ns = now_ns() + FINISH_MOST_NS;
    int n;

    (void)nanosleep(&usual, NULL);
    n = n_stops;
    if (has_file_to_finish())
        log_info("a file is still to be finished; another signal ends it all at once");
    while (has_file_to_finish() && n_stops == n && now_ns() < t_end_ns)
        (void)nanosleep(&step, NULL);
    return !has_file_to_finish();
}

/* Ends the program when it was told to stop and does not. */
static void *end_in_time(void *arg)
{
    const struct timespec limit = timespec_of(STOP_NS);
    int status;

    (void)event_wait(stop_fd, INT64_MAX);
    wait_for_devices();
    if (end_snapshots())
        (void)nanosleep(&limit, NULL);
    if (has_file_to_finish() && wait_for_file())
        (void)nanosleep(&limit, NULL);
    log_warning("forced exit: something did not stop in time");
    status = report(arg, true);
    if (has_file_to_finish()) {
        log_error("a file is not finished; what there is of it is left beside it as .bilatcam-*");
        status = STATUS_FAILED;
    }
    _exit(status);
}

static int run_frames(const struct cli *cli, struct pipeline *p, int hangup_fd)
{
    struct error err;
    int status;

    if (pipeline_start(p, &err)) {
        log_error("%s", err.text);
        (void)pipeline_close(p);
        return STATUS_FAILED;
    }
    (void)pthread_mutex_lock(&ending.lock);
    ending.p = p;
    (void)pthread_mutex_unlock(&ending.lock);
    set_file_to_finish(pipeline_finishes(p));
    daemon_run(cli, p, stop_fd, hangup_fd);
    pipeline_join(p);
    status = report(&ending, false);
    status = pipeline_close(p) ? STATUS_FAILED : status;
    set_file_to_finish(false);
    return status;
}

static bool has_auto_output(const struct settings *s)
{
    char output[SETTINGS_PATH_MAX];
    bool found = false;

    for (int i = 0; !found && settings_item(s->output, i, output); i++)
        found = !strcmp(output, "auto");
    return found;
}

/* Says at a terminal what it takes to have the devices that nobody named. */
static bool introduce(const struct settings *s, int error)
{
    const bool camera = !strcmp(s->input, "auto"), loopback = has_auto_output(s);
    struct doctor_system system;

    /* An engine that was asked for by name may be what is missing. */
    if ((error != -ENODEV && error != -EACCES) || strcmp(s->engine, "auto") != 0 ||
        !isatty(STDERR_FILENO))
        return false;
    doctor_system_init(&system, engine_table);
    return doctor_introduce(&system, camera, loopback, program_invocation_name, stderr);
}

static int open_and_run(const struct cli *cli, const struct settings *s, int hangup_fd)
{
    struct pipeline *p = NULL;
    struct error err = {.text = ""};
    const int r = pipeline_open(&p, s, stop_fd, &err);

    if (r == 0)
        return run_frames(cli, p, hangup_fd);
    if (event_rung(stop_fd))
        return report(&ending, false);
    if (!introduce(s, r))
        log_error("%s", err.text);
    return err.usage ? STATUS_USAGE : STATUS_FAILED;
}

static int filter_frames(const struct cli *cli, const struct settings *s)
{
    const int hangup_fd = open_signals();
    struct error err;
    pthread_t timer;
    int status, r;

    if (hangup_fd < 0) {
        log_error("cannot wait for signals: %s", strerror(errno));
        return STATUS_FAILED;
    }
    if (*s->stats && out_file_open(&ending.stats, "statistics", s->stats, &err)) {
        log_error("%s", err.text);
        return STATUS_FAILED;
    }
    r = thread_start(&timer, "end-in-time", end_in_time, &ending);
    if (r) {
        log_error("cannot start thread end-in-time: %s", strerror(-r));
        return STATUS_FAILED;
    }
    (void)pthread_detach(timer);
    status = open_and_run(cli, s, hangup_fd);
    (void)out_file_close(&ending.stats);
    /* The program would end before that thread has told of a snapshot that it gave up. */
    (void)pthread_mutex_lock(&ending_snapshots);
    (void)pthread_mutex_unlock(&ending_snapshots);
    return status;
}

/* The others, if there are several. */
static void list_more_devices(const struct engine_ops *e)
{
    char device[128], number[16] = "1";
    struct error err;

    for (int i = 1; e->on_device && !e->probe(number, device, sizeof(device), &err); i++) {
        printf("%-10s %s\n", "", device);
        (void)snprintf(number, sizeof(number), "%d", i + 1);
    }
}

static void list_engines(void)
{
    for (int i = 0; engine_table[i]; i++) {
        const struct engine_ops *e = engine_table[i];
        char device[128] = "";
        struct error err;

        if (e->missing)
            continue;
        if (e->probe(e->on_device ? "0" : "", device, sizeof(device), &err))
            printf("%-10s not here: %s\n", e->name, err.text);
        else
            printf("%-10s %s; %s\n", e->name, device, e->help);
        list_more_devices(e);
    }
}

static bool examine(const char *config_path)
{
    struct doctor_system system;

    doctor_system_init(&system, engine_table);
    return doctor_run(&system, config_path, program_invocation_name, stdout);
}

/* Becomes the script that sets the machine up: the one that is installed, or that of the sources
 * where this program is in a folder below them. */
static int set_up(const struct cli *cli)
{
    static char name[] = "setup", yes[] = "--yes", undo[] = "undo";
    char near[PATH_MAX], *argv[] = {name, NULL, NULL, NULL};
    ssize_t n = readlink("/proc/self/exe", near, sizeof(near) - sizeof("/../tools/setup"));
    int argc = 1;

    if (cli->yes)
        argv[argc++] = yes;
    if (cli->undo)
        argv[argc++] = undo;
    (void)execv(BILATCAM_SETUP, argv);
    near[n < 0 ? 0 : n] = '\0';
    if (strrchr(near, '/')) {
        (void)strcpy(strrchr(near, '/'), "/../tools/setup");
        (void)execv(near, argv);
    }
    log_error("cannot run '%s': %s", BILATCAM_SETUP, strerror(errno));
    return STATUS_FAILED;
}

static void list_devices(void)
{
    dev_t sensor[V4L2_MAX_NODES];
    const int n_sensors = v4l2_find_sensors(sensor);
    bool has_sensor = false;
    int n_others = 0;

#ifdef HAVE_PIPEWIRE
    n_others = pipewire_list(stdout, sensor, n_sensors, &has_sensor);
#endif
    v4l2_list(stdout, n_others, n_sensors && !has_sensor);
}

/* Everything that prints and ends. */
static int print(const struct cli *cli, const struct settings *s)
{
    int status = STATUS_DONE;
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
    case CLI_SETUP:
        return set_up(cli);
    case CLI_DOCTOR:
        status = examine(cli->config_path) ? STATUS_DONE : STATUS_FAILED;
        break;
    case CLI_BENCHMARK:
        if (benchmark_run(engine_table, s, cli->benchmark_format, stdout, &err)) {
            log_error("%s", err.text);
            return STATUS_FAILED;
        }
        break;
    default:
        list_devices();
        break;
    }
    if (!ferror(stdout) && fflush(stdout) == 0)
        return status;
    log_error("standard output: %s", strerror(errno));
    return STATUS_FAILED;
}

int main(int argc, char **argv)
{
    struct settings settings;
    struct error err;
    struct cli cli;
    int status;

    standard_files_open();
    status = engine_process_main(engine_table, argc, argv);
    if (status >= 0)
        return status;
    status = STATUS_USAGE;
    log_init();
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
