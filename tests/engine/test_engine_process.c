/* An engine in a process of its own: the same pictures as without, and a process that dies, stops
 * or cannot start holds nothing up and leaves nothing behind. */
#include "tests/lib/unit.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "engine/process.h"
#include "engine/table.h"
#include "tests/lib/images.h"

#define LIMIT_MS 20000

static const struct engine_config config = {.threads = 2};

/* A frame may take longer here than anybody would wait for it, as with a sanitizer. */
static const struct engine_process_limits patient = {.first_ms = 200000, .answer_ms = 200000};
static const struct engine_process_limits hasty = {.first_ms = 200000, .answer_ms = 500};

/* The table of an engine in a process, with the name of one that is found there. */
static struct engine_ops ops_in_process(const char *name)
{
    return (struct engine_ops){
        .name = name,
        .destroy = engine_process_destroy,
        .pin = engine_process_pin,
        .unpin = engine_process_unpin,
        .submit = engine_process_submit,
        .collect = engine_process_collect,
        .pass = engine_process_pass,
        .forget = engine_process_forget,
        .report = engine_process_report,
    };
}

static struct engine *open_with(struct engine_ops *ops, const struct engine_process_limits *limits)
{
    struct engine *e = NULL;
    struct error err = {.text = ""};

    *ops = ops_in_process("simd");
    if (engine_process_create(&e, ops, &config, limits, &err))
        fail_msg("%s", err.text);
    return e;
}

static struct engine *open_in_process(struct engine_ops *ops)
{
    return open_with(ops, &patient);
}

static int filter_once(struct engine *e, const struct frame *in, struct frame *out,
                       const struct filter *f)
{
    const int r = e->ops->submit(e, in, out, f);

    return r ? r : e->ops->collect(e);
}

/* The first child of process @parent, 0 if there is none. */
static pid_t child_of(pid_t parent)
{
    char path[64];
    int pid = 0;
    FILE *f;

    (void)snprintf(path, sizeof(path), "/proc/%d/task/%d/children", (int)parent, (int)parent);
    f = fopen(path, "re");
    if (!f)
        return 0;
    if (fscanf(f, "%d", &pid) != 1)
        pid = 0;
    (void)fclose(f);
    return pid;
}

/* On a machine with too much to do a process that was killed may be there a little longer. */
static void assert_no_child(void)
{
    for (int i = 0; i < 1000 && child_of(getpid()); i++)
        (void)poll(NULL, 0, 10);
    assert_int_equal(child_of(getpid()), 0);
}

static int n_descriptors(void)
{
    DIR *d = opendir("/proc/self/fd");
    int n = 0;

    assert_non_null(d);
    while (readdir(d))
        n++;
    (void)closedir(d);
    return n;
}

/* Filters one picture both ways. */
static void check_picture(struct engine *here, struct engine *there, const struct frame *shape,
                          const struct filter *f)
{
    struct guarded in = {0}, out = {0}, want = {0};

    assert_int_equal(guarded_alloc(&in, shape, 13), 0);
    assert_int_equal(guarded_alloc(&out, shape, 2), 0);
    assert_int_equal(guarded_alloc(&want, shape, 0), 0);
    image_fill(&in.frame, IMAGE_NATURAL, 7);
    guarded_arm(&out);
    assert_int_equal(filter_once(here, &in.frame, &want.frame, f), 0);
    assert_int_equal(filter_once(there, &in.frame, &out.frame, f), 0);
    assert_int_equal(frame_difference(&out.frame, &want.frame).max, 0);
    assert_int_equal(guarded_check(&out), 0);
    guarded_free(&in);
    guarded_free(&out);
    guarded_free(&want);
}

