/* bilatcamctl: asks a running bilatcam, and tells it what to do, over the user's D-Bus. */
#include "config-build.h"

#include <errno.h>
#include <getopt.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <systemd/sd-bus.h>

#include "base/standard_files.h"
#include "base/text.h"
#include "control/name.h"
#include "ctl/commands.h"
#include "ctl/status.h"

#define PROPERTIES "org.freedesktop.DBus.Properties"
#define BUS_NAME "org.freedesktop.DBus"
#define BUS_PATH "/org/freedesktop/DBus"

enum { STATUS_DONE, STATUS_FAILED, STATUS_USAGE };

struct ctl {
    sd_bus *bus;
    const char *instance; /* "" = the only one */
    char name[CONTROL_NAME_MAX];
    bool gone; /* watch: the daemon has left */
};

/* Writes one line, parts of which come over the bus and may be anything. */
static void print_line(FILE *out, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
static void print_line(FILE *out, const char *fmt, ...)
{
    char *text = NULL;
    va_list ap;
    int n;

    va_start(ap, fmt);
    n = vasprintf(&text, fmt, ap);
    va_end(ap);
    if (n < 0)
        return;
    fprintf(out, "%s\n", utf8_printable(text));
    free(text);
}

/* ------------------------------------------------------------------ failures */

static int usage(const char *what, const char *which)
{
    fprintf(stderr, "bilatcamctl: %s '%s' (--help lists all)\n", what, which);
    return STATUS_USAGE;
}

static int fail_not_running(const struct ctl *c)
{
    if (*c->instance)
        fprintf(stderr,
                "bilatcamctl: no bilatcam called '%s' is running on your session bus: start it "
                "with systemctl --user start bilatcam@%s\n",
                c->instance, c->instance);
    else
        fprintf(stderr, "bilatcamctl: no bilatcam is running on your session bus: start it with "
                        "bilatcam, or systemctl --user start bilatcam\n");
    return STATUS_FAILED;
}

static int fail_call(const struct ctl *c, const sd_bus_error *e, int code)
{
    if (sd_bus_error_has_name(e, SD_BUS_ERROR_SERVICE_UNKNOWN) ||
        sd_bus_error_has_name(e, SD_BUS_ERROR_NAME_HAS_NO_OWNER))
        return fail_not_running(c);
    print_line(stderr, "bilatcamctl: %s", e->message ? e->message : strerror(-code));
    return STATUS_FAILED;
}

static int fail_bus(int code)
{
    fprintf(stderr, "bilatcamctl: session bus: %s\n", strerror(-code));
    return STATUS_FAILED;
}

/* --------------------------------------------------------------------- calls */

/* Calls a method with @n texts; fails with a message. *@ret may be NULL. */
static int call(const struct ctl *c, const char *interface, const char *method,
                const char *const *texts, int n, sd_bus_message **ret)
{
    sd_bus_error e = SD_BUS_ERROR_NULL;
    sd_bus_message *m = NULL;
    int status = STATUS_DONE;
    int r = sd_bus_message_new_method_call(c->bus, &m, c->name, CONTROL_PATH, interface, method);

    if (r >= 0)
        r = sd_bus_message_set_auto_start(m, false);
    for (int i = 0; r >= 0 && i < n; i++)
        r = sd_bus_message_append(m, "s", texts[i]);
    if (r >= 0)
        r = sd_bus_call(c->bus, m, 0, &e, ret);
    if (r < 0)
        status = fail_call(c, &e, r);
    sd_bus_error_free(&e);
    sd_bus_message_unref(m);
    return status;
}

static int fail_reply(const struct ctl *c, int code)
{
    fprintf(stderr, "bilatcamctl: unexpected reply from '%s': %s\n", c->name, strerror(-code));
    return STATUS_FAILED;
}

/* Calls a method of the daemon, and prints the text that it answers, if any. */
static int call_and_print(const struct ctl *c, const char *method, const char *const *texts, int n)
{
    sd_bus_message *reply = NULL;
    const char *text;
    int status = call(c, CONTROL_NAME, method, texts, n, &reply);

    if (status == STATUS_DONE && !sd_bus_message_is_empty(reply)) {
        const int r = sd_bus_message_read(reply, "s", &text);

        if (r < 0)
            status = fail_reply(c, r);
        else
            print_line(stdout, "%s", text);
    }
    sd_bus_message_unref(reply);
    return status;
}

/* The next value of @m, a variant, as the configuration file writes it. */
static int read_variant(sd_bus_message *m, char *text, size_t size)
{
    const char *contents, *word;
    uint64_t count;
    double real;
    int n, r = sd_bus_message_peek_type(m, NULL, &contents);

    if (r < 0)
        return r;
    *text = '\0';
    switch (*contents) {
    case 'b':
        r = sd_bus_message_read(m, "v", "b", &n);
        if (r >= 0)
            (void)snprintf(text, size, "%s", n ? "yes" : "no");
        return r;
    case 'i':
        r = sd_bus_message_read(m, "v", "i", &n);
        if (r >= 0)
            (void)snprintf(text, size, "%d", n);
        return r;
    case 't':
        r = sd_bus_message_read(m, "v", "t", &count);
        if (r >= 0)
            (void)snprintf(text, size, "%llu", (unsigned long long)count);
        return r;
    case 'd':
        r = sd_bus_message_read(m, "v", "d", &real);
        if (r >= 0)
            (void)snprintf(text, size, "%.10g", real);
        return r;
    case 's':
        r = sd_bus_message_read(m, "v", "s", &word);
        if (r >= 0)
            (void)snprintf(text, size, "%s", word);
        return r;
    default:
        return sd_bus_message_skip(m, "v");
    }
}

/* Gives each property of @m, an a{sv}, to @each. */
static int read_properties(sd_bus_message *m, void *user,
                           void (*each)(void *user, const char *name, const char *value))
{
    int r = sd_bus_message_enter_container(m, 'a', "{sv}");

    while (r >= 0 && (r = sd_bus_message_enter_container(m, 'e', "sv")) > 0) {
        char value[2048];
        const char *name;

        r = sd_bus_message_read(m, "s", &name);
        if (r >= 0)
            r = read_variant(m, value, sizeof(value));
        if (r >= 0)
            r = sd_bus_message_exit_container(m);
        if (r >= 0)
            each(user, name, value);
    }
    return r < 0 ? r : sd_bus_message_exit_container(m);
}

/* ------------------------------------------------------------------ commands */

static int run_status(struct ctl *c, char **args)
{
    static const char *const interface[] = {CONTROL_NAME};
    struct ctl_properties properties = {.n = 0};
    sd_bus_message *reply = NULL;
    int status = call(c, PROPERTIES, "GetAll", interface, 1, &reply);

    (void)args;
    if (status == STATUS_DONE) {
        const int r = read_properties(reply, &properties, ctl_properties_add);

        if (r < 0)
            status = fail_reply(c, r);
        else
            ctl_print_status(&properties, stdout);
    }
    sd_bus_message_unref(reply);
    return status;
}

static int print_keys(const struct ctl *c)
{
    sd_bus_message *reply = NULL;
    int r, status = call(c, CONTROL_NAME, "GetKeys", NULL, 0, &reply);

    if (status == STATUS_DONE) {
        const char *key, *value;

        r = sd_bus_message_enter_container(reply, 'a', "{ss}");
        while (r >= 0 && (r = sd_bus_message_read(reply, "{ss}", &key, &value)) > 0)
            print_line(stdout, "%s = %s", key, value);
        if (r < 0)
            status = fail_reply(c, r);
    }
    sd_bus_message_unref(reply);
    return status;
}

static int run_get(struct ctl *c, char **args)
{
    return args[0] ? call_and_print(c, "GetKey", (const char *const *)args, 1) : print_keys(c);
}

static int run_snapshot(struct ctl *c, char **args)
{
    const char *const name[] = {args[0] ? args[0] : ""};

    return call_and_print(c, "Snapshot", name, 1);
}

/* --------------------------------------------------------------------- watch */

static void print_change(void *user, const char *property, const char *value)
{
    char key[64];

    (void)user;
    control_key_name(property, key, sizeof(key));
    print_line(stdout, "%s = %s", key, value);
    (void)fflush(stdout);
}

static int on_change(sd_bus_message *m, void *userdata, sd_bus_error *e)
{
    (void)e;
    if (sd_bus_message_skip(m, "s") >= 0)
        (void)read_properties(m, userdata, print_change);
    return 0;
}

static int on_owner(sd_bus_message *m, void *userdata, sd_bus_error *e)
{
    struct ctl *c = userdata;
    const char *name, *from, *to;

    (void)e;
    if (sd_bus_message_read(m, "sss", &name, &from, &to) >= 0)
        c->gone = !*to;
    return 0;
}

static int listen_to_daemon(struct ctl *c)
{
    char owner[sizeof(c->name) + 160];
    int r = sd_bus_match_signal(c->bus, NULL, c->name, CONTROL_PATH, PROPERTIES,
                                "PropertiesChanged", on_change, c);

    (void)snprintf(owner, sizeof(owner),
                   "type='signal',sender='" BUS_NAME "',path='" BUS_PATH "',interface='" BUS_NAME
                   "',member='NameOwnerChanged',arg0='%s'",
                   c->name);
    return r < 0 ? r : sd_bus_add_match(c->bus, NULL, owner, on_owner, c);
}

static int run_watch(struct ctl *c, char **args)
{
    static const char *const state[] = {CONTROL_NAME, "State"};
    sd_bus_message *reply = NULL;
    char text[256];
    int r = listen_to_daemon(c), status;

    (void)args;
    if (r < 0)
        return fail_bus(r);
    status = call(c, PROPERTIES, "Get", state, 2, &reply);
    if (status == STATUS_DONE && read_variant(reply, text, sizeof(text)) >= 0)
        print_change(c, "State", text);
    sd_bus_message_unref(reply);
    while (status == STATUS_DONE && !c->gone && !ferror(stdout)) {
        r = sd_bus_process(c->bus, NULL);
        if (r == 0)
            r = sd_bus_wait(c->bus, UINT64_MAX);
        if (r < 0 && r != -EINTR)
            status = fail_bus(r);
    }
    if (c->gone)
        fprintf(stderr, "bilatcamctl: bilatcam has ended\n");
    return status;
}

/* ---------------------------------------------------------------------- main */

static const struct action {
    const char *method;                     /* called with the arguments; NULL: */
    int (*run)(struct ctl *c, char **args); /* @args ends with NULL; returns the exit status */
} actions[N_CTL_COMMANDS] = {
    [CTL_STATUS] = {.run = run_status},     [CTL_GET] = {.run = run_get},
    [CTL_SET] = {.method = "SetKey"},       [CTL_RELOAD] = {.method = "Reload"},
    [CTL_PAUSE] = {.method = "Pause"},      [CTL_RESUME] = {.method = "Resume"},
    [CTL_SNAPSHOT] = {.run = run_snapshot}, [CTL_STATS] = {.method = "GetStatistics"},
    [CTL_WATCH] = {.run = run_watch},
};

static void print_option(const struct cli_option *o)
{
    const char letter[] = {'-', o->letter, ',', ' ', '\0'};
    char form[64];

    (void)snprintf(form, sizeof(form), "%s--%s %s", o->letter ? letter : "", o->name,
                   o->argument ? o->argument : "");
    printf("  %-20s %s\n", form, o->help);
}

static void print_help(void)
{
    printf("Usage: bilatcamctl [--instance NAME] COMMAND [ARGUMENT]...\n"
           "Controls a running bilatcam.\n\n");
    for (int i = 0; i < N_CTL_COMMANDS; i++)
        printf("  %-8s %-10s %s\n", ctl_commands[i].name, ctl_commands[i].arguments,
               ctl_commands[i].help);
    printf("\n");
    for (const struct cli_option *o = ctl_options; o->name; o++)
        print_option(o);
    printf("\nExit status: 0 done, 1 not running or refused, 2 wrong usage.\n");
}

static int run(struct ctl *c, char **words, int n)
{
    const struct ctl_command *k = n ? ctl_command_find(words[0]) : NULL;
    const struct action *action;
    int r, status;

    if (!n) {
        fprintf(stderr, "bilatcamctl: no command (--help lists all)\n");
        return STATUS_USAGE;
    }
    if (!k)
        return usage("unknown command", words[0]);
    if (n - 1 < k->min_args || n - 1 > k->max_args) {
        fprintf(stderr, "bilatcamctl: usage: bilatcamctl %s%s%s\n", k->name,
                *k->arguments ? " " : "", k->arguments);
        return STATUS_USAGE;
    }
    r = sd_bus_open_user(&c->bus);
    if (r < 0) {
        fprintf(stderr,
                "bilatcamctl: cannot reach your session bus: %s (XDG_RUNTIME_DIR or "
                "DBUS_SESSION_BUS_ADDRESS says where it is)\n",
                strerror(-r));
        return STATUS_FAILED;
    }
    action = &actions[k - ctl_commands];
    if (action->method)
        status = call_and_print(c, action->method, (const char *const *)(words + 1), n - 1);
    else
        status = action->run(c, words + 1);
    sd_bus_flush_close_unref(c->bus);
    return status;
}

static int finish_output(int status)
{
    if (!ferror(stdout) && fflush(stdout) == 0)
        return status;
    fprintf(stderr, "bilatcamctl: standard output: %s\n", strerror(errno));
    return STATUS_FAILED;
}

int main(int argc, char **argv)
{
    static const struct option options[] = {{"instance", required_argument, NULL, 'i'},
                                            {"version", no_argument, NULL, 'V'},
                                            {"help", no_argument, NULL, 'h'},
                                            {NULL, 0, NULL, 0}};
    struct ctl c = {.instance = ""};
    int option;

    standard_files_open();
    opterr = 0;
    while ((option = getopt_long(argc, argv, "+:Vh", options, NULL)) != -1) {
        switch (option) {
        case 'i':
            c.instance = optarg;
            break;
        case 'V':
            printf("bilatcamctl %s\n", BILATCAM_VERSION);
            return finish_output(STATUS_DONE);
        case 'h':
            print_help();
            return finish_output(STATUS_DONE);
        case ':':
            return usage("a value is missing after", argv[optind - 1]);
        default:
            return usage("unknown option", argv[optind - 1]);
        }
    }
    if (control_service_name(c.instance, c.name)) {
        fprintf(stderr, "bilatcamctl: instance '%s': " CONTROL_INSTANCE_RULE "\n", c.instance);
        return STATUS_USAGE;
    }
    return finish_output(run(&c, argv + optind, argc - optind));
}
