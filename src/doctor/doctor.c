#include "doctor/doctor.h"

#include <errno.h>
#include <string.h>

#include "config-build.h"
#include "base/text.h"
#include "doctor/checkup.h"
#include "settings/settings.h"

/* A device that the configuration names must be there; "auto", files and scenes need no look. */
static bool check_named(const struct checkup *c, const char *path, const char *key,
                        const char *device)
{
    if (strncmp(device, "/dev/", 5) || system_has(c, device))
        return true;
    report_problem(c, "configuration '%s': the device of %s = %s is not there", path, key, device);
    report_fix(c, "connect it, or set %s = auto in that file", key);
    return false;
}

static bool check_config(const struct checkup *c, const char *given)
{
    char path[SETTINGS_PATH_MAX], output[SETTINGS_PATH_MAX];
    struct settings s;
    struct error err;
    int r;

    settings_init(&s);
    if (!given && !settings_find_file(path, sizeof(path))) {
        report_ok(c, "no configuration file: every setting has its default");
        return true;
    }
    if (!given)
        given = path;
    r = settings_load(&s, given, &err);
    if (r) {
        report_problem(c, "%s", err.text);
        report_fix(c, r == -EINVAL ? "correct that line; bilatcam --help tells what is allowed"
                                   : "make it a file that this user can read, or remove it");
        return false;
    }
    if (!check_named(c, given, "input", s.input))
        return false;
    for (int i = 0; settings_item(s.output, i, output); i++)
        if (!check_named(c, given, "output", output))
            return false;
    report_ok(c, "configuration '%s' is valid", given);
    return true;
}

static bool verdict(const struct checkup *c, const char *program)
{
    const char *const camera = *c->camera ? c->camera : c->pipewire_camera ? "pipewire:" : "";
    const char *const loopback = *c->loopback ? c->loopback : c->pipewire ? "pipewire:" : "";
    const struct {
        bool there;
        const char *missing;
    } need[] = {{*camera, "no usable camera"},
                {*loopback, "no usable virtual camera"},
                {c->engine, "no engine"},
                {c->config, "bad configuration"}};
    char missing[128] = "";

    for (size_t i = 0; i < sizeof(need) / sizeof(need[0]); i++)
        if (!need[i].there)
            list_add(missing, sizeof(missing), ", ", need[i].missing);
    if (!*missing) {
        report_ok(c, "camera to virtual camera can work: %s to %s", camera, loopback);
        return true;
    }
    report_problem(c, "camera to virtual camera cannot work yet: %s", missing);
    if (!*loopback && !c->loaded && !c->container)
        report_fix(c,
                   "sudo %s --setup installs and loads the virtual camera, and asks before each "
                   "step",
                   program);
    return false;
}

bool doctor_run(const struct doctor_system *s, const char *config_path, const char *program,
                FILE *out)
{
    struct checkup c = {.system = s, .out = out};

    c.container = system_is_container(&c);
    check_module(&c);
    check_video(&c);
    check_engines(&c);
    c.config = check_config(&c, config_path);
#ifdef HAVE_PIPEWIRE
    check_pipewire(&c);
#endif
    check_sensors(&c);
    check_session(&c);
    return verdict(&c, program);
}
