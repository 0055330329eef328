/* The doctor, looking at a folder that stands for a machine:
 *
 *     doctor-under ROOT [CONFIG]
 *     doctor-under ROOT --introduce NEEDED...      camera, loopback
 *
 * A file in ROOT/dev describes a video device, in lines of a word and what follows it; ROOT/gpu is
 * what the GPU engine says of itself; ROOT/groups has the groups of the process. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysmacros.h>

#include "doctor/doctor.h"

static const char *root;

/* --- video devices --- */

static int error_called(const char *name)
{
    static const struct {
        const char *name;
        int error;
    } row[] = {{"EACCES", -EACCES}, {"EPERM", -EPERM}, {"EBUSY", -EBUSY}, {"EIO", -EIO}};

    for (size_t i = 0; i < sizeof(row) / sizeof(row[0]); i++)
        if (!strcmp(row[i].name, name))
            return row[i].error;
    return -EINVAL;
}

static uint32_t caps_of(const char *names)
{
    return (strstr(names, "capture") ? V4L2_CAP_VIDEO_CAPTURE | V4L2_CAP_STREAMING : 0) |
           (strstr(names, "output") ? V4L2_CAP_VIDEO_OUTPUT : 0);
}

static void take_line(struct doctor_node *n, const char *word, const char *rest)
{
    if (!strcmp(word, "error"))
        n->error = error_called(rest);
    else if (!strcmp(word, "mode"))
        n->mode = (mode_t)strtoul(rest, NULL, 8);
    else if (!strcmp(word, "group"))
        n->group = (gid_t)strtoul(rest, NULL, 10);
    else if (!strcmp(word, "minor")) /* of the kernel's memory devices, which a test can open */
        n->device = makedev(1, (unsigned)strtoul(rest, NULL, 10));
    else if (!strcmp(word, "kind"))
        n->is.kind = !strcmp(rest, "camera")     ? V4L2_KIND_CAMERA
                     : !strcmp(rest, "loopback") ? V4L2_KIND_LOOPBACK
                     : !strcmp(rest, "sensor")   ? V4L2_KIND_SENSOR
                                                 : V4L2_KIND_OTHER;
    else if (!strcmp(word, "caps"))
        n->is.caps = caps_of(rest);
    else if (!strcmp(word, "format"))
        n->fourcc[n->n_formats++] = v4l2_fourcc(rest[0], rest[1], rest[2], rest[3]);
}

static void look(const char *path, struct doctor_node *ret)
{
    FILE *f = fopen(path, "re");
    struct doctor_node n = {.mode = 0660};
    char line[128];

    if (!f)
        n.error = -errno;
    while (f && fgets(line, sizeof(line), f)) {
        char *rest = line;
        const char *word;

        line[strcspn(line, "\n")] = '\0';
        word = strsep(&rest, " ");
        take_line(&n, word, rest ? rest : "");
    }
    if (f)
        (void)fclose(f);
    *ret = n;
}

/* --- engines --- */

static bool read_word(const char *name, char *text, size_t size)
{
    char path[4096];
    FILE *f;
    bool read;

    (void)snprintf(path, sizeof(path), "%s/%s", root, name);
    f = fopen(path, "re");
    read = f && fgets(text, (int)size, f);
    if (f)
        (void)fclose(f);
    if (read)
        text[strcspn(text, "\n")] = '\0';
    return read;
}

static int probe_gpu(const char *wanted, char *device, size_t size, struct error *err)
{
    char text[128] = "";

    (void)wanted;
    (void)read_word("gpu", text, sizeof(text));
    if (strncmp(text, "works ", 6))
        return error_set(err, -ENODEV, "%s", text);
    (void)snprintf(device, size, "%s", text + 6);
    return 0;
}

static int probe_cpu(const char *wanted, char *device, size_t size, struct error *err)
{
    char why[128];

    (void)wanted;
    if (read_word("no-cpu", why, sizeof(why)))
        return error_set(err, -ENODEV, "%s", why);
    (void)snprintf(device, size, "2 threads, AVX2");
    return 0;
}

static const struct engine_ops gpu = {.name = "cuda", .probe = probe_gpu};
static const struct engine_ops no_gpu = {.name = "cuda", .missing = "it is not built in"};
static const struct engine_ops cpu = {.name = "simd", .probe = probe_cpu};
static const struct engine_ops *const with_gpu[] = {&gpu, &cpu, NULL};
static const struct engine_ops *const without_gpu[] = {&no_gpu, &cpu, NULL};

static int read_groups(gid_t groups[DOCTOR_MAX_GROUPS])
{
    char text[128] = "", *rest = text;
    const char *word;
    int n = 0;

    if (!read_word("groups", text, sizeof(text)))
        return 0;
    while ((word = strsep(&rest, " ")))
        groups[n++] = (gid_t)strtoul(word, NULL, 10);
    return n;
}

static int introduce(const struct doctor_system *s, char **needed)
{
    bool camera = false, loopback = false;

    for (; *needed; needed++) {
        camera |= !strcmp(*needed, "camera");
        loopback |= !strcmp(*needed, "loopback");
    }
    return doctor_introduce(s, camera, loopback, "./bilatcam", stdout) ? 0 : 1;
}

int main(int argc, char **argv)
{
    struct doctor_system system = {.kernel = "6.1.0-9", .user = "ann", .look = look};
    char text[128];

    if (argc < 2)
        return 2;
    system.root = root = argv[1];
    system.engines = read_word("gpu", text, sizeof(text)) ? with_gpu : without_gpu;
    system.n_groups = read_groups(system.groups);
    if (argc > 2 && !strcmp(argv[2], "--introduce"))
        return introduce(&system, argv + 3);
    return doctor_run(&system, argv[2], "./bilatcam", stdout) ? 0 : 1;
}
