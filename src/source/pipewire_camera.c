#include "source/pipewire_camera.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <spa/param/video/format-utils.h>

#include "base/text.h"
#include "pipewire/format.h"
#include "v4l2/modes.h"
#include "v4l2/node.h"

#define MAX_MODES 1024 /* cameras have some dozens */

/* --- which one --- */

static bool is_loopback(const struct pipewire_node *n)
{
    struct v4l2_node device = {.kind = V4L2_KIND_OTHER};
    int fd;

    if (*n->driver || strncmp(n->path, "/dev/video", strlen("/dev/video")) != 0)
        return !strcmp(n->driver, V4L2_LOOPBACK_DRIVER);
    fd = v4l2_open(n->path, O_RDONLY | O_NONBLOCK, NULL);
    if (fd < 0)
        return false;
    (void)v4l2_identify(fd, &device);
    (void)close(fd);
    return device.kind == V4L2_KIND_LOOPBACK;
}

static const struct pipewire_node *find_best(const struct pipewire_nodes *nodes)
{
    const struct pipewire_node *best = NULL;

    for (int i = 0; i < nodes->n; i++) {
        const struct pipewire_node *const n = nodes->node[i];

        if (!n->gone && !n->own && n->camera && (!best || n->priority > best->priority) &&
            !is_loopback(n))
            best = n;
    }
    return best;
}

/* One of others first: anybody may call a camera bilatcam. What people call it counts before
 * numbers. */
static const struct pipewire_node *find_called(const struct pipewire_nodes *nodes, const char *name,
                                               bool returns)
{
    const struct pipewire_node *ret = NULL;
    int best = returns ? 2 * PIPEWIRE_MATCH_ID : 0; /* no number is better than that */

    for (int i = 0; i < nodes->n; i++) {
        const struct pipewire_node *const n = nodes->node[i];
        const int rating = n->gone ? 0 : 2 * pipewire_node_match(n, name) - n->own;

        if (rating > best) {
            best = rating;
            ret = n;
        }
    }
    return ret;
}

static int none_error(const struct pipewire_nodes *nodes, const char *name, struct error *err)
{
    char names[320] = "";

    for (int i = 0; i < nodes->n; i++)
        if (!nodes->node[i]->gone && !nodes->node[i]->own)
            list_add(names, sizeof(names), ", ", nodes->node[i]->description);
    (void)utf8_printable(names);
    if (!*name)
        return error_set(err, -ENODEV, "PipeWire has no camera%s%s",
                         *names ? " to choose by itself; name one of: " : "", names);
    return error_set(err, -ENODEV, "PipeWire has no camera called '%.100s'; it has %s", name,
                     *names ? names : "none");
}

int pipewire_camera_choose(const struct pipewire_nodes *nodes, const char *name, bool returns,
                           const struct pipewire_node **ret, struct error *err)
{
    const struct pipewire_node *const n =
        *name ? find_called(nodes, name, returns) : find_best(nodes);

    if (!n)
        return none_error(nodes, name, err);
    if (n->own)
        return error_set(err, -EINVAL, "'%.100s' is a camera that bilatcam itself makes", name);
    *ret = n;
    return 0;
}

/* --- which of its pictures --- */

struct modes {
    struct v4l2_mode mode[MAX_MODES];
    size_t n;
    bool told; /* that there are formats, of whatever kind */
};

/* The values of a property: the first one is what is meant if nothing else is said. */
struct values {
    const void *first;
    uint32_t n, choice;
};

static struct values values_of(const struct spa_pod *param, uint32_t key, uint32_t type)
{
    const struct spa_pod_prop *const prop = spa_pod_find_prop(param, NULL, key);
    struct values ret = {.n = 0};
    const struct spa_pod *pod;

    /* Older versions of the library count the values of a choice that has no room for them. */
    if (!prop || (prop->value.type == SPA_TYPE_Choice && !spa_pod_is_choice(&prop->value)))
        return ret;
    pod = spa_pod_get_values(&prop->value, &ret.n, &ret.choice);
    ret.first = SPA_POD_BODY_CONST(pod);
    if (pod->type != type || pod->size < (type == SPA_TYPE_Id ? 4 : 8))
        ret.n = 0;
    return ret;
}

