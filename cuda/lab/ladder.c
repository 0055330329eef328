/* The ladder: kernels from the plainest to the product's, each checked against the reference and
 * then timed, in one run. */
#include "cuda/lab/lab.h"

#include <errno.h>
#include <string.h>

#include "cuda/kernel/kernels.h"
#include "cuda/lab/npp.h"
#include "tests/lib/images.h"

static int rung_fused_fp32(const struct bilateral_params *p, cudaStream_t stream)
{
    return bilateral_errno(generic_launch(p, stream));
}

static int rung_fused_half2(const struct bilateral_params *p, cudaStream_t stream)
{
    return bilateral_errno(half2_launch(p, stream));
}

static int rung_fused_tensor(const struct bilateral_params *p, cudaStream_t stream)
{
    return tensor_suits(p) ? bilateral_errno(tensor_launch(p, stream)) : -ENOTSUP;
}

static int rung_fused_tensor_f16(const struct bilateral_params *p, cudaStream_t stream)
{
    return tensor_suits(p) ? bilateral_errno(tensor_launch_f16(p, stream)) : -ENOTSUP;
}

static int rung_blur(const struct bilateral_params *p, cudaStream_t stream)
{
    return bilateral_errno(blur_launch(p, stream));
}

static int rung_words(const struct bilateral_params *p, cudaStream_t stream)
{
    return bilateral_errno(words_launch(p, stream));
}

static int rung_words_blur(const struct bilateral_params *p, cudaStream_t stream)
{
    return bilateral_errno(words_blur_launch(p, stream));
}

struct rung {
    const char *name;
    int (*launch)(const struct bilateral_params *p, cudaStream_t stream);
    enum range_kernel range;
    int min_radius, max_radius;
    bool rgb; /* converts to R'G'B' bytes and back */
    enum filter_kind kind;
    enum colour_metric distance;
    enum frame_format format; /* the first of them is YUYV */
    bool peer;                /* NPP's: how it differs is told, and is no failure */
};

#define MAX_DIFFERENCE 2 /* of the image contract */
#define LEAST_PSNR 50.0

static const struct rung rungs[] = {
    {"naive", rung_naive, RANGE_GAUSSIAN, 1, 15, false},
    {"tables in global memory", rung_tables_global, RANGE_GAUSSIAN, 1, 15, false},
    {"tables in shared memory", rung_tables_shared, RANGE_GAUSSIAN, 1, 15, false},
    {"tile in shared memory", rung_tile, RANGE_GAUSSIAN, 1, 15, false},
    {"rgba, halo in block, lorentzian", rung_rgba, RANGE_LORENTZIAN, 1, RGBA_MAX_RADIUS, true},
    {"convert, fp32, convert", rung_separate, RANGE_GAUSSIAN, 1, 15, false},
    {"fused fp32", rung_fused_fp32, RANGE_GAUSSIAN, 1, 32, false},
    {"fused fp32, lorentzian", rung_fused_fp32, RANGE_LORENTZIAN, 1, 32, false},
    {"fused half2", rung_fused_half2, RANGE_GAUSSIAN, 1, 32, false},
    {"fused tensor", rung_fused_tensor, RANGE_GAUSSIAN, 3, 32, false},
    {"fused tensor, f16 form", rung_fused_tensor_f16, RANGE_GAUSSIAN, 3, 32, false},
    {"fused tensor, lorentzian", rung_fused_tensor, RANGE_LORENTZIAN, 3, 32, false},
    {"fused half2, lorentzian", rung_fused_half2, RANGE_LORENTZIAN, 1, 32, false},
    {"fused half2, manhattan", rung_fused_half2, .min_radius = 1, .max_radius = 32,
     .distance = DISTANCE_MANHATTAN},
    {"copy", rung_copy, .kind = FILTER_NONE},
    {"gaussian", rung_blur, .min_radius = 1, .max_radius = 32, .kind = FILTER_GAUSSIAN},
    {"box", rung_blur, .min_radius = 1, .max_radius = 32, .kind = FILTER_BOX},
    {"gaussian, grey", rung_blur, .min_radius = 1, .max_radius = 32, .kind = FILTER_GAUSSIAN,
     .format = FRAME_GREY},
    {"gaussian, grey, NPP", npp_gaussian, .min_radius = 1, .max_radius = 32,
     .kind = FILTER_GAUSSIAN, .format = FRAME_GREY, .peer = true},
    {"box, grey", rung_blur, .min_radius = 1, .max_radius = 32, .kind = FILTER_BOX,
     .format = FRAME_GREY},
    {"box, grey, NPP", npp_box, .min_radius = 1, .max_radius = 32, .kind = FILTER_BOX,
     .format = FRAME_GREY, .peer = true},
    {"fused fp32, grey", rung_fused_fp32, .min_radius = 1, .max_radius = 32, .format = FRAME_GREY},
    {"fused words, grey", rung_words, .min_radius = 1, .max_radius = 32, .format = FRAME_GREY},
    {"bilateral, grey, NPP", npp_bilateral, .min_radius = 1, .max_radius = 32, .format = FRAME_GREY,
     .peer = true},
    {"fused fp32, 444", rung_fused_fp32, .min_radius = 1, .max_radius = 32, .format = FRAME_I444},
    {"fused words, 444", rung_words, .min_radius = 1, .max_radius = 32, .format = FRAME_I444},
    {"fused fp32, 422p", rung_fused_fp32, .min_radius = 1, .max_radius = 32, .format = FRAME_I422},
    {"fused words, 422p", rung_words, .min_radius = 1, .max_radius = 32, .format = FRAME_I422},
    {"fused words, y16", rung_words, .min_radius = 1, .max_radius = 32, .format = FRAME_GREY16},
    {"fused words, y16, lorentzian", rung_words, RANGE_LORENTZIAN, 1, 32, .format = FRAME_GREY16},
    {"gaussian, y16", rung_words_blur, .min_radius = 1, .max_radius = 32, .kind = FILTER_GAUSSIAN,
     .format = FRAME_GREY16},
    {"fused words, 422p16", rung_words, .min_radius = 1, .max_radius = 32, .format = FRAME_I422_16},
    {"gaussian, 422p16", rung_words_blur, .min_radius = 1, .max_radius = 32,
     .kind = FILTER_GAUSSIAN, .format = FRAME_I422_16},
};

