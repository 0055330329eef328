#include "pipeline/output.h"

#include "base/log.h"

int output_init(struct output *o, struct stream *stream)
{
    return tally_init(&o->tally, stream);
}

int output_open(struct output *o, const struct sink_ops *ops, const struct sink_config *config,
                bool wait, struct error *err)
{
    const int r =
        writer_open(&o->writers[o->n_writers], &o->tally, o->n_writers, ops, config, wait, err);

    if (r == 0)
        o->n_writers++;
    return r;
}

void output_connect(struct output *o, struct fan *in)
{
    o->tally.in = in;
}

int output_close(struct output *o)
{
    struct error err = {.text = ""};
    int result = tally_finish(&o->tally);

    for (int i = 0; i < o->n_writers; i++) {
        const int r = outlet_close(&o->writers[i].outlet, &err);

        if (r)
            log_error("%s", err.text);
        result = result ? result : r;
    }
    return result;
}
