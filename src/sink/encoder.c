#include "sink/encoder.h"

#include <errno.h>
#include <libavutil/cpu.h>
#include <libavutil/opt.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"

#define MAX_THREADS 16

/* The first one that is there encodes. The options give about the same quality, which hides nothing
 * that the filter leaves, at a speed that cameras need. */
static const struct {
    const char *ending, *name, *options;
} defaults[] = {
    {".mp4", "libx264", "preset=veryfast:crf=18"},
    {".mp4", "libopenh264", "rc_mode=quality"},
    {".mp4", "mpeg4", "flags=+qscale:global_quality=354"},
    {".webm", "libvpx-vp9", "deadline=realtime:cpu-used=6:row-mt=1:crf=24:b=0"},
    {".webm", "libvpx", "deadline=realtime:cpu-used=8:crf=8:b=8M"},
    {".png", "png", ""},
    {".jpg", "mjpeg", "flags=+qscale:global_quality=236"},
};

#define N(array) (sizeof(array) / sizeof((array)[0]))

/* Layouts of the program as libav calls them: limited range or any, and full range alone. */
static const struct {
    enum frame_format ours;
    enum AVPixelFormat theirs, full;
} formats[] = {
    {FRAME_I420, AV_PIX_FMT_YUV420P, AV_PIX_FMT_YUVJ420P},
    {FRAME_NV12, AV_PIX_FMT_NV12, AV_PIX_FMT_NONE},
    {FRAME_I422, AV_PIX_FMT_YUV422P, AV_PIX_FMT_YUVJ422P},
    {FRAME_I444, AV_PIX_FMT_YUV444P, AV_PIX_FMT_YUVJ444P},
    {FRAME_GREY, AV_PIX_FMT_GRAY8, AV_PIX_FMT_NONE},
    {FRAME_RGB24, AV_PIX_FMT_RGB24, AV_PIX_FMT_NONE},
    {FRAME_BGR24, AV_PIX_FMT_BGR24, AV_PIX_FMT_NONE},
};

/* NULL: it takes all. */
static const enum AVPixelFormat *formats_of(const AVCodec *codec)
{
#if LIBAVCODEC_VERSION_INT < AV_VERSION_INT(61, 13, 100)
    return codec->pix_fmts;
#else
    const void *ret = NULL;

    (void)avcodec_get_supported_config(NULL, codec, AV_CODEC_CONFIG_PIX_FORMAT, 0, &ret, NULL);
    return ret;
#endif
}

static bool takes(const AVCodec *codec, enum AVPixelFormat format)
{
    const enum AVPixelFormat *p = formats_of(codec);

    while (p && *p != AV_PIX_FMT_NONE && *p != format)
        p++;
    return format != AV_PIX_FMT_NONE && (!p || *p == format);
}

static bool choose_row(struct encoder *e, enum frame_format format)
{
    for (size_t i = 0; i < N(formats); i++)
        if (formats[i].ours == format) {
            /* MJPEG has limited range, too, but only for those who insist. */
            e->full = takes(e->codec, formats[i].full) &&
                      (e->codec->id == AV_CODEC_ID_MJPEG || !takes(e->codec, formats[i].theirs));
            e->pixels = e->full ? formats[i].full : formats[i].theirs;
            e->format = format;
            return takes(e->codec, e->pixels);
        }
    return false;
}

/* The layout that loses least. What comes live is for all players: many know 4:2:0 alone. */
static int choose_pixels(struct encoder *e, const struct sink_config *config, struct error *err)
{
    static const enum frame_format preferred[][4] = {
        [FRAME_YUYV] = {FRAME_I422, FRAME_I444, FRAME_I420, FRAME_NV12},
        [FRAME_UYVY] = {FRAME_I422, FRAME_I444, FRAME_I420, FRAME_NV12},
        [FRAME_NV12] = {FRAME_I420, FRAME_NV12, FRAME_I422, FRAME_I444},
        [FRAME_I420] = {FRAME_I420, FRAME_NV12, FRAME_I422, FRAME_I444},
        [FRAME_I422] = {FRAME_I422, FRAME_I444, FRAME_I420, FRAME_NV12},
        [FRAME_I444] = {FRAME_I444, FRAME_I422, FRAME_I420, FRAME_NV12},
        [FRAME_GREY] = {FRAME_GREY, FRAME_I420, FRAME_NV12, FRAME_I444},
        [FRAME_GREY16] = {FRAME_GREY, FRAME_I420, FRAME_NV12, FRAME_I444},
        [FRAME_I420_16] = {FRAME_I420, FRAME_NV12, FRAME_I422, FRAME_I444},
        [FRAME_I422_16] = {FRAME_I422, FRAME_I444, FRAME_I420, FRAME_NV12},
        [FRAME_I444_16] = {FRAME_I444, FRAME_I422, FRAME_I420, FRAME_NV12},
        [FRAME_RGB24] = {FRAME_RGB24, FRAME_I444, FRAME_I422, FRAME_I420},
        [FRAME_BGR24] = {FRAME_BGR24, FRAME_I444, FRAME_I422, FRAME_I420},
    };
    const bool asked = config->format >= 0;
    const enum frame_format from = asked ? (enum frame_format)config->format
                                   : config->picture.colour.matrix == COLOUR_RGB
                                       ? FRAME_RGB24
                                       : config->picture.format;

    if (!config->pace && !asked && choose_row(e, FRAME_I420))
        return 0;
    for (int i = 0; i < (asked ? 1 : 4); i++)
        if (choose_row(e, preferred[from][i]))
            return 0;
    if (!takes(e->codec, AV_PIX_FMT_RGB24))
        return error_set(err, -EINVAL, "encoder %s does not take %s", e->codec->name,
                         format_table[from].name);
    e->pixels = AV_PIX_FMT_RGB24;
    e->format = preferred[from][0];
    e->full = false;
    e->converts = true;
    return 0;
}