struct rung_job {
    const struct rung *rung;
    struct bilateral_params p;
};

static int launch_rung(const void *job, cudaStream_t stream)
{
    const struct rung_job *j = job;

    return j->rung->launch(&j->p, stream);
}

/* How @rung differs from the reference on a small picture. */
static int check_rung(struct lab *lab, const struct rung *rung, const struct filter *f,
                      struct difference *ret)
{
    const struct frame like = {.format = rung->format, .width = 130, .height = 67};
    struct device_picture in = {0}, out = {0};
    struct frame host = frame_like(&like), got = frame_like(&like), want = frame_like(&like);
    struct rung_job job = {.rung = rung};
    int r = frame_alloc(&host) || frame_alloc(&got) || frame_alloc(&want) ? -ENOMEM : 0;

    if (r == 0)
        r = picture_alloc(&in, &like) || picture_alloc(&out, &like) ? -ENOMEM : 0;
    if (r == 0)
        r = bilateral_prepare(&job.p, &in.frame, &out.frame, f);
    if (r == 0) {
        if (rung->rgb)
            picture_fill_rgb(&host);
        else
            image_fill(&host, IMAGE_NATURAL, 1);
        r = bilateral_errno(
            cudaMemcpy(in.frame.plane[0], host.plane[0], in.size, cudaMemcpyHostToDevice));
    }
    if (r == 0) {
        r = engine_reference.submit(lab->truth, &host, &want, f);
        (void)engine_reference.collect(lab->truth);
    }
    if (r == 0)
        r = launch_rung(&job, lab->stream);
    if (r == 0)
        r = bilateral_errno(cudaStreamSynchronize(lab->stream));
    if (r == 0)
        r = bilateral_errno(
            cudaMemcpy(got.plane[0], out.frame.plane[0], out.size, cudaMemcpyDeviceToHost));
    if (r == 0)
        *ret = frame_difference(&got, &want);
    picture_free(&in);
    picture_free(&out);
    frame_free(&host);
    frame_free(&got);
    frame_free(&want);
    return r;
}

/* The pictures that rungs are timed on. */
struct course {
    struct device_picture in, out;
};

