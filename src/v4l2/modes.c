#include "v4l2/modes.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "v4l2/node.h"

#define USUAL_WIDTH 1280
#define USUAL_HEIGHT 720
#define USUAL_FPS ((struct fraction){30, 1})

/* Drivers have been seen that answer every index: no list is believed beyond this, nor all of them
 * together. */
#define MAX_INDEX 256
#define MAX_MODES 8192

/* --- reading the table from the driver --- */

static int add(struct v4l2_modes *m, const struct v4l2_mode *mode)
{
    if (!(m->n & (m->n - 1))) { /* a power of two: full */
        void *p = realloc(m->mode, (m->n ? 2 * m->n : 1) * sizeof(*m->mode));

        if (!p)
            return -ENOMEM;
        m->mode = p;
    }
    m->mode[m->n++] = *mode;
    return 0;
}

/* Whether the driver is asked for entry @index of a list, which the caller counts: what is in the
 * answer is the driver's word. */
static bool more(const struct v4l2_modes *m, uint32_t index)
{
    return index < MAX_INDEX && m->n < MAX_MODES;
}

/* A frame interval is the inverse of a frame rate. */
static struct fraction inverse(struct v4l2_fract interval)
{
    if (!interval.numerator || !interval.denominator)
        return (struct fraction){0, 0};
    return (struct fraction){interval.denominator, interval.numerator};
}

/* The rates of the format and size in @mode, at its largest where that is a range: what the
 * largest reaches, the others do as well. */
static int add_rates(int fd, struct v4l2_modes *m, struct v4l2_mode mode)
{
    struct v4l2_frmivalenum iv = {
        .pixel_format = mode.fourcc,
        .width = (uint32_t)mode.width.max,
        .height = (uint32_t)mode.height.max,
    };
    uint32_t n = 0;
    int r = 0;

    while (!r && more(m, n) && !v4l2_call(fd, VIDIOC_ENUM_FRAMEINTERVALS, &iv)) {
        const bool discrete = iv.type == V4L2_FRMIVAL_TYPE_DISCRETE;

        mode.fps_max = inverse(discrete ? iv.discrete : iv.stepwise.min);
        mode.fps_min = inverse(discrete ? iv.discrete : iv.stepwise.max);
        r = add(m, &mode);
        if (!discrete)
            return r;
        iv.index = ++n;
    }
    return n || r ? r : add(m, &mode);
}

static struct v4l2_span span(uint32_t min, uint32_t max, uint32_t step)
{
    const uint32_t limit = FRAME_MAX_SIDE;

    return (struct v4l2_span){
        .min = (int)(min > limit ? limit : min),
        .max = (int)(max > limit ? limit : max),
        .step = (int)(step < 1       ? 1
                      : step > limit ? limit
                                     : step),
    };
}

static int add_sizes(int fd, struct v4l2_modes *m, struct v4l2_mode mode)
{
    struct v4l2_frmsizeenum size = {.pixel_format = mode.fourcc};
    uint32_t n = 0;
    int r = 0;

    while (!r && more(m, n) && !v4l2_call(fd, VIDIOC_ENUM_FRAMESIZES, &size)) {
        const struct v4l2_frmsize_stepwise *s = &size.stepwise;

        if (size.type != V4L2_FRMSIZE_TYPE_DISCRETE) {
            mode.width = span(s->min_width, s->max_width, s->step_width);
            mode.height = span(s->min_height, s->max_height, s->step_height);
            return add_rates(fd, m, mode);
        }
        mode.width = span(size.discrete.width, size.discrete.width, 1);
        mode.height = span(size.discrete.height, size.discrete.height, 1);
        r = add_rates(fd, m, mode);
        size.index = ++n;
    }
    if (n || r)
        return r;

    /* The driver cannot tell; S_FMT will say what it makes of the request. */
    mode.width = span(2, FRAME_MAX_SIDE, 2);
    mode.height = span(1, FRAME_MAX_SIDE, 1);
    return add(m, &mode);
}

int v4l2_modes_read(int fd, struct v4l2_modes *ret)
{
    struct v4l2_fmtdesc desc = {.type = V4L2_BUF_TYPE_VIDEO_CAPTURE};
    struct v4l2_modes m = {NULL, 0};
    uint32_t n = 0;
    int r = 0;

    while (!r && more(&m, n) && !v4l2_call(fd, VIDIOC_ENUM_FMT, &desc)) {
        const int format = v4l2_format_of(desc.pixelformat);

        if (format >= 0)
            r = add_sizes(fd, &m,
                          (struct v4l2_mode){
                              .fourcc = desc.pixelformat,
                              .format = (enum frame_format)format,
                          });
        desc.index = ++n;
    }
    if (r < 0) {
        free(m.mode);
        return r;
    }
    *ret = m;
    return 0;
}

