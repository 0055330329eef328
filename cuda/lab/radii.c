/* From which radius on is the tensor kernel quicker than the half2 kernel? The measurement behind
 * tensor_wins(). */
#include "cuda/lab/lab.h"

#include "cuda/kernel/kernels.h"

static int launch_half2(const void *job, cudaStream_t stream)
{
    return bilateral_errno(half2_launch(job, stream));
}

static int launch_tensor(const void *job, cudaStream_t stream)
{
    return bilateral_errno(tensor_launch(job, stream));
}

static int time_radius(struct lab *lab, const struct device_picture *in,
                       const struct device_picture *out, int radius, enum window_shape window,
                       enum range_kernel range)
{
    const struct filter f = {.radius = radius,
                             .sigma_space = filter_auto_sigma(radius),
                             .sigma_color = 18,
                             .range = range,
                             .window = window};
    struct bilateral_params p;
    double half2, tensor;

    if (bilateral_prepare(&p, &in->frame, &out->frame, &f))
        return 1;
    if (!tensor_suits(&p))
        return 0;
    half2 = lab_time(lab, launch_half2, &p);
    tensor = lab_time(lab, launch_tensor, &p);
    printf("%4dx%-4d %-10s %-6s %2d %10.1f us half2 %10.1f us tensor  %5.2f%s%s\n", p.width,
           p.height, range == RANGE_LORENTZIAN ? "lorentzian" : "gaussian",
           window == WINDOW_DISC ? "disc" : "square", radius, half2, tensor, half2 / tensor,
           tensor_wins(&p) ? "  taken" : "", half2 > 0 && tensor > 0 ? "" : "  FAIL");
    return half2 <= 0 || tensor <= 0;
}

int lab_radii(struct lab *lab, int only)
{
    int failed = 0;

    for (int scale = 1; scale <= 2; scale++) {
        const struct frame like = {
            .format = FRAME_YUYV, .width = 1920 * scale, .height = 1080 * scale};
        struct device_picture in = {0}, out = {0};

        if (picture_alloc(&in, &like) || picture_alloc(&out, &like))
            failed++;
        else
            for (int range = RANGE_GAUSSIAN; range <= RANGE_LORENTZIAN; range++)
                for (int window = WINDOW_SQUARE; window >= WINDOW_DISC; window--)
                    for (int radius = 1; radius <= FILTER_MAX_RADIUS; radius++)
                        if (only == 0 || radius == only)
                            failed += time_radius(lab, &in, &out, radius, (enum window_shape)window,
                                                  (enum range_kernel)range);
        picture_free(&in);
        picture_free(&out);
    }
    printf("SM clock %.3f GHz\n", lab_clock_ghz(lab->stream));
    return failed;
}