enum AVPixelFormat encoder_pixels(enum frame_format format)
{
    size_t i = 0;

    while (formats[i].ours != format)
        i++;
    return formats[i].theirs;
}

static int choose_default(struct encoder *e, const char *file, struct error *err)
{
    const char *ending = strrchr(file, '.');
    char names[128] = "";

    if (!strcmp(ending, ".mkv") || !strcmp(ending, ".mov"))
        ending = ".mp4";
    for (size_t i = 0; i < N(defaults) && !e->codec; i++) {
        if (strcmp(defaults[i].ending, ending))
            continue;
        e->codec = avcodec_find_encoder_by_name(defaults[i].name);
        (void)snprintf(e->options, sizeof(e->options), "%s", defaults[i].options);
        list_add(names, sizeof(names), ", ", defaults[i].name);
    }
    return e->codec
               ? 0
               : error_set(err, -EINVAL, "libav has none of the encoders for '%.120s' here: %s",
                           file, names);
}

int encoder_choose(struct encoder *e, const struct sink_config *config, struct error *err)
{
    char name[64];
    int r = 0;

    if (!config->encoder || !strcmp(config->encoder, "auto")) {
        r = choose_default(e, config->name, err);
    } else {
        (void)snprintf(name, sizeof(name), "%.*s", (int)strcspn(config->encoder, ":"),
                       config->encoder);
        (void)snprintf(e->options, sizeof(e->options), "%s",
                       strchr(config->encoder, ':') ? strchr(config->encoder, ':') + 1 : "");
        e->codec = avcodec_find_encoder_by_name(name);
        if (!e->codec || e->codec->type != AVMEDIA_TYPE_VIDEO)
            return error_usage(err,
                               "encoder '%s': libav has none of this name here "
                               "(ffmpeg -encoders lists them)",
                               name);
    }
    return r ? r : choose_pixels(e, config, err);
}

int encoder_prepare(struct encoder *e, const struct frame *picture)
{
    const int threads = av_cpu_count();
    AVCodecContext *c = e->context = avcodec_alloc_context3(e->codec);

    if (!c)
        return -ENOMEM;
    c->width = picture->width;
    c->height = picture->height;
    c->pix_fmt = e->pixels;
    c->thread_count = threads < MAX_THREADS ? threads : MAX_THREADS;
    c->color_range = picture->colour.range == COLOUR_FULL ? AVCOL_RANGE_JPEG : AVCOL_RANGE_MPEG;
    c->colorspace = picture->colour.matrix == COLOUR_RGB     ? AVCOL_SPC_RGB
                    : picture->colour.matrix == COLOUR_BT709 ? AVCOL_SPC_BT709
                                                             : AVCOL_SPC_SMPTE170M;
    if (e->converts) {
        c->color_range = AVCOL_RANGE_JPEG;
        c->colorspace = AVCOL_SPC_RGB;
    }
    return 0;
}

int encoder_start(struct encoder *e, const char *file, struct error *err)
{
    const AVCodecContext *c = e->context;
    AVDictionary *options = NULL;
    const AVDictionaryEntry *unknown;
    char why[AV_ERROR_MAX_STRING_SIZE];
    int r = av_dict_parse_string(&options, e->options, "=", ":", 0);

    if (r < 0) {
        r = error_usage(err, "encoder %s: its options must be KEY=VALUE[:KEY=VALUE]...",
                        e->codec->name);
        goto done;
    }
    r = avcodec_open2(e->context, e->codec, &options);
    unknown = av_dict_get(options, "", NULL, AV_DICT_IGNORE_SUFFIX);
    if (r < 0)
        r = error_set(err, -EINVAL, "cannot encode %s: %s refuses %dx%d %s with '%.100s' (%s)",
                      file, e->codec->name, c->width, c->height, format_table[e->format].name,
                      e->options, av_make_error_string(why, sizeof(why), r));
    else if (unknown)
        r = error_usage(err, "encoder %s has no option '%.60s'", e->codec->name, unknown->key);
    else
        r = 0;
done:
    av_dict_free(&options);
    return r;
}

void encoder_finish(struct encoder *e)
{
    avcodec_free_context(&e->context);
}
