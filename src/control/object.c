#include "control/object.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "control/methods.h"
#include "control/name.h"

/* DESIGN: one table, in methods.c, serves the methods; another, made when the object is,
 * the properties. Each of its rows has a struct property beside it, which sd-bus hands to the
 * getter and the setter. */

/* A figure of struct control_status; @type is D-Bus's. */
struct figure {
    const char *name, *type;
    size_t offset;
};

#define FIGURE(field) offsetof(struct control_status, field)

enum { STATE }; /* the one whose changes are signalled, and whose text is no array */

/* EngineUsed and FpsMeasured: Engine and Fps are keys. */
static const struct figure figures[] = {
    [STATE] = {"State", "s", FIGURE(state)},
    {"StateReason", "s", FIGURE(reason)},
    {"FpsMeasured", "d", FIGURE(fps)},
    {"LatencyP50Ms", "d", FIGURE(latency_p50_ms)},
    {"LatencyP99Ms", "d", FIGURE(latency_p99_ms)},
    {"AddedP50Ms", "d", FIGURE(added_p50_ms)},
    {"AddedP99Ms", "d", FIGURE(added_p99_ms)},
    {"CameraDelayMs", "d", FIGURE(camera_ms)},
    {"RadiusUsed", "i", FIGURE(radius)},
    {"Readers", "i", FIGURE(readers)},
    {"EngineUsed", "s", FIGURE(engine)},
    {"Device", "s", FIGURE(device)},
    {"FramesIn", "t", FIGURE(frames_in)},
    {"FramesOut", "t", FIGURE(frames_out)},
    {"FramesDropped", "t", FIGURE(frames_dropped)},
    {"FramesBad", "t", FIGURE(frames_bad)},
    {"Reconnects", "t", FIGURE(reconnects)},
};

enum { N_FIGURES = sizeof(figures) / sizeof(figures[0]) };

struct property {
    struct control_object *object;
    const struct key *key; /* NULL: a figure */
    const struct figure *figure;
    char name[32];
};

struct control_object {
    sd_bus *bus;
    const struct control_host *host;
    struct control_methods methods;
    sd_bus_slot *methods_slot, *properties_slot;
    struct property *properties; /* all keys in their order, then the figures */
    size_t n_keys;
    sd_bus_vtable *vtable; /* of the properties */
    char **changed;        /* room for the names of all */
    bool announced;        /* what follows holds something */
    struct settings settings;
    char state[64];
};

/* ---------------------------------------------------------------- properties */

/* A number of the type that @signature says. */
static int append_number(sd_bus_message *reply, char signature, const void *value)
{
    switch (signature) {
    case 'b':
        return sd_bus_message_append(reply, "b", (int)*(const bool *)value);
    case 'i':
        return sd_bus_message_append(reply, "i", *(const int *)value);
    case 't':
        return sd_bus_message_append(reply, "t", *(const uint64_t *)value);
    default:
        return sd_bus_message_append(reply, "d", *(const double *)value);
    }
}

static int get_key(sd_bus *bus, const char *path, const char *interface, const char *name,
                   sd_bus_message *reply, void *userdata, sd_bus_error *e)
{
    const struct property *p = userdata;
    const struct control_host *host = p->object->host;
    const char signature = *key_signature(p->key);
    char text[SETTINGS_PATH_MAX];
    struct settings s;

    (void)bus, (void)path, (void)interface, (void)name, (void)e;
    host->settings(host->user, &s);
    if (signature != 's')
        return append_number(reply, signature, (const char *)&s + p->key->offset);
    settings_get(&s, p->key, text, sizeof(text));
    return sd_bus_message_append(reply, "s", utf8_repair(text));
}

/* The value as text, which knows what is allowed. */
static int read_value(sd_bus_message *m, const struct key *key, char *text, size_t size)
{
    const char *const signature = key_signature(key);
    const char *word;
    double real;
    int n, r;

    switch (*signature) {
    case 'b':
    case 'i':
        r = sd_bus_message_read(m, signature, &n);
        if (r >= 0 && *signature == 'b')
            (void)snprintf(text, size, "%s", n ? "yes" : "no");
        else if (r >= 0)
            (void)snprintf(text, size, "%d", n);
        return r;
    case 'd':
        r = sd_bus_message_read(m, "d", &real);
        if (r >= 0)
            (void)snprintf(text, size, "%.10g", real);
        return r;
    default:
        r = sd_bus_message_read(m, "s", &word);
        if (r >= 0)
            (void)snprintf(text, size, "%s", word);
        return r;
    }
}

static int set_property(sd_bus *bus, const char *path, const char *interface, const char *name,
                        sd_bus_message *m, void *userdata, sd_bus_error *e)
{
    const struct property *p = userdata;
    char text[SETTINGS_PATH_MAX + 1]; /* what is too long for a setting stays too long */
    int r = control_check_sender(m, e);

    (void)bus, (void)path, (void)interface, (void)name;
    if (r >= 0)
        r = read_value(m, p->key, text, sizeof(text));
    return r < 0 ? r : control_set_key(p->object->host, p->key->name, text, e);
}

