/* What the CUDA engine says where it cannot work. The linker puts these in front of the runtime's
 * own functions; no GPU is needed. */
#include "tests/lib/unit.h"

#include <errno.h>
#include <string.h>

#include <cuda_runtime_api.h>

#include "engine/table.h"

cudaError_t __wrap_cudaDriverGetVersion(int *version);
cudaError_t __wrap_cudaGetDeviceCount(int *n);

static struct {
    cudaError_t status; /* of asking for the driver */
    int driver;
    cudaError_t count_status;
    int n_devices;
} machine;

cudaError_t __wrap_cudaDriverGetVersion(int *version)
{
    *version = machine.driver;
    return machine.status;
}

cudaError_t __wrap_cudaGetDeviceCount(int *n)
{
    *n = machine.n_devices;
    return machine.count_status;
}

static void refused(const char *part)
{
    struct error err = {.text = ""};
    struct engine *e = NULL;
    char device[128];

    assert_int_equal(engine_cuda.probe("", device, sizeof(device), &err), -ENODEV);
    if (!strstr(err.text, part))
        fail_msg("'%s' is not in '%s'", part, err.text);
    assert_int_equal(engine_cuda.create(&e, &(struct engine_config){0}, &err), -ENODEV);
    assert_null(e);
}

/* "auto" passes over it and takes the CPU. */
static void test_passed_over(void **state)
{
    struct engine *e;
    struct error err;

    (void)state;
    memset(&machine, 0, sizeof(machine));
    assert_int_equal(
        engine_open(&e, engine_table, "auto", &(struct engine_config){.threads = 1}, &err), 0);
    assert_string_equal(e->ops->name, "simd");
    e->ops->destroy(e);
}

static void test_no_driver(void **state)
{
    (void)state;
    memset(&machine, 0, sizeof(machine));
    refused("no NVIDIA driver");
    machine.status = cudaErrorInsufficientDriver;
    refused("no NVIDIA driver");
}

static void test_old_driver(void **state)
{
    (void)state;
    memset(&machine, 0, sizeof(machine));
    machine.driver = 10020;
    refused("the NVIDIA driver supports CUDA 10.2, this program needs ");
}

static void test_no_device(void **state)
{
    (void)state;
    memset(&machine, 0, sizeof(machine));
    machine.driver = 99000;
    refused("none found");
    machine.count_status = cudaErrorUnknown;
    refused("no usable NVIDIA GPU");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_no_driver),
        cmocka_unit_test(test_old_driver),
        cmocka_unit_test(test_no_device),
        cmocka_unit_test(test_passed_over),
    };

    return cmocka_run_group_tests_name("cuda-probe", tests, NULL, NULL);
}