static void compare(const struct engine_ops *inner)
{
    static const int sizes[][2] = {{64, 48}, {2, 1}, {322, 181}, {66, 35}};
    struct engine_ops ops = ops_in_process(inner->name);
    struct engine *here = NULL, *there = NULL;
    struct error err = {.text = ""};

    if (inner->probe("", NULL, 0, &err)) {
        print_message("engine %s not here: %s\n", inner->name, err.text);
        return;
    }
    assert_int_equal(inner->create(&here, &config, &err), 0);
    if (engine_process_create(&there, &ops, &config, &patient, &err))
        fail_msg("%s", err.text);
    print_message("%s\n", there->device);
    for (int format = 0; format < FRAME_N_FORMATS; format++) {
        if (!format_filtered((enum frame_format)format))
            continue;
        for (int i = 0; i < 4; i++)
            for (int radius = 0; radius < 4; radius++) {
                const struct frame shape = {.format = (enum frame_format)format,
                                            .width = sizes[i][0],
                                            .height = sizes[i][1],
                                            .colour = {COLOUR_BT709, COLOUR_FULL}};
                const struct filter f = {.radius = radius,
                                         .sigma_space = 2,
                                         .sigma_color = 25,
                                         .range = RANGE_LORENTZIAN,
                                         .window = WINDOW_SQUARE};

                check_picture(here, there, &shape, &f);
            }
    }
    here->ops->destroy(here);
    there->ops->destroy(there);
}

static void test_same_pictures(void **state)
{
    (void)state;
    for (int i = 0; engine_table[i]; i++)
        if (!engine_table[i]->missing && !engine_table[i]->only_by_name)
            compare(engine_table[i]);
}

/* A picture and a filter that take the CPU a while. */
static const struct frame large = {.format = FRAME_YUYV, .width = 1280, .height = 720};
static const struct filter slow = {.radius = 8, .sigma_space = 4, .sigma_color = 25};

/* For what does not depend on that: with a sanitizer the other one takes ten seconds. */
static const struct filter quick = {.radius = 1, .sigma_space = 1, .sigma_color = 25};

struct pictures {
    struct frame in, out;
};

static struct pictures make_pictures(void)
{
    struct pictures p = {.in = large, .out = large};

    assert_int_equal(frame_alloc(&p.in), 0);
    assert_int_equal(frame_alloc(&p.out), 0);
    image_fill(&p.in, IMAGE_NATURAL, 1);
    return p;
}

static void free_pictures(struct pictures *p)
{
    frame_free(&p->in);
    frame_free(&p->out);
}

static void test_order_of_calls(void **state)
{
    struct pictures p = make_pictures();
    struct engine_ops ops;
    struct engine *e = open_in_process(&ops);
    struct filter f = quick;

    (void)state;
    assert_int_equal(e->ops->collect(e), -EAGAIN);
    assert_int_equal(e->ops->submit(e, &p.in, &p.out, &f), 0);
    assert_int_equal(e->ops->submit(e, &p.in, &p.out, &f), -EBUSY);
    assert_int_equal(e->ops->pass(e, &p.in), -EBUSY);
    assert_int_equal(e->ops->collect(e), 0);
    assert_int_equal(e->ops->collect(e), -EAGAIN);
    f.radius = -1;
    assert_int_equal(e->ops->submit(e, &p.in, &p.out, &f), -EINVAL);
    f.radius = 1;
    assert_int_equal(filter_once(e, &p.in, &p.out, &f), 0);
    e->ops->destroy(e);
    free_pictures(&p);
}

static void test_killed(void **state)
{
    struct pictures p = make_pictures();

    (void)state;
    for (int before = 0; before < 2; before++) { /* before submit, or in the frame */
        struct engine_ops ops;
        struct engine *e = open_in_process(&ops);
        const pid_t pid = child_of(getpid());

        assert_true(pid > 0);
        if (before)
            assert_int_equal(kill(pid, SIGKILL), 0);
        if (e->ops->submit(e, &p.in, &p.out, &slow) == 0) {
            (void)kill(pid, SIGKILL);
            assert_int_equal(e->ops->collect(e), -EIO);
        }
        assert_int_equal(e->ops->submit(e, &p.in, &p.out, &slow), -EIO);
        assert_int_equal(e->ops->collect(e), -EIO);
        assert_int_equal(e->ops->pass(e, &p.in), -EIO);
        e->ops->destroy(e);
        assert_no_child();
    }
    free_pictures(&p);
}

