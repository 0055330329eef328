#include "settings/value.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/pci.h"
#include "base/text.h"
#include "picture/stretch.h"

static void *field(const struct key *k, struct settings *s)
{
    return (char *)s + k->offset;
}

static int parse_real(const char *text, double min, double max, double *ret)
{
    char *end;
    double v;

    /* strtod takes spaces, "inf", "nan" and hexadecimal; none of them is a setting. */
    if (!isdigit((unsigned char)text[0]) && text[0] != '.')
        return -EINVAL;
    if (text[0] == '0' && (text[1] == 'x' || text[1] == 'X'))
        return -EINVAL;
    v = strtod(text, &end);
    if (*end || !isfinite(v) || v < min || v > max)
        return -EINVAL;
    *ret = v;
    return 0;
}

static int parse_int(const char *text, double min, double max, int *ret)
{
    char *end;
    long v;

    if (!isdigit((unsigned char)text[0]))
        return -EINVAL;
    errno = 0;
    v = strtol(text, &end, 10);
    if (*end || errno || (double)v < min || (double)v > max)
        return -EINVAL;
    *ret = (int)v;
    return 0;
}

static int choice_number(const struct key *k, const char *text)
{
    for (int i = 0; k->choices[i]; i++)
        if (!strcmp(text, k->choices[i]))
            return i;
    return -1;
}

static int parse_text(const struct key *k, const char *text, struct settings *s)
{
    if (strlen(text) >= k->size)
        return -EINVAL;
    memset(field(k, s), 0, k->size);
    memcpy(field(k, s), text, strlen(text));
    return 0;
}

/* Empty items would be lost among their separators. */
static int parse_list(const struct key *k, const char *text, struct settings *s)
{
    int n = 0;

    for (const char *at = text;; at++) {
        const size_t length = strcspn(at, "\n");

        if (!length || length >= SETTINGS_PATH_MAX || ++n > SETTINGS_MAX_OUTPUTS)
            return -EINVAL;
        at += length;
        if (!*at)
            return parse_text(k, text, s);
    }
}

/* A choice is kept as its number, or as its text where the field is text. */
static int parse_choice(const struct key *k, const char *text, struct settings *s)
{
    const int n = choice_number(k, text);

    if (n < 0)
        return -EINVAL;
    if (k->size)
        return parse_text(k, text, s);
    *(int *)field(k, s) = n;
    return 0;
}

static int parse_format(const struct key *k, const char *text, struct settings *s)
{
    const bool automatic = !strcmp(text, "auto");

    if (!automatic && choice_number(k, text) < 0)
        return -EINVAL;
    *(int *)field(k, s) = automatic ? -1 : format_from_name(text);
    return 0;
}

static int parse_bool(const struct key *k, const char *text, struct settings *s)
{
    static const char *const yes[] = {"yes", "true", "on", "1"};
    static const char *const no[] = {"no", "false", "off", "0"};

    for (int i = 0; i < 4; i++) {
        if (strcmp(text, yes[i]) && strcmp(text, no[i]))
            continue;
        *(bool *)field(k, s) = !strcmp(text, yes[i]);
        return 0;
    }
    return -EINVAL;
}

/* WxH, into the two ints that begin at the field. */
static int parse_size(const struct key *k, const char *text, struct settings *s)
{
    int *size = field(k, s);
    char width[16] = "";
    int w, h;
    const size_t n = strcspn(text, "x");

    if (!strcmp(text, "auto")) {
        size[0] = size[1] = 0;
        return 0;
    }
    if (text[n] != 'x' || n >= sizeof(width))
        return -EINVAL;
    memcpy(width, text, n);
    if (parse_int(width, k->min, k->max, &w) || parse_int(text + n + 1, 1, k->max, &h) || w % 2)
        return -EINVAL;
    size[0] = w;
    size[1] = h;
    return 0;
}

