/* Stands for control.c where libsystemd is not there. */
#include "control/control.h"

int control_open(struct control **ret, const char *instance, const struct control_host *host,
                 struct error *err)
{
    (void)instance, (void)host, (void)err;
    *ret = NULL;
    return 0;
}

void control_close(struct control *c)
{
    (void)c;
}

int control_fd(const struct control *c)
{
    (void)c;
    return -1; /* which poll() passes over */
}

void control_process(struct control *c)
{
    (void)c;
}

void control_ready(struct control *c)
{
    (void)c;
}

void control_reloading(struct control *c, bool reloading)
{
    (void)c, (void)reloading;
}

void control_progress(struct control *c)
{
    (void)c;
}

void control_snapshot_done(struct control *c, int result, const char *path, struct error *err)
{
    (void)c, (void)result, (void)path, (void)err;
}
