/* MJPG frames to planes, by a device that can or through libturbojpeg. A 4:2:0 JPEG is decoded to
 * every other chroma row of the 4:2:2 picture, so that it needs no second buffer. The device gets
 * only JPEGs that are whole. One that can be cut is decoded on several threads; where anything is
 * wrong with it, it is decoded as a whole. */
#include "picture/convert.h"

#include "config-build.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#ifdef HAVE_MJPEG
#include <turbojpeg.h>

#include "base/workers.h"
#include "picture/jpeg_layout.h"
#include "picture/jpeg_slices.h"
#include "picture/jpeg_whole.h"

/* So many frames are decoded as a whole after one whose slices were damaged: some cameras put stray
 * bytes into each, which are no damage then. */
#define FRAMES_WHOLE 100

/* And so many on the CPU after one that the device did not decode. */
#define FRAMES_ON_CPU 100

/* One thread's. */
struct slice_decoder {
    tjhandle handle;
    uint8_t *jpeg; /* one slice */
    size_t size;
};

struct mjpeg {
    tjhandle handle;
    const struct jpeg_device *device; /* NULL: none */
    int n_on_cpu;                     /* frames to come that are not for it */
    uint8_t *completed;               /* a JPEG for it; or NULL */
    size_t completed_size;
    uint8_t *spare_planes; /* of JPEGs that cannot be decoded in place */
    size_t spare_size;
    int n_threads;
    struct workers *workers; /* NULL until a JPEG can be cut */
    int n_whole;             /* frames to come that are not cut */
    struct slice_decoder decoder[JPEG_SLICES_MAX];
};

/* The JPEG at work, and where it goes. */
struct slices_job {
    struct mjpeg *mjpeg;
    const uint8_t *jpeg;
    struct jpeg_slices slices;
    unsigned char *const *planes;
    int *strides;
    int width, subsamp;
    bool whole[JPEG_SLICES_MAX];
};

int mjpeg_create(struct mjpeg **ret, int n_threads, const struct jpeg_device *device)
{
    struct mjpeg *m = calloc(1, sizeof(*m));

    if (!m)
        return -ENOMEM;
    m->device = device;
    m->n_threads = n_threads < JPEG_SLICES_MAX ? n_threads : JPEG_SLICES_MAX;
    m->handle = tjInitDecompress();
    if (!m->handle) {
        free(m);
        return -ENOMEM;
    }
    *ret = m;
    return 0;
}

void mjpeg_destroy(struct mjpeg *m)
{
    if (!m)
        return;
    workers_destroy(m->workers);
    for (int i = 0; i < JPEG_SLICES_MAX; i++) {
        if (m->decoder[i].handle)
            (void)tjDestroy(m->decoder[i].handle);
        free(m->decoder[i].jpeg);
    }
    (void)tjDestroy(m->handle);
    free(m->spare_planes);
    free(m->completed);
    free(m);
}

static bool slice_decoder_prepare(struct slice_decoder *d, size_t size)
{
    if (size > d->size) {
        uint8_t *jpeg = realloc(d->jpeg, size);

        if (!jpeg)
            return false;
        d->jpeg = jpeg;
        d->size = size;
    }
    if (!d->handle)
        d->handle = tjInitDecompress();
    return d->handle;
}

/* Whether the library finds in the header of a slice what was found when it was cut: nothing is
 * written where no slice is. */
static bool slice_is_as_cut(const struct slice_decoder *d, size_t size,
                            const struct slices_job *job, const struct jpeg_slice *slice)
{
    int width, height, subsamp, space;

    return !tjDecompressHeader3(d->handle, d->jpeg, (unsigned long)size, &width, &height, &subsamp,
                                &space) &&
           width == job->width && height == slice->height && subsamp == job->subsamp;
}

static void decode_slice(void *arg, int worker, int i)
{
    struct slices_job *job = arg;
    struct slice_decoder *d = &job->mjpeg->decoder[worker];
    const struct jpeg_slice *slice = &job->slices.slice[i];
    const size_t size = jpeg_slices_size(&job->slices, i);
    unsigned char *planes[3];

    if (!slice_decoder_prepare(d, size))
        return;
    jpeg_slices_write(&job->slices, i, job->jpeg, d->jpeg);
    if (!slice_is_as_cut(d, size, job, slice))
        return;
    for (int c = 0; c < 3; c++) {
        const int rows = slice->y ? tjPlaneHeight(c, slice->y, job->subsamp) : 0;

        planes[c] = job->planes[c] + (size_t)rows * (size_t)job->strides[c];
    }
    job->whole[i] = !tjDecompressToYUVPlanes(d->handle, d->jpeg, (unsigned long)size, planes,
                                             job->width, job->strides, slice->height, 0);
}

static bool can_be_cut(const struct mjpeg *m, const struct frame *src, int height,
                       struct jpeg_slices *ret)
{
    const struct jpeg_slice *last;

