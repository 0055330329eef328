/* How long a JPEG of a camera is on its way through the program:
 *
 *     bench-mjpg [ENGINE [ROUNDS]]     default auto and 60
 *
 * 1920x1080 at quality 85, 4:2:2 and 4:2:0, without restart markers and with one after each row
 * of blocks. In turn, and in milliseconds of wall time, the median of all rounds:
 *
 *   alone     libturbojpeg decodes it to planes, on one thread
 *   fast      the same with its less accurate cosine transform; dB is between the two pictures
 *   check     jpeg_is_whole(), which is the first part of decoding on the GPU
 *   decode    mjpeg_decode() with as many threads as there are processors, or on the GPU where the
 *             engine's has nvJPEG; from here on it is
 *   engine    what is between the camera's frame and the written one: the engine, with radius 5
 *             and frames by themselves,
 *   convert   YUYV of what it gives, by two threads,
 *   write     and that written to a file in memory, as to a virtual camera
 *   way       these four
 *
 * The last column is way / alone. The table is Markdown. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <turbojpeg.h>
#include <unistd.h>

#include "base/thread.h"
#include "base/workers.h"
#include "engine/engine.h"
#include "engine/table.h"
#include "picture/convert.h"
#include "picture/jpeg_whole.h"
#include "tests/lib/images.h"
#include "tests/lib/restarts.h"

enum { WIDTH = 1920, HEIGHT = 1080, QUALITY = 85, MAX_ROUNDS = 1000, PAGE = 4096 };
enum { ALONE, FAST, CHECK, DECODE, ENGINE, CONVERT, WRITE, WAY, N_STEPS };

struct bench {
    tjhandle handle;
    struct mjpeg *mjpeg;
    struct engine *engine;
    struct workers *workers;
    struct filter filter;
    struct frame jpeg, picture, fast, filtered, yuyv;
    int file, subsamp;
    double ms[N_STEPS][MAX_ROUNDS];
};

static void die(const char *what)
{
    (void)fprintf(stderr, "bench-mjpg: %s\n", what);
    exit(1);
}

static double now_ms(void)
{
    struct timespec t;

    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static struct frame make(enum frame_format format)
{
    struct frame f = {
        .format = format, .width = WIDTH, .height = HEIGHT, .colour = {COLOUR_BT601, COLOUR_FULL}};

    if (frame_alloc(&f))
        die("no memory");
    return f;
}

/* As the slots of the pipeline are. */
static struct frame make_pinned(struct engine *e, enum frame_format format)
{
    struct frame f = {
        .format = format, .width = WIDTH, .height = HEIGHT, .colour = {COLOUR_BT601, COLOUR_FULL}};
    const size_t bytes = (frame_layout(&f) + PAGE - 1) / PAGE * PAGE;
    uint8_t *memory = aligned_alloc(PAGE, bytes);

    if (!memory || e->ops->pin(e, memory, bytes))
        die("no memory that the engine can pin");
    frame_attach(&f, memory);
    return f;
}

/* As cameras send it. */
static void make_jpeg(struct bench *b, int subsamp, bool restarts)
{
    const enum frame_format format = subsamp == TJSAMP_422 ? FRAME_I422 : FRAME_I420;
    struct frame f = make(format);
    const tjhandle handle = tjInitCompress();
    const unsigned char *planes[3] = {f.plane[0], f.plane[1], f.plane[2]};
    const int strides[3] = {(int)f.stride[0], (int)f.stride[1], (int)f.stride[2]};
    unsigned char *bytes = NULL;
    unsigned long size = 0;

    image_fill(&f, IMAGE_NATURAL, 7);
    if (handle)
        jpeg_set_restarts(handle, restarts ? "1" : NULL);
    if (!handle || tjCompressFromYUVPlanes(handle, planes, WIDTH, strides, HEIGHT, subsamp, &bytes,
                                           &size, QUALITY, 0))
        die("no JPEG");
    (void)tjDestroy(handle);
    frame_free(&f);
    tjFree(b->jpeg.plane[0]);
    b->jpeg = (struct frame){
        .format = FRAME_MJPG, .width = WIDTH, .height = HEIGHT, .plane = {bytes}, .bytes = size};
}

/* As mjpeg.c does it: 4:2:0 goes to every other row of chroma. */
static void decode_alone(struct bench *b, struct frame *to, int subsamp, int flags)
{
    const int rows = subsamp == TJSAMP_420 ? 2 : 1;
    unsigned char *planes[3] = {to->plane[0], to->plane[1], to->plane[2]};
    int strides[3] = {(int)to->stride[0], (int)to->stride[1] * rows, (int)to->stride[2] * rows};

    if (tjDecompressToYUVPlanes(b->handle, b->jpeg.plane[0], (unsigned long)b->jpeg.bytes, planes,
                                WIDTH, strides, HEIGHT, flags))
        die(tjGetErrorStr2(b->handle));
}

static void decode_ours(struct bench *b)
{
    struct error err;

    if (mjpeg_decode(b->mjpeg, &b->jpeg, &b->picture, &err))
        die(err.text);
}

static void filter_picture(struct bench *b)
{
    if (b->engine->ops->submit(b->engine, &b->picture, &b->filtered, &b->filter) ||
        b->engine->ops->collect(b->engine))
        die("the engine failed");
}