/* --- choosing --- */

int64_t v4l2_millifps(struct fraction fps)
{
    return fps.num && fps.den ? (int64_t)fps.num * 1000 / fps.den : 0;
}

bool v4l2_fps_differ(struct fraction a, struct fraction b)
{
    const int64_t difference = llabs(v4l2_millifps(a) - v4l2_millifps(b));

    return difference * 100 > v4l2_millifps(a);
}

static int nearest_in(struct v4l2_span s, int request)
{
    if (request <= s.min)
        return s.min;
    if (request >= s.max)
        return s.max;
    return s.min + (request - s.min + s.step / 2) / s.step * s.step;
}

/* Widths must be even; one step down is the way there in a range that has even ones. */
static int nearest_even_in(struct v4l2_span s, int request)
{
    const int n = nearest_in(s, request);

    return n % 2 && n - s.step >= s.min ? n - s.step : n;
}

static struct fraction nearest_fps(const struct v4l2_mode *m, struct fraction request)
{
    if (v4l2_millifps(request) < v4l2_millifps(m->fps_min))
        return m->fps_min;
    if (v4l2_millifps(request) > v4l2_millifps(m->fps_max))
        return m->fps_max;
    return request;
}

static int format_cost(enum frame_format format)
{
    static const enum frame_format order[] = {FRAME_YUYV, FRAME_UYVY,  FRAME_NV12,
                                              FRAME_I420, FRAME_RGB24, FRAME_BGR24,
                                              FRAME_MJPG, FRAME_GREY,  FRAME_GREY16};
    int i = 0;

    while (i < (int)(sizeof(order) / sizeof(order[0])) && order[i] != format)
        i++;
    return i;
}

/* What is wrong with a mode, worst first; the least in lexical order wins. */
struct cost {
    int64_t term[4];
};

static struct cost cost_of(const struct v4l2_choice *c, const struct v4l2_request *w,
                           const struct v4l2_request *goal)
{
    const int64_t want = v4l2_millifps(goal->fps);
    const bool known = v4l2_millifps(c->mode->fps_max) != 0;
    const int64_t fps = known ? v4l2_millifps(c->fps) : want;

    return (struct cost){{
        /* 24 fps count for 30: nobody minds, and some cameras give no more. */
        !w->width && fps * 5 < want * 4,
        abs(c->width - goal->width) + abs(c->height - goal->height),
        v4l2_fps_differ(goal->fps, known ? c->fps : goal->fps) ? llabs(fps - want) : 0,
        format_cost(c->mode->format),
    }};
}

static bool less(const struct cost *a, const struct cost *b)
{
    size_t i = 0;

    while (i < 3 && a->term[i] == b->term[i])
        i++;
    return a->term[i] < b->term[i];
}

int v4l2_modes_choose(const struct v4l2_mode *modes, size_t n, const struct v4l2_request *request,
                      struct v4l2_choice *ret)
{
    struct v4l2_request goal = *request;
    struct v4l2_choice best = {NULL, 0, 0, {0, 0}};
    struct cost best_cost = {{0}};

    if (!goal.width || !goal.height) {
        goal.width = USUAL_WIDTH;
        goal.height = USUAL_HEIGHT;
    }
    if (!v4l2_millifps(goal.fps))
        goal.fps = USUAL_FPS;

    for (size_t i = 0; i < n; i++) {
        const struct v4l2_mode *m = &modes[i];
        const struct v4l2_choice c = {
            .mode = m,
            .width = nearest_even_in(m->width, goal.width),
            .height = nearest_in(m->height, goal.height),
            .fps = v4l2_millifps(m->fps_max) ? nearest_fps(m, goal.fps) : (struct fraction){0, 0},
        };
        const struct cost cost = cost_of(&c, request, &goal);

        if ((request->format >= 0 && (int)m->format != request->format) ||
            frame_size_problem(c.width, c.height))
            continue;
        if (!best.mode || less(&cost, &best_cost)) {
            best = c;
            best_cost = cost;
        }
    }
    if (!best.mode)
        return -EINVAL;
    *ret = best;
    return 0;
}