    if (m->n_threads < 2 || m->n_whole ||
        jpeg_slices_find(ret, src->plane[0], src->bytes, m->n_threads))
        return false;
    last = &ret->slice[ret->n - 1];
    return last->y + last->height == height;
}

/* False: it has to be decoded as a whole. */
static bool decode_slices(struct mjpeg *m, const struct frame *src, unsigned char *planes[3],
                          int strides[3], const struct frame *dst, int subsamp)
{
    struct slices_job job = {.mjpeg = m,
                             .jpeg = src->plane[0],
                             .planes = planes,
                             .strides = strides,
                             .width = dst->width,
                             .subsamp = subsamp};
    bool whole = true;

    if (!can_be_cut(m, src, dst->height, &job.slices)) {
        m->n_whole -= m->n_whole > 0;
        return false;
    }
    if (!m->workers && workers_create(&m->workers, "decode", m->n_threads)) {
        m->n_threads = 1;
        return false;
    }
    workers_run(m->workers, decode_slice, &job, job.slices.n);
    for (int i = 0; i < job.slices.n; i++)
        whole = whole && job.whole[i];
    m->n_whole = whole ? 0 : FRAMES_WHOLE;
    return whole;
}

/* Has @jpeg be as devices want it: with tables. */
static bool complete_tables(struct mjpeg *m, const uint8_t **jpeg, size_t *size)
{
    struct jpeg_layout l;

    if (jpeg_layout_read(&l, *jpeg, *size) || l.has_tables)
        return true;
    if (*size + JPEG_TABLES_BYTES > m->completed_size) {
        uint8_t *more = realloc(m->completed, *size + JPEG_TABLES_BYTES);

        if (!more)
            return false;
        m->completed = more;
        m->completed_size = *size + JPEG_TABLES_BYTES;
    }
    jpeg_add_tables(&l, *jpeg, *size, m->completed);
    *jpeg = m->completed;
    *size += JPEG_TABLES_BYTES;
    return true;
}

/* Planes elsewhere than on the CPU. False: it has to be decoded here. */
static bool decode_on_device(struct mjpeg *m, const struct frame *src, unsigned char *planes[3],
                             const int strides[3], const struct frame *dst, int subsamp)
{
    const uint8_t *jpeg = src->plane[0];
    size_t size = src->bytes;
    struct jpeg_planes to;
    int r;

    if (!m->device || m->n_on_cpu || subsamp == TJSAMP_GRAY) {
        m->n_on_cpu -= m->n_on_cpu > 0;
        return false;
    }
    for (int c = 0; c < 3; c++)
        to.plane[c] = (struct jpeg_plane){
            .base = planes[c],
            .stride = (size_t)strides[c],
            .width = tjPlaneWidth(c, dst->width, subsamp),
            .rows = tjPlaneHeight(c, dst->height, subsamp),
        };
    if (!m->device->ready() || !jpeg_is_whole(jpeg, size) || !complete_tables(m, &jpeg, &size))
        return false;
    r = m->device->decode(jpeg, size, &to);
    if (r && r != -ENODEV)
        m->n_on_cpu = FRAMES_ON_CPU;
    return r == 0;
}

/* Whether all is there beside the stray bytes that the decoder warned of; it tells no more than its
 * first warning. What cannot be told is not held against it. */
static bool has_all_blocks(const struct frame *src)
{
    struct jpeg_layout l;

    return jpeg_layout_read(&l, src->plane[0], src->bytes) ||
           jpeg_is_whole(src->plane[0], src->bytes);
}

static int decode(struct mjpeg *m, const struct frame *src, unsigned char *planes[3],
                  int strides[3], const struct frame *dst, int subsamp, struct error *err)
{
    if (decode_on_device(m, src, planes, strides, dst, subsamp) ||
        decode_slices(m, src, planes, strides, dst, subsamp) ||
        !tjDecompressToYUVPlanes(m->handle, src->plane[0], (unsigned long)src->bytes, planes,
                                 dst->width, strides, dst->height, 0))
        return 0;
    /* A cut JPEG decodes with a warning, its rest grey: such a picture is not shown. Stray bytes
     * between whole segments do no harm, and some cameras put them into every frame. */
    if (tjGetErrorCode(m->handle) == TJERR_WARNING &&
        strstr(tjGetErrorStr2(m->handle), "extraneous bytes") && has_all_blocks(src))
        return 0;
    return error_set(err, -EBADMSG, "damaged JPEG: %s", tjGetErrorStr2(m->handle));
}

static void grey_chroma(struct frame *dst)
{
    for (int c = 1; c < 3; c++)
        for (int y = 0; y < dst->height; y++)
            memset(dst->plane[c] + (size_t)y * dst->stride[c], 128, (size_t)dst->width / 2);
}

