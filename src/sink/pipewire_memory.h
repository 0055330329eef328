#pragma once
/* Memory that readers of a PipeWire camera see and cannot change. Context: any thread, one at a
 * time for the same. */
#include <stddef.h>

#include <spa/buffer/buffer.h>

/* Fills in @d. A negative errno on failure. */
int pipewire_memory_share(struct spa_data *d, size_t size);

void pipewire_memory_drop(struct spa_data *d);
