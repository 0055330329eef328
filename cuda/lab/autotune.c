/* Block shapes as the engine chooses them: measured on the first run, read on the second, never
 * with other pixels than without, and what the engine gains by them. */
#include "cuda/lab/lab.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "cuda/autotune.h"
#include "cuda/strips.h"

/* The bound of autotune.c, and a launch that it could not foresee. */
#define MOST_NS (300 * NS_PER_MS)

/* A picture on the device, and what launches make of it. */
struct subject {
    struct device_picture in, out;
    struct bilateral_params p;
    uint8_t *by_rule, *tuned;
};

static void subject_close(struct subject *s)
{
    picture_free(&s->in);
    picture_free(&s->out);
    free(s->by_rule);
    free(s->tuned);
}

static int subject_open(struct subject *s, const struct frame *like, const struct filter *f)
{
    int r = picture_alloc(&s->in, like);

    if (r == 0)
        r = picture_alloc(&s->out, like);
    if (r == 0)
        r = bilateral_prepare(&s->p, &s->in.frame, &s->out.frame, f);
    s->by_rule = malloc(s->out.size);
    s->tuned = malloc(s->out.size);
    return r || (s->by_rule && s->tuned) ? r : -ENOMEM;
}

static int result_of(struct lab *lab, const struct subject *s, const struct bilateral_params *p,
                     uint8_t *ret)
{
    const size_t size = s->out.size;
    uint8_t *const device = s->out.frame.plane[0];
    int r = bilateral_errno(cudaMemsetAsync(device, 99, size, lab->stream));

    if (r == 0)
        r = bilateral_launch(p, lab->stream);
    if (r == 0)
        r = bilateral_errno(
            cudaMemcpyAsync(ret, device, size, cudaMemcpyDeviceToHost, lab->stream));
    return r ? r : bilateral_errno(cudaStreamSynchronize(lab->stream));
}

static int compare_pixels(struct lab *lab, struct subject *s, struct autotune *a, int rows)
{
    int failed = 0;

    for (int i = 0; i < SHAPE_CLASSES; i++) {
        struct bilateral_params by_rule = s->p, tuned;

        by_rule.radius = shape_class_radius(i);
        tuned = by_rule;
        if (autotune_choose(a, &tuned, rows, lab->pair) ||
            result_of(lab, s, &by_rule, s->by_rule) || result_of(lab, s, &tuned, s->tuned) ||
            memcmp(s->by_rule, s->tuned, s->out.size)) {
            printf("FAIL autotune: %dx%d radius %d: other pixels with %d warps\n", s->p.width,
                   s->p.height, by_rule.radius, tuned.warps);
            failed++;
        }
    }
    return failed;
}

/* Launches of @rows rows, on a first run and on a second one. */
static int compare_runs(struct lab *lab, struct subject *s, const char *device, int rows)
{
    static struct autotune first, second;
    struct bilateral_params p = s->p;
    int failed = 0;

    autotune_init(&first, true, device);
    if (autotune_choose(&first, &p, rows, lab->pair)) {
        printf("FAIL autotune: %dx%d cannot be measured\n", p.width, rows);
        return 1;
    }
    failed += compare_pixels(lab, s, &first, rows);
    failed += first.measured_ns == 0 || first.measured_ns > MOST_NS;
    autotune_init(&second, true, device);
    failed += autotune_choose(&second, &p, rows, lab->pair) != 0 || second.measured_ns != 0 ||
              memcmp(shape_find(&first.table, p.width, rows),
                     shape_find(&second.table, p.width, rows), sizeof(struct shape)) != 0;
    printf("%4dx%-4d by %4d rows: first run measured for %.1f ms, second for %.1f ms%s\n", p.width,
           p.height, rows, (double)first.measured_ns / 1e6, (double)second.measured_ns / 1e6,
           failed ? "  FAIL" : "");
    printf("  radius to / rule / warps:");
    for (int i = 0; i < SHAPE_CLASSES; i++) {
        p.radius = shape_class_radius(i);
        p.row_end = rows;
        printf("  %d / %d / %d", p.radius, bilateral_rule(&p),
               shape_find(&first.table, p.width, rows)->warps[i]);
    }
    printf("\n");
    return failed;
}

