#include "control/object.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "control/methods.h"
#include "control/name.h"

/* DESIGN: one table, in methods.c, serves the methods; another, made when the object is,
 * the properties: all keys, then all figures that are on the bus. Each of its rows has a struct
 * property beside it, which sd-bus hands to the getter and the setter. */

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
    size_t n_keys, n_properties;
    sd_bus_vtable *vtable; /* of the properties */
    char **changed;        /* room for the names of all */
    bool announced;        /* what follows holds something */
    struct settings settings;
    struct status status;
};

/* ---------------------------------------------------------------- properties */

/* An integer or a truth, as @signature says. */
static int append_number(sd_bus_message *reply, char signature, const void *value)
{
    switch (signature) {
    case 'b':
        return sd_bus_message_append(reply, "b", (int)*(const bool *)value);
    case 'i':
        return sd_bus_message_append(reply, "i", *(const int *)value);
    default:
        return sd_bus_message_append(reply, "t", *(const uint64_t *)value);
    }
}

static int get_key(sd_bus *bus, const char *path, const char *interface, const char *name,
                   sd_bus_message *reply, void *userdata, sd_bus_error *e)
{
    const struct property *p = userdata;
    const struct control_host *host = p->object->host;
    const char signature = *key_signature(p->key);
    char text[SETTINGS_VALUE_MAX];
    struct settings s;

    (void)bus, (void)path, (void)interface, (void)name, (void)e;
    host->settings(host->user, &s);
    if (signature != 's')
        return append_number(reply, signature, (const char *)&s + p->key->offset);
    settings_show(&s, p->key, text, sizeof(text));
    return sd_bus_message_append(reply, "s", utf8_repair(text));
}

/* The value as text, which knows what is allowed. */
static int read_value(sd_bus_message *m, const struct key *key, char *text, size_t size)
{
    const char *const signature = key_signature(key);
    const char *word;
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
    char text[SETTINGS_VALUE_MAX + 1]; /* what is too long for a setting stays too long */
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
    const char signature = *figure_signature(p->figure);
    char text[SETTINGS_VALUE_MAX];
    struct status status;

    (void)bus, (void)path, (void)interface, (void)name, (void)e;
    host->status(host->user, &status);
    if (signature == 's') {
        figure_text(p->figure, &status, text, sizeof(text));
        return sd_bus_message_append(reply, "s", utf8_repair(text));
    }
    if (signature == 'd')
        return sd_bus_message_append(reply, "d", figure_real(p->figure, &status));
    return append_number(reply, signature, figure_field(p->figure, &status));
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
    (void)snprintf(p->name, sizeof(p->name), "%s", f->property);
    o->vtable[i + 1] =
        (sd_bus_vtable)SD_BUS_PROPERTY(p->name, figure_signature(f), get_figure, i * sizeof(*p),
                                       f->announced ? SD_BUS_VTABLE_PROPERTY_EMITS_CHANGE : 0);
}

static int build_properties(struct control_object *o)
{
    size_t n = 0;

    while (key_table[o->n_keys].name)
        o->n_keys++;
    o->n_properties = o->n_keys;
    for (const struct figure *f = figure_table; f->help; f++)
        o->n_properties += f->property != NULL;
    o->properties = calloc(o->n_properties, sizeof(*o->properties));
    o->vtable = calloc(o->n_properties + 2, sizeof(*o->vtable));
    o->changed = calloc(o->n_properties + 1, sizeof(*o->changed));
    if (!o->properties || !o->vtable || !o->changed)
        return -ENOMEM;
    o->vtable[0] = (sd_bus_vtable)SD_BUS_VTABLE_START(0);
    while (n < o->n_keys) {
        add_key(o, n, &key_table[n]);
        n++;
    }
    for (const struct figure *f = figure_table; f->help; f++)
        if (f->property)
            add_figure(o, n++, f);
    o->vtable[n + 1] = (sd_bus_vtable)SD_BUS_VTABLE_END;
    return 0;
}

/* -------------------------------------------------------------------- public */

/* Whether the last that was told of @p is old. A reload can change any key, though most wait for
 * the next start. */
static bool differs(const struct property *p, const struct settings *s, const struct status *status)
{
    const struct control_object *o = p->object;
    char old[SETTINGS_VALUE_MAX], new[SETTINGS_VALUE_MAX];

    if (p->figure && !p->figure->announced)
        return false;
    if (p->figure) {
        figure_text(p->figure, &o->status, old, sizeof(old));
        figure_text(p->figure, status, new, sizeof(new));
    } else {
        settings_get(&o->settings, p->key, old, sizeof(old));
        settings_get(s, p->key, new, sizeof(new));
    }
    return strcmp(old, new) != 0;
}

void control_object_notify(struct control_object *o, const struct settings *s,
                           const struct status *status)
{
    size_t n = 0;

    for (size_t i = 0; o->announced && i < o->n_properties; i++)
        if (differs(&o->properties[i], s, status))
            o->changed[n++] = o->properties[i].name;
    o->changed[n] = NULL;
    o->announced = true;
    o->settings = *s;
    o->status = *status;
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
