/* Stands in for the desktop's permission store on the user's bus:
 *
 *     permission-store [PROGRAM=ANSWER[,ANSWER]...]...
 *
 * The answers are all that it knows of the device "camera". Without one it knows of no camera, as
 * after an installation. It says "ready" when it can be asked. */
#include <stdio.h>
#include <string.h>
#include <systemd/sd-bus.h>

#define NAME "org.freedesktop.impl.portal.PermissionStore"

static char **programs;

static int append_program(sd_bus_message *m, char *program)
{
    char *rest = program, *const name = strsep(&rest, "=");
    int r = sd_bus_message_open_container(m, 'e', "sas");

    if (r >= 0)
        r = sd_bus_message_append(m, "s", name);
    if (r >= 0)
        r = sd_bus_message_open_container(m, 'a', "s");
    for (const char *answer; r >= 0 && (answer = strsep(&rest, ","));)
        r = sd_bus_message_append(m, "s", answer);
    if (r >= 0)
        r = sd_bus_message_close_container(m);
    return r < 0 ? r : sd_bus_message_close_container(m);
}

static int lookup(sd_bus_message *m, void *user, sd_bus_error *e)
{
    const char *table, *id;
    sd_bus_message *reply = NULL;
    int r = sd_bus_message_read(m, "ss", &table, &id);

    (void)user;
    if (r < 0)
        return r;
    if (!*programs || strcmp(table, "devices") != 0 || strcmp(id, "camera") != 0)
        return sd_bus_error_setf(e, "org.freedesktop.portal.Error.NotFound", "No entry for %s", id);
    r = sd_bus_message_new_method_return(m, &reply);
    if (r >= 0)
        r = sd_bus_message_open_container(reply, 'a', "{sas}");
    for (char **p = programs; r >= 0 && *p; p++)
        r = append_program(reply, *p);
    if (r >= 0)
        r = sd_bus_message_close_container(reply);
    if (r >= 0)
        r = sd_bus_message_append(reply, "v", "y", 0);
    if (r >= 0)
        r = sd_bus_send(NULL, reply, NULL);
    sd_bus_message_unref(reply);
    return r;
}

static const sd_bus_vtable vtable[] = {
    SD_BUS_VTABLE_START(0),
    SD_BUS_METHOD("Lookup", "ss", "a{sas}v", lookup, SD_BUS_VTABLE_UNPRIVILEGED),
    SD_BUS_VTABLE_END,
};

int main(int argc, char **argv)
{
    sd_bus *bus = NULL;
    int r = sd_bus_open_user(&bus);

    (void)argc;
    programs = argv + 1;
    if (r >= 0)
        r = sd_bus_add_object_vtable(bus, NULL, "/org/freedesktop/impl/portal/PermissionStore",
                                     NAME, vtable, NULL);
    if (r >= 0)
        r = sd_bus_request_name(bus, NAME, 0);
    if (r >= 0) {
        printf("ready\n");
        (void)fflush(stdout);
    }
    while (r >= 0) {
        r = sd_bus_process(bus, NULL);
        if (r == 0)
            r = sd_bus_wait(bus, UINT64_MAX);
    }
    sd_bus_flush_close_unref(bus);
    return 1;
}
