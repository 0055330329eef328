#pragma once
/* What the running program is like, and the one table of figures behind that. The JSON of --stats,
 * D-Bus, bilatcamctl and the manual pages show what the table lists, so that a figure has one name,
 * one unit and one help text everywhere; the window, systemd's line and the log read the struct.
 * Context: plain data; a struct status has one owner. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct percentiles {
    int64_t p50_ns, p95_ns, p99_ns, max_ns;
};

/* How many pictures come, and how long they take. */
struct timing {
    double fps;
    struct percentiles latency; /* from the camera's stamp to the end of the write */
    struct percentiles camera;  /* the camera's own part of it */
    struct percentiles added;   /* the rest, which the budget is for */
    struct percentiles filter;
};

struct status {
    char state[32];     /* "running", "no camera", "paused", ... */
    char reason[320];   /* why there are no pictures, or nowhere to show them; else empty */
    bool asleep;        /* the camera is released for the machine's sleep */
    char outputs[1600]; /* what each of them is like */
    int readers;        /* of the virtual cameras; -1 = not known */
    uint64_t n_rounds;  /* of the outputs: grows all the time, with and without pictures */

    char engine[16], device[128]; /* what filters now */
    int threads; /* of the CPU that filter, where the engine has their number from the budget; 0 */
    double gpu_memory_mib; /* that its process has; 0 = not known, or no GPU */
    int width, height;
    char format_in[8], format_out[8];

    int radius_requested;             /* for the last frame; before the first for those to come */
    int radius_min_used, radius_last; /* pixels; -1 = no frame yet */
    double sigma_color, sigma_space;  /* in effect; 0 = not known yet */
    int temporal;                     /* frames that count at most; 1 = time is off */
    char search[8];                   /* filter_search() of the last frame */
    double noise;           /* standard deviation of one channel, levels; 0 = none known */
    double frames_averaged; /* that a pixel is the mean of, on average; 1 = time is off */
    int64_t budget_ns;      /* for the added latency; 0 = none */

    uint64_t frames_in, frames_out, frames_dropped, frames_bad, reconnects;
    uint64_t frames_total;    /* that will come out if all goes well; 0 = not known */
    struct timing run;        /* since the start */
    struct timing second;     /* the last one; all 0 while nothing comes out */
    double psnr_gain_db;      /* by the filter; NAN = not measured */
    double processor_percent; /* of one core, in the last second; 0 = not known yet */
};

/* A program that has not begun. */
void status_init(struct status *s);

/* As durations are told everywhere. */
double in_ms(int64_t ns);

/* What a field holds, and what it is for others. */
enum figure_type {
    FIGURE_TEXT,
    FIGURE_INT,
    FIGURE_COUNT,    /* uint64_t */
    FIGURE_REAL,     /* NAN = not there */
    FIGURE_DURATION, /* int64_t ns, told in ms */
};

struct figure {
    const char *json; /* name in the JSON of --stats, "object.member" in an object; NULL: none */
    const char *property; /* name on D-Bus, and of what bilatcamctl shows; NULL: none */
    enum figure_type type;
    size_t offset, size;  /* of the field in struct status */
    const char *unit;     /* NULL: none */
    bool announced;       /* D-Bus tells of each change */
    const char *negative; /* what bilatcamctl says for a number below 0; NULL: the number */
    const char *zero; /* and for 0, which the JSON leaves out, where another number comes with its
                       * unit; NULL: the number */
    const char *help;
};

/* Ends with a figure whose help is NULL. In the JSON's order; members of an object stand
 * together. */
extern const struct figure figure_table[];

/* NULL: there is none of that name on D-Bus. */
const struct figure *figure_find(const char *property);

/* Its type on D-Bus: "s", "i", "t" or "d". */
const char *figure_signature(const struct figure *f);

/* The field itself. */
const void *figure_field(const struct figure *f, const struct status *s);

/* A figure whose signature is "d", in its unit. */
double figure_real(const struct figure *f, const struct status *s);

/* Its value as JSON has it, but for quotation marks. */
void figure_text(const struct figure *f, const struct status *s, char *text, size_t size);

/* One JSON object and a newline. */
void status_print_json(const struct status *s, FILE *out);
