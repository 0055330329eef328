#pragma once
/* Which programs have a device open: those of this user, or all for root. Context: main. */
#include "doctor/checkup.h"

struct holders {
    int n;           /* programs */
    int n_bilatcam;  /* of these */
    int n_streaming; /* of the others; have the device's buffers mapped, so pictures flow */
    int pid;         /* of one that streams */
    char text[256];  /* "zoom (pid 12), obs (pid 34)" */
};

/* @device: its number; @path as in /dev. */
void holders_find(const struct checkup *c, dev_t device, const char *path, struct holders *ret);
