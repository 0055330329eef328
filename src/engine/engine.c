#include "engine/engine.h"

#include "config-build.h"

#include <errno.h>
#include <string.h>

#include "base/log.h"

const struct engine_ops *const engine_table[] = {
#ifdef HAVE_CUDA
    &engine_cuda,
#endif
    &engine_simd,
    &engine_reference,
    NULL,
};

static int open_auto(struct engine **ret, const struct engine_config *config, struct error *err)
{
    int r = -ENODEV;

    for (int i = 0; engine_table[i] && engine_table[i] != &engine_reference; i++) {
        const struct engine_ops *ops = engine_table[i];
        char device[128];

        log_debug("trying engine %s", ops->name);
        r = ops->probe(device, sizeof(device), err);
        if (r == 0)
            r = ops->create(ret, config, err);
        if (r == 0)
            return 0;
        log_debug("engine %s is not for this machine: %s", ops->name, err->text);
    }
    return r;
}

int engine_open(struct engine **ret, const char *name, const struct engine_config *config,
                struct error *err)
{
    char device[128];
    int r;

    if (!strcmp(name, "auto"))
        return open_auto(ret, config, err);
    for (int i = 0; engine_table[i]; i++) {
        if (strcmp(name, engine_table[i]->name))
            continue;
        r = engine_table[i]->probe(device, sizeof(device), err);
        return r ? r : engine_table[i]->create(ret, config, err);
    }
    return error_set(err, -ENODEV, "engine '%s' is not built into this program", name);
}

void engine_release(struct engine *e)
{
    const struct engine_ops *ops;

    if (!e)
        return;
    ops = e->ops;
    ops->destroy(e);
    if (ops->release)
        ops->release();
}
