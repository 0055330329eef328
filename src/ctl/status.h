#pragma once
/* What `bilatcamctl status` says, from the daemon's properties: some lines that tell of several of
 * them, and a line for each other figure of figure_table. Context: plain data. */
#include <stdio.h>

/* Keys and figures; should a newer daemon have more, the rest is left out. */
#define CTL_MAX_PROPERTIES 128
#define CTL_VALUE_SIZE 256

struct ctl_properties {
    int n;
    struct ctl_property {
        char name[64], value[CTL_VALUE_SIZE];
    } list[CTL_MAX_PROPERTIES];
};

/* Adds one, as read_variant() writes its value. @properties: a struct ctl_properties. */
void ctl_properties_add(void *properties, const char *name, const char *value);

void ctl_print_status(const struct ctl_properties *p, FILE *out);
