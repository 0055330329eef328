#include "engine/engine.h"

#include <errno.h>
#include <string.h>

#include "base/log.h"

const struct engine_ops *engine_find(const struct engine_ops *const *engines, const char *name)
{
    while (*engines && strcmp((*engines)->name, name))
        engines++;
    return *engines;
}

static int open_one(struct engine **ret, const struct engine_ops *ops,
                    const struct engine_config *config, struct error *err)
{
    char device[128];
    int r;

    if (ops->missing)
        return error_set(err, -ENODEV, "%s", ops->missing);
    r = ops->probe(config->device, device, sizeof(device), err);
    return r ? r : ops->create(ret, config, err);
}

/* Who asked for a GPU is told that it does not filter. */
static void pass_over(const struct engine_ops *ops, const struct engine_config *config,
                      const char *why)
{
    if (*config->device && (ops->on_device || ops->missing))
        log_warning("device '%s' is not used: %s", config->device, why);
    else
        log_debug("engine %s is not for this machine: %s", ops->name, why);
}

static int open_auto(struct engine **ret, const struct engine_ops *const *engines,
                     const struct engine_config *config, struct error *err)
{
    int r = -ENODEV;

    for (; *engines; engines++) {
        const struct engine_ops *ops = *engines;

        if (ops->only_by_name)
            continue;
        log_debug("trying engine %s", ops->name);
        r = open_one(ret, ops, config, err);
        if (r == 0)
            return 0;
        pass_over(ops, config, err->text);
    }
    return r;
}

int engine_open(struct engine **ret, const struct engine_ops *const *engines, const char *name,
                const struct engine_config *config, struct error *err)
{
    const struct engine_ops *ops = engine_find(engines, name);

    if (!strcmp(name, "auto"))
        return open_auto(ret, engines, config, err);
    if (!ops)
        return error_set(err, -ENODEV, "engine '%s' is not built into this program", name);
    return open_one(ret, ops, config, err);
}

const struct jpeg_device *engine_jpegs(const struct engine_ops *const *engines)
{
    while (*engines && !(*engines)->jpegs)
        engines++;
    return *engines ? (*engines)->jpegs : NULL;
}

bool engine_takes(enum frame_format format, const struct filter *f)
{
    return format_filtered(format) && filter_allowed(f);
}

void engine_release(struct engine *e)
{
    const struct engine_ops *ops;

    if (!e)
        return;
    ops = e->ops;
    ops->destroy(e);
    ops->release();
}

void engine_release_nothing(void)
{
}

int engine_pass_nothing(struct engine *e, const struct frame *in)
{
    (void)e, (void)in;
    return 0;
}

void engine_forget_nothing(struct engine *e)
{
    (void)e;
}

void engine_report_nothing(struct engine *e, struct engine_report *ret)
{
    (void)e;
    *ret = (struct engine_report){0};
}
