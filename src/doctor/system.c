#include "doctor/system.h"

#include <errno.h>
#include <fcntl.h>
#include <pwd.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

static void list_formats(int fd, struct doctor_node *n)
{
    struct v4l2_fmtdesc desc = {.type = V4L2_BUF_TYPE_VIDEO_CAPTURE};

    while (n->n_formats < DOCTOR_MAX_FORMATS && !v4l2_call(fd, VIDIOC_ENUM_FMT, &desc)) {
        n->fourcc[n->n_formats++] = desc.pixelformat;
        desc.index++;
    }
}

/* Opening, QUERYCAP and ENUM_FMT start no camera and light no lamp. */
static void look(const char *path, struct doctor_node *ret)
{
    struct doctor_node n = {.error = 0};
    struct stat st;
    int fd = -1;

    /* Looked at before opening: opening a pipe would wait for its other end. */
    if (stat(path, &st) < 0) {
        n.error = -errno;
    } else {
        n.mode = st.st_mode;
        n.group = st.st_gid;
        n.device = st.st_rdev;
        fd = S_ISCHR(st.st_mode) ? open(path, O_RDWR | O_NONBLOCK | O_CLOEXEC) : -1;
        n.error = !S_ISCHR(st.st_mode) ? -ENOTTY : fd < 0 ? -errno : v4l2_identify(fd, &n.is);
    }
    if (!n.error && n.is.kind == V4L2_KIND_CAMERA)
        list_formats(fd, &n);
    if (fd >= 0)
        (void)close(fd);
    *ret = n;
}

void doctor_system_init(struct doctor_system *s, const struct engine_ops *const *engines)
{
    const struct passwd *user = getpwuid(getuid());
    struct utsname name;
    int n;

    *s = (struct doctor_system){.root = "", .engines = engines, .look = look};
    if (uname(&name) == 0)
        (void)snprintf(s->kernel, sizeof(s->kernel), "%s", name.release);
    (void)snprintf(s->user, sizeof(s->user), "%s", user ? user->pw_name : "$USER");
    n = getgroups(DOCTOR_MAX_GROUPS - 1, s->groups);
    s->n_groups = n > 0 ? n : 0;
    s->groups[s->n_groups++] = getegid();
}