static bool is_range(const struct values *v)
{
    return (v->choice == SPA_CHOICE_Range || v->choice == SPA_CHOICE_Step) && v->n >= 3;
}

/* How many rows a property stands for: an enumeration repeats the first value. */
static uint32_t count(const struct values *v)
{
    return is_range(v) ? 1 : v->choice == SPA_CHOICE_Enum && v->n > 1 ? v->n - 1 : v->n ? 1 : 0;
}

/* Which of the values is the last one of row @i, and with @low the first one. */
static uint32_t place(const struct values *v, uint32_t i, bool low)
{
    if (is_range(v))
        return low ? 1 : 2;
    return v->choice == SPA_CHOICE_Enum && v->n > 1 ? i + 1 : i;
}

static int side(uint32_t n)
{
    return n < 1 ? 1 : n > FRAME_MAX_SIDE ? FRAME_MAX_SIDE : (int)n;
}

static struct v4l2_span span(uint32_t min, uint32_t max, uint32_t step)
{
    return (struct v4l2_span){.min = side(min), .max = side(max), .step = side(step)};
}

static void set_size(struct v4l2_mode *m, const struct values *v, uint32_t i)
{
    const struct spa_rectangle *const size = v->first;
    const struct spa_rectangle min = size[place(v, i, true)], max = size[place(v, i, false)];
    const bool stepped = v->choice == SPA_CHOICE_Step && v->n >= 4;

    m->width = span(min.width, max.width, stepped ? size[3].width : 1);
    m->height = span(min.height, max.height, stepped ? size[3].height : 1);
}

static void set_rate(struct v4l2_mode *m, const struct values *v, uint32_t i)
{
    const struct spa_fraction *const rate = v->first;
    struct spa_fraction min = {0, 0}, max = {0, 0};

    if (v->n) {
        min = rate[place(v, i, true)];
        max = rate[place(v, i, false)];
    }
    m->fps_min = (struct fraction){min.num, min.denom};
    m->fps_max = (struct fraction){max.num, max.denom};
}

static void add_modes(struct modes *m, enum frame_format format, const struct values *sizes,
                      const struct values *rates)
{
    const uint32_t n_rates = count(rates) ? count(rates) : 1;

    for (uint32_t i = 0; i < count(sizes) * n_rates && m->n < MAX_MODES; i++) {
        struct v4l2_mode *const mode = &m->mode[m->n++];

        *mode = (struct v4l2_mode){.format = format};
        set_size(mode, sizes, i / n_rates);
        set_rate(mode, rates, i % n_rates);
    }
}

static void on_param(void *data, int seq, uint32_t id, uint32_t index, uint32_t next,
                     const struct spa_pod *param)
{
    struct modes *const m = data;
    uint32_t type, subtype;
    struct values videos, sizes, rates;

    (void)seq;
    (void)index;
    (void)next;
    if (id != SPA_PARAM_EnumFormat || !param || spa_format_parse(param, &type, &subtype) < 0 ||
        type != SPA_MEDIA_TYPE_video)
        return;
    m->told = true;
    videos = values_of(param, SPA_FORMAT_VIDEO_format, SPA_TYPE_Id);
    sizes = values_of(param, SPA_FORMAT_VIDEO_size, SPA_TYPE_Rectangle);
    rates = values_of(param, SPA_FORMAT_VIDEO_framerate, SPA_TYPE_Fraction);
    for (uint32_t i = 0; i < count(&videos) || (!videos.n && i == 0); i++) {
        const uint32_t video = videos.n ? ((const uint32_t *)videos.first)[place(&videos, i, true)]
                                        : SPA_VIDEO_FORMAT_UNKNOWN;
        const int format = pipewire_format_of(subtype, video);

        if (format >= 0)
            add_modes(m, (enum frame_format)format, &sizes, &rates);
    }
}

static const struct pw_node_events node_events = {
    .version = PW_VERSION_NODE_EVENTS,
    .param = on_param,
};

static int read_modes(const struct pipewire_node *node, struct modes *m, int stop_fd,
                      struct error *err)
{
    struct pipewire_connection *const c = node->nodes->connection;
    struct spa_hook listener;
    int r;

