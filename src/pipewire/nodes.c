#include "pipewire/nodes.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <spa/utils/keys.h>

#include "base/event.h"
#include "base/text.h"

static const char *lookup(const struct spa_dict *props, const char *key)
{
    const char *const value = props ? spa_dict_lookup(props, key) : NULL;

    return value ? value : "";
}

/* --- what the daemon tells, with the loop locked --- */

static bool has_own_name(const char *name)
{
    const size_t length = strlen(PIPEWIRE_NODE_NAME);

    return !strncmp(name, PIPEWIRE_NODE_NAME, length) && (!name[length] || name[length] == '.');
}

/* Where rules of the session gave our camera another name, the process tells. */
static bool is_own(const struct pipewire_node *node)
{
    const struct pipewire_nodes *const n = node->nodes;

    for (int i = 0; i < n->n_own; i++)
        if (n->own_client[i] == node->client)
            return true;
    return has_own_name(node->name);
}

static void on_info(void *data, const struct pw_node_info *info)
{
    struct pipewire_node *const n = data;
    const struct spa_dict *const p = info->props;
    const char *const client = lookup(p, PW_KEY_CLIENT_ID);
    const char *const name = lookup(p, PW_KEY_NODE_NAME);
    const char *const shown = lookup(p, PW_KEY_NODE_DESCRIPTION);

    if (!(info->change_mask & PW_NODE_CHANGE_MASK_PROPS))
        return;
    n->client = *client ? (uint32_t)strtoul(client, NULL, 10) : SPA_ID_INVALID;
    (void)snprintf(n->serial, sizeof(n->serial), "%s", lookup(p, PW_KEY_OBJECT_SERIAL));
    (void)snprintf(n->name, sizeof(n->name), "%s", name);
    (void)snprintf(n->description, sizeof(n->description), "%s", *shown ? shown : name);
    (void)utf8_printable(n->description);
    (void)snprintf(n->path, sizeof(n->path), "%s", lookup(p, SPA_KEY_API_V4L2_PATH));
    (void)snprintf(n->driver, sizeof(n->driver), "%s", lookup(p, SPA_KEY_API_V4L2_CAP_DRIVER));
    (void)snprintf(n->devices, sizeof(n->devices), "%s", lookup(p, "device.devids"));
    n->priority = atoi(lookup(p, PW_KEY_PRIORITY_SESSION));
    n->camera = !strcmp(lookup(p, PW_KEY_MEDIA_ROLE), "Camera");
    n->own = is_own(n);
}

static const struct pw_node_events node_events = {
    .version = PW_VERSION_NODE_EVENTS,
    .info = on_info,
};

static void add_node(struct pipewire_nodes *n, uint32_t id)
{
    struct pipewire_node **const all = realloc(n->node, sizeof(*all) * ((size_t)n->n + 1));
    struct pipewire_node *const node = all ? calloc(1, sizeof(*node)) : NULL;

    n->node = all ? all : n->node;
    if (!node)
        return;
    *node = (struct pipewire_node){.nodes = n, .id = id, .client = SPA_ID_INVALID};
    node->proxy = pw_registry_bind(n->registry, id, PW_TYPE_INTERFACE_Node, PW_VERSION_NODE, 0);
    if (!node->proxy) {
        free(node);
        return;
    }
    pw_proxy_add_object_listener(node->proxy, &node->listener, &node_events, node);
    n->node[n->n++] = node;
}

static void on_global(void *data, uint32_t id, uint32_t permissions, const char *type,
                      uint32_t version, const struct spa_dict *props)
{
    struct pipewire_nodes *const n = data;

    (void)permissions;
    (void)version;
    if (n->found)
        return;
    if (!strcmp(type, PW_TYPE_INTERFACE_Node) &&
        !strcmp(lookup(props, PW_KEY_MEDIA_CLASS), "Video/Source"))
        add_node(n, id);
    else if (!strcmp(type, PW_TYPE_INTERFACE_Client) &&
             atol(lookup(props, PW_KEY_SEC_PID)) == (long)getpid() &&
             n->n_own < (int)SPA_N_ELEMENTS(n->own_client))
        n->own_client[n->n_own++] = id;
}

