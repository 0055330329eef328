#include "ctl/status.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "control/name.h"
#include "settings/status.h"

#define LETTERS "ABCDEFGHIJKLMNOPQRSTUVWXYZ"

/* A property in braces stands for its value. What is before its name there is left out with an
 * empty value. */
static const struct line {
    const char *label, *text;
} lines[] = {
    {"state", "{State}{: StateReason}"},
    {"engine", "{EngineUsed}{, DeviceUsed}"},
    {"radius", "{RadiusUsed} of {Radius}"},
    {"noise", "{Noise}, sigma-color {SigmaColorUsed}"},
    {"memory", "a pixel is the mean of {FramesAveraged} frames{, search for motion Search}"},
    {"frames/s", "{FpsMeasured}"},
    {"latency", "{LatencyP50Ms} ms, p99 {LatencyP99Ms} ms, since the camera's stamp"},
    {"added", "{AddedP50Ms} ms, p99 {AddedP99Ms} ms, without the camera's own {CameraDelayMs} ms"},
    {"cpu", "{ProcessorPercent}{, gpu memory GpuMemoryMib}"},
    {"frames", "{FramesIn} in, {FramesOut} out, {FramesDropped} dropped, {FramesBad} damaged"},
};

enum { N_LINES = sizeof(lines) / sizeof(lines[0]) };

void ctl_properties_add(void *properties, const char *name, const char *value)
{
    struct ctl_properties *p = properties;
    struct ctl_property *new = &p->list[p->n];

    if (p->n == CTL_MAX_PROPERTIES)
        return;
    (void)snprintf(new->name, sizeof(new->name), "%s", name);
    (void)snprintf(new->value, sizeof(new->value), "%s", value);
    (void)utf8_printable(new->value);
    p->n++;
}

static const char *find(const struct ctl_properties *p, const char *name)
{
    for (int i = 0; i < p->n; i++)
        if (!strcmp(p->list[i].name, name))
            return p->list[i].value;
    return NULL;
}

/* What is said of @value of the property called @name. */
static void say_value(char *text, size_t size, const char *name, const char *value)
{
    const struct figure *f = figure_find(name);

    if (f && f->zero && strtod(value, NULL) > 0.0)
        (void)snprintf(text, size, "%.1f %s", strtod(value, NULL), f->unit);
    else if (f && f->zero)
        (void)snprintf(text, size, "%s", f->zero);
    else if (f && *figure_signature(f) == 'd')
        (void)snprintf(text, size, "%.1f", strtod(value, NULL));
    else
        (void)snprintf(text, size, "%s", f && f->negative && *value == '-' ? f->negative : value);
}

/* The property that @text, "{before Name}", stands for. Returns its end. */
static const char *put_property(const struct ctl_properties *p, const char *text, FILE *out)
{
    const size_t n_before = strcspn(text + 1, LETTERS);
    const char *const from = text + 1 + n_before, *const end = strchr(from, '}');
    const char *value;
    char name[64], said[CTL_VALUE_SIZE];

    (void)snprintf(name, sizeof(name), "%.*s", (int)(end - from), from);
    value = find(p, name);
    say_value(said, sizeof(said), name, value ? value : "");
    if (*said)
        fprintf(out, "%.*s%s", (int)n_before, text + 1, said);
    return end;
}

static void print_line(const struct ctl_properties *p, const struct line *line, FILE *out)
{
    fprintf(out, "%-11s ", line->label);
    for (const char *c = line->text; *c; c++) {
        if (*c == '{')
            c = put_property(p, c, out);
        else
            fputc(*c, out);
    }
    fputc('\n', out);
}

/* Whether a line tells of the property called @name. */
static bool is_told(const char *name)
{
    const size_t n = strlen(name);

    for (int i = 0; i < N_LINES; i++)
        for (const char *at = lines[i].text; (at = strstr(at, name)); at += n)
            if (at[n] == '}' && !isalpha((unsigned char)at[-1]))
                return true;
    return false;
}

static void print_figure(const struct figure *f, const char *value, FILE *out)
{
    char label[64], said[CTL_VALUE_SIZE];

    control_key_name(f->property, label, sizeof(label));
    say_value(said, sizeof(said), f->property, value);
    fprintf(out, "%-11s %s%s%s\n", label, said, f->unit ? " " : "", f->unit ? f->unit : "");
}

void ctl_print_status(const struct ctl_properties *p, FILE *out)
{
    for (int i = 0; i < N_LINES; i++)
        print_line(p, &lines[i], out);
    for (const struct figure *f = figure_table; f->help; f++) {
        const char *const value = f->property ? find(p, f->property) : NULL;

        if (value && !is_told(f->property))
            print_figure(f, value, out);
    }
}
