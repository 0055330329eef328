#include "control/methods.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/text.h"

static int refuse(sd_bus_error *e, int code, struct error *err)
{
    return sd_bus_error_set(e, code == -EINVAL ? SD_BUS_ERROR_INVALID_ARGS : SD_BUS_ERROR_FAILED,
                            utf8_repair(err->text));
}

static const struct control_host *host_of(const void *userdata)
{
    return ((const struct control_methods *)userdata)->host;
}

int control_check_sender(sd_bus_message *m, sd_bus_error *e)
{
    sd_bus_creds *creds = NULL;
    uid_t uid = 0;
    int r = sd_bus_query_sender_creds(m, SD_BUS_CREDS_EUID, &creds);

    if (r >= 0)
        r = sd_bus_creds_get_euid(creds, &uid);
    sd_bus_creds_unref(creds);
    if (r >= 0 && (uid == 0 || uid == geteuid()))
        return 0;
    return sd_bus_error_set(e, SD_BUS_ERROR_ACCESS_DENIED,
                            "only the user who runs bilatcam may do this");
}

int control_set_key(const struct control_host *host, const char *key, const char *value,
                    sd_bus_error *e)
{
    struct error err = {.text = ""};
    const int r = host->set(host->user, key, value, &err);

    return r ? refuse(e, r, &err) : 0;
}

static int reply_text(sd_bus_message *m, char *text)
{
    return sd_bus_reply_method_return(m, "s", utf8_repair(text));
}

static int method_reload(sd_bus_message *m, void *userdata, sd_bus_error *e)
{
    const struct control_host *host = host_of(userdata);
    struct error err = {.text = ""};
    const int r = control_check_sender(m, e);

    if (r < 0)
        return r;
    /* What is wrong is the file, never the call. */
    if (host->reload(host->user, &err))
        return refuse(e, -EIO, &err);
    return sd_bus_reply_method_return(m, NULL);
}

static int set_paused(sd_bus_message *m, const struct control_host *host, bool paused,
                      sd_bus_error *e)
{
    const int r = control_check_sender(m, e);

    if (r < 0)
        return r;
    host->pause(host->user, paused);
    return sd_bus_reply_method_return(m, NULL);
}

static int method_pause(sd_bus_message *m, void *userdata, sd_bus_error *e)
{
    return set_paused(m, host_of(userdata), true, e);
}

static int method_resume(sd_bus_message *m, void *userdata, sd_bus_error *e)
{
    return set_paused(m, host_of(userdata), false, e);
}

/* Answered when the picture is written, so that nobody else waits for it. */
static int method_snapshot(sd_bus_message *m, void *userdata, sd_bus_error *e)
{
    struct control_methods *c = userdata;
    struct error err = {.text = ""};
    const char *name;
    int r = control_check_sender(m, e);

    if (r < 0)
        return r;
    r = sd_bus_message_read(m, "s", &name);
    if (r < 0)
        return r;
    r = c->host->snapshot(c->host->user, name, &err);
    if (r)
        return refuse(e, r, &err);
    c->snapshot = sd_bus_message_ref(m);
    return 1;
}

void control_methods_snapshot_done(struct control_methods *c, int result, const char *path,
                                   struct error *err)
{
    sd_bus_error e = SD_BUS_ERROR_NULL;
    char text[SETTINGS_PATH_MAX];

    if (!c->snapshot)
        return;
    if (result) {
        (void)refuse(&e, result, err);
        (void)sd_bus_reply_method_error(c->snapshot, &e);
        sd_bus_error_free(&e);
    } else {
        (void)snprintf(text, sizeof(text), "%s", path);
        (void)reply_text(c->snapshot, text);
    }
    c->snapshot = sd_bus_message_unref(c->snapshot);
}

