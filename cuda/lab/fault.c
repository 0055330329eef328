/* A device that fails mid-stream: the engine says so at once, gives all back and hangs nowhere, and
 * a new one filters as the first did. */
#include "cuda/lab/lab.h"

#include <errno.h>

#include "tests/lib/images.h"

static int filter_once(struct engine *e, const struct frame *in, struct frame *out)
{
    const struct filter f = {.radius = 3, .sigma_space = 1.5, .sigma_color = 20};
    const int r = e->ops->submit(e, in, out, &f);

    return r ? r : e->ops->collect(e);
}

static bool expect(const char *what, int got, int want)
{
    if (got != want)
        printf("FAIL fault: %s: %d, not %d\n", what, got, want);
    return got == want;
}

int lab_fault(void)
{
    const struct engine_config config = {.device = "0"};
    const struct filter copy = {.radius = 0};
    struct frame in = {.format = FRAME_YUYV, .width = 64, .height = 48}, out = in, again = in;
    struct engine *e = NULL;
    struct error err = {.text = ""};
    bool good = frame_alloc(&in) == 0 && frame_alloc(&out) == 0 && frame_alloc(&again) == 0;

    image_fill(&in, IMAGE_NATURAL, 1);
    good = good && expect("create", engine_cuda.create(&e, &config, &err), 0) &&
           expect("filter", filter_once(e, &in, &out), 0);
    if (good) {
        lab_break_device(NULL);
        (void)cudaDeviceSynchronize();
        good = expect("filter on a broken device", filter_once(e, &in, &again), -EIO) &&
               expect("submit to a lost engine", e->ops->submit(e, &in, &out, &copy), -EIO) &&
               expect("collect from it", e->ops->collect(e), -EIO);
    }
    engine_release(e);
    e = NULL;
    good = good && expect("create after it", engine_cuda.create(&e, &config, &err), 0) &&
           expect("filter after it", filter_once(e, &in, &again), 0) &&
           expect("squared difference", (int)frame_squared_error(&again, &out), 0);
    if (good)
        printf("device failure: told at once; filters again: %s\n", e->device);
    else
        printf("%s\n", err.text);
    if (e)
        e->ops->destroy(e);
    frame_free(&again);
    frame_free(&in);
    frame_free(&out);
    return !good;
}