static void on_global_remove(void *data, uint32_t id)
{
    struct pipewire_nodes *const n = data;

    for (int i = 0; i < n->n; i++)
        if (n->node[i]->id == id)
            n->node[i]->gone = true;
    event_ring(n->connection->event_fd);
}

static const struct pw_registry_events registry_events = {
    .version = PW_VERSION_REGISTRY_EVENTS,
    .global = on_global,
    .global_remove = on_global_remove,
};

/* --- for others --- */

int pipewire_nodes_find(struct pipewire_nodes *n, struct pipewire_connection *c, int stop_fd,
                        struct error *err)
{
    int r;

    n->connection = c;
    pipewire_lock(c);
    n->registry = pw_core_get_registry(c->core, PW_VERSION_REGISTRY, 0);
    if (n->registry)
        pw_registry_add_listener(n->registry, &n->listener, &registry_events, n);
    pipewire_unlock(c);
    if (!n->registry)
        return error_set(err, -ENOMEM, "out of memory");
    /* First they are listed, which has them asked what they are. */
    r = pipewire_round_trip(c, stop_fd, err);
    if (r == 0)
        r = pipewire_round_trip(c, stop_fd, err);
    pipewire_lock(c);
    n->found = true;
    pipewire_unlock(c);
    return r;
}

void pipewire_nodes_finish(struct pipewire_nodes *n)
{
    if (!n->registry)
        return;
    pipewire_lock(n->connection);
    for (int i = 0; i < n->n; i++) {
        spa_hook_remove(&n->node[i]->listener);
        pw_proxy_destroy(n->node[i]->proxy);
        free(n->node[i]);
    }
    spa_hook_remove(&n->listener);
    pw_proxy_destroy((struct pw_proxy *)n->registry);
    pipewire_unlock(n->connection);
    free(n->node);
    n->node = NULL;
    n->n = 0;
    n->registry = NULL;
}

enum pipewire_match pipewire_node_match(const struct pipewire_node *n, const char *name)
{
    char shown[2 * sizeof(n->description)], id[16];

    (void)snprintf(shown, sizeof(shown), "%s", name);
    (void)snprintf(id, sizeof(id), "%u", n->id);
    if (!*name)
        return PIPEWIRE_MATCH_NONE;
    if (!strcmp(n->name, name) || !strcmp(n->description, utf8_printable(shown)))
        return PIPEWIRE_MATCH_NAME;
    if (!strcmp(id, name))
        return PIPEWIRE_MATCH_ID;
    return strcmp(n->serial, name) ? PIPEWIRE_MATCH_NONE : PIPEWIRE_MATCH_SERIAL;
}

bool pipewire_node_is_v4l2(const struct pipewire_node *n)
{
    return *n->path && access(n->path, F_OK) == 0;
}

/* They are told as "[ 20738 20739 ]". */
bool pipewire_node_has(const struct pipewire_node *n, dev_t device)
{
    const char *p = n->devices;

    while (device && *(p += strcspn(p, "0123456789"))) {
        char *end;

        if (strtoull(p, &end, 10) == device)
            return true;
        p = end;
    }
    return false;
}

static bool is_sensor(const struct pipewire_node *n, const dev_t *device, int n_devices)
{
    bool has = n_devices == 0;

    if (!n->camera || n->own || n->gone || pipewire_node_is_v4l2(n))
        return false;
    for (int i = 0; i < n_devices && !has; i++)
        has = pipewire_node_has(n, device[i]);
    return has;
}

bool pipewire_nodes_have_sensor(const struct pipewire_nodes *n, const dev_t *device, int n_devices)
{
    bool found = false;

    for (int i = 0; i < n->n && !found; i++)
        found = is_sensor(n->node[i], device, n_devices);
    return found;
}
