/* Cameras and virtual cameras: can this user open them, are they free, do they do what is needed?
 */
#include <string.h>

#include "config-build.h"
#include "base/text.h"
#include "doctor/access.h"
#include "picture/frame.h"

/* --- cameras --- */

/* Names of formats, those that bilatcam reads or the others: how many. */
static int name_formats(const struct doctor_node *n, bool known, char *text, size_t size)
{
    unsigned seen = 0;
    int count = 0;

    *text = '\0';
    for (int i = 0; i < n->n_formats; i++) {
        const int format = v4l2_format_of(n->fourcc[i]);
        const struct v4l2_fourcc_name code = v4l2_fourcc_name(n->fourcc[i]);

        if ((format >= 0) != known || (known && seen & 1U << format))
            continue;
        if (known)
            seen |= 1U << format;
        list_add(text, size, ", ", known ? format_table[format].name : code.text);
        count++;
    }
    return count;
}

static void explain_formats(const struct checkup *c, const struct node *n)
{
    char others[128];

    (void)name_formats(&n->state, false, others, sizeof(others));
    report_note(c, "%s gives no format that bilatcam reads (%s)", n->what,
                *others ? others : "none at all");
#ifndef HAVE_MJPEG
    if (strstr(others, "MJPG") || strstr(others, "JPEG"))
        report_fix(c, "install libturbojpeg's development files and build bilatcam again");
#endif
}

/* A program that has mapped the buffers of a camera is filming with it. Others may only set its
 * brightness. */
static bool check_camera_free(const struct checkup *c, const struct node *n)
{
    const struct holders *h = &n->holders;

    if (h->n_streaming) {
        report_problem(c, "camera %s is taken by %s", n->path, h->text);
        report_fix(c, "end that program (kill %d), and let it use the virtual camera", h->pid);
        return false;
    }
    if (h->n > h->n_bilatcam)
        report_note(c, "camera %s is open in %s: if that takes pictures, bilatcam cannot", n->path,
                    h->text);
    else if (h->n_bilatcam)
        report_ok(c, "camera %s is used by %s", n->path, h->text);
    return true;
}

static void check_camera(struct checkup *c, const struct node *n)
{
    char formats[128];

    if (!name_formats(&n->state, true, formats, sizeof(formats))) {
        explain_formats(c, n);
        return;
    }
    report_ok(c, "%s gives %s", n->what, formats);
    if (check_camera_free(c, n) && !*c->camera)
        memcpy(c->camera, n->path, sizeof(c->camera));
}

/* --- virtual cameras --- */

/* 0.12 may say that there is a writer when the last one has left long ago. From 0.13 on there is a
 * file in sysfs that tells the state. */
static bool forgets_writers(const struct checkup *c, const struct node *n)
{
    char path[64];

    (void)snprintf(path, sizeof(path), "/sys/class/video4linux/%s/state",
                   n->path + strlen("/dev/"));
    return !system_has(c, path);
}

static bool check_writer(const struct checkup *c, const struct node *n)
{
    const struct holders *h = &n->holders;

    if (h->n_bilatcam) {
        report_ok(c, "%s is written to by bilatcam; open in %s", n->what, h->text);
        return true;
    }
    if (!h->n && forgets_writers(c, n)) {
        report_note(c,
                    "%s seems to have a writer, but no program of this user has it open: if none "
                    "has, bilatcam frees it when it starts",
                    n->what);
        return true;
    }
    report_problem(c, "%s has another program writing to it: %s", n->what,
                   h->n ? h->text : "one of another user, which only root sees");
    report_fix(c, "end that program (sudo fuser -v %s tells which)", n->path);
    return false;
}

static bool check_loopback_state(const struct checkup *c, const struct node *n)
{
    const bool writable = n->state.is.caps & V4L2_CAP_VIDEO_OUTPUT;
    const bool readable = n->state.is.caps & V4L2_CAP_VIDEO_CAPTURE;

    if (writable && readable) {
        report_problem(c, "%s lacks exclusive_caps: Chrome and others do not list it%s%s", n->what,
                       n->holders.n ? "; open in " : "", n->holders.text);
        report_fix(c, "close what uses it, then: " HINT_MODPROBE_AGAIN);
        return true;
    }
    if (readable)
        return check_writer(c, n);
    if (writable)
        report_ok(c, "%s is free%s%s", n->what, n->holders.n ? "; open in " : "", n->holders.text);
    else
        report_note(c, "%s is stuck after its last writer; bilatcam frees it when it starts",
                    n->what);
    return true;
}

/* --- cameras that only libcamera reads --- */

/* What the kernel calls the nodes and the driver of Intel's image processors, of which laptops with
 * such a camera have dozens. */
static bool is_sensor_name(const char *card)
{
    return !strncmp(card, "Intel IPU", 9) || !strncmp(card, "ipu3-", 5);
}

static bool have_sensor_driver(const struct checkup *c)
{
    static const char *const drivers[] = {"intel_ipu6", "intel_ipu7", "ipu3_cio2"};
    char path[64];

    for (size_t i = 0; i < sizeof(drivers) / sizeof(drivers[0]); i++) {
        (void)snprintf(path, sizeof(path), "/sys/module/%s", drivers[i]);
        if (system_has(c, path))
            return true;
    }
    return false;
}

bool have_sensors(const struct checkup *c)
{
    return c->n_sensors || have_sensor_driver(c);
}

/* One that PipeWire lists has been told of there. */
void check_sensors(const struct checkup *c)
{
    static const char what[] = "a camera is here that only libcamera reads, as on laptops with "
                               "Intel's IPU6";

    if (c->sensor_listed || !have_sensors(c))
        return;
    if (c->n_cameras)
        report_note(c, "%s", what);
    else
        report_problem(c, "%s", what);
    report_fix(c, HINT_SENSOR);
}

