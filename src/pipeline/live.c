#include "pipeline/parts.h"

#include <errno.h>
#include <string.h>

#include "base/clock.h"
#include "base/log.h"
#include "pipeline/backends.h"

/* Takes over @new with the lock held. */
static void take_settings(struct pipeline *p, const struct settings *new)
{
    const struct filter_request w = pipeline_filter_request(new);

    pipeline_warn_unused(&p->settings, new);
    p->settings = *new;
    stream_set_filter_request(p->stages.stream, &w);
}

/* What auto stands for now; of the noise, once that is known. */
static double automatic_value(struct pipeline *p, const struct settings *s, const char *name)
{
    struct status status;

    if (!strcmp(name, "temporal"))
        return filter_auto_temporal((enum temporal_mode)s->temporal_mode);
    if (!strcmp(name, "sigma-space"))
        return filter_auto_sigma(s->radius);
    pipeline_status(p, &status);
    return status.sigma_color > 0.0 ? status.sigma_color : SIGMA_COLOR;
}

/* Says what @name has become, with the lock held. */
static void say_value(const struct pipeline *p, const char *name, char *text, size_t size)
{
    const bool bilateral = p->settings.filter == FILTER_BILATERAL;
    const bool unused = !bilateral && (!strcmp(name, "range") || !strcmp(name, "window"));
    char value[64];

    settings_get(&p->settings, key_find(name), value, sizeof(value));
    (void)snprintf(text, size, "%s %s%s", name, value,
                   unused ? ", which counts for filter bilateral" : "");
}

static void control_adjust(void *user, const char *name, int steps, char *text, size_t size)
{
    struct pipeline *p = user;
    struct settings new;
    struct error err;

    (void)pthread_mutex_lock(&p->settings_lock);
    new = p->settings;
    settings_adjust(&new, key_find(name), steps, automatic_value(p, &new, name));
    if (settings_check(&new, &err) == 0)
        take_settings(p, &new);
    say_value(p, name, text, size);
    (void)pthread_mutex_unlock(&p->settings_lock);
}

static void control_toggle_time(void *user, char *text, size_t size)
{
    struct pipeline *p = user;
    struct settings new;
    struct error err;

    (void)pthread_mutex_lock(&p->settings_lock);
    new = p->settings;
    if (new.temporal == 1) {
        new.temporal = p->temporal_before;
        if (settings_check(&new, &err))
            new.temporal = 0; /* the mode is another now, which does not take as many */
    } else {
        p->temporal_before = new.temporal;
        new.temporal = 1;
    }
    take_settings(p, &new);
    say_value(p, "temporal", text, size);
    (void)pthread_mutex_unlock(&p->settings_lock);
}

static void control_status(void *user, struct status *ret)
{
    pipeline_status(user, ret);
}

void pipeline_stop(struct pipeline *p)
{
    stream_signal(p->stages.stream, STREAM_EVENT_STOP);
}

static void control_quit(void *user)
{
    pipeline_stop(user);
}

struct sink_control pipeline_sink_control(struct pipeline *p)
{
    return (struct sink_control){p, control_status, control_adjust, control_toggle_time,
                                 control_quit};
}

bool pipeline_live(const struct pipeline *p)
{
    return stream_live(p->stages.stream);
}

bool pipeline_finishes(const struct pipeline *p)
{
    const struct output *o = &p->stages.output;

    for (int i = 0; i < o->n_writers; i++)
        if (o->writers[i].outlet.ops->finishes)
            return true;
    return false;
}

int pipeline_done_fd(const struct pipeline *p)
{
    return stream_fd(p->stages.stream, STREAM_EVENT_DONE);
}

int pipeline_change_fd(const struct pipeline *p)
{
    return stream_fd(p->stages.stream, STREAM_EVENT_CHANGE);
}

/* Whether the source can be changed to what @new asks for while frames flow: what is no device is
 * live only at a rate of its own. */