static void test_stopped(void **state)
{
    struct pictures p = make_pictures();
    struct engine_ops ops;
    struct engine *e = open_with(&ops, &hasty);
    const pid_t pid = child_of(getpid());
    int64_t t;

    (void)state;
    assert_int_equal(filter_once(e, &p.in, &p.out, &quick), 0);
    assert_int_equal(kill(pid, SIGSTOP), 0);
    t = now_ns();
    assert_int_equal(filter_once(e, &p.in, &p.out, &quick), -EIO);
    assert_true(now_ns() - t < LIMIT_MS * INT64_C(1000000));
    e->ops->destroy(e);
    assert_no_child();
    free_pictures(&p);
}

/* Whether process @pid is in @state, as /proc tells it. */
static bool is_in_state(pid_t pid, char state)
{
    char path[64], now = '?';
    FILE *f;

    (void)snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
    f = fopen(path, "re");
    if (!f)
        return false;
    if (fscanf(f, "%*d (%*[^)]) %c", &now) != 1)
        now = '?';
    (void)fclose(f);
    return now == state;
}

static void wait_for_state(pid_t pid, char state)
{
    for (int ms = 0; ms < LIMIT_MS && !is_in_state(pid, state); ms += 10)
        (void)poll(NULL, 0, 10);
    assert_true(is_in_state(pid, state));
}

/* An owner whose process is stopped in the middle of a frame, which is told by @ready_fd: the exit
 * status. */
static int wait_for_stopped_process(int ready_fd)
{
    static const struct engine_process_limits limits = {.first_ms = 200000, .answer_ms = 4000};
    const struct engine_ops ops = ops_in_process("simd");
    struct pictures p = make_pictures();
    struct engine *e;

    if (engine_process_create(&e, &ops, &config, &limits, NULL))
        return 1;
    if (filter_once(e, &p.in, &p.out, &quick))
        return 2;
    (void)kill(child_of(getpid()), SIGSTOP);
    if (e->ops->submit(e, &p.in, &p.out, &quick))
        return 3;
    (void)!write(ready_fd, "r", 1);
    if (e->ops->collect(e))
        return 4;
    e->ops->destroy(e);
    return 0;
}

/* Ctrl-Z, and a while later fg: a stop of both is nobody's fault, however long it takes. */
static void test_both_stopped(void **state)
{
    int ready[2], status = -1;
    pid_t owner;
    char byte;

    (void)state;
    assert_int_equal(pipe(ready), 0);
    owner = fork();
    if (owner == 0) {
        (void)setpgid(0, 0);
        _exit(wait_for_stopped_process(ready[1]));
    }
    assert_true(owner > 0);
    (void)close(ready[1]);
    assert_int_equal(read(ready[0], &byte, 1), 1);
    assert_int_equal(kill(-owner, SIGSTOP), 0);
    wait_for_state(owner, 'T');
    (void)poll(NULL, 0, 5000);
    assert_int_equal(kill(owner, SIGCONT), 0);
    (void)poll(NULL, 0, 500); /* the process needs a moment for the rest of its frame */
    assert_int_equal(kill(-owner, SIGCONT), 0);
    assert_int_equal(waitpid(owner, &status, 0), owner);
    assert_int_equal(status, 0);
    (void)close(ready[0]);
}

/* Ctrl-C in a terminal reaches the process too; its owner still has frames for it. */
static void test_signals(void **state)
{
    static const int signals[] = {SIGINT, SIGTERM, SIGHUP};
    struct pictures p = make_pictures();
    struct engine_ops ops;
    struct engine *e = open_in_process(&ops);

    (void)state;
    for (int i = 0; i < 3; i++) {
        assert_int_equal(kill(child_of(getpid()), signals[i]), 0);
        assert_int_equal(filter_once(e, &p.in, &p.out, &quick), 0);
    }
    e->ops->destroy(e);
    free_pictures(&p);
}