/* 23.976, 23.98, 29.97, 59.94 and the like. */
static bool is_ntsc(double fps)
{
    const double whole = rint(fps * 1.001);

    return (fmod(whole, 24.0) < 0.5 || fmod(whole, 30.0) < 0.5) && whole > 1.0 &&
           fabs(fps * 1.001 - whole) < 0.005;
}

/* N, N.NN or N/D. Decimals of the NTSC rates mean those: 29.97 is 30000/1001. */
static int parse_rate(const struct key *k, const char *text, struct settings *s)
{
    struct fraction *rate = field(k, s);
    struct fraction f = {0, 1};
    const char *slash = strchr(text, '/');
    char num[16] = "";
    double fps;
    int n, d;

    if (!strcmp(text, "auto")) {
        *rate = (struct fraction){0, 0};
        return 0;
    }
    if (slash) {
        if ((size_t)(slash - text) >= sizeof(num))
            return -EINVAL;
        memcpy(num, text, (size_t)(slash - text));
        if (parse_int(num, 1, 1e9, &n) || parse_int(slash + 1, 1, 1e9, &d))
            return -EINVAL;
        fps = (double)n / d;
        f = (struct fraction){(uint32_t)n, (uint32_t)d};
    } else {
        if (parse_real(text, k->min, k->max, &fps))
            return -EINVAL;
        if (fabs(fps - rint(fps)) < 1e-6)
            f = (struct fraction){(uint32_t)rint(fps), 1};
        else if (is_ntsc(fps))
            f = (struct fraction){(uint32_t)rint(fps * 1.001) * 1000, 1001};
        else
            f = (struct fraction){(uint32_t)rint(fps * 1000.0), 1000};
    }
    if (fps < k->min || fps > k->max)
        return -EINVAL;
    *rate = f;
    return 0;
}

static int parse_budget(const struct key *k, const char *text, struct settings *s)
{
    int64_t *budget = field(k, s);
    double ms;

    if (!strcmp(text, "auto"))
        *budget = BUDGET_AUTO;
    else if (!strcmp(text, "off"))
        *budget = BUDGET_OFF;
    else if (parse_real(text, k->min, k->max, &ms))
        return -EINVAL;
    else
        *budget = (int64_t)llround(ms * 1e6);
    return 0;
}

static int parse_gpu(const struct key *k, const char *text, struct settings *s)
{
    struct pci_address address;
    int n;

    if (!strcmp(text, "auto")) {
        *(char *)field(k, s) = '\0';
        return 0;
    }
    if (parse_int(text, 0, 255, &n) && !pci_parse(&address, text))
        return -EINVAL;
    return parse_text(k, text, s);
}

/* MIN,MAX, into the two ints that begin at the field. */
static int parse_levels(const struct key *k, const char *text, struct settings *s)
{
    int *levels = field(k, s), low, high;
    const size_t n = strcspn(text, ",");
    char first[16] = "";

    if (!strcmp(text, "auto") || !strcmp(text, "off")) {
        levels[0] = levels[1] = !strcmp(text, "auto") ? STRETCH_AUTO : 0;
        return 0;
    }
    if (text[n] != ',' || n >= sizeof(first))
        return -EINVAL;
    memcpy(first, text, n);
    if (parse_int(first, k->min, k->max, &low) || parse_int(text + n + 1, low + 1, k->max, &high))
        return -EINVAL;
    levels[0] = low;
    levels[1] = high;
    return 0;
}

static int parse_int_key(const struct key *k, const char *text, struct settings *s)
{
    return parse_int(text, k->min, k->max, field(k, s));
}

static int parse_auto_real(const struct key *k, const char *text, struct settings *s)
{
    if (strcmp(text, "auto"))
        return parse_real(text, k->min, k->max, field(k, s));
    *(double *)field(k, s) = 0.0;
    return 0;
}

static int parse_auto_int(const struct key *k, const char *text, struct settings *s)
{
    if (strcmp(text, "auto"))
        return parse_int_key(k, text, s);
    *(int *)field(k, s) = 0;
    return 0;
}

