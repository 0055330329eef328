#pragma once
/* Writes what manual pages and completions of shells say of keys, options and commands, from the
 * tables that the programs themselves read. Context: one thread, at build time. */
#include <stdio.h>

/* A template names it as @NAME@. */
struct section {
    const char *name;
    void (*write)(FILE *out);
};

/* Each ends with a section whose name is NULL. */
extern const struct section page_sections[];
extern const struct section shell_sections[];
extern const struct section fish_sections[];
