#pragma once
/* A status whose figures all have values that no other has. */
#include <string.h>

#include "settings/status.h"

static inline void fill_figures(struct status *s)
{
    status_init(s);
    for (const struct figure *f = figure_table; f->help; f++) {
        const int i = (int)(f - figure_table);
        char *const field = (char *)s + f->offset;

        switch (f->type) {
        case FIGURE_TEXT:
            (void)snprintf(field, f->size, "word%d", i);
            break;
        case FIGURE_INT:
            memcpy(field, &(int){1000 + i}, sizeof(int));
            break;
        case FIGURE_COUNT:
            memcpy(field, &(uint64_t){UINT64_C(5000000000) + (unsigned)i}, sizeof(uint64_t));
            break;
        case FIGURE_REAL:
            memcpy(field, &(double){2000.5 + i}, sizeof(double));
            break;
        case FIGURE_DURATION:
            memcpy(field, &(int64_t){(3000 + i) * INT64_C(1000000) + 500000}, sizeof(int64_t));
            break;
        }
    }
}
