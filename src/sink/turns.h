#pragma once
/* When a virtual camera takes its next picture: those of a file, which come as fast as they can, at
 * their own rate. Context: as the sink's. */
#include "base/pace.h"
#include "sink/sink.h"

struct turns {
    struct pace pace; /* at the rate that readers are told; 0 = not known */
    bool paced;       /* frames are held back until they are due */
    bool assumed;     /* that rate is not what the source tells */
    int stop_fd;
};

struct turns turns_of(const struct sink_config *config);

/* Says if the rate is assumed. @name: of the sink. */
void turns_tell(const struct turns *t, const char *name);

/* Sleeps until the next frame is due. -ECANCELED: stopped. */
int turns_wait(struct turns *t, struct error *err);
