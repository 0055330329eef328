/* The first words to somebody who has set up nothing yet. */
#include <stdio.h>

#include "config-build.h"
#include "base/text.h"
#include "doctor/checkup.h"
#include "doctor/doctor.h"

static const char *missing_camera(const struct checkup *c)
{
    return c->n_cameras || have_sensors(c) ? "a camera that can be used" : "a camera (plug one in)";
}

static const char *missing_loopback(const struct checkup *c)
{
    if (c->n_loopbacks)
        return "a virtual camera that can be used";
    if (!c->loaded && system_has_secure_boot(c))
        return "the virtual camera (Secure Boot is on, so it takes a password and a restart)";
    return "the virtual camera";
}

bool doctor_introduce(const struct doctor_system *s, bool needs_camera, bool needs_loopback,
                      const char *program, FILE *out)
{
    struct checkup c = {.system = s};
    char missing[256] = "";

    c.container = system_is_container(&c);
    check_module(&c);
    check_video(&c);
    needs_camera = needs_camera && !*c.camera;
    needs_loopback = needs_loopback && !*c.loopback;
#ifdef HAVE_PIPEWIRE
    if (needs_camera || needs_loopback)
        check_pipewire(&c);
#endif
    if (needs_camera && !c.pipewire_camera)
        list_add(missing, sizeof(missing), ", ", missing_camera(&c));
    if (needs_loopback && !c.pipewire)
        list_add(missing, sizeof(missing), ", ", missing_loopback(&c));
    if (!*missing)
        return false;
    fprintf(out, "bilatcam removes the noise of your camera, and gives the picture to other "
                 "programs as the camera 'bilatcam'.\n");
    fprintf(out, "What is missing: %s.\n", missing);
    if (needs_loopback && !c.pipewire && !c.loaded && !c.container)
        fprintf(out, "To set it up: sudo %s --setup\n", program);
    else
        fprintf(out, "To see why, and what to do: %s --doctor\n", program);
    return true;
}
