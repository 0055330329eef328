/* Several cameras on one GPU: engines side by side, each fed at 30 frames per second. */
#include "lab.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "images.h"

#define MAX_CAMERAS 64
#define FRAMES 90
#define INTERVAL_NS 33333333
#define PAGE 4096

struct camera {
    pthread_t thread;
    int64_t t_start_ns;
    int n_done;
    double us[FRAMES];
};

static void sleep_until(int64_t t_ns)
{
    const struct timespec t = {t_ns / 1000000000, t_ns % 1000000000};

    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL))
        ;
}

static void feed(struct camera *c, struct engine *e, const struct frame *in, struct frame *out)
{
    const struct filter f = {.radius = 5, .sigma_space = filter_auto_sigma(5), .sigma_color = 18};

    for (int i = 0; i < 3; i++) /* the first frames load code and take memory */
        if (e->ops->submit(e, in, out, &f) || e->ops->collect(e))
            return;
    while (c->n_done < FRAMES) {
        int64_t t0;

        sleep_until(c->t_start_ns + (int64_t)c->n_done * INTERVAL_NS);
        t0 = now_ns();
        if (e->ops->submit(e, in, out, &f) || e->ops->collect(e))
            return;
        c->us[c->n_done++] = (double)(now_ns() - t0) / 1000.0;
    }
}

static void *run_camera(void *argument)
{
    const struct engine_config config = {0};
    struct frame in = {.format = FRAME_YUYV, .width = 1920, .height = 1080}, out = in;
    const size_t bytes = (frame_layout(&in) + PAGE - 1) / PAGE * PAGE;
    uint8_t *memory = aligned_alloc(PAGE, 2 * bytes);
    struct engine *e = NULL;
    struct error err;

    (void)frame_layout(&out);
    if (memory && engine_cuda.create(&e, &config, &err) == 0) {
        frame_attach(&in, memory);
        frame_attach(&out, memory + bytes);
        image_fill(&in, IMAGE_NATURAL, 1);
        if (e->ops->pin(e, memory, 2 * bytes) == 0)
            feed(argument, e, &in, &out);
        e->ops->unpin(e, memory);
    }
    engine_cuda.destroy(e);
    free(memory);
    return NULL;
}

static int compare_doubles(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

static int run_cameras(int n)
{
    static struct camera cameras[MAX_CAMERAS];
    static double us[MAX_CAMERAS * FRAMES];
    /* Time for all to be made ready; then their frames come evenly spread. */
    const int64_t t0 = now_ns() + 3000000000 + (int64_t)n * 30000000;
    int started = 0, total = 0;

    for (; started < n; started++) {
        cameras[started] = (struct camera){.t_start_ns = t0 + INTERVAL_NS / n * started};
        if (pthread_create(&cameras[started].thread, NULL, run_camera, &cameras[started]))
            break;
    }
    for (int i = 0; i < started; i++) {
        (void)pthread_join(cameras[i].thread, NULL);
        memcpy(us + total, cameras[i].us, (size_t)cameras[i].n_done * sizeof(us[0]));
        total += cameras[i].n_done;
    }
    if (total < n * FRAMES) {
        printf("FAIL cameras: %d of %d frames\n", total, n * FRAMES);
        return 1;
    }
    qsort(us, (size_t)total, sizeof(us[0]), compare_doubles);
    printf("%2d cameras, 1920x1080 at 30 fps, radius 5, disc: us p50 %8.1f  p99 %8.1f  max %8.1f\n",
           n, us[total / 2], us[total * 99 / 100], us[total - 1]);
    return 0;
}

int lab_cameras(void)
{
    static const int numbers[] = {1, 8, 32, 64};
    int failed = 0;

    for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
        failed += run_cameras(numbers[i]);
    return failed;
}
