#pragma once
/* Restart markers in JPEGs that libturbojpeg makes. */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <turbojpeg.h>

/* For what @handle encodes next. @restarts: rows of blocks between markers, or with a B behind it
 * blocks; NULL: there are none. Version 3 has a parameter for it, and not everywhere the variable
 * of those before. */
static inline void jpeg_set_restarts(tjhandle handle, const char *restarts)
{
#ifdef TJ_NUMINIT
    const int n = restarts ? atoi(restarts) : 0;
    const bool blocks = restarts && strchr(restarts, 'B');

    (void)tj3Set(handle, TJPARAM_RESTARTROWS, blocks ? 0 : n);
    (void)tj3Set(handle, TJPARAM_RESTARTBLOCKS, blocks ? n : 0);
#else
    (void)handle;
    (void)(restarts ? setenv("TJ_RESTART", restarts, 1) : unsetenv("TJ_RESTART"));
#endif
}