    spa_zero(listener);
    pipewire_lock(c);
    pw_proxy_add_object_listener(node->proxy, &listener, &node_events, m);
    (void)pw_node_enum_params((struct pw_node *)node->proxy, 0, SPA_PARAM_EnumFormat, 0, UINT32_MAX,
                              NULL);
    pipewire_unlock(c);
    r = pipewire_round_trip(c, stop_fd, err);
    pipewire_lock(c);
    spa_hook_remove(&listener);
    pipewire_unlock(c);
    return r;
}

static bool gives(const struct modes *m, int format)
{
    size_t i = 0;

    while (i < m->n && (int)m->mode[i].format != format)
        i++;
    return i < m->n;
}

static bool tells_rate(const struct modes *m)
{
    size_t i = 0;

    while (i < m->n && !v4l2_millifps(m->mode[i].fps_max))
        i++;
    return i < m->n;
}

/* "yuyv, mjpg" */
static void formats_text(const struct modes *m, char *text, size_t size)
{
    text[0] = '\0';
    for (int f = 0; f < FRAME_N_FORMATS; f++)
        if (gives(m, f))
            list_add(text, size, ", ", format_table[f].name);
}

/* A camera that does not tell what it gives may be asked for anything. With the loop locked. */
static int choose(const struct pipewire_node *node, const struct source_config *config,
                  const struct modes *m, struct v4l2_choice *ret, struct error *err)
{
    const struct v4l2_request request = {.format = config->format,
                                         .width = config->width,
                                         .height = config->height,
                                         .fps = config->fps};
    char offer[64];

    *ret = (struct v4l2_choice){.mode = NULL};
    if (m->told && !m->n)
        return error_set(err, -EINVAL, "'%s' gives no pixel format that bilatcam reads",
                         node->description);
    if (!m->n || v4l2_modes_choose(m->mode, m->n, &request, ret) == 0)
        return 0;
    formats_text(m, offer, sizeof(offer));
    if (config->format >= 0 && !gives(m, config->format))
        return error_set(err, -EINVAL, "'%s' does not give %s; it gives %s", node->description,
                         format_table[config->format].name, offer);
    return error_set(err, -EINVAL,
                     "'%s' gives no size that can be used: an even width and at most %d each",
                     node->description, FRAME_MAX_SIDE);
}

int pipewire_camera_request(const struct pipewire_node *node, const struct source_config *config,
                            struct spa_pod_builder *b,
                            const struct spa_pod *ret[PIPEWIRE_MAX_REQUESTS], bool *rateless,
                            struct error *err)
{
    struct modes *const m = calloc(1, sizeof(*m));
    struct v4l2_choice best;
    int n = 0, r;

    if (!m)
        return error_set(err, -ENOMEM, "out of memory");
    r = read_modes(node, m, config->stop_fd, err);
    if (r == 0) {
        pipewire_lock(node->nodes->connection);
        r = choose(node, config, m, &best, err);
        pipewire_unlock(node->nodes->connection);
    }
    if (r == 0 && best.mode)
        ret[n++] = pipewire_request(b, best.mode->format, best.width, best.height, best.fps);
    for (int f = 0; r == 0 && f < FRAME_N_FORMATS; f++) {
        if (config->format >= 0 && config->format != f)
            continue;
        ret[n] = pipewire_request(b, (enum frame_format)f, 0, 0, (struct fraction){0, 0});
        n += ret[n] != NULL;
    }
    *rateless = m->n && !tells_rate(m);
    free(m);
    return r ? r : n;
}

struct pw_properties *pipewire_camera_properties(const struct pipewire_node *node)
{
    return pw_properties_new(
        PW_KEY_MEDIA_TYPE, "Video", PW_KEY_MEDIA_CATEGORY, "Capture", PW_KEY_MEDIA_ROLE, "Camera",
        PW_KEY_NODE_NAME, PIPEWIRE_NODE_NAME ".input", PW_KEY_TARGET_OBJECT,
        *node->serial ? node->serial : node->name, "node.dont-fallback", "true", NULL);
}