static int method_statistics(sd_bus_message *m, void *userdata, sd_bus_error *e)
{
    const struct control_host *host = host_of(userdata);
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    struct status status;
    int r;

    (void)e;
    if (!out)
        return -ENOMEM;
    host->status(host->user, &status);
    status_print_json(&status, out);
    if (fclose(out)) {
        free(text);
        return -ENOMEM;
    }
    while (size && text[size - 1] == '\n')
        text[--size] = '\0';
    r = reply_text(m, text);
    free(text);
    return r;
}

static int method_get_key(sd_bus_message *m, void *userdata, sd_bus_error *e)
{
    const struct control_host *host = host_of(userdata);
    char value[SETTINGS_VALUE_MAX];
    const struct key *key;
    struct settings s;
    const char *name;
    const int r = sd_bus_message_read(m, "s", &name);

    if (r < 0)
        return r;
    key = key_find(name);
    if (!key)
        return sd_bus_error_setf(e, SD_BUS_ERROR_INVALID_ARGS, "unknown key '%s'", name);
    host->settings(host->user, &s);
    settings_show(&s, key, value, sizeof(value));
    return reply_text(m, value);
}

static int method_get_keys(sd_bus_message *m, void *userdata, sd_bus_error *e)
{
    const struct control_host *host = host_of(userdata);
    sd_bus_message *reply = NULL;
    struct settings s;
    int r = sd_bus_message_new_method_return(m, &reply);

    (void)e;
    host->settings(host->user, &s);
    if (r >= 0)
        r = sd_bus_message_open_container(reply, 'a', "{ss}");
    for (const struct key *k = key_table; r >= 0 && k->name; k++) {
        char value[SETTINGS_VALUE_MAX];

        settings_show(&s, k, value, sizeof(value));
        r = sd_bus_message_append(reply, "{ss}", k->name, utf8_repair(value));
    }
    if (r >= 0)
        r = sd_bus_message_close_container(reply);
    if (r >= 0)
        r = sd_bus_send(NULL, reply, NULL);
    sd_bus_message_unref(reply);
    return r;
}

static int method_set_key(sd_bus_message *m, void *userdata, sd_bus_error *e)
{
    const char *key, *value;
    int r = control_check_sender(m, e);

    if (r >= 0)
        r = sd_bus_message_read(m, "ss", &key, &value);
    if (r >= 0)
        r = control_set_key(host_of(userdata), key, value, e);
    return r < 0 ? r : sd_bus_reply_method_return(m, NULL);
}

/* Without UNPRIVILEGED is what checks its sender. */
const sd_bus_vtable control_methods[] = {
    SD_BUS_VTABLE_START(0),
    SD_BUS_METHOD("Reload", NULL, NULL, method_reload, 0),
    SD_BUS_METHOD("Pause", NULL, NULL, method_pause, 0),
    SD_BUS_METHOD("Resume", NULL, NULL, method_resume, 0),
    SD_BUS_METHOD_WITH_ARGS("Snapshot", SD_BUS_ARGS("s", name), SD_BUS_RESULT("s", path),
                            method_snapshot, 0),
    SD_BUS_METHOD_WITH_ARGS("GetStatistics", SD_BUS_NO_ARGS, SD_BUS_RESULT("s", json),
                            method_statistics, SD_BUS_VTABLE_UNPRIVILEGED),
    SD_BUS_METHOD_WITH_ARGS("GetKey", SD_BUS_ARGS("s", key), SD_BUS_RESULT("s", value),
                            method_get_key, SD_BUS_VTABLE_UNPRIVILEGED),
    SD_BUS_METHOD_WITH_ARGS("GetKeys", SD_BUS_NO_ARGS, SD_BUS_RESULT("a{ss}", values),
                            method_get_keys, SD_BUS_VTABLE_UNPRIVILEGED),
    SD_BUS_METHOD_WITH_ARGS("SetKey", SD_BUS_ARGS("s", key, "s", value), SD_BUS_NO_RESULT,
                            method_set_key, 0),
    SD_BUS_VTABLE_END,
};
