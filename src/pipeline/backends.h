#pragma once
/* Where pictures can come from and go to, and how a name chooses. The engines have a table of their
 * own, which says why: engine/table.h. Context: any thread. */
#include "sink/sink.h"
#include "source/source.h"

/* What serves the input called @name: what is nothing else is a camera's name. */
const struct source_ops *source_for(const char *name);

/* What serves the output called @name, or NULL. */
const struct sink_ops *sink_for(const char *name);

/* What serves --preview. */
extern const struct sink_ops *const window_sink;
