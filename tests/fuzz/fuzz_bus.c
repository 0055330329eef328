/* Live control: calls of any method with arguments of any types, from a client on the other end of
 * a socket pair. Whatever comes, the connection stands, every call is answered, and the settings
 * stay within what the key table allows. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <systemd/sd-bus.h>

#include "control/object.h"
#include "tests/fuzz/fuzz.h"

#define INTERFACE "org.bilatcam.Bilatcam1"
#define PATH "/org/bilatcam/Bilatcam1"
#define PROPERTIES "org.freedesktop.DBus.Properties"
#define MAX_ROUNDS 1000

static struct settings settings;

/* --- the host --- */

static void host_status(void *user, struct status *ret)
{
    (void)user;
    status_init(ret);
    (void)snprintf(ret->state, sizeof(ret->state), "running");
}

static void host_settings(void *user, struct settings *ret)
{
    (void)user;
    *ret = settings;
}

static int host_set(void *user, const char *key, const char *value, struct error *err)
{
    (void)user;
    return settings_set(&settings, key, value, err);
}

static int host_reload(void *user, struct error *err)
{
    (void)user;
    return error_set(err, -EINVAL, "line 1: \xff is wrong");
}

static void host_pause(void *user, bool paused)
{
    (void)user;
    (void)paused;
}

static bool snapshot_wanted;

static int host_snapshot(void *user, const char *name, struct error *err)
{
    (void)user;
    (void)name;
    (void)err;
    snapshot_wanted = true;
    return 0;
}

static const struct control_host host = {
    .status = host_status,
    .settings = host_settings,
    .set = host_set,
    .reload = host_reload,
    .pause = host_pause,
    .sleep = host_pause,
    .snapshot = host_snapshot,
};

/* --- both ends --- */

static sd_bus *server, *client;
static struct control_object *object;

static sd_bus *connect_end(int fd, bool serves)
{
    sd_id128_t id = {.bytes = {1}};
    sd_bus *bus = NULL;

    must(sd_bus_new(&bus) >= 0 && sd_bus_set_fd(bus, fd, fd) >= 0, "a connection");
    if (serves)
        must(sd_bus_set_server(bus, 1, id) >= 0, "a server");
    must(sd_bus_set_anonymous(bus, 1) >= 0 && sd_bus_start(bus) >= 0, "a start");
    return bus;
}

static void settle(void)
{
    int rounds = 0, a, b;

    do {
        a = sd_bus_process(server, NULL);
        b = sd_bus_process(client, NULL);
        must(a >= 0 && b >= 0, "the connection stands");
        must(++rounds < MAX_ROUNDS, "it comes to an end");
    } while (a > 0 || b > 0);
}

static void open_ends(void)
{
    int fds[2];

    settings_init(&settings);
    must(!socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, fds), "sockets");
    server = connect_end(fds[0], true);
    client = connect_end(fds[1], false);
    must(control_object_open(&object, server, &host) >= 0, "the object");
    settle();
}

/* --- calls --- */

static const char *text(struct input *in, char *buffer, size_t size)
{
    size_t n = input_u8(in) % size;

    for (size_t i = 0; i < n; i++)
        buffer[i] = (char)(input_u8(in) & 127 ? input_u8(in) & 127 : ' ');
    buffer[n] = '\0';
    for (size_t i = 0; i < n; i++)
        if (!buffer[i])
            buffer[i] = ' ';
    return buffer;
}

/* A key, a property, or anything. */
static const char *some_name(struct input *in, char *buffer, size_t size)
{
    static const char *const properties[] = {"Radius",   "SigmaColor", "State",         "Input",
                                             "Autotune", "Fps",        "LatencyBudget", "Window"};
    const uint8_t choice = input_u8(in);

    if (choice < 100)
        return key_table[choice % 10].name;
    if (choice < 200)
        return properties[choice % 8];
    return text(in, buffer, size);
}

