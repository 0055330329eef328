#pragma once
/* `bilatcam --benchmark`: times the engines of this machine over sizes and radii, and says which
 * radius it holds. Context: main. */
#include <stdio.h>

#include "cli/cli.h"
#include "engine/engine.h"

/* Times every one of @engines (NULL at their end) that works here, or the one that @settings name,
 * with the window, range kernel and sigmas of @settings. Progress goes to stderr where that is a
 * terminal. Takes less than a minute: what would take too long for a live picture is left out.
 * 0; -ENODEV when no engine works; -ENOMEM. */
int benchmark_run(const struct engine_ops *const *engines, const struct settings *settings,
                  enum benchmark_format format, FILE *out, struct error *err);