static void print_text(const struct key *k, const void *p, char *text, size_t size)
{
    (void)k;
    (void)snprintf(text, size, "%s", (const char *)p);
}

static void print_gpu(const struct key *k, const void *p, char *text, size_t size)
{
    const char *device = p;

    print_text(k, *device ? device : "auto", text, size);
}

static void print_bool(const struct key *k, const void *p, char *text, size_t size)
{
    (void)k;
    (void)snprintf(text, size, "%s", *(const bool *)p ? "yes" : "no");
}

static void print_int(const struct key *k, const void *p, char *text, size_t size)
{
    (void)k;
    (void)snprintf(text, size, "%d", *(const int *)p);
}

static void print_auto_int(const struct key *k, const void *p, char *text, size_t size)
{
    if (*(const int *)p)
        print_int(k, p, text, size);
    else
        (void)snprintf(text, size, "auto");
}

static void print_auto_real(const struct key *k, const void *p, char *text, size_t size)
{
    const double v = *(const double *)p;

    (void)k;
    if (v > 0.0)
        (void)snprintf(text, size, "%.10g", v);
    else
        (void)snprintf(text, size, "auto");
}

static void print_choice(const struct key *k, const void *p, char *text, size_t size)
{
    (void)snprintf(text, size, "%s", k->size ? (const char *)p : k->choices[*(const int *)p]);
}

static void print_format(const struct key *k, const void *p, char *text, size_t size)
{
    const int format = *(const int *)p;

    (void)k;
    (void)snprintf(text, size, "%s", format < 0 ? "auto" : format_table[format].name);
}

static void print_size(const struct key *k, const void *p, char *text, size_t size)
{
    const int *n = p;

    (void)k;
    if (n[0])
        (void)snprintf(text, size, "%dx%d", n[0], n[1]);
    else
        (void)snprintf(text, size, "auto");
}

static void print_rate(const struct key *k, const void *p, char *text, size_t size)
{
    const struct fraction *rate = p;

    (void)k;
    if (!rate->den)
        (void)snprintf(text, size, "auto");
    else if (rate->den == 1)
        (void)snprintf(text, size, "%u", rate->num);
    else
        (void)snprintf(text, size, "%u/%u", rate->num, rate->den);
}

static void print_budget(const struct key *k, const void *p, char *text, size_t size)
{
    const int64_t budget = *(const int64_t *)p;

    (void)k;
    if (budget > 0)
        (void)snprintf(text, size, "%.10g", (double)budget / 1e6);
    else
        (void)snprintf(text, size, "%s", budget == BUDGET_AUTO ? "auto" : "off");
}

static void print_levels(const struct key *k, const void *p, char *text, size_t size)
{
    const int *levels = p;

    (void)k;
    if (levels[1] > 0)
        (void)snprintf(text, size, "%d,%d", levels[0], levels[1]);
    else
        (void)snprintf(text, size, "%s", levels[1] ? "auto" : "off");
}

static void describe_text(const struct key *k, char *text, size_t size)
{
    (void)snprintf(text, size, "a text of at most %zu characters", k->size - 1);
}

static void describe_list(const struct key *k, char *text, size_t size)
{
    (void)k;
    (void)snprintf(text, size, "a text of 1 to %d characters, or up to %d such",
                   SETTINGS_PATH_MAX - 1, SETTINGS_MAX_OUTPUTS);
}

static void describe_bool(const struct key *k, char *text, size_t size)
{
    (void)k;
    (void)snprintf(text, size, "yes or no");
}

static void describe_int(const struct key *k, char *text, size_t size)
{
    (void)snprintf(text, size, "an integer from %.0f to %.0f", k->min, k->max);
}

static void describe_auto_int(const struct key *k, char *text, size_t size)
{
    (void)snprintf(text, size, "auto or an integer from %.0f to %.0f", k->min, k->max);
}

