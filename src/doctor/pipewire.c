/* Cameras of PipeWire: whether its daemon runs, what it lists, and what it should. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "doctor/checkup.h"
#include "pipewire/nodes.h"

static void explain_absence(const struct checkup *c)
{
    if (system_has(c, "/usr/bin/apt-get") && !system_has(c, "/usr/bin/pipewire"))
        report_fix(c, "sudo apt-get install pipewire wireplumber, then log out and in again");
    else if (!pipewire_has_folder())
        report_fix(c, "log in as this user, not by su or sudo");
    else
        report_fix(c, "systemctl --user start pipewire wireplumber");
}

static void explain_error(const struct checkup *c, int r, const struct error *err)
{
    if (r == -ENODEV) {
        report_note(c, "PipeWire does not run in this session: it has no cameras (pipewire:)");
        explain_absence(c);
    } else if (r == -ETIMEDOUT) {
        report_note(c, "PipeWire does not answer: it has no cameras (pipewire:)");
        report_fix(c, "systemctl --user restart pipewire wireplumber");
    } else {
        report_note(c, "%s", err->text);
    }
}

/* By libcamera, a camera has no path. */
static bool lists_device(const struct checkup *c, const struct pipewire_nodes *nodes,
                         const char *path)
{
    struct doctor_node node = {.device = 0};
    char full[PATH_MAX];

    if (system_path(c, full, "%s", path))
        c->system->look(full, &node);
    for (int i = 0; i < nodes->n; i++) {
        const struct pipewire_node *const n = nodes->node[i];

        if (!strcmp(n->path, path) || pipewire_node_has(n, node.device))
            return true;
    }
    return false;
}

/* @path is a camera to other programs: PipeWire shows it to those that ask no one else. */
static void check_listed(const struct checkup *c, const struct pipewire_nodes *nodes,
                         const char *path)
{
    if (!*path || lists_device(c, nodes, path))
        return;
    report_note(c, "PipeWire does not list %s: programs that ask it alone do not find this camera",
                path);
    report_fix(c, "systemctl --user restart wireplumber");
}

static void check_nodes(struct checkup *c, const struct pipewire_nodes *nodes)
{
    for (int i = 0; i < nodes->n; i++) {
        const struct pipewire_node *const n = nodes->node[i];

        if (n->own) {
            report_ok(c, "PipeWire lists '%s', a camera of bilatcam", n->description);
            report_note(c, "not all ask PipeWire for cameras: Zoom does not, Firefox does with "
                           "media.webrtc.camera.allow-pipewire in about:config, Chrome with "
                           "--enable-features=WebRtcPipeWireCamera");
        } else if (n->camera && !pipewire_node_is_v4l2(n)) {
            report_ok(c, "PipeWire lists '%s': bilatcam --input pipewire: reads it",
                      n->description);
            c->pipewire_camera = true;
        }
    }
    c->sensor_listed = pipewire_nodes_have_sensor(nodes, c->sensor, c->n_sensors);
    check_listed(c, nodes, c->camera);
    check_listed(c, nodes, c->shown);
}

void check_pipewire(struct checkup *c)
{
    struct pipewire_connection connection = {.event_fd = -1};
    struct pipewire_nodes *const nodes = calloc(1, sizeof(*nodes));
    struct error err = {.text = ""};
    int r;

    if (!nodes)
        return;
    r = pipewire_connect(&connection, &err);
    if (r == 0)
        r = pipewire_nodes_find(nodes, &connection, -1, &err);
    if (r == 0) {
        report_ok(c, "PipeWire answers: bilatcam --output pipewire: is a camera of it");
        pipewire_lock(&connection);
        check_nodes(c, nodes);
        pipewire_unlock(&connection);
    } else {
        explain_error(c, r, &err);
    }
    c->pipewire = r == 0;
    pipewire_nodes_finish(nodes);
    pipewire_disconnect(&connection);
    free(nodes);
}
