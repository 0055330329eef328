#pragma once
/* What the files of the pipeline share: check.c looks at what is asked for, open.c opens, runs and
 * closes it, requests.c says what settings mean to its parts, live.c answers and changes it while
 * it runs. */
#include <pthread.h>
#include <stdatomic.h>

#include "pipeline/pipeline.h"
#include "pipeline/stages.h"

struct pipeline {
    pthread_mutex_t settings_lock; /* guards the next two once the threads run */
    struct settings settings;
    int temporal_before; /* the window switched it off; 0 = auto, as in settings */
    char outputs[SETTINGS_MAX_OUTPUTS][SETTINGS_PATH_MAX]; /* as at the start: sinks keep them */
    int n_outputs;
    struct sink_control control;
    struct stages stages;
    struct status opened; /* all of the status that does not change while frames flow */
    atomic_bool ended;    /* nothing comes out any more */
};

#define SIGMA_COLOR 18 /* what auto stands for while nothing was measured */

/* What settings mean to the stages: the filter, and where pictures come from. */
struct filter_request pipeline_filter_request(const struct settings *s);
struct capture_request pipeline_capture_request(const struct settings *s);

/* Sets p->outputs, and checks what can be seen to be wrong before anything is opened or written. */
int pipeline_check(struct pipeline *p, struct error *err);

/* Warns of what @s asks for and its filter leaves out, unless @before, NULL at the start, did. */
void pipeline_warn_unused(const struct settings *before, const struct settings *s);

/* For sinks with a user in front of them. */
struct sink_control pipeline_sink_control(struct pipeline *p);