/* --- all nodes --- */

static size_t node_numbers(const struct checkup *c, const char *folder, int number[V4L2_MAX_NODES])
{
    char full[PATH_MAX];

    return system_path(c, full, "%s", folder) ? v4l2_node_numbers(full, number) : 0;
}

/* Which kind it is and what it is called, as the kernel tells without opening it. */
static void name_node(const struct checkup *c, struct node *n, int number)
{
    char path[64], card[33];

    (void)snprintf(n->path, sizeof(n->path), "/dev/video%d", number);
    (void)snprintf(path, sizeof(path), "/sys/devices/virtual/video4linux/video%d", number);
    n->virtual = system_has(c, path);
    (void)snprintf(path, sizeof(path), "/sys/class/video4linux/video%d/name", number);
    (void)system_line(c, path, card, sizeof(card));
    n->sensor = is_sensor_name(card);
    (void)snprintf(n->what, sizeof(n->what), "%scamera %s '%s'", n->virtual ? "virtual " : "",
                   n->path, card);
}

/* A camera has further nodes, for what is not the picture. */
static bool is_further_node(const struct checkup *c, int number)
{
    char path[64], index[16];

    (void)snprintf(path, sizeof(path), "/sys/class/video4linux/video%d/index", number);
    return system_line(c, path, index, sizeof(index)) && strcmp(index, "0") != 0;
}

static void take_loopback(struct checkup *c, const struct node *n, bool usable)
{
    if (usable && !*c->loopback)
        memcpy(c->loopback, n->path, sizeof(c->loopback));
    if (n->state.is.caps & V4L2_CAP_VIDEO_CAPTURE && !*c->shown)
        memcpy(c->shown, n->path, sizeof(c->shown));
}

static void check_node(struct checkup *c, int number)
{
    struct node n = {.virtual = false};
    char full[PATH_MAX];

    name_node(c, &n, number);
    if (!system_path(c, full, "%s", n.path))
        return;
    c->system->look(full, &n.state);
    if (!n.state.error)
        n.virtual = n.state.is.kind == V4L2_KIND_LOOPBACK;
    if (n.sensor || (!n.state.error && n.state.is.kind == V4L2_KIND_SENSOR)) {
        c->sensor[c->n_sensors++] = n.state.device;
        return;
    }
    if (n.state.error ? is_further_node(c, number) : n.state.is.kind == V4L2_KIND_OTHER)
        return;
    c->n_loopbacks += n.virtual;
    c->n_cameras += !n.virtual;
    holders_find(c, n.state.device, n.path, &n.holders);
    if (n.state.error)
        explain_closed(c, &n);
    else if (!n.virtual)
        check_camera(c, &n);
    else
        take_loopback(c, &n, check_loopback_state(c, &n));
}

/* The kernel has the device, but there is no file for it, as in a container. */
static void check_missing_nodes(const struct checkup *c)
{
    int number[V4L2_MAX_NODES];
    const size_t n = node_numbers(c, "/sys/class/video4linux", number);

    for (size_t i = 0; i < n; i++) {
        struct node node = {.virtual = false};

        name_node(c, &node, number[i]);
        if (node.sensor || system_has(c, node.path) || is_further_node(c, number[i]))
            continue;
        report_note(c, "%s is known to the kernel, but %s is not there", node.what, node.path);
        report_fix(c,
                   c->container ? "start the container with --device %s"
                                : "sudo udevadm trigger --subsystem-match=video4linux # for %s",
                   node.path);
    }
}

/* A USB camera that no driver has taken. */
static bool usb_camera_without_driver(const struct checkup *c)
{
    static const char folder[] = "/sys/bus/usb/devices";
    DIR *dir = system_folder(c, folder);
    const struct dirent *e;
    bool found = false;

    while (dir && !found && (e = readdir(dir))) {
        char path[PATH_MAX], class[8];

        (void)snprintf(path, sizeof(path), "%s/%s/bInterfaceClass", folder, e->d_name);
        if (!system_line(c, path, class, sizeof(class)) || strcmp(class, "0e") != 0)
            continue;
        (void)snprintf(path, sizeof(path), "%s/%s/driver", folder, e->d_name);
        found = !system_has(c, path);
    }
    if (dir)
        (void)closedir(dir);
    return found;
}

static void explain_no_camera(const struct checkup *c)
{
    if (usb_camera_without_driver(c)) {
        report_problem(c, "a USB camera is plugged in, but the driver uvcvideo has not taken it");
        report_fix(c, "sudo modprobe uvcvideo");
        return;
    }
    report_problem(c, "no camera found");
    report_fix(c, c->container ? "start the container with --device /dev/video0"
                               : "plug one in; bilatcam --input test: works without");
}

static void explain_no_loopback(const struct checkup *c)
{
    report_problem(c, "v4l2loopback is loaded, but no virtual camera is there");
    if (c->container)
        report_fix(c, "start the container with --device /dev/videoN");
    else
        report_fix(c, HINT_MODPROBE_AGAIN);
}

void check_video(struct checkup *c)
{
    int number[V4L2_MAX_NODES];
    const size_t n = node_numbers(c, "/dev", number);

    for (size_t i = 0; i < n; i++)
        check_node(c, number[i]);
    check_missing_nodes(c);
    if (!c->n_cameras && !have_sensors(c))
        explain_no_camera(c);
    if (!c->n_loopbacks && c->loaded)
        explain_no_loopback(c);
}
