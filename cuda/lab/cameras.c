/* Several cameras on one GPU, each fed at 30 frames per second: engines side by side in threads of
 * one process, then each in a process of its own, as one daemon per camera has it. */
#include "cuda/lab/lab.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "tests/lib/images.h"

#define MAX_CAMERAS 64
#define FRAMES 90
#define INTERVAL_NS 33333333
#define PAGE 4096

/* What became of the frames of one camera. */
struct tally {
    int n_done;
    int n_late; /* done after the next frame was due */
    double us[FRAMES];
};

struct camera {
    struct engine *engine;
    uint8_t *memory; /* of both frames */
    struct frame in, out;
};

static int filter_frame(struct camera *c)
{
    const struct filter f = {.radius = 5, .sigma_space = filter_auto_sigma(5), .sigma_color = 18};
    const int r = c->engine->ops->submit(c->engine, &c->in, &c->out, &f);

    return r ? r : c->engine->ops->collect(c->engine);
}

static void camera_close(struct camera *c)
{
    engine_cuda.destroy(c->engine);
    free(c->memory);
}

static int camera_open(struct camera *c)
{
    const struct engine_config config = {.device = "0"};
    struct frame f = {.format = FRAME_YUYV, .width = 1920, .height = 1080};
    const size_t bytes = (frame_layout(&f) + PAGE - 1) / PAGE * PAGE;
    struct error err;
    int r;

    *c = (struct camera){.memory = aligned_alloc(PAGE, 2 * bytes), .in = f, .out = f};
    if (!c->memory)
        return -ENOMEM;
    frame_attach(&c->in, c->memory);
    frame_attach(&c->out, c->memory + bytes);
    image_fill(&c->in, IMAGE_NATURAL, 1);
    r = engine_cuda.create(&c->engine, &config, &err);
    if (r == 0)
        r = c->engine->ops->pin(c->engine, c->memory, 2 * bytes);
    for (int i = 0; i < 3 && r == 0; i++) /* the first frames load code and take memory */
        r = filter_frame(c);
    return r;
}

static void sleep_until(int64_t t_ns)
{
    const struct timespec t = timespec_of(t_ns);

    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL))
        ;
}

static void feed(struct camera *c, int64_t t_start_ns, struct tally *ret)
{
    while (ret->n_done < FRAMES) {
        const int64_t t_due = t_start_ns + (int64_t)ret->n_done * INTERVAL_NS;
        int64_t t0, t1;

        sleep_until(t_due);
        t0 = now_ns();
        if (filter_frame(c))
            return;
        t1 = now_ns();
        ret->n_late += t1 > t_due + INTERVAL_NS;
        ret->us[ret->n_done++] = (double)(t1 - t0) / 1000.0;
    }
}

static int report(const char *where, const struct tally *tallies, int n)
{
    static double us[MAX_CAMERAS * FRAMES];
    int total = 0, late = 0;

    for (int i = 0; i < n; i++) {
        memcpy(us + total, tallies[i].us, (size_t)tallies[i].n_done * sizeof(us[0]));
        total += tallies[i].n_done;
        late += tallies[i].n_late;
    }
    if (total < n * FRAMES) {
        printf("FAIL cameras: %d of %d frames from %d %s\n", total, n * FRAMES, n, where);
        return 1;
    }
    lab_sort(us, total);
    printf("%2d %-9s 1920x1080 at 30 fps, radius 5, disc: us p50 %8.1f  p99 %8.1f  max %8.1f, "
           "%d of %d late\n",
           n, where, us[total / 2], us[total * 99 / 100], us[total - 1], late, total);
    return 0;
}

struct thread {
    pthread_t id;
    int64_t t_start_ns;
    struct tally *tally;
};

static void *run_thread(void *argument)
{
    struct thread *t = argument;
    struct camera c;

    if (camera_open(&c) == 0)
        feed(&c, t->t_start_ns, t->tally);
    camera_close(&c);
    return NULL;
}