static void describe_auto_real(const struct key *k, char *text, size_t size)
{
    (void)snprintf(text, size, "auto or a number from %g to %g", k->min, k->max);
}

static void list_choices(const struct key *k, char *text, size_t size, const char *first)
{
    char list[240];

    (void)snprintf(list, sizeof(list), "%s", first);
    for (int i = 0; k->choices[i]; i++)
        list_add(list, sizeof(list), ", ", k->choices[i]);
    (void)snprintf(text, size, "one of %s", list);
}

static void describe_choice(const struct key *k, char *text, size_t size)
{
    list_choices(k, text, size, "");
}

static void describe_format(const struct key *k, char *text, size_t size)
{
    list_choices(k, text, size, "auto");
}

static void describe_size(const struct key *k, char *text, size_t size)
{
    (void)snprintf(text, size, "auto or WIDTHxHEIGHT, an even width and at most %.0f each", k->max);
}

static void describe_rate(const struct key *k, char *text, size_t size)
{
    (void)snprintf(text, size, "auto or frames per second from %g to %g, as N or N/D", k->min,
                   k->max);
}

static void describe_budget(const struct key *k, char *text, size_t size)
{
    (void)snprintf(text, size, "auto, off or milliseconds from %g to %g", k->min, k->max);
}

static void describe_gpu(const struct key *k, char *text, size_t size)
{
    (void)k;
    (void)snprintf(text, size, "auto, a number from 0, or a PCI bus ID such as 0000:01:00.0");
}

static void describe_levels(const struct key *k, char *text, size_t size)
{
    (void)snprintf(text, size, "auto, off or MIN,MAX, at most %.0f and MIN the smaller", k->max);
}

static const struct key_type_row {
    const char *signature, *words; /* key_signature(), key_words() */
    int (*parse)(const struct key *k, const char *text, struct settings *s);
    void (*print)(const struct key *k, const void *value, char *text, size_t size);
    void (*describe)(const struct key *k, char *text, size_t size);
} key_types[] = {
    [KEY_TEXT] = {"s", "", parse_text, print_text, describe_text},
    [KEY_LIST] = {"s", "", parse_list, print_text, describe_list},
    [KEY_BOOL] = {"b", "yes no", parse_bool, print_bool, describe_bool},
    [KEY_INT] = {"i", "", parse_int_key, print_int, describe_int},
    [KEY_AUTOINT] = {"s", "auto", parse_auto_int, print_auto_int, describe_auto_int},
    [KEY_AUTOREAL] = {"s", "auto", parse_auto_real, print_auto_real, describe_auto_real},
    [KEY_CHOICE] = {"s", "", parse_choice, print_choice, describe_choice},
    [KEY_FORMAT] = {"s", "auto", parse_format, print_format, describe_format},
    [KEY_SIZE] = {"s", "auto", parse_size, print_size, describe_size},
    [KEY_RATE] = {"s", "auto", parse_rate, print_rate, describe_rate},
    [KEY_BUDGET] = {"s", "auto off", parse_budget, print_budget, describe_budget},
    [KEY_GPU] = {"s", "auto", parse_gpu, print_gpu, describe_gpu},
    [KEY_LEVELS] = {"s", "auto off", parse_levels, print_levels, describe_levels},
};

int key_parse(const struct key *k, const char *text, struct settings *s)
{
    return key_types[k->type].parse(k, text, s);
}

void settings_get(const struct settings *s, const struct key *k, char *text, size_t size)
{
    key_types[k->type].print(k, (const char *)s + k->offset, text, size);
}

void key_describe(const struct key *k, char *text, size_t size)
{
    key_types[k->type].describe(k, text, size);
}

const char *key_words(const struct key *k)
{
    return key_types[k->type].words;
}

const char *key_signature(const struct key *k)
{
    return key_types[k->type].signature;
}

const char *key_takes_effect(const struct key *k)
{
    return k->live      ? "can change while running"
           : k->reopens ? "can change while running, where it reopens the camera"
                        : "takes effect at the next start";
}
