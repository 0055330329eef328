#pragma once
/* Which form of the tensor kernel suits a GPU. Context: any thread. */
#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

enum form { FORM_NONE, FORM_BF16, FORM_F16 };

/* Ten times the compute capability: @device, and @code of the code that there is for it, which is
 * less where the driver makes it from PTX. */
enum form form_for(int device, int code, const char *device_name);

/* The least radius at which the tensor kernel is quicker than the half2 kernel, where @tiles fit
 * into a multiprocessor; a large number where it never is. Small windows leave too much of the
 * chunks unused. Measured for the bf16 form and the Lorentzian on an NVIDIA H200 (bilatcam-lab
 * radii, 2026-11), reckoned for the f16 form: see README.md. */
int form_least_radius(enum form form, bool lorentzian, bool disc, int tiles);

#ifdef __cplusplus
}
#endif
