/* The owner's half of an engine in a process of its own. */
#include "engine/process.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/text.h"
#include "base/thread.h"
#include "engine/process_orders.h"

/* Drivers take seconds to start and to prepare a first frame. */
const struct engine_process_limits engine_process_limits = {.first_ms = 10000, .answer_ms = 3000};

#define SLICE_MS 100
#define END_MS 1000 /* for one that was killed; a driver may keep it longer */

struct process_engine {
    struct engine base;
    pid_t pid;
    int socket_fd, memory_fd;
    uint8_t *memory;
    size_t bytes;
    struct engine_process_limits limits;
    bool lost;
    bool warm;            /* it has filtered a frame */
    bool busy;            /* a frame is submitted and not yet collected */
    bool ordered;         /* the process is at work on it */
    bool forget;          /* with the next picture */
    struct answer answer; /* the newest */
    struct pictures pictures;
    struct frame *out;
    struct engine_report report; /* of the picture collected last */
};

static void *reap(void *pid)
{
    (void)waitpid((pid_t)(intptr_t)pid, NULL, 0);
    return NULL;
}

/* Kills the process rather than asking: it may be beyond listening. */
static void end_process(pid_t pid)
{
    pthread_t reaper;

    (void)kill(pid, SIGKILL);
    for (int ms = 0; ms < END_MS; ms += 5) {
        if (waitpid(pid, NULL, WNOHANG))
            return;
        (void)poll(NULL, 0, 5);
    }
    if (thread_start(&reaper, "reap", reap, (void *)(intptr_t)pid) == 0)
        (void)pthread_detach(reaper);
}

void engine_process_destroy(struct engine *base)
{
    struct process_engine *e = (struct process_engine *)base;

    if (!e)
        return;
    if (e->socket_fd >= 0)
        (void)close(e->socket_fd);
    if (e->pid > 0)
        end_process(e->pid);
    if (e->memory)
        (void)munmap(e->memory, e->bytes);
    if (e->memory_fd >= 0)
        (void)close(e->memory_fd);
    free(e);
}

/* Waits until the process says something, or for @ms of the time that we run ourselves: who stops
 * us (Ctrl-Z, the machine's sleep) stops the process as well, and that takes no more than one
 * slice. */
static bool wait_for_process(const struct process_engine *e, int ms)
{
    struct pollfd fd = {.fd = e->socket_fd, .events = POLLIN};
    int n = 0;

    for (; ms > 0 && n == 0; ms -= SLICE_MS)
        n = poll(&fd, 1, ms < SLICE_MS ? ms : SLICE_MS);
    return n == 1;
}

/* -EIO: no answer, or none in time. Threads that get here block all signals. */
static int await_answer(struct process_engine *e)
{
    if (wait_for_process(e, e->warm ? e->limits.answer_ms : e->limits.first_ms) &&
        recv(e->socket_fd, &e->answer, sizeof(e->answer), MSG_DONTWAIT) == sizeof(e->answer))
        return 0;
    e->lost = true;
    return -EIO;
}

/* The code of the answer, or -EIO as above. */
static int await_code(struct process_engine *e)
{
    const int r = await_answer(e);

    e->lost |= r == 0 && e->answer.code == -EIO;
    return r ? r : e->answer.code;
}

static int give_order(struct process_engine *e, const struct order *o)
{
    if (send(e->socket_fd, o, sizeof(*o), MSG_NOSIGNAL | MSG_DONTWAIT) == sizeof(*o))
        return 0;
    e->lost = true;
    return -EIO;
}

/* Moves the descriptor out of the way of those that the process gets. */
static int move_fd(int fd)
{
    const int moved = fcntl(fd, F_DUPFD_CLOEXEC, FIRST_FREE_FD);

    (void)close(fd);
    return moved;
}

/* Nothing is left to the process but stderr and what it shares with its owner. */
static int spawn(pid_t *pid, const char *name, int socket_fd, int memory_fd)
{
    char *const argv[] = {(char[]){PROCESS_NAME}, (char *)name, NULL};
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    sigset_t none;
    int r;

    (void)sigemptyset(&none);
    if (posix_spawn_file_actions_init(&actions))
        return -ENOMEM;
    if (posix_spawnattr_init(&attributes)) {
        (void)posix_spawn_file_actions_destroy(&actions);
        return -ENOMEM;
    }
    r = posix_spawnattr_setsigmask(&attributes, &none);
    if (r == 0)
        r = posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
    if (r == 0)
        r = posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    if (r == 0)
        r = posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
    if (r == 0)
        r = posix_spawn_file_actions_adddup2(&actions, socket_fd, SOCKET_FD);
    if (r == 0)
        r = posix_spawn_file_actions_adddup2(&actions, memory_fd, MEMORY_FD);
    if (r == 0)
        r = posix_spawn_file_actions_addclosefrom_np(&actions, FIRST_FREE_FD);
    if (r == 0)
        r = posix_spawn(pid, "/proc/self/exe", &actions, &attributes, argv, environ);
    (void)posix_spawnattr_destroy(&attributes);
    (void)posix_spawn_file_actions_destroy(&actions);
    return -r;
}

/* Memory for two pictures of any size, of which only what is used takes room. Its size is sealed:
 * whoever could cut it would kill the other, who reads what is gone. */
static int create_memory(void)
{
    const int fd = memfd_create("bilatcam pictures", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    size_t most = 0;

    if (fd < 0)
        return -errno;
    for (int i = 0; i < FRAME_N_FORMATS; i++) {
        const struct frame largest = {
            .format = (enum frame_format)i, .width = FRAME_MAX_SIDE, .height = FRAME_MAX_SIDE};
        struct pictures p;
        const size_t bytes =
            format_filtered((enum frame_format)i) ? place_pictures(&p, &largest, NULL) : 0;

        most = bytes > most ? bytes : most;
    }
    if (ftruncate(fd, (off_t)most) ||
        fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL)) {
        const int r = -errno;

        (void)close(fd);
        return r;
    }
    return fd;
}

