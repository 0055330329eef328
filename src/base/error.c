#include "base/error.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>

#include "base/text.h"

static void set_text(struct error *e, bool usage, const char *fmt, va_list ap)
{
    if (!e)
        return;
    (void)vsnprintf(e->text, sizeof(e->text), fmt, ap);
    (void)utf8_printable(e->text);
    e->usage = usage;
}

int error_set(struct error *e, int code, const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    set_text(e, false, fmt, ap);
    va_end(ap);
    return code;
}

int error_usage(struct error *e, const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    set_text(e, true, fmt, ap);
    va_end(ap);
    return -EINVAL;
}