static int run_threads(int n)
{
    static struct thread threads[MAX_CAMERAS];
    static struct tally tallies[MAX_CAMERAS];
    /* Time for all to be made ready; then their frames come evenly spread. */
    const int64_t t0 = now_ns() + 3 * NS_PER_S + n * 30 * NS_PER_MS;
    int started = 0;

    memset(tallies, 0, sizeof(tallies));
    for (; started < n; started++) {
        threads[started] = (struct thread){.t_start_ns = t0 + INTERVAL_NS / n * started,
                                           .tally = &tallies[started]};
        if (pthread_create(&threads[started].id, NULL, run_thread, &threads[started]))
            break;
    }
    for (int i = 0; i < started; i++)
        (void)pthread_join(threads[i].id, NULL);
    return report("threads", tallies, n);
}

/* All of @size bytes, or false. */
static bool read_all(int fd, void *to, size_t size)
{
    for (size_t n = 0; n < size;) {
        const ssize_t got = read(fd, (char *)to + n, size - n);

        if (got <= 0)
            return false;
        n += (size_t)got;
    }
    return true;
}

/* A camera of its own: says on standard output that it is ready, is told on standard input when to
 * start, and writes its tally. */
int lab_camera(void)
{
    struct tally tally = {0};
    int64_t t_start_ns = 0;
    struct camera c;
    const int r = camera_open(&c);
    const char ready = 1;

    if (r == 0 && write(STDOUT_FILENO, &ready, 1) == 1 &&
        read_all(STDIN_FILENO, &t_start_ns, sizeof(t_start_ns)))
        feed(&c, t_start_ns, &tally);
    camera_close(&c);
    return r || write(STDOUT_FILENO, &tally, sizeof(tally)) != sizeof(tally);
}

/* This program again, and the ends of the pipes to it. */
struct process {
    pid_t id;
    int to, from;
};

static int start_process(struct process *p)
{
    static char program[] = "bilatcam-lab", part[] = "camera";
    char *const arguments[] = {program, part, NULL};
    posix_spawn_file_actions_t actions;
    int in[2], out[2], r;

    if (pipe2(in, O_CLOEXEC))
        return -errno;
    if (pipe2(out, O_CLOEXEC)) {
        r = errno;
        (void)close(in[0]);
        (void)close(in[1]);
        return -r;
    }
    r = posix_spawn_file_actions_init(&actions);
    if (r == 0) {
        (void)posix_spawn_file_actions_adddup2(&actions, in[0], STDIN_FILENO);
        (void)posix_spawn_file_actions_adddup2(&actions, out[1], STDOUT_FILENO);
        r = posix_spawn(&p->id, "/proc/self/exe", &actions, NULL, arguments, environ);
        (void)posix_spawn_file_actions_destroy(&actions);
    }
    (void)close(in[0]);
    (void)close(out[1]);
    p->to = in[1];
    p->from = out[0];
    if (r) {
        (void)close(p->to);
        (void)close(p->from);
    }
    return -r;
}

/* Closing its input has a process that still waits for its start end by itself. */
static void finish_process(struct process *p)
{
    (void)close(p->to);
    (void)close(p->from);
    (void)waitpid(p->id, NULL, 0);
}

static int run_processes(int n)
{
    static struct process processes[MAX_CAMERAS];
    static struct tally tallies[MAX_CAMERAS];
    int64_t t0;
    int started = 0;
    bool good;
    char ready;

    memset(tallies, 0, sizeof(tallies));
    while (started < n && start_process(&processes[started]) == 0)
        started++;
    good = started == n;
    for (int i = 0; i < started && good; i++)
        good = read_all(processes[i].from, &ready, 1);
    t0 = now_ns() + 200 * NS_PER_MS;
    for (int i = 0; i < started && good; i++) {
        const int64_t t_start_ns = t0 + INTERVAL_NS / n * i;

        good = write(processes[i].to, &t_start_ns, sizeof(t_start_ns)) == sizeof(t_start_ns);
    }
    for (int i = 0; i < started && good; i++)
        good = read_all(processes[i].from, &tallies[i], sizeof(tallies[i]));
    for (int i = 0; i < started; i++)
        finish_process(&processes[i]);
    return report("processes", tallies, n);
}

int lab_cameras(void)
{
    static const int numbers[] = {1, 8, 32, 64};
    int failed = 0;

    (void)signal(SIGPIPE, SIG_IGN); /* a process that died fails by its missing frames */
    for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
        failed += run_threads(numbers[i]);
    for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
        failed += run_processes(numbers[i]);
    return failed;
}
