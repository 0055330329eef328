#pragma once
/* What the tests of sources share. */
#include "tests/lib/unit.h"

#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "source/source.h"
#include "tests/lib/stop.h"

static inline struct source_config request(const char *name)
{
    return (struct source_config){.name = name, .format = -1, .stop_fd = -1};
}

static inline struct source *open_well(const struct source_ops *ops,
                                       const struct source_config *config)
{
    struct error err = {0};
    struct source *s = NULL;

    if (ops->open(&s, config, &err))
        fail_msg("%s", err.text);
    assert_ptr_equal(s->ops, ops);
    return s;
}

/* Opening must fail with @code and a text that contains @text. */
static inline void open_badly(const struct source_ops *ops, const struct source_config *config,
                              int code, const char *text)
{
    struct error err = {0};
    struct source *s = NULL;
    const int r = ops->open(&s, config, &err);

    if (r != code || !strstr(err.text, text))
        fail_msg("'%s' gave %d '%s', not %d '%s'", config->name, r, err.text, code, text);
    assert_null(s);
}

/* Reads until @s says that it was stopped, which must be soon after the stop. */
static inline void read_until_stopped(struct source *s, int stop_fd)
{
    const int64_t start = now_ns();
    struct error err = {0};
    struct frame f;
    pthread_t thread;
    int r;

    assert_int_equal(pthread_create(&thread, NULL, stop_after_50_ms, &stop_fd), 0);
    while (!(r = s->ops->read(s, &f, &err)))
        s->ops->release(s);
    assert_int_equal(r, -ECANCELED);
    assert_true(err.text[0]);
    assert_true(now_ns() - start < 900000000);
    assert_int_equal(s->ops->read(s, &f, &err), -ECANCELED);
    assert_int_equal(pthread_join(thread, NULL), 0);
}
