#pragma once
/* What a frame costs on each rung of a ladder, as learnt from those that were taken, for the
 * governor. Pure arithmetic. Context: plain data, one owner.
 *
 * The model is ns(r) = scale * (cost[r] + base): `scale` follows the machine's load frame by
 * frame, `base` (what every rung costs besides) is learnt when the rung changes. So are `search`,
 * how much more than the table says the search for motion costs on this engine, and `alone`, which
 * takes the place of `base` without a mean over frames: the rest is what that costs. */
#include <stdbool.h>
#include <stdint.h>

#include "filter/ladder.h"

struct frame_cost {
    double ns, units; /* as measured, and as in `cost` of the ladder */
    bool searched;    /* `search` comes to the units */
    bool alone;       /* without the mean over frames, which other rungs have */
};

struct cost_model {
    double base;                        /* fixed cost, in the unit of `cost` */
    bool base_known;                    /* learnt at least once */
    double alone;                       /* in its place where each frame is filtered by itself */
    double search;                      /* in that unit; may be negative */
    int64_t search_second, mean_second; /* when there was one last */
    struct frame_cost old, now; /* recent cost on the settled rung before and on the present one */
    int now_frames;
};

void cost_model_init(struct cost_model *m, const struct ladder *l);

/* A frame cost @ns on @rung. */
struct frame_cost frame_cost(const struct ladder *l, int64_t ns, int rung);
bool same_rung(struct frame_cost a, struct frame_cost b);

/* What @c comes to in units, and in ns for each of them: the load. */
double cost_units(const struct cost_model *m, struct frame_cost c);
double cost_scale(const struct cost_model *m, struct frame_cost c);

/* The cheapest rung from @from to @to; of several the highest. */
int cheapest_rung(const struct cost_model *m, const struct ladder *l, int from, int to);

/* The next frame cost @c. Learns where it is enough to tell something. */
void cost_model_follow(struct cost_model *m, const struct ladder *l, struct frame_cost c);

/* Whether there were enough frames on the present rung to know what it costs. */
bool cost_model_settled(const struct cost_model *m);

/* Learns from the step to the present rung, which cost_model_follow() does where it is settled. */
void cost_model_learn(struct cost_model *m, const struct ladder *l);

/* What each rung costs was changed: what comes next cannot be compared with what was. */
void cost_model_restart(struct cost_model *m);

/* A frame of @second cost @c. What the search or the mean costs is forgotten where there was none
 * for a minute, so that both are tried again. */
void cost_model_forget(struct cost_model *m, struct frame_cost c, int64_t second);
