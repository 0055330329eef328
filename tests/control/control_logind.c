/* Stands in for logind on the bus of DBUS_SYSTEM_BUS_ADDRESS. Says once per argument, 1 or 0, that
 * the machine goes to sleep or has woken; without such arguments it stays and does so for lines on
 * standard input. Meanwhile it grants inhibitors, or refuses them if the argument is "refuse", and
 * prints each that is granted, refused or released. */
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <systemd/sd-bus.h>
#include <systemd/sd-event.h>
#include <unistd.h>

#define PATH "/org/freedesktop/login1"
#define MANAGER "org.freedesktop.login1.Manager"

static int on_release(sd_event_source *source, int fd, uint32_t events, void *user)
{
    (void)events, (void)user;
    sd_event_source_disable_unref(source);
    (void)close(fd);
    printf("released\n");
    return 0;
}

static int grant(sd_bus_message *m, void *user, sd_bus_error *e)
{
    const char *what, *who, *why, *mode;
    int fds[2], r = sd_bus_message_read(m, "ssss", &what, &who, &why, &mode);

    (void)e;
    if (r < 0 || pipe2(fds, O_CLOEXEC))
        return -1;
    printf("inhibitor %s %s %s\n", what, mode, who);
    r = sd_bus_reply_method_return(m, "h", fds[1]);
    (void)close(fds[1]);
    return r < 0
               ? r
               : sd_event_add_io(sd_bus_get_event(user), NULL, fds[0], EPOLLHUP, on_release, NULL);
}

static int refuse(sd_bus_message *m, void *user, sd_bus_error *e)
{
    (void)m, (void)user;
    printf("refused\n");
    return sd_bus_error_set(e, SD_BUS_ERROR_ACCESS_DENIED, "not today");
}

static const sd_bus_vtable granting[] = {
    SD_BUS_VTABLE_START(0),
    SD_BUS_METHOD("Inhibit", "ssss", "h", grant, SD_BUS_VTABLE_UNPRIVILEGED),
    SD_BUS_VTABLE_END,
};

static const sd_bus_vtable refusing[] = {
    SD_BUS_VTABLE_START(0),
    SD_BUS_METHOD("Inhibit", "ssss", "h", refuse, SD_BUS_VTABLE_UNPRIVILEGED),
    SD_BUS_VTABLE_END,
};

static int say(sd_bus *bus, const char *asleep)
{
    return sd_bus_emit_signal(bus, PATH, MANAGER, "PrepareForSleep", "b", *asleep == '1');
}

static int on_line(sd_event_source *source, int fd, uint32_t events, void *user)
{
    char line[16];

    (void)fd, (void)events;
    if (!fgets(line, sizeof(line), stdin))
        return sd_event_exit(sd_event_source_get_event(source), 0);
    return say(user, line);
}

static int stay(sd_bus *bus)
{
    sd_event *event = NULL;
    int r = sd_event_new(&event);

    if (r >= 0)
        r = sd_bus_attach_event(bus, event, SD_EVENT_PRIORITY_NORMAL);
    if (r >= 0)
        r = sd_event_add_io(event, NULL, STDIN_FILENO, EPOLLIN, on_line, bus);
    if (r >= 0) {
        printf("ready\n");
        r = sd_event_loop(event);
    }
    sd_event_unref(event);
    return r;
}

int main(int argc, char **argv)
{
    const bool refuses = argc > 1 && !strcmp(argv[1], "refuse");
    sd_bus *bus = NULL;
    int r = sd_bus_open_system(&bus);

    (void)setvbuf(stdin, NULL, _IONBF, 0);
    (void)setvbuf(stdout, NULL, _IOLBF, 0);
    if (r >= 0)
        r = sd_bus_add_object_vtable(bus, NULL, PATH, MANAGER, refuses ? refusing : granting, bus);
    if (r >= 0)
        r = sd_bus_request_name(bus, "org.freedesktop.login1", /* the last one may be there still */
                                SD_BUS_NAME_ALLOW_REPLACEMENT | SD_BUS_NAME_REPLACE_EXISTING);
    if (argc == 1 || refuses)
        r = r < 0 ? r : stay(bus);
    else
        for (int i = 1; r >= 0 && i < argc; i++)
            r = say(bus, argv[i]);
    if (r < 0)
        fprintf(stderr, "control-logind: %s\n", strerror(-r));
    sd_bus_flush_close_unref(bus);
    return r < 0;
}
