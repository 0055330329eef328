#pragma once
/* What every unit test includes: cmocka wants these headers first. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
