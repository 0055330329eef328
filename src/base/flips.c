#include "base/flips.h"

#define PAUSE_NS INT64_C(60000000000)

int flips_step(struct flips *f, bool state, int64_t t_ns)
{
    const int n = f->n += f->state != state;

    f->state = state;
    if (!n || (f->logged && t_ns - f->t_logged_ns < PAUSE_NS))
        return 0;
    f->logged = true;
    f->t_logged_ns = t_ns;
    f->n = 0;
    return n;
}
