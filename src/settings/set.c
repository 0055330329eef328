#include "settings/settings.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "base/url.h"
#include "filter/filter.h"
#include "settings/value.h"

void settings_init(struct settings *s)
{
    memset(s, 0, sizeof(*s));
    for (const struct key *k = key_table; k->name; k++)
        (void)key_parse(k, k->default_text, s);
}

static int refuse(const struct key *k, const char *value, struct error *err)
{
    char allowed[256], shown[SETTINGS_PATH_MAX];

    key_describe(k, allowed, sizeof(allowed));
    return error_set(err, -EINVAL, "%s = '%s': must be %s", k->name,
                     url_public(value, shown, sizeof(shown)), allowed);
}

int settings_set(struct settings *s, const char *name, const char *value, struct error *err)
{
    const struct key *k = key_find(name);

    if (!k)
        return error_set(err, -EINVAL, "unknown key '%s' (--print-config lists all)", name);
    return key_parse(k, value, s) ? refuse(k, value, err) : 0;
}

void settings_show(const struct settings *s, const struct key *k, char *text, size_t size)
{
    char value[SETTINGS_VALUE_MAX];

    settings_get(s, k, value, sizeof(value));
    (void)url_public(value, text, size);
}

int settings_add(struct settings *s, const char *name, const char *value, struct error *err)
{
    const struct key *k = key_find(name);
    char all[SETTINGS_VALUE_MAX + 1];
    int n;

    if (!k || k->type != KEY_LIST)
        return settings_set(s, name, value, err);
    settings_get(s, k, all, sizeof(all));
    n = (int)strlen(all);
    (void)snprintf(all + n, sizeof(all) - (size_t)n, "%s%s", n ? "\n" : "", value);
    return key_parse(k, all, s) ? refuse(k, value, err) : 0;
}

void settings_empty_lists(struct settings *s)
{
    memset(s->output, 0, sizeof(s->output));
}

void settings_keep_lists(struct settings *s, const struct settings *before)
{
    if (!*s->output)
        memcpy(s->output, before->output, sizeof(s->output));
}

bool settings_item(const char *list, int i, char text[SETTINGS_PATH_MAX])
{
    for (; i > 0 && *list; i--) {
        list += strcspn(list, "\n");
        list += *list == '\n';
    }
    (void)snprintf(text, SETTINGS_PATH_MAX, "%.*s", (int)strcspn(list, "\n"), list);
    return *text;
}

/* Standard output is for one thing only. */
static int check_outputs(const struct settings *s, struct error *err)
{
    const struct {
        const char *name, *list;
    } written[] = {{"output", s->output}, {"stats", s->stats}, {"trace", s->trace}};
    const char *first = NULL;

    for (int i = 0; i < 3; i++) {
        char item[SETTINGS_PATH_MAX];

        for (int n = 0; settings_item(written[i].list, n, item); n++) {
            if (strcmp(item, "-"))
                continue;
            if (first)
                return error_set(err, -EINVAL, "--%s - and --%s - cannot both be standard output",
                                 first, written[i].name);
            first = written[i].name;
        }
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
    if (s->depth == DEPTH_8 && s->levels[1])
        return error_set(
            err, -EINVAL,
            "levels: they are of 16 bits, and depth = 8 leaves none (take auto or 16)");
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

static int next_choice(const struct key *k, int choice, int steps)
{
    int n = 0;

    while (k->choices[n])
        n++;
    return ((choice + steps) % n + n) % n;
}

void settings_adjust(struct settings *s, const struct key *k, int steps, double automatic)
{
    void *const field = (char *)s + k->offset;
    const double step = k->step > 0.0 ? k->step : 1.0, by = steps * step;
    double *real = (double *)field;
    int *n = (int *)field;

    if (k->type == KEY_INT)
        *n = (int)fmin(fmax(*n + by, k->min), k->max);
    else if (k->type == KEY_AUTOINT)
        *n = (int)fmin(fmax((*n ? *n : automatic) + by, k->min), k->max);
    else if (k->type == KEY_AUTOREAL)
        *real =
            fmin(fmax((*real > 0.0 ? *real : step * round(automatic / step)) + by, k->min), k->max);
    else if (k->type == KEY_CHOICE)
        *n = next_choice(k, *n, steps);
}

bool settings_time_unused(const struct settings *s)
{
    return s->temporal > 1 && (s->filter == FILTER_GAUSSIAN || s->filter == FILTER_BOX);
}

bool settings_sigma_time_unused(const struct settings *s)
{
    return s->sigma_time > 0.0 &&
           (s->temporal_mode != TEMPORAL_WINDOW || s->filter != FILTER_BILATERAL);
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
