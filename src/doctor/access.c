#include "doctor/access.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* The name of the group, "" if it has none, and whether the list of groups has this user in it. */
static bool listed_in_group(const struct checkup *c, gid_t group, char *name, size_t size)
{
    FILE *f = system_file(c, "/etc/group");
    bool found = false, listed = false;
    char line[4096];

    *name = '\0';
    while (f && !found && fgets(line, sizeof(line), f)) {
        char *rest = line, *end = NULL;
        const char *group_name = strsep(&rest, ":"), *user;

        (void)strsep(&rest, ":"); /* the password */
        if (!rest || (gid_t)strtoul(rest, &end, 10) != group || *end != ':')
            continue;
        found = true;
        (void)snprintf(name, size, "%s", group_name);
        for (rest = end + 1; !listed && (user = strsep(&rest, ",\n"));)
            listed = !strcmp(user, c->system->user);
    }
    if (f)
        (void)fclose(f);
    return listed;
}

static bool in_group_now(const struct checkup *c, gid_t group)
{
    for (int i = 0; i < c->system->n_groups; i++)
        if (c->system->groups[i] == group)
            return true;
    return false;
}

static void explain_permission(const struct checkup *c, const struct node *n)
{
    const gid_t group = n->state.group;
    char name[64];
    const bool listed = listed_in_group(c, group, name, sizeof(name));

    if (in_group_now(c, group) && (n->state.mode & 060) == 060) {
        report_problem(c, "%s: the system denies access in spite of its permissions", n->what);
        report_fix(c,
                   c->container ? "start the container with --device %s"
                                : "look for a sandbox around this program; ls -l %s",
                   n->path);
    } else if ((n->state.mode & 060) != 060 || !group) {
        report_problem(c, "%s: only its owner may open it", n->what);
        report_fix(c, "sudo chgrp video %s && sudo chmod g+rw %s", n->path, n->path);
    } else if (listed) {
        report_problem(c, "%s: permission denied: '%s' is in the group %s, but not since login",
                       n->what, c->system->user, name);
        report_fix(c, "log out of every session and in again, or restart");
    } else if (!*name) {
        report_problem(c, "%s: permission denied: it belongs to group %u, which has no name here",
                       n->what, (unsigned)group);
        report_fix(c,
                   c->container ? "start the container with --group-add %u"
                                : "sudo groupadd --gid %u camera, then look again",
                   (unsigned)group);
    } else {
        report_problem(c, "%s: permission denied: '%s' is not in the group %s", n->what,
                       c->system->user, name);
        report_fix(c, "sudo usermod -aG %s %s, then log out and in again", name, c->system->user);
    }
}

static void explain_busy(const struct checkup *c, const struct node *n)
{
    if (n->holders.n) {
        report_problem(c, "%s is busy: %s", n->what, n->holders.text);
        report_fix(c, "end that program");
    } else {
        report_problem(c, "%s is busy, with a program of another user, which only root sees",
                       n->what);
        report_fix(c, "sudo fuser -v %s", n->path);
    }
}

void explain_closed(const struct checkup *c, const struct node *n)
{
    switch (n->state.error) {
    case -EACCES:
        explain_permission(c, n);
        break;
    case -EBUSY:
        explain_busy(c, n);
        break;
    case -EPERM:
        report_problem(c, "%s: the system's device rules forbid it here", n->what);
        report_fix(c, "start the container or service with this device allowed (--device %s)",
                   n->path);
        break;
    default:
        report_problem(c, "%s cannot be opened: %s", n->what, strerror(-n->state.error));
        report_fix(c, n->virtual ? HINT_MODPROBE_AGAIN
                                 : "unplug it and plug it in again; sudo dmesg tells more");
        break;
    }
}
