#pragma once
/* Settings and the one table of keys behind them. The table feeds the long options, the
 * configuration file, --help, --print-config, live control, the manual pages and the completions
 * of shells, so that a key has one name, one type, one range, one default and one help text
 * everywhere.
 * Context: plain data; a struct settings has one owner. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/error.h"
#include "picture/frame.h"

#define SETTINGS_PATH_MAX 1024
#define SETTINGS_MAX_OUTPUTS 8
#define SETTINGS_VALUE_MAX (4 * SETTINGS_PATH_MAX) /* of any value as text */

struct filter;

enum on_demand { ON_DEMAND_AUTO, ON_DEMAND_ON, ON_DEMAND_OFF };

enum sample_depth { DEPTH_AUTO, DEPTH_8, DEPTH_16 };

#define BUDGET_OFF 0
#define BUDGET_AUTO (-1)

struct settings {
    char input[SETTINGS_PATH_MAX];
    char output[SETTINGS_VALUE_MAX]; /* a list */
    bool preview;
    int width, height;   /* 0 = the source's choice */
    struct fraction fps; /* 0/0 = the source's choice */
    int format;          /* enum frame_format of the camera; -1 = auto */
    int output_format;   /* enum frame_format of the sink; -1 = auto */
    int depth;           /* enum sample_depth */
    int levels[2];       /* as in struct stretch (picture/stretch.h) */
    int filter;          /* enum filter_kind */
    int radius;          /* pixels */
    double sigma_space;  /* pixels; 0 = auto */
    double sigma_color;  /* levels; 0 = auto */
    int range;           /* enum range_kernel */
    int distance;        /* enum colour_metric */
    int window;          /* enum window_shape */
    int temporal;        /* frames; 0 = auto */
    int temporal_mode;   /* enum temporal_mode */
    double sigma_time;   /* frames; 0 = auto */
    char engine[16];
    char device[32]; /* which GPU */
    char encoder[256];
    int on_demand;          /* enum on_demand */
    bool wait;              /* for devices that are not there at the start */
    int threads;            /* 0 = as many as the latency budget needs */
    bool autotune;          /* of the GPU's kernels */
    int64_t latency_budget; /* ns, BUDGET_OFF or BUDGET_AUTO */
    bool budget_asked;      /* on the command line: it is for this run, whatever the source */
    int radius_min;         /* pixels; what the budget may limit the radius to */
    int frames;             /* 0 = no limit */
    char stats[SETTINGS_PATH_MAX];
    char trace[SETTINGS_PATH_MAX];
    char instance[64]; /* which of several bilatcams this is; "" = the only one. Not a key */
};

/* A type is a row of the table in value.c. */
enum key_type {
    KEY_TEXT,     /* anything that fits */
    KEY_LIST,     /* such texts, one a line */
    KEY_BOOL,     /* yes | no */
    KEY_INT,      /* min..max */
    KEY_AUTOINT,  /* auto (= 0) or min..max */
    KEY_AUTOREAL, /* auto (= 0) or min..max */
    KEY_CHOICE,   /* one of `choices`; the value is that choice's number */
    KEY_FORMAT,   /* auto (= -1) or one of `choices`, which are names of formats */
    KEY_SIZE,     /* auto (= 0x0) or WxH */
    KEY_RATE,     /* auto (= 0/0), N or N/D frames per second */
    KEY_BUDGET,   /* auto, off or milliseconds */
    KEY_GPU,      /* auto, its number or its PCI bus ID */
    KEY_LEVELS,   /* auto, off or MIN,MAX of 16 bits */
};

struct key {
    const char *name;
    char letter;          /* short option, or 0 */
    const char *argument; /* as --help shows it; NULL: the option alone means yes */
    enum key_type type;
    size_t offset; /* of the field in struct settings */
    size_t size;   /* of a field that is text, else 0 */
    const char *default_text;
    double min, max;
    double step;                /* settings_adjust(): how much one is; 0 = 1 */
    const char *const *choices; /* NULL at the end */
    bool live;                  /* can change while frames flow */
    bool reopens;               /* can change by opening the source again */
    const char *help;
};

/* Ends with a key whose name is NULL. */
extern const struct key key_table[];

const struct key *key_find(const char *name);

/* Every default of the table. */
void settings_init(struct settings *s);

/* Sets one key from text. -EINVAL: unknown key or a value out of what is allowed; @err names
 * the key, the value and what is allowed, and @s is unchanged. */
int settings_set(struct settings *s, const char *name, const char *value, struct error *err);

/* The same, but to a list the value is added. */
int settings_add(struct settings *s, const char *name, const char *value, struct error *err);

/* What a file or a command line gives of a list takes the place of all that was given before: to be
 * called before its first settings_add(), and after its last one with what was before. */
void settings_empty_lists(struct settings *s);
void settings_keep_lists(struct settings *s, const struct settings *before);

/* Sets @text to the item numbered @i of a list. False: it has no such. */
bool settings_item(const char *list, int i, char text[SETTINGS_PATH_MAX]);

/* Whether values that are allowed alone fit together. -EINVAL: @err says which do not. */
int settings_check(const struct settings *s, struct error *err);

/* As settings_set(), for one key alone: what comes of it must fit together. */
int settings_change(struct settings *s, const char *name, const char *value, struct error *err);

/* Whether frames are asked for, and not left to auto, that the filter knows nothing of: a blur does
 * each frame by itself. */
bool settings_time_unused(const struct settings *s);

/* Whether sigma-time is asked for, without the window over frames that it shapes. */
bool settings_sigma_time_unused(const struct settings *s);

/* The filter that they ask for. */
void settings_filter(const struct settings *s, struct filter *ret);

/* Moves a number (KEY_INT, KEY_AUTOINT, KEY_AUTOREAL) by @steps of a size of its own, as far as is
 * allowed, and a KEY_CHOICE by as many choices, after the last of which comes the first.
 * @automatic is what auto stands for now. */
void settings_adjust(struct settings *s, const struct key *key, int steps, double automatic);

/* The value of @key as settings_set() takes it. */
void settings_get(const struct settings *s, const struct key *key, char *text, size_t size);

/* The same for others to see: without the secrets of a URL. */
void settings_show(const struct settings *s, const struct key *key, char *text, size_t size);

/* Reads an INI file without sections. -ENOENT and other errors of opening; -EINVAL: @err names
 * file, line, key and what is allowed. On error @s is unchanged. */
int settings_load(struct settings *s, const char *path, struct error *err);

/* The configuration file that applies without --config: bilatcam/bilatcam.conf in
 * $XDG_CONFIG_HOME, else in $XDG_CONFIG_DIRS. False: there is none. */
bool settings_find_file(char *path, size_t size);

/* Writes every key with its help, range and value, in the syntax that settings_load() reads. */
void settings_print(const struct settings *s, FILE *out);

/* What is allowed for @key, in words: "an integer from 0 to 32". */
void key_describe(const struct key *key, char *text, size_t size);

/* Words that a value of any such key can be, with spaces between them: "auto off"; may be empty.
 * Its choices are not among them. */
const char *key_words(const struct key *key);

/* What the value is on D-Bus, where "s" is the text of settings_get(): "b", "i" or "s". */
const char *key_signature(const struct key *key);

/* When a change of @key takes effect, in words. */
const char *key_takes_effect(const struct key *key);
