#pragma once
/* What the parts of the doctor share: the report, and reading below the system's root.
 * Context: main. */
#include <dirent.h>
#include <limits.h>
#include <stdio.h>

#include "doctor/system.h"
#include "v4l2/hints.h"

struct checkup {
    const struct doctor_system *system;
    FILE *out;      /* NULL: nothing is reported */
    bool loaded;    /* v4l2loopback */
    bool container; /* no modules can be loaded here, and devices have to be given to it */
    int n_cameras, n_loopbacks; /* that can be used or not */
    char camera[32];            /* the first that can be used; empty: none */
    char loopback[32];          /* likewise */
    char shown[32];             /* a virtual one that programs take for a camera now */
    bool pipewire;              /* its daemon answers, and takes a camera of ours */
    bool pipewire_camera;       /* it has one of its own, which we can read */
    bool engine;                /* one can be used */
    bool config;                /* is valid */

    dev_t sensor[V4L2_MAX_NODES]; /* nodes of cameras that only libcamera reads */
    int n_sensors;
    bool sensor_listed; /* PipeWire has such a camera */
};

/* One finding, and below it what to do about it. */
void report_ok(const struct checkup *c, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void report_note(const struct checkup *c, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
void report_problem(const struct checkup *c, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
void report_fix(const struct checkup *c, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

/* Paths are absolute and below the system's root. */
bool system_path(const struct checkup *c, char path[PATH_MAX], const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
bool system_has(const struct checkup *c, const char *path);
DIR *system_folder(const struct checkup *c, const char *path);
FILE *system_file(const struct checkup *c, const char *path);

/* The first line of a file, without its end; "" and false where there is none. */
bool system_line(const struct checkup *c, const char *path, char *line, size_t size);

/* The first name in a folder that begins with @prefix and ends with @suffix, in no order. */
bool system_find(const struct checkup *c, const char *folder, const char *prefix,
                 const char *suffix, char *name, size_t size);

/* Whether the kernel refuses modules that no key it knows has signed. */
bool system_has_secure_boot(const struct checkup *c);

/* Whether there are cameras that only libcamera reads; after check_video. */
bool have_sensors(const struct checkup *c);

bool system_is_container(const struct checkup *c);

/* The parts, in the order of the report. */
void check_module(struct checkup *c);        /* v4l2loopback */
void check_video(struct checkup *c);         /* cameras and virtual cameras */
void check_engines(struct checkup *c);       /* GPU and CPU */
void check_pipewire(struct checkup *c);      /* its cameras; only with HAVE_PIPEWIRE */
void check_sensors(const struct checkup *c); /* cameras that nobody but libcamera reads */
void check_session(const struct checkup *c); /* bus, service, display */
void check_portal(const struct checkup *c);  /* of a bus that answers; only with HAVE_CONTROL */
