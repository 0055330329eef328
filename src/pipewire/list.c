#include "pipewire/list.h"

#include <errno.h>
#include <stdlib.h>

#include "base/text.h"
#include "pipewire/nodes.h"

static int print_nodes(FILE *out, struct pipewire_nodes *nodes)
{
    int n = 0;

    for (int i = 0; i < nodes->n; i++) {
        struct pipewire_node *const node = nodes->node[i];

        if (node->own || node->gone || pipewire_node_is_v4l2(node))
            continue;
        fprintf(out, "pipewire:%s  %s  (%s)\n",
                *node->name ? utf8_printable(node->name) : node->serial, node->description,
                node->camera ? "camera" : "video source");
        n += node->camera;
    }
    return n;
}

int pipewire_list(FILE *out, const dev_t *sensor, int n_sensors, bool *has_sensor)
{
    struct pipewire_connection connection = {.event_fd = -1};
    struct pipewire_nodes *const nodes = calloc(1, sizeof(*nodes));
    struct error err;
    int n = 0, r;

    if (!nodes)
        return 0;
    r = pipewire_connect(&connection, &err);
    if (r == 0)
        r = pipewire_nodes_find(nodes, &connection, -1, &err);
    if (r == 0) {
        pipewire_lock(&connection);
        n = print_nodes(out, nodes);
        *has_sensor = pipewire_nodes_have_sensor(nodes, sensor, n_sensors);
        pipewire_unlock(&connection);
    } else if (r != -ENODEV) {
        fprintf(out, "%s\n", err.text);
    }
    pipewire_nodes_finish(nodes);
    pipewire_disconnect(&connection);
    free(nodes);
    return n;
}