static int get_figure(sd_bus *bus, const char *path, const char *interface, const char *name,
                      sd_bus_message *reply, void *userdata, sd_bus_error *e)
{
    const struct property *p = userdata;
    const struct control_host *host = p->object->host;
    struct control_status status = {.state = ""};
    void *field = (char *)&status + p->figure->offset;

    (void)bus, (void)path, (void)interface, (void)name, (void)e;
    host->status(host->user, &status);
    if (*p->figure->type != 's')
        return append_number(reply, *p->figure->type, field);
    if (p->figure == &figures[STATE])
        return sd_bus_message_append(reply, "s", status.state);
    return sd_bus_message_append(reply, "s", utf8_repair(field));
}

static void add_key(struct control_object *o, size_t i, const struct key *key)
{
    struct property *p = &o->properties[i];
    const size_t offset = i * sizeof(*p);

    *p = (struct property){.object = o, .key = key};
    control_property_name(key->name, p->name, sizeof(p->name));
    if (key->live)
        o->vtable[i + 1] = (sd_bus_vtable)SD_BUS_WRITABLE_PROPERTY(
            p->name, key_signature(key), get_key, set_property, offset,
            SD_BUS_VTABLE_PROPERTY_EMITS_CHANGE);
    else
        o->vtable[i + 1] = (sd_bus_vtable)SD_BUS_PROPERTY(
            p->name, key_signature(key), get_key, offset, SD_BUS_VTABLE_PROPERTY_EMITS_CHANGE);
}

static void add_figure(struct control_object *o, size_t i, const struct figure *f)
{
    struct property *p = &o->properties[i];

    *p = (struct property){.object = o, .figure = f};
    (void)snprintf(p->name, sizeof(p->name), "%s", f->name);
    o->vtable[i + 1] = (sd_bus_vtable)SD_BUS_PROPERTY(
        p->name, f->type, get_figure, i * sizeof(*p),
        f == &figures[STATE] ? SD_BUS_VTABLE_PROPERTY_EMITS_CHANGE : 0);
}

static int build_properties(struct control_object *o)
{
    size_t n;

    while (key_table[o->n_keys].name)
        o->n_keys++;
    n = o->n_keys + N_FIGURES;
    o->properties = calloc(n, sizeof(*o->properties));
    o->vtable = calloc(n + 2, sizeof(*o->vtable));
    o->changed = calloc(n + 1, sizeof(*o->changed));
    if (!o->properties || !o->vtable || !o->changed)
        return -ENOMEM;
    o->vtable[0] = (sd_bus_vtable)SD_BUS_VTABLE_START(0);
    for (size_t i = 0; i < n; i++) {
        if (i < o->n_keys)
            add_key(o, i, &key_table[i]);
        else
            add_figure(o, i, &figures[i - o->n_keys]);
    }
    o->vtable[n + 1] = (sd_bus_vtable)SD_BUS_VTABLE_END;
    return 0;
}

/* -------------------------------------------------------------------- public */

/* A reload can change any key, though most wait for the next start. */
static bool differs(const struct control_object *o, const struct key *key, const struct settings *s)
{
    char old[SETTINGS_PATH_MAX], new[SETTINGS_PATH_MAX];

    settings_get(&o->settings, key, old, sizeof(old));
    settings_get(s, key, new, sizeof(new));
    return strcmp(old, new) != 0;
}

void control_object_notify(struct control_object *o, const struct settings *s, const char *state)
{
    size_t n = 0;

    if (o->announced) {
        for (size_t i = 0; i < o->n_keys; i++)
            if (differs(o, &key_table[i], s))
                o->changed[n++] = o->properties[i].name;
        if (strcmp(o->state, state) != 0)
            o->changed[n++] = o->properties[o->n_keys + STATE].name;
    }
    o->changed[n] = NULL;
    o->announced = true;
    o->settings = *s;
    (void)snprintf(o->state, sizeof(o->state), "%s", state);
    if (n)
        (void)sd_bus_emit_properties_changed_strv(o->bus, CONTROL_PATH, CONTROL_NAME, o->changed);
}

int control_object_open(struct control_object **ret, sd_bus *bus, const struct control_host *host)
{
    struct control_object *o = calloc(1, sizeof(*o));
    int r;

    if (!o)
        return -ENOMEM;
    o->bus = bus;
    o->host = o->methods.host = host;
    r = build_properties(o);
    if (r >= 0)
        r = sd_bus_add_object_vtable(bus, &o->methods_slot, CONTROL_PATH, CONTROL_NAME,
                                     control_methods, &o->methods);
    if (r >= 0)
        r = sd_bus_add_object_vtable(bus, &o->properties_slot, CONTROL_PATH, CONTROL_NAME,
                                     o->vtable, o->properties);
    if (r < 0) {
        control_object_close(o);
        return r;
    }
    *ret = o;
    return 0;
}

void control_object_close(struct control_object *o)
{
    if (!o)
        return;
    sd_bus_slot_unref(o->properties_slot);
    sd_bus_slot_unref(o->methods_slot);
    sd_bus_message_unref(o->methods.snapshot);
    free(o->changed);
    free(o->vtable);
    free(o->properties);
    free(o);
}

void control_object_snapshot_done(struct control_object *o, int result, const char *path,
                                  struct error *err)
{
    control_methods_snapshot_done(&o->methods, result, path, err);
}
