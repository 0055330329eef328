#include "pipeline/parts.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file_id.h"
#include "base/url.h"
#include "pipeline/backends.h"

/* Something that is written to. */
struct written {
    const char *what, *path;
    struct file_id id;
};

/* Writing to a file that is read, or twice to one, would destroy it. Compared before any picture
 * file or the trace is opened; the file of the statistics is open, but as it was. */
static int compare(struct written *w, const struct file_id *input, const struct written *others,
                   struct error *err)
{
    if (file_id_get(w->path, STDOUT_FILENO, &w->id)) {
        w->id = (struct file_id){.dev = (dev_t)-1};
        return 0;
    }
    if (input && file_id_equal(&w->id, input))
        return error_usage(err, "'%s' is read and would be overwritten: choose another name",
                           w->path);
    for (const struct written *o = others; o < w; o++)
        if (file_id_equal(&w->id, &o->id) && !file_id_is_null(&w->id))
            return error_usage(err,
                               "%s '%.150s' and %s '%.150s' are the same file: choose another name",
                               o->what, o->path, w->what, w->path);
    return 0;
}

static int check_files(const struct pipeline *p, struct error *err)
{
    const struct settings *s = &p->settings;
    struct written written[SETTINGS_MAX_OUTPUTS + 2];
    struct file_id input;
    const bool has_input = source_for(s->input)->file &&
                           !file_id_get(s->input, STDIN_FILENO, &input) &&
                           (input.type == 0 || S_ISREG(input.type) || S_ISFIFO(input.type));
    int n = 0, r = 0;

    for (int i = 0; i < p->n_outputs; i++)
        if (strcmp(p->outputs[i], "auto") && !sink_for(p->outputs[i])->discards)
            written[n++] = (struct written){.what = "output", .path = p->outputs[i]};
    if (*s->stats)
        written[n++] = (struct written){.what = "statistics", .path = s->stats};
    if (*s->trace)
        written[n++] = (struct written){.what = "trace", .path = s->trace};
    for (int i = 0; i < n && r == 0; i++)
        r = compare(&written[i], has_input ? &input : NULL, written, err);
    return r;
}

static int check_output(const struct pipeline *p, int i, struct error *err)
{
    const char *const name = p->outputs[i];
    const struct sink_ops *ops = sink_for(name);
    char shown[SETTINGS_PATH_MAX];

    if (is_url(name))
        return error_usage(err, "output '%s': nothing is sent to a network",
                           url_public(name, shown, sizeof(shown)));
    if (!ops)
        return error_usage(err,
                           "output '%s': must be auto, /dev/videoN, pipewire:, - or null:, or a "
                           "file that ends in .mp4, .mkv, "
                           ".webm, .mov, .png, .jpg or .y4m",
                           name);
    if (ops->missing)
        return error_set(err, -ENOTSUP, "'%.120s': %s", name, ops->missing);
    for (int k = 0; k < i; k++) {
        if (!strcmp(p->outputs[k], name))
            return error_usage(err, "output '%s' is given twice", name);
        if (ops->single && sink_for(p->outputs[k]) == ops)
            return error_usage(err, "outputs '%.100s' and '%.100s': only one %s output is possible",
                               p->outputs[k], name, ops->name);
    }
    return 0;
}

int pipeline_check(struct pipeline *p, struct error *err)
{
    const struct settings *s = &p->settings;
    char shown[121];
    int r = 0;

    if (source_for(s->input)->missing)
        return error_set(err, -ENOTSUP, "'%s': %s", url_public(s->input, shown, sizeof(shown)),
                         source_for(s->input)->missing);
    while (p->n_outputs < SETTINGS_MAX_OUTPUTS &&
           settings_item(s->output, p->n_outputs, p->outputs[p->n_outputs]))
        p->n_outputs++;
    for (int i = 0; i < p->n_outputs && r == 0; i++)
        r = check_output(p, i, err);
    if (r == 0 && s->preview && window_sink->missing)
        r = error_set(err, -ENOTSUP, "%s", window_sink->missing);
    return r ? r : check_files(p, err);
}
