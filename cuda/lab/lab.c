#include "cuda/lab/lab.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "engine/table.h"
#include "tests/lib/images.h"

#define SAMPLES 15              /* timings of which the median counts */
#define FLUSH_BYTES (256 << 20) /* where the size of the cache is not known */
#define SAMPLE_US 1500.0        /* length of one, so that starting and stopping is lost in it */

int picture_alloc(struct device_picture *d, const struct frame *like)
{
    struct frame host = frame_like(like);
    void *memory;
    int r = frame_alloc(&host);

    if (r)
        return r;
    image_fill(&host, IMAGE_NATURAL, 1);
    d->frame = frame_like(like);
    d->size = frame_layout(&d->frame);
    r = bilateral_errno(cudaMalloc(&memory, d->size));
    if (r == 0) {
        frame_attach(&d->frame, memory);
        r = bilateral_errno(cudaMemcpy(memory, host.plane[0], d->size, cudaMemcpyHostToDevice));
    }
    frame_free(&host);
    return r;
}

void picture_free(struct device_picture *d)
{
    (void)cudaFree(d->frame.plane[0]);
}

void picture_fill_rgb(struct frame *f)
{
    image_fill(f, IMAGE_RANDOM, 1);
    for (int c = 0; c < format_table[f->format].components; c++) {
        const struct samples s = frame_samples(f, c);

        for (int y = 0; y < s.height; y++)
            for (int x = 0; x < s.width; x++) {
                uint8_t *const v = &s.base[(size_t)y * s.stride + (size_t)(x * s.step)];

                *v = (uint8_t)(c ? 96 + *v / 4 : 72 + *v * 107 / 255);
            }
    }
}

static int compare_doubles(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

void lab_sort(double *times, int n)
{
    qsort(times, (size_t)n, sizeof(times[0]), compare_doubles);
}

/* Milliseconds that @n launches take, or a negative errno. */
static double time_launches(struct lab *lab, int (*launch)(const void *, cudaStream_t),
                            const void *job, int n)
{
    float ms = 0;
    int r = 0;

    (void)cudaEventRecord(lab->begin, lab->stream);
    for (int i = 0; i < n && r == 0; i++)
        r = launch(job, lab->stream);
    (void)cudaEventRecord(lab->end, lab->stream);
    if (r == 0)
        r = bilateral_errno(cudaEventSynchronize(lab->end));
    if (r == 0)
        r = bilateral_errno(cudaEventElapsedTime(&ms, lab->begin, lab->end));
    return r ? (double)r : (double)ms;
}

double lab_time(struct lab *lab, int (*launch)(const void *job, cudaStream_t stream),
                const void *job)
{
    double ms[SAMPLES] = {0};
    int n = 1;

    (void)time_launches(lab, launch, job, 3);
    ms[0] = time_launches(lab, launch, job, 10);
    if (ms[0] < 0)
        return ms[0];
    n = (int)(SAMPLE_US / (1000.0 * ms[0] / 10)) + 1;
    for (int i = 0; i < SAMPLES; i++) {
        ms[i] = time_launches(lab, launch, job, n);
        if (ms[i] < 0)
            return ms[i];
    }
    lab_sort(ms, SAMPLES);
    return 1000.0 * ms[SAMPLES / 2] / n;
}

/* The time of one launch whose picture has to come from memory; negative on failure. */
static double time_cold_launch(struct lab *lab, int (*launch)(const void *, cudaStream_t),
                               const void *job)
{
    const int r = bilateral_errno(cudaMemsetAsync(lab->flush, 0, lab->flush_bytes, lab->stream));

    return r ? (float)r : time_launches(lab, launch, job, 1);
}

double lab_time_cold(struct lab *lab, int (*launch)(const void *job, cudaStream_t stream),
                     const void *job)
{
    double ms[SAMPLES];

    (void)time_cold_launch(lab, launch, job);
    for (int i = 0; i < SAMPLES; i++) {
        ms[i] = time_cold_launch(lab, launch, job);
        if (ms[i] < 0)
            return ms[i];
    }
    lab_sort(ms, SAMPLES);
    return 1000.0 * ms[SAMPLES / 2];
}

/* Memory that fills the second level cache twice over, so that nothing of a picture is left. */
static int make_flush(struct lab *lab)
{
    int device = 0, bytes = 0, r = bilateral_errno(cudaGetDevice(&device));

    if (r == 0)
        r = bilateral_errno(cudaDeviceGetAttribute(&bytes, cudaDevAttrL2CacheSize, device));
    if (r)
        return r;
    lab->flush_bytes = bytes > 0 ? 2 * (size_t)bytes : FLUSH_BYTES;
    return bilateral_errno(cudaMalloc(&lab->flush, lab->flush_bytes));
}

int lab_open(struct lab *lab)
{
    struct engine *probe = NULL;
    const struct engine_config config = {.device = "0"};
    struct error err;
    int driver = 0, runtime = 0, r = engine_open(&probe, engine_table, "cuda", &config, &err);

    if (r) {
        printf("skipped: %s\n", err.text);
        return 77;
    }
    (void)cudaDriverGetVersion(&driver);
    (void)cudaRuntimeGetVersion(&runtime);
    (void)snprintf(lab->device, sizeof(lab->device), "%s, driver for CUDA %d.%d, runtime %d.%d",
                   probe->device, driver / 1000, driver % 1000 / 10, runtime / 1000,
                   runtime % 1000 / 10);
    printf("%s\n", lab->device);
    probe->ops->destroy(probe);
    r = engine_reference.create(&lab->truth, &config, &err);
    if (r == 0)
        r = bilateral_errno(cudaStreamCreateWithFlags(&lab->stream, cudaStreamNonBlocking));
    for (int i = 0; i < 2 && r == 0; i++)
        r = bilateral_errno(cudaStreamCreateWithFlags(&lab->pair[i], cudaStreamNonBlocking));
    if (r == 0)
        r = bilateral_errno(cudaEventCreate(&lab->begin));
    if (r == 0)
        r = bilateral_errno(cudaEventCreate(&lab->end));
    if (r == 0)
        r = make_flush(lab);
    return r ? 1 : 0;
}

void lab_close(struct lab *lab)
{
    engine_reference.destroy(lab->truth);
    (void)cudaFree(lab->flush); /* accepts NULL */
    if (lab->begin)
        (void)cudaEventDestroy(lab->begin);
    if (lab->end)
        (void)cudaEventDestroy(lab->end);
    if (lab->stream)
        (void)cudaStreamDestroy(lab->stream);
    for (int i = 0; i < 2; i++)
        if (lab->pair[i])
            (void)cudaStreamDestroy(lab->pair[i]);
    if (lab->csv)
        (void)fclose(lab->csv);
}