static bool can_reopen(const struct pipeline *p, const struct settings *new)
{
    const struct source_ops *ops = source_for(new->input);

    return stream_live(p->stages.stream) && !p->stages.output.tally.truth_source && ops->reopens &&
           (ops->device || new->fps.num);
}

void pipeline_apply(struct pipeline *p, const struct settings *new)
{
    const bool reopenable = can_reopen(p, new);
    bool reopen = false;

    (void)pthread_mutex_lock(&p->settings_lock);
    for (const struct key *k = key_table; k->name; k++) {
        char before[SETTINGS_VALUE_MAX], after[SETTINGS_VALUE_MAX];

        settings_get(&p->settings, k, before, sizeof(before));
        settings_get(new, k, after, sizeof(after));
        if (!strcmp(before, after))
            continue;
        settings_show(new, k, after, sizeof(after));
        if (k->live || (k->reopens && reopenable))
            log_info("%s = %s", k->name, after);
        else
            log_warning("%s = %s takes effect at the next start", k->name, after);
        reopen = reopen || (k->reopens && reopenable);
    }
    take_settings(p, new);
    (void)pthread_mutex_unlock(&p->settings_lock);
    if (reopen) {
        const struct capture_request request = pipeline_capture_request(new);

        capture_change(&p->stages.capture, &request);
    }
}

int pipeline_set(struct pipeline *p, const char *name, const char *value, struct error *err)
{
    const struct key *k = key_find(name);
    struct settings new;
    int r;

    if (k && k->reopens)
        return error_set(err, -EINVAL,
                         "%s changes by the configuration file and a reload, not by set", name);
    if (k && !k->live)
        return error_set(err, -EINVAL, "%s cannot change while bilatcam runs", name);
    (void)pthread_mutex_lock(&p->settings_lock);
    new = p->settings;
    r = settings_change(&new, name, value, err);
    if (r == 0)
        take_settings(p, &new);
    (void)pthread_mutex_unlock(&p->settings_lock);
    return r;
}

void pipeline_settings(struct pipeline *p, struct settings *ret)
{
    (void)pthread_mutex_lock(&p->settings_lock);
    *ret = p->settings;
    (void)pthread_mutex_unlock(&p->settings_lock);
}

void pipeline_pause(struct pipeline *p, bool paused)
{
    stream_hold(p->stages.stream, STREAM_PAUSED, paused);
}

void pipeline_sleep(struct pipeline *p, bool asleep)
{
    stream_hold(p->stages.stream, STREAM_ASLEEP, asleep);
}

void pipeline_devices_changed(struct pipeline *p)
{
    stream_devices_changed(p->stages.stream);
}

int pipeline_snapshot(struct pipeline *p, const char *name, struct error *err)
{
    return tally_snapshot(&p->stages.output.tally, name, err);
}

int pipeline_snapshot_result(struct pipeline *p, char *path, size_t size, struct error *err)
{
    return tally_snapshot_result(&p->stages.output.tally, path, size, err);
}

void pipeline_status(struct pipeline *p, struct status *ret)
{
    struct stats stats;

    stages_stats(&p->stages, &stats);
    stats_balance(&stats, atomic_load(&p->ended));
    *ret = p->opened;
    stats_fill_status(&stats, now_ns(), ret);
    stream_fill_status(p->stages.stream, ret);
    ret->processor_percent =
        stats_processor(stream_stats(p->stages.stream), processor_ns(), now_ns());
    if (!ret->frames_out)
        ret->radius_requested = stream_filter_request(p->stages.stream).filter.radius;
}

int pipeline_result(struct pipeline *p)
{
    return stream_result(p->stages.stream);
}

int pipeline_abandon(struct pipeline *p)
{
    int r;

    atomic_store(&p->ended, true);
    r = tally_abandon(&p->stages.output.tally);
    return pipeline_result(p) ? pipeline_result(p) : r;
}