/* Starts the process, with everything that is shared with it. */
static int start_process(struct process_engine *e)
{
    int pair[2], r;
    const int memory_fd = create_memory();

    if (memory_fd < 0)
        return memory_fd;
    e->memory_fd = move_fd(memory_fd);
    if (e->memory_fd < 0 || socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair))
        return -errno;
    e->socket_fd = pair[0];
    pair[1] = move_fd(pair[1]);
    if (pair[1] < 0)
        return -errno;
    r = spawn(&e->pid, e->base.ops->name, pair[1], e->memory_fd);
    (void)close(pair[1]);
    return r;
}

static int create_there(struct process_engine *e, const struct engine_config *config,
                        struct error *err)
{
    const struct order o = {.kind = ORDER_CREATE, .config = *config};
    const struct answer *const a = &e->answer;
    int r = give_order(e, &o);

    if (r == 0)
        r = await_answer(e);
    if (r)
        return error_set(err, r, "engine %s: its process does not answer", e->base.ops->name);
    if (a->code)
        return error_set(err, a->code, "%.*s", (int)sizeof(a->err.text), a->err.text);
    (void)snprintf(e->base.device, sizeof(e->base.device), "%.90s, in its own process", a->device);
    (void)utf8_printable(e->base.device);
    return 0;
}

int engine_process_create(struct engine **ret, const struct engine_ops *ops,
                          const struct engine_config *config,
                          const struct engine_process_limits *limits, struct error *err)
{
    struct process_engine *e = calloc(1, sizeof(*e));
    int r;

    if (!e)
        return error_set(err, -ENOMEM, "out of memory for engine %s", ops->name);
    e->base.ops = ops;
    e->base.depth = 1;
    e->limits = *limits;
    e->socket_fd = e->memory_fd = -1;
    r = start_process(e);
    if (r)
        (void)error_set(err, r, "cannot start a process for engine %s: %s", ops->name,
                        strerror(-r));
    else
        r = create_there(e, config, err);
    if (r)
        engine_process_destroy(&e->base);
    else
        *ret = &e->base;
    return r;
}

/* Pictures are copied to shared memory, which the process pins. */
int engine_process_pin(struct engine *base, void *memory, size_t bytes)
{
    (void)base, (void)memory, (void)bytes;
    return 0;
}

void engine_process_unpin(struct engine *base, void *memory)
{
    (void)base, (void)memory;
}

static int reserve(struct process_engine *e, size_t bytes)
{
    const struct order o = {.kind = ORDER_MAP, .bytes = bytes};
    int r;

    if (bytes <= e->bytes)
        return 0;
    if (e->memory)
        (void)munmap(e->memory, e->bytes);
    e->memory = NULL;
    e->bytes = 0;
    e->memory = map_memory(e->memory_fd, bytes);
    if (!e->memory)
        return -ENOMEM;
    e->bytes = bytes;
    r = give_order(e, &o);
    return r ? r : await_code(e);
}

/* Brings @in to the process with the order @o, which says what to do with it. */
static int send_picture(struct process_engine *e, const struct frame *in, struct order *o)
{
    const int r = reserve(e, place_pictures(&e->pictures, in, NULL));

    if (r)
        return r;
    (void)place_pictures(&e->pictures, in, e->memory);
    e->report.counts = NULL;
    frame_copy(&e->pictures.in, in);
    o->shape = picture_shape(in);
    o->forget = e->forget;
    e->forget = false;
    return give_order(e, o);
}

int engine_process_submit(struct engine *base, const struct frame *in, struct frame *out,
                          const struct filter *filter)
{
    struct process_engine *e = (struct process_engine *)base;
    struct order o = {.kind = ORDER_FILTER, .filter = *filter};
    int r;

    if (e->lost)
        return -EIO;
    if (e->busy)
        return -EBUSY;
    if (!engine_takes(in->format, filter))
        return -EINVAL;
    e->ordered = filter->radius > 0 || filter->temporal > 1;
    if (e->ordered) {
        r = send_picture(e, in, &o);
    } else {
        r = base->ops->pass(base, in);
        frame_copy(out, in);
    }
    e->out = out;
    e->busy = r == 0;
    return r;
}

int engine_process_collect(struct engine *base)
{
    struct process_engine *e = (struct process_engine *)base;
    int r;

    if (e->lost)
        return -EIO;
    if (!e->busy)
        return -EAGAIN;
    e->busy = false;
    if (!e->ordered)
        return 0;
    r = await_code(e);
    if (r)
        return r;
    frame_copy(e->out, &e->pictures.out);
    e->warm = true;
    e->report = e->answer.report;
    if (e->report.counts)
        e->report.counts = e->pictures.counts;
    return 0;
}

/* Waits for the process, which does not wait for its device. */
int engine_process_pass(struct engine *base, const struct frame *in)
{
    struct process_engine *e = (struct process_engine *)base;
    struct order o = {.kind = ORDER_PASS};
    int r;

    if (e->lost)
        return -EIO;
    if (e->busy)
        return -EBUSY;
    if (!format_filtered(in->format))
        return -EINVAL;
    r = send_picture(e, in, &o);
    return r ? r : await_code(e);
}

void engine_process_forget(struct engine *base)
{
    ((struct process_engine *)base)->forget = true;
}

void engine_process_report(struct engine *base, struct engine_report *ret)
{
    *ret = ((struct process_engine *)base)->report;
}