/* The best of several turns of the engine @e. */
static int take_turn(struct engine *e, const struct frame *like, const struct filter *f,
                     struct times *best)
{
    struct times t;
    const int r = lab_times(e, like, f, f->radius > 16 ? 20 : 100, &t);

    if (r == 0) {
        best->p50 = fmin(best->p50, t.p50);
        best->sustained = fmin(best->sustained, t.sustained);
    }
    return r;
}

/* The engine by the rule, and with the shapes that are kept by now. */
static int compare_engines(const struct frame *like)
{
    const struct engine_config configs[2] = {{.device = "0"}, {.device = "0", .autotune = true}};
    struct engine *engines[2] = {NULL, NULL};
    struct error err;
    int r = 0;

    for (int k = 0; k < 2 && r == 0; k++)
        r = engine_cuda.create(&engines[k], &configs[k], &err);
    for (int i = 0; i < SHAPE_CLASSES && r == 0; i++) {
        const int radius = shape_class_radius(i);
        const struct filter f = {
            .radius = radius, .sigma_space = filter_auto_sigma(radius), .sigma_color = 18};
        struct times us[2] = {{.p50 = INFINITY, .sustained = INFINITY},
                              {.p50 = INFINITY, .sustained = INFINITY}};

        for (int turn = 0; turn < 4 && r == 0; turn++)
            r = take_turn(engines[turn % 2], like, &f, &us[turn % 2]);
        printf("%4dx%-4d radius %2d: us by rule, tuned: latency %8.1f %8.1f, sustained %8.1f "
               "%8.1f%s\n",
               like->width, like->height, radius, us[0].p50, us[1].p50, us[0].sustained,
               us[1].sustained, r ? "  FAIL" : "");
    }
    for (int k = 0; k < 2; k++)
        engine_cuda.destroy(engines[k]);
    return r != 0;
}

static int tune(struct lab *lab, const struct frame *like, const char *device)
{
    const struct filter f = {.radius = 5, .sigma_space = filter_auto_sigma(5), .sigma_color = 18};
    struct subject s = {0};
    int failed = subject_open(&s, like, &f) != 0;

    if (!failed) {
        failed += compare_runs(lab, &s, device, like->height);
        failed += compare_runs(lab, &s, device, strips_rows(like->height));
    }
    subject_close(&s);
    return failed ? failed : compare_engines(like);
}

static void remove_cache(const char *folder)
{
    char path[128];

    (void)snprintf(path, sizeof(path), "%s/bilatcam/cuda-shapes", folder);
    (void)unlink(path);
    (void)snprintf(path, sizeof(path), "%s/bilatcam", folder);
    (void)rmdir(path);
    (void)rmdir(folder);
}

int lab_autotune(struct lab *lab)
{
    static const int sizes[][2] = {{1280, 720}, {1920, 1080}, {3840, 2160}};
    char folder[] = "/tmp/bilatcam-lab.XXXXXX", device[128];
    struct error err;
    int failed = 0;

    if (!mkdtemp(folder) || setenv("XDG_CACHE_HOME", folder, 1) ||
        engine_cuda.probe("", device, sizeof(device), &err)) {
        printf("FAIL autotune: no temporary folder, or no GPU\n");
        return 1;
    }
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        const struct frame like = {
            .format = FRAME_YUYV, .width = sizes[i][0], .height = sizes[i][1]};

        failed += tune(lab, &like, device);
    }
    printf("SM clock %.3f GHz\n", lab_clock_ghz(lab->stream));
    remove_cache(folder);
    return failed;
}
