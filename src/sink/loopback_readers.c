#include "sink/loopback_readers.h"

#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "sink/loopback_opens.h"
#include "v4l2/node.h"

/* The event of the module, not in the kernel's headers: newer and older number. */
#define CLIENT_USAGE (V4L2_EVENT_PRIVATE_START + 0x08E00000 + 1)
#define CLIENT_USAGE_OLD V4L2_EVENT_PRIVATE_START

/* Changes are told at once, but sometimes one is lost: so it is also asked. */
#define ASK_NS NS_PER_S

/* Programs that list devices open each of them, and close it at once. */
#define SETTLE_NS (250 * NS_PER_MS)

/* The number stays equal if one program closes a node as another opens one. Counting looks at all
 * that all programs have open, which takes milliseconds. */
#define RECOUNT_NS (15 * NS_PER_S)
#define UNCLEAR_NS (5 * NS_PER_S) /* where a reader may wait, or it did not work out */

static bool subscribe(int fd, uint32_t event)
{
    struct v4l2_event_subscription s = {.type = event, .flags = V4L2_EVENT_SUB_FL_SEND_INITIAL};

    return !v4l2_call(fd, VIDIOC_SUBSCRIBE_EVENT, &s);
}

/* Takes the newest of the counts that wait at @fd; @n as it was if there is none. */
static int take_counts(int fd, uint32_t event, int n)
{
    struct pollfd p = {.fd = fd, .events = POLLPRI};
    struct v4l2_event e;
    uint32_t count;

    while (poll(&p, 1, 0) > 0 && p.revents & POLLPRI && !v4l2_call(fd, VIDIOC_DQEVENT, &e)) {
        if (e.type != event)
            continue;
        memcpy(&count, &e.u, sizeof(count));
        n = count < INT16_MAX ? (int)count : INT16_MAX;
    }
    return n;
}

/* A new descriptor is told the present count. Only for reading, because other programs take it for
 * news when one that may have written is closed. */
static int ask(const struct loopback_readers *r)
{
    const int fd = v4l2_open(r->path, O_RDONLY | O_NONBLOCK, NULL);
    int n = r->n;

    if (fd < 0)
        return n;
    if (subscribe(fd, r->event))
        n = take_counts(fd, r->event, n);
    (void)close(fd);
    return n;
}

void loopback_readers_init(struct loopback_readers *r, const char *path, int fd)
{
    *r = (struct loopback_readers){.path = path, .fd = fd};
    if (subscribe(fd, CLIENT_USAGE))
        r->event = CLIENT_USAGE;
    else if (subscribe(fd, CLIENT_USAGE_OLD))
        r->event = CLIENT_USAGE_OLD;
}

static int count_opens(struct loopback_readers *r)
{
    const int opens = loopback_opens();
    const int64_t now = now_ns();
    int n;

    if (opens < 0)
        return -1;
    if (opens != r->opens) {
        r->opens = opens;
        if (!r->settles)
            r->t_ask_ns = now + SETTLE_NS;
        r->settles = true;
    }
    if (now < r->t_ask_ns)
        return r->n;
    n = loopback_opens_of(r->fd, opens);
    if (loopback_opens() != opens) { /* it changed meanwhile */
        r->t_ask_ns = now + SETTLE_NS;
        return r->n;
    }
    r->n = n;
    r->settles = false;
    r->t_ask_ns = now + (n > 0 || opens == 1 ? RECOUNT_NS : UNCLEAR_NS);
    return n;
}

int loopback_readers_count(struct loopback_readers *r)
{
    const int64_t now = now_ns();

    if (!r->event)
        return count_opens(r);
    r->n = take_counts(r->fd, r->event, r->n);
    if (now >= r->t_ask_ns) {
        r->t_ask_ns = now + ASK_NS;
        r->n = ask(r);
    }
    return r->n;
}
