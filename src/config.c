#include "config.h"

#include <errno.h>
#include <ini.h>
#include <stdlib.h>
#include <string.h>

#include "config_value.h"
#include "filter.h"

static const char *const filters[] = {"none", "bilateral", NULL};
static const char *const ranges[] = {"gaussian", "lorentzian", NULL};
static const char *const windows[] = {"disc", "square", NULL};
static const char *const engines[] = {"auto", "cuda", "simd", "reference", NULL};
static const char *const on_demands[] = {"auto", "on", "off", NULL};
static const char *const formats_in[] = {"yuyv", "uyvy", "mjpg", "nv12", "yu12", "grey", NULL};
static const char *const formats_out[] = {"yuyv", "yu12", NULL};

#define FIELD(name) offsetof(struct settings, name)
#define TEXT(name) FIELD(name), sizeof(((struct settings *)0)->name)

const struct key key_table[] = {
    {"input", 'i', "SRC", KEY_TEXT, TEXT(input), "auto", 0, 0, NULL, false,
     "camera (auto, /dev/videoN, /dev/v4l/by-id/NAME, or its name in words), FILE.y4m, - for "
     "standard input, or test:[scene=NAME,noise=N,seed=N]",
     true},
    {"output", 'o', "DST", KEY_TEXT, TEXT(output), "auto", 0, 0, NULL, false,
     "virtual camera (auto, /dev/videoN), FILE.y4m, - for standard output, or null:"},
    {"preview", 'p', NULL, KEY_BOOL, FIELD(preview), 0, "no", 0, 0, NULL, false, "live window"},
    {"size", 0, "WxH", KEY_SIZE, FIELD(width), 0, "auto", 2, FRAME_MAX_SIDE, NULL, false,
     "size of the camera's picture", true},
    {"fps", 0, "N", KEY_RATE, FIELD(fps), 0, "auto", 1, 1000, NULL, false,
     "frames per second; with test: it paces the scene in real time", true},
    {"format", 0, "NAME", KEY_FORMAT, FIELD(format), 0, "auto", 0, 0, formats_in, false,
     "pixel format of the camera", true},
    {"output-format", 0, "NAME", KEY_FORMAT, FIELD(output_format), 0, "auto", 0, 0, formats_out,
     false, "pixel format of the output"},
    {"filter", 0, "NAME", KEY_CHOICE, FIELD(filter), 0, "bilateral", 0, 0, filters, true,
     "what is done to the picture"},
    {"radius", 'r', "N", KEY_INT, FIELD(radius), 0, "5", 0, FILTER_MAX_RADIUS, NULL, true,
     "radius of the window in pixels; 0 passes the picture through"},
    {"sigma-space", 0, "S", KEY_AUTOREAL, FIELD(sigma_space), 0, "auto", 0.1, 100, NULL, true,
     "how far neighbours count, in pixels; auto is half the radius, at least 1"},
    {"sigma-color", 0, "S", KEY_REAL, FIELD(sigma_color), 0, "18", 1, 200, NULL, true,
     "how different a colour may be, in levels of 0..255; 2 to 2.5 times the noise is best"},
    {"range", 0, "NAME", KEY_CHOICE, FIELD(range), 0, "gaussian", 0, 0, ranges, true,
     "how the weight falls with the colour distance"},
    {"window", 0, "NAME", KEY_CHOICE, FIELD(window), 0, "disc", 0, 0, windows, true,
     "shape of the window"},
    {"engine", 'e', "NAME", KEY_CHOICE, TEXT(engine), "auto", 0, 0, engines, false,
     "what filters; auto takes the GPU, else the CPU"},
    {"threads", 0, "N", KEY_INT, FIELD(threads), 0, "0", 0, 256, NULL, false,
     "CPU threads of the simd engine; 0 is one per core"},
    {"autotune", 0, "yes|no", KEY_BOOL, FIELD(autotune), 0, "yes", 0, 0, NULL, false,
     "time the GPU for a quarter of a second when a size of picture is new to it, and keep what "
     "suits it in the user's cache folder"},
    {"latency-budget", 0, "MS", KEY_BUDGET, FIELD(latency_budget), 0, "auto", 0.1, 10000, NULL,
     true,
     "limits the radius so that no frame is later than this; auto is one frame interval "
     "for live pictures and off for files"},
    {"radius-min", 0, "N", KEY_INT, FIELD(radius_min), 0, "1", 1, FILTER_MAX_RADIUS, NULL, true,
     "the radius below which the latency budget does not push"},
    {"on-demand", 0, "WHEN", KEY_CHOICE, FIELD(on_demand), 0, "auto", 0, 0, on_demands, false,
     "let the camera go while nobody reads the virtual one; auto does unless there is a window or "
     "an end to the run"},
    {"wait", 0, NULL, KEY_BOOL, FIELD(wait), 0, "no", 0, 0, NULL, false,
     "if camera or virtual camera are not there at the start, wait for them"},
    {"frames", 0, "N", KEY_INT, FIELD(frames), 0, "0", 0, 1e9, NULL, false,
     "stop after N frames; 0 is no limit"},
    {"stats", 0, "FILE", KEY_TEXT, TEXT(stats), "", 0, 0, NULL, false,
     "write statistics as one JSON object at exit; - is standard output"},
    {"trace", 0, "FILE", KEY_TEXT, TEXT(trace), "", 0, 0, NULL, false,
     "write one line of CSV per frame: when, which radius, how long each stage took"},
    {.name = NULL},
};