/* Neither can take the memory away under the other, who would be killed for reading it. */
static void test_memory_is_sealed(void **state)
{
    struct pictures p = make_pictures();
    struct engine_ops ops;
    struct engine *e = open_in_process(&ops);
    char path[64];
    int fd;

    (void)state;
    assert_int_equal(filter_once(e, &p.in, &p.out, &quick), 0);
    (void)snprintf(path, sizeof(path), "/proc/%d/fd/4", (int)child_of(getpid()));
    fd = open(path, O_RDWR | O_CLOEXEC);
    assert_true(fd >= 0);
    assert_int_equal(fcntl(fd, F_GET_SEALS), F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL);
    assert_int_equal(ftruncate(fd, 0), -1);
    assert_int_equal(filter_once(e, &p.in, &p.out, &quick), 0);
    (void)close(fd);
    e->ops->destroy(e);
    free_pictures(&p);
}

static void test_unknown_engine(void **state)
{
    const struct engine_ops ops = ops_in_process("nonsense");
    struct engine *e = NULL;
    struct error err = {.text = ""};

    (void)state;
    assert_true(engine_process_create(&e, &ops, &config, &patient, &err) < 0);
    assert_string_equal(err.text, "engine nonsense: its process does not answer");
    assert_null(e);
    assert_no_child();
}

/* The reason why an engine is not to be had comes from the process. */
static void test_refusal(void **state)
{
    const struct engine_ops ops = ops_in_process("simd");
    struct engine *e = NULL;
    struct error err = {.text = ""};

    (void)state;
    assert_int_equal(setenv("BILATCAM_CPU", "abacus", 1), 0);
    assert_int_equal(engine_process_create(&e, &ops, &config, &patient, &err), -ENODEV);
    assert_int_equal(unsetenv("BILATCAM_CPU"), 0);
    assert_non_null(strstr(err.text, "abacus"));
}

static void test_nothing_left(void **state)
{
    const int before = n_descriptors();

    (void)state;
    for (int i = 0; i < 20; i++) {
        struct engine_ops ops;
        struct engine *e = open_in_process(&ops);

        assert_true(child_of(getpid()) > 0);
        e->ops->destroy(e);
        assert_no_child();
    }
    assert_int_equal(n_descriptors(), before);
}

/* An owner that is killed takes the process with it, even in a frame that takes minutes. */
static void test_owner_gone(void **state)
{
    const struct filter endless = {.radius = 32, .sigma_space = 16, .sigma_color = 25};
    struct pictures p = make_pictures();
    pid_t owner, pid = 0;
    int status = -1;

    (void)state;
    assert_int_equal(prctl(PR_SET_CHILD_SUBREAPER, 1), 0);
    owner = fork();
    if (owner == 0) {
        const struct engine_ops ops = ops_in_process("reference");
        struct engine *e;

        if (engine_process_create(&e, &ops, &config, &patient, NULL) == 0)
            (void)ops.submit(e, &p.in, &p.out, &endless);
        for (;;)
            (void)pause();
    }
    assert_true(owner > 0);
    for (int ms = 0; ms < LIMIT_MS && !(pid = child_of(owner)); ms += 10)
        (void)poll(NULL, 0, 10);
    assert_true(pid > 0);
    (void)poll(NULL, 0, 1000);
    assert_int_equal(kill(owner, SIGKILL), 0);
    assert_int_equal(waitpid(owner, NULL, 0), owner);
    for (int ms = 0; ms < LIMIT_MS && waitpid(pid, &status, WNOHANG) == 0; ms += 10)
        (void)poll(NULL, 0, 10);
    assert_int_equal(status, 0);
    free_pictures(&p);
}

/* The argument is a pattern of names: only those tests are run. */
int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_same_pictures),    cmocka_unit_test(test_order_of_calls),
        cmocka_unit_test(test_killed),           cmocka_unit_test(test_stopped),
        cmocka_unit_test(test_both_stopped),     cmocka_unit_test(test_signals),
        cmocka_unit_test(test_memory_is_sealed), cmocka_unit_test(test_unknown_engine),
        cmocka_unit_test(test_refusal),          cmocka_unit_test(test_nothing_left),
        cmocka_unit_test(test_owner_gone),
    };
    const int status = engine_process_main(engine_table, argc, argv);

    if (argc > 1)
        cmocka_set_test_filter(argv[1]);
    return status >= 0 ? status : cmocka_run_group_tests(tests, NULL, NULL);
}
