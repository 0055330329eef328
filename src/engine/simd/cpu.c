#include "engine/simd/cpu.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"

/* These questions are asked here and not in the files of the instruction sets, whose code must
 * not run before the answer. They include whether the kernel saves the registers. */
#if defined(__x86_64__)
#include <cpuid.h>

#include "config-build.h"

static bool has_avx2(void)
{
    return __builtin_cpu_supports("avx2");
}

#ifdef HAVE_AVX512
static bool has_avx512(void)
{
    return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
           __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
}

static bool has_vnni(void)
{
    return has_avx512() && __builtin_cpu_supports("avx512vbmi") &&
           __builtin_cpu_supports("avx512vnni");
}
#endif

#ifdef HAVE_FP16
/* Clang 14 has no name for it. */
static bool has_fp16(void)
{
    unsigned a, b, c, d;

    return has_avx512() && __get_cpuid_count(7, 0, &a, &b, &c, &d) && (d >> 23 & 1);
}
#endif
#endif

static bool always(void)
{
    return true;
}

const struct cpu_row cpu_table[] = {
#if defined(__x86_64__)
#ifdef HAVE_FP16
    {&row_kernels_fp16, has_fp16},
#endif
#ifdef HAVE_AVX512
    {&row_kernels_vnni, has_vnni}, {&row_kernels_avx512, has_avx512},
#endif
    {&row_kernels_avx2, has_avx2},
#elif defined(__aarch64__)
    {&row_kernels_neon, always},
#endif
    {&row_kernels_c, always},      {NULL, NULL},
};

/* Taken by name alone, to see through an engine how sets compute that a processor may lack. */
static const struct row_kernels *const for_tests[] = {&row_kernels_c_table, &row_kernels_c_half,
                                                      NULL};

/* "avx2, c, c-table, c-half": what BILATCAM_CPU may say on this processor. */
static void list_supported(char *text, size_t size)
{
    for (const struct cpu_row *row = cpu_table; row->kernels; row++)
        if (row->supported())
            list_add(text, size, ", ", row->kernels->name);
    for (const struct row_kernels *const *k = for_tests; *k; k++)
        list_add(text, size, ", ", (*k)->name);
}

int cpu_choose_kernels(const struct row_kernels **ret, struct error *err)
{
    const char *wanted = getenv("BILATCAM_CPU");
    const bool forced = wanted && *wanted;
    char names[128] = "";
    bool known = false;

    for (const struct cpu_row *row = cpu_table; row->kernels; row++) {
        const bool named = forced && !strcmp(wanted, row->kernels->name);

        known |= named;
        if (row->supported() && (named || !forced)) {
            *ret = row->kernels;
            return 0;
        }
    }
    for (const struct row_kernels *const *k = for_tests; forced && *k; k++)
        if (!strcmp(wanted, (*k)->name)) {
            *ret = *k;
            return 0;
        }
    list_supported(names, sizeof(names));
    return error_set(err, -ENODEV, "BILATCAM_CPU='%s': %s; allowed here: %s", wanted,
                     known ? "this processor lacks these instructions"
                           : "no such set of instructions in this program",
                     names);
}
