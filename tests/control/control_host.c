/* A daemon without pictures for test_control.sh: live control around a struct settings. What is
 * asked of it, it prints; what else happens to a daemon comes as lines on standard input. */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "control/control.h"
#include "tests/lib/figures.h"

struct host {
    struct settings settings;
    struct status status;
    bool wanted, slow; /* a snapshot, and it takes until it is told to be done */
    char name[64];
};

static void host_status(void *user, struct status *ret)
{
    *ret = ((struct host *)user)->status;
}

static void host_settings(void *user, struct settings *ret)
{
    *ret = ((struct host *)user)->settings;
}

static int host_set(void *user, const char *name, const char *value, struct error *err)
{
    struct host *h = user;
    const struct key *key = key_find(name);

    if (key && !key->live)
        return error_set(err, -EINVAL, "%s cannot change while running", name);
    return settings_change(&h->settings, name, value, err);
}

static int host_reload(void *user, struct error *err)
{
    struct host *h = user;

    printf("reload\n");
    return settings_load(&h->settings, "reload.conf", err);
}

static void host_pause(void *user, bool paused)
{
    struct host *h = user;

    printf("pause %d\n", paused);
    (void)snprintf(h->status.state, sizeof(h->status.state), paused ? "paused" : "running");
}

/* The camera goes off and on when lines say so. */
static void host_sleep(void *user, bool asleep)
{
    (void)user;
    printf("sleep %d\n", asleep);
}

static int host_snapshot(void *user, const char *name, struct error *err)
{
    struct host *h = user;

    if (h->wanted)
        return error_set(err, -EBUSY, "no snapshot: another one is being written");
    (void)snprintf(h->name, sizeof(h->name), "%s", name);
    h->slow = !strcmp(name, "slow");
    h->wanted = true;
    printf("snapshot %s\n", name);
    return 0;
}

static void finish_snapshot(struct host *h, struct control *c)
{
    struct error err = {.text = ""};
    char path[128];
    int r = 0;

    if (strchr(h->name, '/'))
        r = error_set(&err, -EINVAL, "snapshot '%s': must be a plain file name", h->name);
    else if (!strcmp(h->name, "full"))
        r = error_set(&err, -ENOSPC, "snapshot '%s': %s", h->name, strerror(ENOSPC));
    (void)snprintf(path, sizeof(path), "/pictures/%s.png", *h->name ? h->name : "the-time");
    h->wanted = h->slow = false;
    control_snapshot_done(c, r, path, &err);
}

static void fill_status(struct status *s)
{
    status_init(s);
    (void)snprintf(s->state, sizeof(s->state), "running");
    (void)snprintf(s->engine, sizeof(s->engine), "simd");
    (void)snprintf(s->device, sizeof(s->device), "Caf\xe9 processor"); /* no UTF-8 */
    s->radius_requested = 5;
    s->radius_last = 3;
    s->sigma_color = 8.125;
    s->noise = 3.25;
    s->frames_averaged = 9.5;
    s->second.fps = 29.97;
    s->second.latency = (struct percentiles){.p50_ns = 12500000, .p99_ns = 17250000};
    s->second.added = (struct percentiles){.p50_ns = 2500000, .p99_ns = 7250000};
    s->second.camera.p50_ns = 10000000;
    s->frames_in = UINT64_C(5000000000);
    s->frames_out = 90;
    s->frames_dropped = 7;
    s->frames_bad = 2;
    s->processor_percent = 41.72;
    s->reconnects = 1;
    (void)snprintf(s->outputs, sizeof(s->outputs),
                   "virtual: 90 frames, 2 readers; a.y4m: 88 frames");
}

/* Gives each figure a value of its own, and says who is to show it as what. */
static void print_figures(struct status *s)
{
    fill_figures(s);
    for (const struct figure *f = figure_table; f->help; f++) {
        char text[64];

        figure_text(f, s, text, sizeof(text));
        printf("figure %s %s %s %s\n", f->json ? f->json : "-", f->property ? f->property : "-",
               figure_signature(f), text);
    }
}

/* False: the end. */
static bool obey(struct host *h, struct control *c, char *line)
{
    char *argument;

    line[strcspn(line, "\n")] = '\0';
    argument = line + strcspn(line, " ");
    if (*argument)
        *argument++ = '\0';
    if (!strcmp(line, "ready"))
        control_ready(c);
    else if (!strcmp(line, "progress"))
        control_progress(c);
    else if (!strcmp(line, "reloading"))
        control_reloading(c, *argument == '1');
    else if (!strcmp(line, "state"))
        (void)snprintf(h->status.state, sizeof(h->status.state), "%s", argument);
    else if (!strcmp(line, "reason")) /* the text of an error may hold anything */
        (void)snprintf(h->status.reason, sizeof(h->status.reason), "%s\nSTOPPING=1", argument);
    else if (!strcmp(line, "readers"))
        h->status.readers = atoi(argument);
    else if (!strcmp(line, "noise"))
        h->status.noise = atof(argument);
    else if (!strcmp(line, "gpu-memory"))
        h->status.gpu_memory_mib = atof(argument);
    else if (!strcmp(line, "sigma-color"))
        h->status.sigma_color = atof(argument);
    else if (!strcmp(line, "figures"))
        print_figures(&h->status);
    else if (!strcmp(line, "radius"))
        (void)settings_set(&h->settings, "radius", argument, NULL);
    else if (!strcmp(line, "notify"))
        control_process(c);
    else if (!strcmp(line, "snapshot"))
        h->slow = false;
    else if (!strcmp(line, "camera"))
        h->status.asleep = !strcmp(argument, "off");
    else
        return false;
    printf("done %s\n", line);
    return true;
}

static void run(struct host *h, struct control *c)
{
    struct pollfd fds[] = {{.fd = control_fd(c), .events = POLLIN},
                           {.fd = STDIN_FILENO, .events = POLLIN}};
    char line[256];

    while (poll(fds, 2, -1) >= 0) {
        if (fds[0].revents)
            control_process(c);
        /* Unbuffered, so that no line waits where poll() does not see it. */
        if (fds[1].revents && (!fgets(line, sizeof(line), stdin) || !obey(h, c, line)))
            return;
        if (h->wanted && !h->slow)
            finish_snapshot(h, c);
    }
}

int main(int argc, char **argv)
{
    const struct control_host ops = {.user = &(struct host){.slow = false},
                                     .status = host_status,
                                     .settings = host_settings,
                                     .set = host_set,
                                     .reload = host_reload,
                                     .pause = host_pause,
                                     .sleep = host_sleep,
                                     .snapshot = host_snapshot};
    struct host *h = ops.user;
    struct control *c = NULL;
    struct error err = {.text = ""};

    (void)setvbuf(stdin, NULL, _IONBF, 0);
    (void)setvbuf(stdout, NULL, _IOLBF, 0);
    log_set_level(LOG_DEBUG);
    settings_init(&h->settings);
    /* A name that is no UTF-8. */
    (void)settings_set(&h->settings, "input", "clip-\xff.y4m", NULL);
    fill_status(&h->status);
    if (control_open(&c, argc > 1 ? argv[1] : "", &ops, &err)) {
        log_error("%s", err.text);
        return err.usage ? 2 : 1;
    }
    run(h, c);
    control_close(c);
    return 0;
}