const struct key *key_find(const char *name)
{
    for (const struct key *k = key_table; k->name; k++)
        if (!strcmp(k->name, name))
            return k;
    return NULL;
}

void settings_init(struct settings *s)
{
    memset(s, 0, sizeof(*s));
    for (const struct key *k = key_table; k->name; k++)
        (void)key_parse(k, k->default_text, s);
}

int settings_set(struct settings *s, const char *name, const char *value, struct error *err)
{
    const struct key *k = key_find(name);
    char allowed[256];

    if (!k)
        return error_set(err, -EINVAL, "unknown key '%s' (--print-config lists all)", name);
    if (key_parse(k, value, s)) {
        key_describe(k, allowed, sizeof(allowed));
        return error_set(err, -EINVAL, "%s = '%s': must be %s", name, value, allowed);
    }
    return 0;
}

struct load {
    FILE *file;
    int line; /* that was read last */
    struct settings settings;
    struct error err; /* of the first line that is wrong */
    bool failed;
};

/* inih reads lines through this, as fgets() gives them. It would cut long lines in two and take
 * an indented one for more of the value above it; neither is what anybody means. */
static char *load_text(char *text, int size, void *user)
{
    struct load *l = user;
    char *got = fgets(text, size, l->file);

    if (!got)
        return NULL;
    l->line++;
    if (strlen(text) == (size_t)size - 1 && !strchr(text, '\n') && !l->failed)
        l->failed = error_set(&l->err, -EINVAL, "line %d: longer than %d characters", l->line,
                              size - 2) != 0;
    while (*got == ' ' || *got == '\t')
        got++;
    memmove(text, got, strlen(got) + 1);
    return text;
}

/* inih calls this for each line that holds something. */
static int load_line(void *user, const char *section, const char *name, const char *value)
{
    struct load *l = user;
    struct error err;

    if (l->failed)
        return 1;
    if (*section)
        l->failed = error_set(&l->err, -EINVAL, "line %d: [%s]: this file has no sections", l->line,
                              section) != 0;
    else if (settings_set(&l->settings, name, value ? value : "", &err))
        l->failed = error_set(&l->err, -EINVAL, "line %d: %s", l->line, err.text) != 0;
    return 1;
}

int settings_load(struct settings *s, const char *path, struct error *err)
{
    struct load l = {.settings = *s, .file = fopen(path, "re")};
    int bad_line, trouble;

    if (!l.file) {
        const int code = errno;

        return error_set(err, -code, "configuration '%s': %s", path, strerror(code));
    }
    bad_line = ini_parse_stream(load_text, &l, load_line, &l);
    trouble = ferror(l.file) ? errno : 0;
    (void)fclose(l.file);
    if (trouble || bad_line < 0)
        return error_set(err, trouble ? -trouble : -ENOMEM, "configuration '%s': %s", path,
                         strerror(trouble ? trouble : ENOMEM));
    if (l.failed)
        return error_set(err, -EINVAL, "configuration '%s', %s", path, l.err.text);
    if (bad_line > 0)
        return error_set(err, -EINVAL, "configuration '%s', line %d: must be KEY = VALUE", path,
                         bad_line);
    *s = l.settings;
    return 0;
}

/* The file @name below @dir (@dir_size bytes of a path list) where it can be read. */
static bool find_in(const char *dir, size_t dir_size, const char *below, char *path, size_t size)
{
    FILE *file;
    const int n = snprintf(path, size, "%.*s%s/bilatcam/bilatcam.conf", (int)dir_size, dir, below);

    if (n < 0 || (size_t)n >= size || path[0] != '/')
        return false;
    file = fopen(path, "re");
    /* A file that is there but cannot be read must be reported, not passed over. */
    if (!file)
        return errno != ENOENT && errno != ENOTDIR;
    (void)fclose(file);
    return true;
}

bool settings_find_file(char *path, size_t size)
{
    const char *home = getenv("XDG_CONFIG_HOME"), *dirs = getenv("XDG_CONFIG_DIRS");

    if (home && *home) {
        if (find_in(home, strlen(home), "", path, size))
            return true;
    } else {
        home = getenv("HOME");
        if (home && find_in(home, strlen(home), "/.config", path, size))
            return true;
    }
    if (!dirs || !*dirs)
        dirs = "/etc/xdg";
    while (*dirs) {
        const size_t n = strcspn(dirs, ":");

        if (find_in(dirs, n, "", path, size))
            return true;
        dirs += n + (dirs[n] == ':');
    }
    return false;
}

/* What stands between @k and @value: no spaces where they would make the line too long for
 * settings_load(), or the value a comment. */
static const char *equals(const struct key *k, const char *value)
{
    const size_t length = strlen(k->name) + strlen(" = ") + strlen(value);

    return *value == ';' || length > INI_MAX_LINE - 2 ? "=" : " = ";
}

void settings_print(const struct settings *s, FILE *out)
{
    fprintf(out, "# bilatcam configuration. Keys are the long options of the command line.\n");
    for (const struct key *k = key_table; k->name; k++) {
        char value[SETTINGS_PATH_MAX], allowed[256];

        settings_get(s, k, value, sizeof(value));
        key_describe(k, allowed, sizeof(allowed));
        fprintf(out, "\n# %s\n# %s; %s\n%s%s%s\n", k->help, allowed,
                k->live      ? "can change while running"
                : k->reopens ? "can change while running, where it opens the camera anew"
                             : "takes effect at the next start",
                k->name, equals(k, value), value);
    }
}
