#include "source/camera.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/text.h"
#include "config-build.h"
#include "v4l2/hints.h"
#include "v4l2/modes.h"
#include "v4l2/node.h"

/* On a real unplug uvcvideo answers EINVAL to the DQBUF that waits and ENODEV only later. */
static bool unplugged(const struct camera *c)
{
    struct v4l2_node n;

    return v4l2_identify(c->fd, &n) == -ENODEV || (access(c->path, F_OK) < 0 && errno == ENOENT);
}

/* A node that gives nothing before somebody has set up the sensor and all that is between. */
static bool is_sensor(const struct camera *c)
{
    struct v4l2_node n;

    return v4l2_identify(c->fd, &n) == 0 && n.kind == V4L2_KIND_SENSOR;
}

static int sensor_error(const struct camera *c, struct error *err)
{
    return error_set(err, -EIO, "'%s' is of a camera that only libcamera reads: " HINT_SENSOR,
                     c->path);
}

int camera_error(const struct camera *c, const char *what, int code, struct error *err)
{
    if (code == -EBUSY)
        return error_set(err, code, "'%s' is in use by another program (fuser -v '%s' tells which)",
                         c->path, c->path);
    if (code == -ENOSPC)
        return error_set(err, -EIO,
                         "%s on '%s': not enough USB bandwidth: take a smaller size or rate, or "
                         "another USB port",
                         what, c->path);
    if (is_sensor(c)) /* -EPIPE, -ENOLINK and others, by driver */
        return sensor_error(c, err);
    if (unplugged(c))
        return error_set(err, -ENODEV, "camera '%s' was unplugged", c->path);
    return error_set(err, -EIO, "%s on '%s': %s", what, c->path, strerror(-code));
}

/* "yuyv, mjpg" */
static void formats_text(const struct v4l2_modes *m, char *text, size_t size)
{
    text[0] = '\0';
    for (int f = 0; f < FRAME_N_FORMATS; f++) {
        size_t i = 0;

        while (i < m->n && (int)m->mode[i].format != f)
            i++;
        if (i < m->n)
            list_add(text, size, ", ", format_table[f].name);
    }
}

static int no_mode_error(const struct camera *c, const struct v4l2_modes *m,
                         const struct source_config *config, struct error *err)
{
    char offer[64];

    if (is_sensor(c))
        return sensor_error(c, err);
    formats_text(m, offer, sizeof(offer));
#ifndef HAVE_MJPEG
    if (config->format == FRAME_MJPG)
        return error_set(err, -EINVAL,
                         "'%s': mjpg cannot be read, because this bilatcam was built without "
                         "libturbojpeg",
                         c->path);
#endif
    if (!m->n)
        return error_set(err, -EINVAL, "'%s' gives no pixel format that bilatcam reads", c->path);
    if (config->format >= 0)
        return error_set(err, -EINVAL, "'%s' does not give %s; it gives %s", c->path,
                         format_table[config->format].name, offer);
    return error_set(err, -EINVAL, "'%s' gives only pictures of odd width", c->path);
}

static int check_camera(struct camera *c, struct error *err)
{
    struct v4l2_node n;
    const int r = v4l2_identify(c->fd, &n);

    if (r == -ENOTTY)
        return error_set(err, -EINVAL,
                         "'%s' is not a video device (bilatcam --list-devices shows those)",
                         c->path);
    if (r < 0)
        return camera_error(c, "asking what it is", r, err);
    if (!(n.caps & V4L2_CAP_VIDEO_CAPTURE)) {
        if (n.kind == V4L2_KIND_LOOPBACK)
            return error_set(err, -EINVAL,
                             "'%s' is a virtual camera that no program is writing to, so there "
                             "is nothing to read",
                             c->path);
        return error_set(err, -EINVAL,
                         "'%s' is not a capture device (bilatcam --list-devices shows those)",
                         c->path);
    }
    if (!(n.caps & V4L2_CAP_STREAMING))
        return error_set(err, -EINVAL, "'%s' cannot stream, which bilatcam needs", c->path);
    (void)snprintf(c->base.name, sizeof(c->base.name), "%.32s (%.120s)", n.card, c->path);
    return 0;
}

/* Separate fields would have to be woven together first. */
static bool usable_field(uint32_t field)
{
    return field != V4L2_FIELD_ALTERNATE && field != V4L2_FIELD_SEQ_TB &&
           field != V4L2_FIELD_SEQ_BT;
}