static void append(struct input *in, sd_bus_message *m, int depth)
{
    static const char types[] = "sidbtyv";
    const char type[] = {types[input_u8(in) % (depth ? 6 : 7)], '\0'};
    char buffer[64];
    uint64_t number = input_u32(in);
    double real;
    int whole;

    switch (*type) {
    case 's':
        must(sd_bus_message_append(m, "s", some_name(in, buffer, sizeof(buffer))) >= 0, "text");
        break;
    case 'd':
        number |= (uint64_t)input_u32(in) << 32;
        memcpy(&real, &number, sizeof(real));
        must(sd_bus_message_append(m, "d", real) >= 0, "a real");
        break;
    case 'b':
        whole = (int)(number & 1);
        must(sd_bus_message_append_basic(m, *type, &whole) >= 0, "a truth");
        break;
    case 'v': {
        /* What a variant holds is told before it. */
        struct input ahead = *in;
        const char inner[] = {types[input_u8(&ahead) % 6], '\0'};

        must(sd_bus_message_open_container(m, 'v', inner) >= 0, "a variant");
        append(in, m, depth + 1);
        must(sd_bus_message_close_container(m) >= 0, "its end");
        break;
    }
    default:
        must(sd_bus_message_append_basic(m, *type, &number) >= 0, "a number");
    }
}

static void finish_snapshot(void)
{
    struct error err = {.text = "no \xff"};

    if (!snapshot_wanted)
        return;
    snapshot_wanted = false;
    control_object_snapshot_done(object, -EIO, "", &err);
    settle();
}

static int count_reply(sd_bus_message *m, void *user, sd_bus_error *e)
{
    (void)m;
    (void)e;
    ++*(int *)user;
    return 0;
}

static void call(struct input *in)
{
    static const struct {
        const char *interface, *member;
    } methods[] = {
        {INTERFACE, "Reload"},        {INTERFACE, "Pause"},   {INTERFACE, "Resume"},
        {INTERFACE, "Snapshot"},      {INTERFACE, "GetKey"},  {INTERFACE, "SetKey"},
        {INTERFACE, "GetStatistics"}, {INTERFACE, "GetKeys"}, {PROPERTIES, "Get"},
        {PROPERTIES, "Set"},          {PROPERTIES, "GetAll"}, {INTERFACE, "None"},
    };
    const int i = input_u8(in) % (int)(sizeof(methods) / sizeof(methods[0]));
    const uint8_t shape = input_u8(in);
    sd_bus_message *m = NULL;
    sd_bus_slot *slot = NULL;
    char buffer[64];
    int replies = 0;

    must(sd_bus_message_new_method_call(client, &m, NULL, PATH, methods[i].interface,
                                        methods[i].member) >= 0,
         "a call");
    /* Mostly the arguments that are expected, as far as their number and first types go. */
    if (!strcmp(methods[i].interface, PROPERTIES) && shape < 200)
        must(sd_bus_message_append(m, "s", INTERFACE) >= 0, "an interface");
    if (shape < 150)
        must(sd_bus_message_append(m, "s", some_name(in, buffer, sizeof(buffer))) >= 0, "a name");
    for (int n = shape % 4; n; n--)
        append(in, m, 0);
    must(sd_bus_call_async(client, &slot, m, count_reply, &replies, UINT64_MAX) >= 0, "sent");
    sd_bus_message_unref(m);
    settle();
    finish_snapshot();
    must(replies == 1, "each call is answered");
    sd_bus_slot_unref(slot);
}

/* What is there can be said and set again. */
static void check_settings(void)
{
    for (const struct key *k = key_table; k->name; k++) {
        struct settings copy = settings;
        char value[SETTINGS_VALUE_MAX];
        struct error err;

        settings_get(&settings, k, value, sizeof(value));
        must(!settings_set(&copy, k->name, value, &err), "settings within bounds");
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct input in = {data, size};

    if (!server)
        open_ends();
    settings_init(&settings);
    while (in.left) {
        struct status status;

        call(&in);
        host_status(NULL, &status);
        control_object_notify(object, &settings, &status);
    }
    settle();
    check_settings();
    return 0;
}
