#include "sink/loopback_opens.h"

#include <ctype.h>
#include <dirent.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "v4l2/node.h"

#define NODES "/sys/devices/virtual/video4linux"

int loopback_opens(void)
{
    FILE *f = fopen("/sys/module/v4l2loopback/refcnt", "re");
    int n;

    if (!f)
        return -1;
    if (fscanf(f, "%d", &n) != 1)
        n = -1;
    (void)fclose(f);
    return n;
}

/* The device of node @number; 0: that is not one of v4l2loopback, which alone has a file
 * max_openers. */
static dev_t device_of(int number)
{
    unsigned major, minor;
    char path[96];
    dev_t ret = 0;
    FILE *f;

    (void)snprintf(path, sizeof(path), NODES "/video%d/max_openers", number);
    if (access(path, F_OK))
        return 0;
    (void)snprintf(path, sizeof(path), NODES "/video%d/dev", number);
    f = fopen(path, "re");
    if (!f)
        return 0;
    if (fscanf(f, "%u:%u", &major, &minor) == 2)
        ret = makedev(major, minor);
    (void)fclose(f);
    return ret;
}

static size_t find_nodes(dev_t ret[V4L2_MAX_NODES])
{
    int number[V4L2_MAX_NODES];
    const size_t n = v4l2_node_numbers(NODES, number);
    size_t n_nodes = 0;

    for (size_t i = 0; i < n; i++) {
        ret[n_nodes] = device_of(number[i]);
        n_nodes += ret[n_nodes] != 0;
    }
    return n_nodes;
}

struct census {
    dev_t node[V4L2_MAX_NODES], wanted;
    size_t n_nodes;
    int all, of_others; /* of all nodes; of that which is wanted, by others */
};

static void count_files(struct census *c, const char *process)
{
    const bool own = atol(process) == (long)getpid();
    char path[300], to[8];
    const struct dirent *e;
    DIR *dir;

    (void)snprintf(path, sizeof(path), "/proc/%s/fd", process);
    dir = opendir(path);
    while (dir && (e = readdir(dir))) {
        struct stat st;

        if (readlinkat(dirfd(dir), e->d_name, to, sizeof(to)) < 5 || memcmp(to, "/dev/", 5) != 0 ||
            fstatat(dirfd(dir), e->d_name, &st, 0) || !S_ISCHR(st.st_mode))
            continue;
        for (size_t i = 0; i < c->n_nodes; i++)
            c->all += c->node[i] == st.st_rdev;
        c->of_others += c->wanted == st.st_rdev && !own;
    }
    if (dir)
        (void)closedir(dir);
}

int loopback_opens_of(int fd, int opens)
{
    struct census c = {.all = 0};
    const struct dirent *e;
    struct stat st;
    DIR *dir;

    if (opens <= 1)
        return 0;
    c.n_nodes = find_nodes(c.node);
    if (c.n_nodes == 1)
        return opens - 1;
    if (fstat(fd, &st))
        return -1;
    c.wanted = st.st_rdev;
    dir = opendir("/proc");
    while (dir && (e = readdir(dir)))
        if (isdigit((unsigned char)e->d_name[0]))
            count_files(&c, e->d_name);
    if (dir)
        (void)closedir(dir);
    if (c.of_others)
        return c.of_others;
    /* An open file may have several descriptors, but has at least one, unless a process of another
     * user has it. */
    return c.all >= opens ? 0 : -1;
}