static int climb(struct lab *lab, const struct rung *rung, const struct course *course,
                 const struct filter *given)
{
    const int width = course->in.frame.width, height = course->in.frame.height;
    struct rung_job job = {.rung = rung};
    struct filter f = *given;
    struct difference d = {0};
    const double taps = (double)filter_taps(f.window, f.radius) * width * height;
    double us, cold_us;
    bool good;
    int r;

    if (rung->peer && !npp_here())
        return 0;
    f.kind = rung->kind;
    f.range = rung->range;
    f.distance = rung->distance;
    r = check_rung(lab, rung, &f, &d);
    if (rung->peer && r == -ENOTSUP) {
        printf("%-32s %4dx%-4d radius %d is not taken\n", rung->name, width, height, f.radius);
        return 0;
    }
    if (r == 0)
        r = bilateral_prepare(&job.p, &course->in.frame, &course->out.frame, &f);
    us = r ? -1.0 : lab_time(lab, launch_rung, &job);
    cold_us = us < 0.0 ? -1.0 : lab_time_cold(lab, launch_rung, &job);
    good = r == 0 && us > 0.0 && cold_us > 0.0 &&
           (rung->peer || (d.max <= (rung->rgb ? RGBA_MAX_DIFFERENCE : MAX_DIFFERENCE) &&
                           difference_psnr(&d) >= (rung->rgb ? RGBA_LEAST_PSNR : LEAST_PSNR)));
    printf("%-32s %4dx%-4d %-6s %2d %10.1f us %10.1f us cold %7.0f Gtaps/s  max %d  %6.1f dB%s\n",
           rung->name, width, height, f.window == WINDOW_DISC ? "disc" : "square", f.radius, us,
           cold_us, taps / us / 1000.0, d.max, difference_psnr(&d), good ? "" : "  FAIL");
    if (lab->csv)
        fprintf(lab->csv, "\"%s\",%d,%d,%s,%d,%.2f,%.0f,%d,%.1f,%.3f,%.2f,\"%s\"\n", rung->name,
                width, height, f.window == WINDOW_DISC ? "disc" : "square", f.radius, us,
                taps / us * 1e6, d.max, difference_psnr(&d), lab->clock_ghz, cold_us, lab->device);
    return !good;
}

/* @quick_only leaves out the rungs that are slow on large pictures. */
static int climb_radii(struct lab *lab, const struct rung *rung, const struct course *course,
                       bool quick_only)
{
    static const int radii[] = {0, 1, 2, 3, 4, 5, 7, 10, 15, 16, 20, 32};
    const bool fused = !strncmp(rung->name, "fused", 5);
    int failed = 0;

    if (quick_only && !fused && !rung->rgb && !rung->peer && rung->kind == FILTER_BILATERAL)
        return 0;
    for (size_t i = 0; i < sizeof(radii) / sizeof(radii[0]); i++) {
        struct filter f = {.radius = radii[i],
                           .sigma_space = filter_auto_sigma(radii[i]),
                           .sigma_color = 18,
                           .window = WINDOW_SQUARE};

        if (radii[i] < rung->min_radius || radii[i] > rung->max_radius)
            continue;
        lab->clock_ghz = lab_clock_ghz(lab->stream);
        failed += climb(lab, rung, course, &f);
        if (rung->rgb)
            failed += lab_pipeline(lab, &course->in.frame, radii[i]);
        f.window = WINDOW_DISC;
        if (fused)
            failed += climb(lab, rung, course, &f);
    }
    return failed;
}

static int course_open(struct course *course, enum frame_format format, int scale)
{
    const struct frame like = {.format = format, .width = 1920 * scale, .height = 1080 * scale};

    return picture_alloc(&course->in, &like) || picture_alloc(&course->out, &like);
}

static void course_close(struct course *course)
{
    picture_free(&course->in);
    picture_free(&course->out);
    *course = (struct course){0};
}

/* The rungs whose names contain @only. */
static int climb_all(struct lab *lab, int scale, const char *only)
{
    struct course course = {0};
    int failed = 0;

    for (size_t k = 0; k < sizeof(rungs) / sizeof(rungs[0]); k++) {
        if (!strstr(rungs[k].name, only))
            continue;
        if (course.in.size && course.in.frame.format != rungs[k].format)
            course_close(&course);
        if (!course.in.size && course_open(&course, rungs[k].format, scale)) {
            course_close(&course);
            failed++;
            continue;
        }
        failed += climb_radii(lab, &rungs[k], &course, scale > 1);
    }
    course_close(&course);
    return failed;
}

int lab_ladder(struct lab *lab, const char *only)
{
    int failed = 0;

    if (lab->csv)
        fprintf(lab->csv, "rung,width,height,window,radius,us,taps_per_s,max_difference,psnr_db,"
                          "sm_ghz,cold_us,device\n");
    for (int scale = 1; scale <= 2; scale++)
        failed += climb_all(lab, scale, only);
    printf("SM clock %.3f GHz\n", lab->clock_ghz);
    return failed;
}
