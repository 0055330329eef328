#pragma once
/* Why a video device cannot be opened, and what to do about it. Context: main. */
#include "doctor/holders.h"

struct node {
    char path[32];
    char what[96]; /* "camera /dev/video0 'HD Webcam'" */
    bool virtual;
    bool sensor; /* by its name one that only libcamera reads */
    struct doctor_node state;
    struct holders holders;
};

/* For one whose state has an error. */
void explain_closed(const struct checkup *c, const struct node *n);
