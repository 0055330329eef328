#pragma once
/* What goes on around the pipeline while it runs: signals, live control, devices that come and
 * go, the watchdog, and a line of progress every minute. Context: main. */
#include "cli/cli.h"
#include "pipeline/pipeline.h"

/* Returns when frames have ended, or @stop_fd (an eventfd) is readable. @hangup_fd is a signalfd
 * that tells of a SIGHUP which is to reload. */
void daemon_run(const struct cli *cli, struct pipeline *p, int stop_fd, int hangup_fd);
