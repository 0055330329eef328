#pragma once
/* --doctor: looks at what it takes to get from a camera to the virtual camera, and tells in plain
 * words what is there, what is not, and the command that fixes it. It changes nothing, needs no
 * rights, waits for nothing and starts no camera. Context: main. */
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/types.h>

#include "engine/engine.h"
#include "v4l2/node.h"

#define DOCTOR_MAX_FORMATS 16
#define DOCTOR_MAX_GROUPS 256

/* What a video device tells without being started. */
struct doctor_node {
    int error;    /* negative errno: it cannot be opened, and only the next three are known */
    mode_t mode;  /* of the file in /dev */
    gid_t group;  /* that owns it */
    dev_t device; /* its number */
    struct v4l2_node is;
    uint32_t fourcc[DOCTOR_MAX_FORMATS]; /* that it captures */
    int n_formats;
};

/* What the doctor looks at. Tests put a folder and answers of their own in its place. */
struct doctor_system {
    const char *root; /* the folder that stands for /, without a slash at the end: "" */
    char kernel[65];  /* release, as uname -r */
    char user[64];
    gid_t groups[DOCTOR_MAX_GROUPS]; /* of this process */
    int n_groups;
    const struct engine_ops *const *engines; /* NULL at the end */
    void (*look)(const char *path, struct doctor_node *ret);
};

/* The machine that this is. */
void doctor_system_init(struct doctor_system *s);

/* Prints one line per finding, `ok`, `note` or `PROBLEM` in front, with what to do about it in the
 * line below. @config_path: as given, or NULL for the user's own. Returns whether a camera can go
 * to a virtual camera. */
bool doctor_run(const struct doctor_system *s, const char *config_path, FILE *out);
