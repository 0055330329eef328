#include "cuda/kernel/form.h"

#include <limits.h>
#include <string.h>

/* GPUs of 7.5 have tensor cores if they are called RTX or T4. The others (GTX 16, T400, MX450) form
 * the products on slower units, and nothing but the name tells. */
static bool has_tensor_cores(const char *device_name)
{
    const char *const t4 = strstr(device_name, " T4");

    return strstr(device_name, "RTX") || (t4 && (t4[3] < '0' || t4[3] > '9'));
}

/* Sums in single precision are as quick as those in half precision on GPUs that are made for
 * computing, and take twice as long on the others. */
static enum form best_form(int capability, const char *device_name)
{
    if (capability == 80 || (capability >= 90 && capability < 110))
        return FORM_BF16;
    if (capability > 75 || (capability == 75 && has_tensor_cores(device_name)))
        return FORM_F16;
    return FORM_NONE;
}

/* The bf16 form is compiled for those GPUs alone. */
enum form form_for(int device, int code, const char *device_name)
{
    const enum form best = best_form(device, device_name);

    if (code < 75)
        return FORM_NONE;
    return best == FORM_BF16 ? best_form(code, device_name) : best;
}

int form_least_radius(enum form form, bool lorentzian, bool disc, int tiles)
{
    if (form == FORM_BF16)
        return lorentzian ? (disc ? 12 : 6) : disc ? 6 : 4;
    if (form == FORM_F16 && !lorentzian && !disc)
        return tiles > 1 ? 8 : 12;
    return INT_MAX;
}
