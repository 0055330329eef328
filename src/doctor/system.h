#pragma once
/* The machine that the doctor looks at. Context: main. */
#include <stdbool.h>
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
void doctor_system_init(struct doctor_system *s, const struct engine_ops *const *engines);
