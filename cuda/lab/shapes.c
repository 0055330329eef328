/* Which block shape of the half2 kernel suits which radius: the measurement behind the rule in
 * half2.cu. */
#include "cuda/lab/lab.h"

#include "cuda/kernel/kernels.h"

static int launch_shape(const void *job, cudaStream_t stream)
{
    return bilateral_errno(half2_launch(job, stream));
}

static const int warps[] = {1, 2, 3, 4, 5, 6, 7, 8};
#define N_WARPS (int)(sizeof(warps) / sizeof(warps[0]))

static int time_shapes(struct lab *lab, const struct frame *like, struct filter *filter)
{
    struct device_picture in, out;
    struct bilateral_params p;
    int r = picture_alloc(&in, like);

    if (r == 0)
        r = picture_alloc(&out, like);
    if (r == 0)
        r = bilateral_prepare(&p, &in.frame, &out.frame, filter);
    if (r)
        return 1;
    printf("%4dx%-4d %-6s %-10s %2d ", like->width, like->height,
           filter->window == WINDOW_DISC ? "disc" : "square",
           filter->range == RANGE_GAUSSIAN ? "gaussian" : "lorentzian", filter->radius);
    for (int i = 0; i < N_WARPS; i++) {
        p.warps = warps[i];
        printf(" %8.1f", lab_time(lab, launch_shape, &p));
    }
    printf("\n");
    picture_free(&in);
    picture_free(&out);
    return 0;
}

int lab_shapes(struct lab *lab)
{
    static const int radii[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 15, 16, 17, 24, 32};
    int failed = 0;

    printf("us by warps per block                ");
    for (int i = 0; i < N_WARPS; i++)
        printf(" %8d", warps[i]);
    printf("\n");
    for (int scale = 1; scale <= 2; scale++)
        for (int window = 1; window >= 0; window--)
            for (int range = 0; range < 2; range++)
                for (size_t i = 0; i < sizeof(radii) / sizeof(radii[0]); i++) {
                    const struct frame like = {
                        .format = FRAME_YUYV, .width = 1920 * scale, .height = 1080 * scale};
                    struct filter filter = {.radius = radii[i],
                                            .sigma_space = filter_auto_sigma(radii[i]),
                                            .sigma_color = 18,
                                            .range = (enum range_kernel)range,
                                            .window = (enum window_shape)window};

                    if (range == 1 && (scale == 2 || window == WINDOW_DISC))
                        continue;
                    failed += time_shapes(lab, &like, &filter);
                }
    printf("SM clock %.3f GHz\n", lab_clock_ghz(lab->stream));
    return failed;
}
