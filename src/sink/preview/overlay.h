#pragma once
/* All that the preview says over its picture: statistics, keys, messages, labels.
 * Context: the window thread. */
#include "sink/preview/paint.h"
#include "sink/preview/ui.h"

/* Where the line between unfiltered and filtered is, for a picture at @picture. */
int preview_overlay_line(const struct preview_ui *ui, struct paint_box picture);

/* That line, and what is on its sides; or, where only the unfiltered picture is shown, that it is
 * that. */
void preview_overlay_labels(struct paint *p, const struct preview_ui *ui, struct paint_box picture);

/* Panels and messages. */
void preview_overlay_panels(struct paint *p, const struct preview_ui *ui, int64_t t_ns);
