#include "settings/settings.h"

#include <errno.h>
#include <string.h>

#include "filter/filter.h"
#include "settings/value.h"

void settings_init(struct settings *s)
{
    memset(s, 0, sizeof(*s));
    for (const struct key *k = key_table; k->name; k++)
        (void)key_parse(k, k->default_text, s);
}

int settings_set(struct settings *s, const char *name, const char *value, struct error *err)
{
    const struct key *k = key_find(name);
    char allowed[256];

    if (!k)
        return error_set(err, -EINVAL, "unknown key '%s' (--print-config lists all)", name);
    if (key_parse(k, value, s)) {
        key_describe(k, allowed, sizeof(allowed));
        return error_set(err, -EINVAL, "%s = '%s': must be %s", name, value, allowed);
    }
    return 0;
}

static int check_outputs(const struct settings *s, struct error *err)
{
    const struct {
        const char *name, *value;
    } written[] = {{"output", s->output}, {"stats", s->stats}, {"trace", s->trace}};
    const char *first = NULL;

    for (int i = 0; i < 3; i++) {
        if (strcmp(written[i].value, "-"))
            continue;
        if (first)
            return error_set(err, -EINVAL, "--%s - and --%s - cannot both be standard output",
                             first, written[i].name);
        first = written[i].name;
    }
    return 0;
}

int settings_check(const struct settings *s, struct error *err)
{
    const enum temporal_mode mode = (enum temporal_mode)s->temporal_mode;

    if (s->temporal > filter_max_temporal(mode))
        return error_set(err, -EINVAL, "temporal: %d frames, at most %d with temporal-mode %s",
                         s->temporal, filter_max_temporal(mode),
                         key_find("temporal-mode")->choices[mode]);
    return check_outputs(s, err);
}

int settings_change(struct settings *s, const char *name, const char *value, struct error *err)
{
    struct settings new = *s;
    int r = settings_set(&new, name, value, err);

    if (r == 0)
        r = settings_check(&new, err);
    if (r == 0)
        *s = new;
    return r;
}

void settings_filter(const struct settings *s, struct filter *ret)
{
    const bool none = s->filter == FILTER_NONE;
    const enum temporal_mode mode = (enum temporal_mode)s->temporal_mode;
    const int temporal = s->temporal ? s->temporal : filter_auto_temporal(mode);
    const bool looks_back = s->filter == FILTER_BILATERAL;
    const int radius = none ? 0 : s->radius;

    *ret = (struct filter){
        .kind = (enum filter_kind)s->filter,
        .radius = radius,
        .sigma_space = s->sigma_space > 0.0 ? s->sigma_space : filter_auto_sigma(radius),
        .sigma_color = s->sigma_color,
        .range = (enum range_kernel)s->range,
        .distance = (enum colour_metric)s->distance,
        .window = (enum window_shape)s->window,
        .temporal = looks_back ? temporal : 1,
        .temporal_mode = mode,
        /* Auto, 0: all frames cost alike, and range leaves out what changed since. */
        .sigma_time = s->sigma_time,
    };
}