static void double_chroma_rows(struct frame *dst)
{
    for (int c = 1; c < 3; c++)
        for (int y = 1; y < dst->height; y += 2)
            memcpy(dst->plane[c] + (size_t)y * dst->stride[c],
                   dst->plane[c] + (size_t)(y - 1) * dst->stride[c], (size_t)dst->width / 2);
}

/* Decodes to planes of their own, as wide and high as libturbojpeg wants them, and takes for each
 * sample of @dst the nearest: for rare subsamplings, and for heights that are not whole blocks. */
static int decode_apart(struct mjpeg *m, const struct frame *src, struct frame *dst, int subsamp,
                        struct error *err)
{
    unsigned char *planes[3];
    int strides[3], rows[3], r;
    size_t size = 0;

    for (int c = 0; c < 3; c++) {
        strides[c] = tjPlaneWidth(c, dst->width, subsamp);
        rows[c] = tjPlaneHeight(c, dst->height, subsamp);
        size += (size_t)strides[c] * (size_t)rows[c];
    }
    if (size > m->spare_size) {
        uint8_t *spare = realloc(m->spare_planes, size);

        if (!spare)
            return error_set(err, -ENOMEM, "out of memory for a JPEG");
        m->spare_planes = spare;
        m->spare_size = size;
    }
    planes[0] = m->spare_planes;
    planes[1] = planes[0] + (size_t)strides[0] * (size_t)rows[0];
    planes[2] = planes[1] + (size_t)strides[1] * (size_t)rows[1];
    r = decode(m, src, planes, strides, dst, subsamp, err);
    if (r)
        return r;
    for (int c = 0; c < 3; c++) {
        const int width = c ? dst->width / 2 : dst->width;
        /* Luma samples to a sample of the decoded plane, and to one of @dst. */
        const int from_h = (dst->width + strides[c] - 1) / strides[c], to_h = c ? 2 : 1;
        const int from_v = (dst->height + rows[c] - 1) / rows[c];

        for (int y = 0; y < dst->height; y++) {
            const uint8_t *from = planes[c] + (size_t)(y / from_v) * (size_t)strides[c];
            uint8_t *to = dst->plane[c] + (size_t)y * dst->stride[c];

            for (int x = 0; x < width; x++)
                to[x] = from[x * to_h / from_h];
        }
    }
    return 0;
}

/* The planes that libturbojpeg writes are padded to whole blocks of the subsampling. */
static bool fits_in_place(const struct frame *dst, int subsamp)
{
    return (subsamp == TJSAMP_422 || subsamp == TJSAMP_420) &&
           tjPlaneHeight(0, dst->height, subsamp) == dst->height;
}

static int check_header(struct mjpeg *m, const struct frame *src, const struct frame *dst,
                        int *subsamp, struct error *err)
{
    int width, height, space;

    if (tjDecompressHeader3(m->handle, src->plane[0], (unsigned long)src->bytes, &width, &height,
                            subsamp, &space))
        return error_set(err, -EBADMSG, "damaged JPEG: %s", tjGetErrorStr2(m->handle));
    if (width != dst->width || height != dst->height)
        return error_set(err, -EBADMSG, "JPEG of %dx%d in a stream of %dx%d", width, height,
                         dst->width, dst->height);
    if (space != TJCS_YCbCr && space != TJCS_GRAY)
        return error_set(err, -EBADMSG, "JPEG that is not in Y'CbCr");
    return 0;
}

int mjpeg_decode(struct mjpeg *m, const struct frame *src, struct frame *dst, struct error *err)
{
    unsigned char *planes[3] = {dst->plane[0], dst->plane[1], dst->plane[2]};
    int strides[3] = {(int)dst->stride[0], (int)dst->stride[1], (int)dst->stride[2]};
    int subsamp, r;

    r = check_header(m, src, dst, &subsamp, err);
    if (r)
        return r;
    if (subsamp == TJSAMP_GRAY) {
        grey_chroma(dst);
        return decode(m, src, planes, strides, dst, subsamp, err);
    }
    if (!fits_in_place(dst, subsamp))
        return decode_apart(m, src, dst, subsamp, err);
    if (subsamp == TJSAMP_422)
        return decode(m, src, planes, strides, dst, subsamp, err);
    strides[1] *= 2;
    strides[2] *= 2;
    r = decode(m, src, planes, strides, dst, subsamp, err);
    double_chroma_rows(dst);
    return r;
}

#else

int mjpeg_create(struct mjpeg **ret, int n_threads, const struct jpeg_device *device)
{
    (void)ret, (void)n_threads, (void)device;
    return -ENOTSUP;
}

void mjpeg_destroy(struct mjpeg *m)
{
    (void)m;
}

int mjpeg_decode(struct mjpeg *m, const struct frame *src, struct frame *dst, struct error *err)
{
    (void)m;
    (void)src;
    (void)dst;
    return error_set(err, -ENOTSUP, "MJPG is not built into this program");
}

#endif
