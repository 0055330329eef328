#include "base/pace.h"

#include "base/clock.h"

int64_t pace_ns(uint32_t num, uint32_t den, uint64_t n)
{
    const uint64_t ticks = n * den;
    const uint64_t seconds = ticks / num, rest = ticks % num;

    return (int64_t)(seconds * NS_PER_S + rest * NS_PER_S / num);
}

void pace_start(struct pace *p, int64_t t_ns)
{
    p->first = p->next;
    p->t_started_ns = t_ns;
}

int64_t pace_due(const struct pace *p, uint64_t n)
{
    return p->t_started_ns + pace_ns(p->num, p->den, p->next - p->first + n);
}
