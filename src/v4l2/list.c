#include "v4l2/node.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/text.h"
#include "v4l2/hints.h"
#include "v4l2/modes.h"

/* --- nodes in numeric order --- */

static int by_number(const void *a, const void *b)
{
    return *(const int *)a - *(const int *)b;
}

size_t v4l2_node_numbers(const char *folder, int number[V4L2_MAX_NODES])
{
    DIR *dir = opendir(folder);
    const struct dirent *e;
    size_t n = 0;

    while (dir && n < V4L2_MAX_NODES && (e = readdir(dir))) {
        char end;

        if (sscanf(e->d_name, "video%5d%c", &number[n], &end) == 1 && number[n] >= 0)
            n++;
    }
    if (dir)
        (void)closedir(dir);
    qsort(number, n, sizeof(*number), by_number);
    return n;
}

/* Opens node @number and says what it is: a descriptor or a negative errno. Only for reading, as
 * udev does: programs that wait for a device go by who closes it after writing. */
static int open_node(int number, struct v4l2_node *ret, struct error *err)
{
    char path[sizeof(ret->path)];
    int fd, r;

    (void)snprintf(path, sizeof(path), "/dev/video%d", number);
    fd = v4l2_open(path, O_RDONLY | O_NONBLOCK, err);
    if (fd < 0)
        return fd;
    r = v4l2_identify(fd, ret);
    if (r < 0) {
        (void)close(fd);
        return error_set(err, r, "'%s' does not say what it is: %s", path, strerror(-r));
    }
    memcpy(ret->path, path, sizeof(path));
    return fd;
}

static bool gives_known_format(int fd)
{
    struct v4l2_fmtdesc desc = {.type = V4L2_BUF_TYPE_VIDEO_CAPTURE};

    for (uint32_t n = 0; n < 256 && !v4l2_call(fd, VIDIOC_ENUM_FMT, &desc); desc.index = ++n)
        if (v4l2_format_of(desc.pixelformat) >= 0)
            return true;
    return false;
}

/* --- finding one --- */

/* How much a node is wanted; 0 = not at all. @name is what find() was given. */
typedef int (*node_rating)(int fd, const struct v4l2_node *n, const char *name);

/* Raw sensors without an image processor, which some laptops have dozens of, give nothing
 * that we read. */
static int rate_camera(int fd, const struct v4l2_node *n, const char *name)
{
    return n->kind == V4L2_KIND_CAMERA && (!name || v4l2_is_called(n, name)) &&
           gives_known_format(fd);
}

static bool labelled(const struct v4l2_node *n)
{
    char path[96], label[32];
    FILE *f;
    bool is = false;

    (void)snprintf(path, sizeof(path), "/sys/devices/virtual/video4linux/%s/name",
                   n->path + strlen("/dev/"));
    f = fopen(path, "re");
    if (!f)
        return false;
    if (fgets(label, sizeof(label), f))
        is = !strcmp(label, LOOPBACK_LABEL "\n");
    (void)fclose(f);
    return is;
}

/* No capability at all is how 0.12.7 looks after a writer that used write(): the sink can
 * fix that. */
static bool free_for_output(int fd, const struct v4l2_node *n)
{
    return (n->caps & V4L2_CAP_VIDEO_OUTPUT || !(n->caps & V4L2_CAP_VIDEO_CAPTURE)) &&
           !v4l2_claimed(fd);
}

static int rate_loopback(int fd, const struct v4l2_node *n, const char *name)
{
    (void)name;
    if (n->kind != V4L2_KIND_LOOPBACK)
        return 0;
    return 1 + 2 * labelled(n) + free_for_output(fd, n);
}

static int find(node_rating rate, const char *name, char *ret_path, size_t size)
{
    int number[V4L2_MAX_NODES], best = 0, r = -ENODEV;
    const size_t n = v4l2_node_numbers("/dev", number);

    for (size_t i = 0; i < n; i++) {
        struct v4l2_node node;
        const int fd = open_node(number[i], &node, NULL);
        const int rating = fd < 0 ? 0 : rate(fd, &node, name);

        if (fd == -EACCES && !best)
            r = fd;
        if (rating > best) {
            best = rating;
            r = snprintf(ret_path, size, "%s", node.path) < (int)size ? 0 : -ENAMETOOLONG;
        }
        if (fd >= 0)
            (void)close(fd);
    }
    return r;
}

int v4l2_find_camera(const char *name, char *ret_path, size_t size)
{
    return find(rate_camera, name, ret_path, size);
}

int v4l2_find_loopback(char *ret_path, size_t size)
{
    return find(rate_loopback, NULL, ret_path, size);
}

int v4l2_find_sensors(dev_t ret[V4L2_MAX_NODES])
{
    int number[V4L2_MAX_NODES], n_sensors = 0;
    const size_t n = v4l2_node_numbers("/dev", number);

    for (size_t i = 0; i < n; i++) {
        struct v4l2_node node;
        struct stat st;
        const int fd = open_node(number[i], &node, NULL);

        if (fd < 0)
            continue;
        if (node.kind == V4L2_KIND_SENSOR && fstat(fd, &st) == 0)
            ret[n_sensors++] = st.st_rdev;
        (void)close(fd);
    }
    return n_sensors;
}

/* --- the list --- */

static bool stable_name_in(const char *dir_name, dev_t device, char *ret, size_t size)
{
    DIR *dir = opendir(dir_name);
    const struct dirent *e;
    bool found = false;

    while (dir && !found && (e = readdir(dir))) {
        struct stat st;

        if (snprintf(ret, size, "%s/%s", dir_name, e->d_name) < (int)size)
            found = !stat(ret, &st) && S_ISCHR(st.st_mode) && st.st_rdev == device;
    }
    if (dir)
        (void)closedir(dir);
    return found;
}

