/* Stands in for logind on the bus of DBUS_SYSTEM_BUS_ADDRESS: says once per argument, 1 or 0, that
 * the machine goes to sleep or has woken. */
#include <stdio.h>
#include <string.h>
#include <systemd/sd-bus.h>

int main(int argc, char **argv)
{
    sd_bus *bus = NULL;
    int r = sd_bus_open_system(&bus);

    if (r >= 0)
        r = sd_bus_request_name(bus, "org.freedesktop.login1", /* the last one may be there still */
                                SD_BUS_NAME_ALLOW_REPLACEMENT | SD_BUS_NAME_REPLACE_EXISTING);
    for (int i = 1; r >= 0 && i < argc; i++)
        r = sd_bus_emit_signal(bus, "/org/freedesktop/login1", "org.freedesktop.login1.Manager",
                               "PrepareForSleep", "b", argv[i][0] == '1');
    if (r < 0)
        fprintf(stderr, "control-logind: %s\n", strerror(-r));
    sd_bus_flush_close_unref(bus);
    return r < 0;
}
