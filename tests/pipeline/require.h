#pragma once
/* What helpers of tests must find: where they run in threads of their own, or without cmocka. */
#include <stdio.h>
#include <stdlib.h>

/* Ends the process and says where, unless @condition is so. */
#define require(condition) ((condition) ? (void)0 : require_failed(__FILE__, __LINE__, #condition))

_Noreturn static inline void require_failed(const char *file, int line, const char *condition)
{
    fprintf(stderr, "%s:%d: not so: %s\n", file, line, condition);
    exit(1);
}