bool v4l2_stable_name(const char *path, char *ret, size_t size)
{
    struct stat st;

    return stat(path, &st) == 0 && (stable_name_in("/dev/v4l/by-id", st.st_rdev, ret, size) ||
                                    stable_name_in("/dev/v4l/by-path", st.st_rdev, ret, size));
}

static void print_stable_name(FILE *out, const char *path)
{
    char name[PATH_MAX];

    if (v4l2_stable_name(path, name, sizeof(name)))
        fprintf(out, "    %s\n", utf8_printable(name));
}

static bool same_span(struct v4l2_span a, struct v4l2_span b)
{
    return a.min == b.min && a.max == b.max;
}

static bool same_size(const struct v4l2_mode *a, const struct v4l2_mode *b)
{
    return a->fourcc == b->fourcc && same_span(a->width, b->width) &&
           same_span(a->height, b->height);
}

static bool same_fps(const struct v4l2_mode *a, const struct v4l2_mode *b)
{
    return v4l2_millifps(a->fps_min) == v4l2_millifps(b->fps_min) &&
           v4l2_millifps(a->fps_max) == v4l2_millifps(b->fps_max);
}

/* How many modes from @i on are of one size. */
static size_t run_length(const struct v4l2_modes *m, size_t i)
{
    size_t end = i;

    while (end < m->n && same_size(&m->mode[i], &m->mode[end]))
        end++;
    return end - i;
}

/* Whether the @n modes at @a and those at @b have the same format and rates. */
static bool same_rates(const struct v4l2_modes *m, size_t a, size_t b, size_t n)
{
    if (m->mode[a].fourcc != m->mode[b].fourcc)
        return false;
    for (size_t i = 0; i < n; i++)
        if (!same_fps(&m->mode[a + i], &m->mode[b + i]))
            return false;
    return true;
}

static void print_size(FILE *out, const struct v4l2_mode *m)
{
    if (m->width.min == m->width.max && m->height.min == m->height.max)
        fprintf(out, "%dx%d", m->width.max, m->height.max);
    else
        fprintf(out, "%dx%d to %dx%d", m->width.min, m->height.min, m->width.max, m->height.max);
}

static void print_rates(FILE *out, const struct v4l2_mode *m, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const double min = (double)v4l2_millifps(m[i].fps_min) / 1000;
        const double max = (double)v4l2_millifps(m[i].fps_max) / 1000;

        if (max <= 0)
            continue;
        fprintf(out, "%s%.4g", i ? ", " : " at ", min < max ? min : max);
        if (min < max)
            fprintf(out, " to %.4g", max);
    }
    fprintf(out, "%s\n", v4l2_millifps(m->fps_max) ? " fps" : "");
}

/* One line for all sizes in a row that have the same rates. */
static void print_modes(FILE *out, const struct v4l2_modes *m)
{
    const char *last = "";
    size_t i = 0;

    while (i < m->n) {
        const size_t n = run_length(m, i);
        const char *format = format_table[m->mode[i].format].name;
        size_t next = i + n;

        fprintf(out, "    %-4s  ", strcmp(format, last) ? format : "");
        print_size(out, &m->mode[i]);
        while (next < m->n && run_length(m, next) == n && same_rates(m, i, next, n)) {
            fprintf(out, ", ");
            print_size(out, &m->mode[next]);
            next += n;
        }
        print_rates(out, &m->mode[i], n);
        last = format;
        i = next;
    }
}

static void print_camera(FILE *out, int fd, const struct v4l2_node *node)
{
    struct v4l2_modes modes;

    fprintf(out, "%s  %s  (camera)\n", node->path, node->card);
    print_stable_name(out, node->path);
    if (v4l2_modes_read(fd, &modes) < 0)
        return;
    if (!modes.n)
        fprintf(out, "    gives no format that bilatcam reads\n");
    print_modes(out, &modes);
    free(modes.mode);
}

static void print_loopback(FILE *out, int fd, const struct v4l2_node *node)
{
    fprintf(out, "%s  %s  (virtual camera, %s)\n", node->path, node->card,
            free_for_output(fd, node) ? "free" : "a program is writing to it");
    print_stable_name(out, node->path);
}

void v4l2_list(FILE *out, int n_others, bool unread)
{
    int number[V4L2_MAX_NODES];
    const size_t n = v4l2_node_numbers("/dev", number);
    int n_cameras = 0, n_loopbacks = 0, n_closed = 0;

    for (size_t i = 0; i < n; i++) {
        struct v4l2_node node;
        struct error err;
        const int fd = open_node(number[i], &node, &err);

        if (fd < 0) {
            fprintf(out, "%s\n", err.text);
            n_closed++;
            continue;
        }
        if (node.kind == V4L2_KIND_CAMERA) {
            print_camera(out, fd, &node);
            n_cameras++;
        } else if (node.kind == V4L2_KIND_LOOPBACK) {
            print_loopback(out, fd, &node);
            n_loopbacks++;
        }
        (void)close(fd);
    }
    if (unread)
        fprintf(out, "a camera that only libcamera reads: " HINT_SENSOR "\n");
    if (!n_cameras && !n_others && !unread)
        fprintf(out, "no cameras found%s\n",
                n_closed ? " that can be opened" : ": " HINT_NO_CAMERA);
    if (!n_loopbacks)
        fprintf(out, "no v4l2loopback node found%s\n",
                n_closed ? " that can be opened" : ": " HINT_MODPROBE);
}