static void write_frame(struct bench *b)
{
    const size_t bytes = b->yuyv.stride[0] * HEIGHT;

    if (pwrite(b->file, b->yuyv.plane[0], bytes, 0) != (ssize_t)bytes)
        die("cannot write");
}

/* Notes in @ms how long each step took. */
static void go_all_the_way(struct bench *b, double ms[N_STEPS])
{
    double t[N_STEPS];

    t[ALONE] = now_ms();
    decode_alone(b, &b->picture, b->subsamp, 0);
    t[FAST] = now_ms();
    decode_alone(b, &b->fast, b->subsamp, TJFLAG_FASTDCT);
    t[CHECK] = now_ms();
    if (!jpeg_is_whole(b->jpeg.plane[0], b->jpeg.bytes))
        die("the JPEG is not whole");
    t[DECODE] = now_ms();
    decode_ours(b);
    t[ENGINE] = now_ms();
    filter_picture(b);
    t[CONVERT] = now_ms();
    convert_frame_by(b->workers, &b->yuyv, &b->filtered);
    t[WRITE] = now_ms();
    write_frame(b);
    t[WAY] = now_ms();
    for (int i = 0; i < WAY; i++)
        ms[i] = t[i + 1] - t[i];
    ms[WAY] = t[WAY] - t[DECODE];
}

static int compare(const void *a, const void *b)
{
    const double *x = a, *y = b;

    return (*x > *y) - (*x < *y);
}

static double median(double *ms, int n)
{
    qsort(ms, (size_t)n, sizeof(ms[0]), compare);
    return ms[n / 2];
}

static void double_chroma_rows(struct frame *f)
{
    for (int c = 1; c < 3; c++)
        for (int y = 1; y < HEIGHT; y += 2)
            memcpy(f->plane[c] + (size_t)y * f->stride[c],
                   f->plane[c] + (size_t)(y - 1) * f->stride[c], WIDTH / 2);
}

/* How the accurate and the fast decoding differ. */
static struct difference compare_pictures(struct bench *b)
{
    decode_alone(b, &b->picture, b->subsamp, 0);
    decode_alone(b, &b->fast, b->subsamp, TJFLAG_FASTDCT);
    if (b->subsamp == TJSAMP_420) {
        double_chroma_rows(&b->picture);
        double_chroma_rows(&b->fast);
    }
    return frame_difference(&b->picture, &b->fast);
}

static void run(struct bench *b, int subsamp, bool restarts, int n_rounds)
{
    struct difference d;
    double round[N_STEPS], ms[N_STEPS];

    b->subsamp = subsamp;
    make_jpeg(b, subsamp, restarts);
    for (int i = -3; i < n_rounds; i++) { /* the first are not counted */
        go_all_the_way(b, round);
        for (int step = 0; i >= 0 && step < N_STEPS; step++)
            b->ms[step][i] = round[step];
    }
    for (int i = 0; i < N_STEPS; i++)
        ms[i] = median(b->ms[i], n_rounds);
    d = compare_pictures(b);
    printf("| %s, %s | %zu | %.2f | %.2f (%.1f dB, %d) | %.2f | %.2f | %.2f | %.2f | %.2f | %.2f | "
           "%.2f |\n",
           subsamp == TJSAMP_422 ? "4:2:2" : "4:2:0", restarts ? "restarts" : "none",
           b->jpeg.bytes / 1000, ms[ALONE], ms[FAST], difference_psnr(&d), d.max, ms[CHECK],
           ms[DECODE], ms[ENGINE], ms[CONVERT], ms[WRITE], ms[WAY], ms[WAY] / ms[ALONE]);
}

int main(int argc, char **argv)
{
    static struct bench b;
    const char *engine = argc > 1 ? argv[1] : "auto";
    const int n_rounds = argc > 2 ? atoi(argv[2]) : 60, n_threads = online_cpus();
    const struct engine_config config = {0};
    struct error err;

    if (n_rounds < 1 || n_rounds > MAX_ROUNDS)
        die("rounds are 1 to 1000");
    if (engine_open(&b.engine, engine_table, engine, &config, &err))
        die(err.text);
    b.filter = (struct filter){
        .radius = 5, .sigma_space = 3.0, .sigma_color = 18.0, .window = WINDOW_DISC, .temporal = 1};
    b.handle = tjInitDecompress();
    b.file = memfd_create("frame", MFD_CLOEXEC);
    if (!b.handle || b.file < 0 || mjpeg_create(&b.mjpeg, n_threads, b.engine->ops->jpegs) ||
        workers_create(&b.workers, "convert", n_threads > 1 ? 2 : 1))
        die("no memory");
    b.fast = make(FRAME_I422);
    b.picture = make_pinned(b.engine, FRAME_I422);
    b.filtered = make_pinned(b.engine, FRAME_I422);
    b.yuyv = make(FRAME_YUYV);
    printf("%s: %s, %d processors\n\n", b.engine->ops->name, b.engine->device, n_threads);
    printf("| JPEG | kB | alone | fast | check | decode | engine | convert | write | way | way / "
           "alone |\n"
           "| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |\n");
    for (int restarts = 0; restarts < 2; restarts++) {
        run(&b, TJSAMP_422, restarts, n_rounds);
        run(&b, TJSAMP_420, restarts, n_rounds);
    }
    return 0;
}
