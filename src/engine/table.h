#pragma once
/* The engines that this program can have. The table names those of rooms above this one too, so it
 * is linked with a program; the engines themselves get a table as an argument. It is not among the
 * other backends (pipeline/backends.h) because engines are tested and measured without a pipeline.
 */
#include "engine/engine.h"

/* Best first, NULL at the end. Every name that the key `engine` allows has a row. */
extern const struct engine_ops *const engine_table[];