/* Takes over what S_FMT made of the choice. */
static int adopt_format(struct camera *c, const struct v4l2_pix_format *pix, struct error *err)
{
    struct error why;
    const char *problem;
    int r;

    if (!usable_field(pix->field))
        return error_set(err, -EINVAL, "'%s' gives separate fields, not whole pictures", c->path);
    if (c->layout.format == FRAME_MJPG) {
        c->layout.width = pix->width > FRAME_MAX_SIDE ? FRAME_MAX_SIDE + 1 : (int)pix->width;
        c->layout.height = pix->height > FRAME_MAX_SIDE ? FRAME_MAX_SIDE + 1 : (int)pix->height;
        c->layout.colour = v4l2_colour(pix);
        problem = frame_size_problem(c->layout.width, c->layout.height);
        if (problem)
            return error_set(err, -EINVAL, "'%s' gives %ux%u, which cannot be used: %s", c->path,
                             pix->width, pix->height, problem);
    } else {
        r = v4l2_layout(pix, &c->layout, &c->least_bytes, &why);
        if (r < 0)
            return error_set(err, r, "'%s': %s", c->path, why.text);
    }
    return 0;
}

static int set_format(struct camera *c, const struct v4l2_choice *choice, struct error *err)
{
    struct v4l2_format fmt = {.type = V4L2_BUF_TYPE_VIDEO_CAPTURE};
    int r;

    fmt.fmt.pix.width = (uint32_t)choice->width;
    fmt.fmt.pix.height = (uint32_t)choice->height;
    fmt.fmt.pix.pixelformat = choice->mode->fourcc;
    fmt.fmt.pix.field = V4L2_FIELD_NONE;
    r = v4l2_call(c->fd, VIDIOC_S_FMT, &fmt);
    if (r < 0)
        return camera_error(c, "setting the format", r, err);
    if (fmt.fmt.pix.pixelformat != choice->mode->fourcc)
        return error_set(err, -EINVAL, "'%s' gives %s although it offered %s", c->path,
                         v4l2_fourcc_name(fmt.fmt.pix.pixelformat).text,
                         v4l2_fourcc_name(choice->mode->fourcc).text);
    c->layout.format = choice->mode->format;
    return adopt_format(c, &fmt.fmt.pix, err);
}

/* The rate that frames will come at, as far as the driver tells. */
static struct fraction set_rate(const struct camera *c, struct fraction fps)
{
    struct v4l2_streamparm parm = {.type = V4L2_BUF_TYPE_VIDEO_CAPTURE};
    struct v4l2_fract *interval = &parm.parm.capture.timeperframe;

    if (v4l2_call(c->fd, VIDIOC_G_PARM, &parm) < 0 ||
        !(parm.parm.capture.capability & V4L2_CAP_TIMEPERFRAME))
        return fps;
    if (fps.num && fps.den) {
        interval->numerator = fps.den;
        interval->denominator = fps.num;
        if (v4l2_call(c->fd, VIDIOC_S_PARM, &parm) < 0)
            (void)v4l2_call(c->fd, VIDIOC_G_PARM, &parm);
    }
    return interval->numerator && interval->denominator
               ? (struct fraction){interval->denominator, interval->numerator}
               : fps;
}

static int negotiate(struct camera *c, const struct source_config *config, struct error *err)
{
    const struct v4l2_request request = {.format = config->format,
                                         .width = config->width,
                                         .height = config->height,
                                         .fps = config->fps};
    struct v4l2_choice choice;
    struct v4l2_modes modes;
    int r = v4l2_modes_read(c->fd, &modes);

    if (r < 0)
        return error_set(err, r, "asking '%s' for its formats: %s", c->path, strerror(-r));
    if (v4l2_modes_choose(modes.mode, modes.n, &request, &choice) < 0)
        r = no_mode_error(c, &modes, config, err);
    else
        r = set_format(c, &choice, err);
    if (!r)
        c->base.fps = set_rate(c, v4l2_millifps(choice.fps) ? choice.fps : config->fps);
    free(modes.mode);
    return r;
}

int camera_setup(struct camera *c, const struct source_config *config, struct error *err)
{
    int r = check_camera(c, err);

    if (!r)
        r = negotiate(c, config, err);
    c->base.format = c->layout.format;
    c->base.width = c->layout.width;
    c->base.height = c->layout.height;
    c->base.colour = c->layout.colour;
    return r;
}
