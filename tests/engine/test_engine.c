/* How a name chooses an engine from a table, and what the table of the program says. */
#include "tests/lib/unit.h"

#include <errno.h>
#include <string.h>

#include "engine/table.h"
#include "settings/settings.h"

static bool probe_works, create_works;
static int n_destroyed, n_released;

static int probe(const char *wanted, char *device, size_t size, struct error *err)
{
    (void)wanted, (void)device, (void)size;
    return probe_works ? 0 : error_set(err, -ENODEV, "no device");
}

static void destroy(struct engine *e)
{
    (void)e;
    n_destroyed++;
}

static void release(void)
{
    assert_int_equal(n_destroyed, 1);
    n_released++;
}

static int create_gpu(struct engine **ret, const struct engine_config *config, struct error *err);
static int create_cpu(struct engine **ret, const struct engine_config *config, struct error *err);
static int create_slow(struct engine **ret, const struct engine_config *config, struct error *err);

static int works_always(const char *wanted, char *device, size_t size, struct error *err)
{
    (void)wanted, (void)device, (void)size, (void)err;
    return 0;
}

static const struct engine_ops absent = {.name = "absent", .missing = "absent is not built in"};
static const struct engine_ops gpu = {.name = "gpu",
                                      .on_device = true,
                                      .probe = probe,
                                      .create = create_gpu,
                                      .destroy = destroy,
                                      .release = release};
static const struct engine_ops slow = {
    .name = "slow", .only_by_name = true, .probe = works_always, .create = create_slow};
static const struct engine_ops cpu = {.name = "cpu", .probe = works_always, .create = create_cpu};
static const struct engine_ops *const engines[] = {&absent, &gpu, &slow, &cpu, NULL};

static int create_gpu(struct engine **ret, const struct engine_config *config, struct error *err)
{
    static struct engine e = {.ops = &gpu};

    (void)config;
    *ret = &e;
    return create_works ? 0 : error_set(err, -EIO, "broken");
}

static int create_cpu(struct engine **ret, const struct engine_config *config, struct error *err)
{
    static struct engine e = {.ops = &cpu};

    (void)config, (void)err;
    *ret = &e;
    return 0;
}

static int create_slow(struct engine **ret, const struct engine_config *config, struct error *err)
{
    static struct engine e = {.ops = &slow};

    (void)config, (void)err;
    *ret = &e;
    return 0;
}

static void test_choice(void **state)
{
    static const struct {
        bool probe_works, create_works;
        const char *name, *expected; /* an engine's name or an error */
        int code;
    } cases[] = {
        {true, true, "auto", "gpu", 0},
        {false, true, "auto", "cpu", 0},
        {true, false, "auto", "cpu", 0},
        {true, true, "cpu", "cpu", 0},
        {true, true, "slow", "slow", 0},
        {false, true, "gpu", "no device", -ENODEV},
        {true, false, "gpu", "broken", -EIO},
        {true, true, "absent", "absent is not built in", -ENODEV},
        {true, true, "other", "engine 'other' is not built into this program", -ENODEV},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct engine *e = NULL;
        struct error err = {.text = ""};

        probe_works = cases[i].probe_works;
        create_works = cases[i].create_works;
        assert_int_equal(engine_open(&e, engines, cases[i].name, &(struct engine_config){0}, &err),
                         cases[i].code);
        assert_string_equal(cases[i].code ? err.text : e->ops->name, cases[i].expected);
    }
}

/* The device sleeps once nothing is left on it. */
static void test_release(void **state)
{
    struct engine e = {.ops = &gpu};

    (void)state;
    n_destroyed = n_released = 0;
    engine_release(NULL);
    assert_int_equal(n_released, 0);
    engine_release(&e);
    assert_int_equal(n_released, 1);
}

/* What can be asked for has a row, and what is built in can do everything. */
static void test_table(void **state)
{
    const char *const *name = key_find("engine")->choices;

    (void)state;
    assert_string_equal(*name++, "auto");
    for (int i = 0; engine_table[i]; i++) {
        const struct engine_ops *ops = engine_table[i];

        assert_non_null(*name);
        assert_string_equal(ops->name, *name++);
        assert_ptr_equal(engine_find(engine_table, ops->name), ops);
        assert_int_equal(ops->on_device, !strcmp(ops->name, "cuda") && !ops->missing);
        assert_int_equal(ops->only_by_name, !strcmp(ops->name, "reference"));
        if (!ops->missing)
            assert_true(ops->help && ops->probe && ops->create && ops->destroy && ops->release &&
                        ops->pin && ops->unpin && ops->submit && ops->collect && ops->pass &&
                        ops->forget);
    }
    assert_null(*name);
    assert_null(engine_find(engine_table, "auto"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_choice),
        cmocka_unit_test(test_release),
        cmocka_unit_test(test_table),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
