#include "sink/encoder.h"

#include <errno.h>
#include <libavutil/cpu.h>
#include <libavutil/opt.h>
#include <libavutil/pixdesc.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "video/light.h"
#include "video/pixels.h"

#define MAX_THREADS 16

/* The first one that is there encodes. The options give about the same quality, which hides nothing
 * that the filter leaves, at a speed that cameras need. Of more than 8 bits few players show H.264.
 */
static const struct {
    const char *ending, *name, *options;
    bool deep; /* for pictures of more than 8 bits alone, */
    int least; /* and of so many rows and columns */
} defaults[] = {
    {".mp4", "libx265", "preset=veryfast:crf=20:x265-params=log-level=none", .deep = true, 16},
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

static enum AVPixelFormat libav_format(enum frame_format format)
{
    size_t i = 0;

    while (formats[i].ours != format)
        i++;
    return formats[i].theirs;
}

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
            e->pixels = e->planes = e->full ? formats[i].full : formats[i].theirs;
            e->format = format;
            return takes(e->codec, e->pixels);
        }
    return false;
}

/* Layouts of more than 8 bits that are no planes of words as this machine has them. */
static const struct {
    enum frame_format ours;
    bool rgb;
    enum AVPixelFormat theirs;
} repacked[] = {
    {FRAME_I420_16, false, AV_PIX_FMT_P010},
    {FRAME_GREY16, false, AV_PIX_FMT_GRAY16BE},
    {FRAME_I444_16, true, AV_PIX_FMT_RGB48BE},
    {FRAME_I444_16, true, AV_PIX_FMT_RGB48LE},
};

static void set_deep(struct encoder *e, const struct deep_layout *layout, enum AVPixelFormat planes,
                     enum AVPixelFormat pixels)
{
    e->format = layout->format;
    e->rgb = layout->rgb;
    e->depth = layout->depth;
    e->planes = planes;
    e->pixels = pixels;
    e->full = false;
}

static bool choose_repacked(struct encoder *e, struct deep_layout layout)
{
    for (size_t i = 0; i < N(repacked); i++)
        if (repacked[i].ours == layout.format && repacked[i].rgb == layout.rgb &&
            takes(e->codec, repacked[i].theirs)) {
            layout.depth = av_pix_fmt_desc_get(repacked[i].theirs)->comp[0].depth;
            set_deep(e, &layout, deep_pixels(NULL, &layout), repacked[i].theirs);
            return true;
        }
    return false;
}

/* The same with samples of as many bits as @depth, or as come nearest. */
static bool choose_deep_row(struct encoder *e, enum frame_format format, int depth)
{
    const bool rgb = !format_filtered(format);
    struct deep_layout layout = {
        .format = format_with_bytes(rgb ? FRAME_I444 : format, 2), .rgb = rgb, .depth = depth};
    enum AVPixelFormat pixels;

    if (format_table[layout.format].bytes == 1)
        return false;
    pixels = deep_pixels(formats_of(e->codec), &layout);
    if (pixels == AV_PIX_FMT_NONE)
        return choose_repacked(e, layout);
    (void)deep_layout(pixels, &layout);
    set_deep(e, &layout, pixels, pixels);
    return true;
}

/* By libswscale to packed R'G'B' from the layout that all loses nothing. */
static bool choose_rgb(struct encoder *e, enum frame_format format)
{
    if (!takes(e->codec, AV_PIX_FMT_RGB24))
        return false;
    e->format = format;
    e->planes = libav_format(format);
    e->pixels = AV_PIX_FMT_RGB24;
    e->full = false;
    return true;
}

static bool choose_deep(struct encoder *e, const enum frame_format preferred[4], int depth)
{
    struct deep_layout layout = {.format = format_with_bytes(preferred[0], 2), .depth = 16};

    for (int i = 0; i < 4; i++)
        if (choose_deep_row(e, preferred[i], depth))
            return true;
    for (size_t i = 0; i < N(repacked) && format_table[layout.format].bytes > 1; i++)
        if (repacked[i].rgb && takes(e->codec, repacked[i].theirs)) {
            set_deep(e, &layout, deep_pixels(NULL, &layout), repacked[i].theirs);
            return true;
        }
    return false;
}

/* Whether chroma with half of the rows is refused where their number is odd. */
static bool needs_even_rows(const struct encoder *e)
{
    return e->codec->id == AV_CODEC_ID_H264 || e->codec->id == AV_CODEC_ID_HEVC;
}

/* The layout of 8 bits that a choice begins with; with @all_rows of chroma if it can. */
static enum frame_format shape_of(const struct frame *picture, bool all_rows)
{
    const enum frame_format format = format_with_bytes(picture->format, 1);

    if (picture->colour.matrix == COLOUR_RGB)
        return FRAME_RGB24;
    return all_rows && (format == FRAME_I420 || format == FRAME_NV12) ? FRAME_I422 : format;
}

/* The layout that loses least. What comes live is for all players: many know 4:2:0 of 8 bits alone.
 */
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
        [FRAME_RGB24] = {FRAME_RGB24, FRAME_I444, FRAME_I422, FRAME_I420},
        [FRAME_BGR24] = {FRAME_BGR24, FRAME_I444, FRAME_I422, FRAME_I420},
    };
    const bool asked = config->format >= 0;
    const bool odd = !asked && needs_even_rows(e) && config->picture.height % 2;
    const enum frame_format from =
        asked ? (enum frame_format)config->format : shape_of(&config->picture, odd);
    const bool deep = !asked && format_table[config->picture.format].bytes > 1;
    const int depth = !deep ? 8 : config->depth ? config->depth : 16;

    if (!config->pace && !asked && !odd && choose_row(e, FRAME_I420))
        return 0;
    if (deep && choose_deep(e, preferred[from], depth))
        return 0;
    for (int i = 0; i < (asked ? 1 : 4); i++)
        if (choose_row(e, preferred[from][i]))
            return 0;
    if (choose_rgb(e, preferred[from][0]) || (!asked && choose_deep(e, preferred[from], depth)))
        return 0;
    return error_set(err, -EINVAL, "encoder %s does not take %s", e->codec->name,
                     format_table[from].name);
}

/* Whether the pictures are to be written with more than 8 bits, which live ones are not, and have
 * @least rows and columns. */
static bool writes_deep(const struct sink_config *config, int least)
{
    const struct frame *p = &config->picture;

    return config->pace && config->format < 0 && format_table[p->format].bytes > 1 &&
           p->width >= least && p->height >= least;
}

static int choose_default(struct encoder *e, const struct sink_config *config, struct error *err)
{
    const char *ending = strrchr(config->name, '.');
    char names[128] = "";

    if (!strcmp(ending, ".mkv") || !strcmp(ending, ".mov"))
        ending = ".mp4";
    for (size_t i = 0; i < N(defaults) && !e->codec; i++) {
        if (strcmp(defaults[i].ending, ending) ||
            (defaults[i].deep && !writes_deep(config, defaults[i].least)))
            continue;
        e->codec = avcodec_find_encoder_by_name(defaults[i].name);
        (void)snprintf(e->options, sizeof(e->options), "%s", defaults[i].options);
        list_add(names, sizeof(names), ", ", defaults[i].name);
    }
    return e->codec
               ? 0
               : error_set(err, -EINVAL, "libav has none of the encoders for '%.120s' here: %s",
                           config->name, names);
}

int encoder_choose(struct encoder *e, const struct sink_config *config, struct error *err)
{
    char name[64];
    int r = 0;

    if (!config->encoder || !strcmp(config->encoder, "auto")) {
        r = choose_default(e, config, err);
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

bool encoder_makes_rgb(const struct encoder *e)
{
    return e->planes != e->pixels && av_pix_fmt_desc_get(e->pixels)->flags & AV_PIX_FMT_FLAG_RGB;
}

/* libx265 makes threads for all processors beside those that it is told of. */
static void limit_threads(struct encoder *e, int threads)
{
    const int most = threads ? threads : av_cpu_count();

    e->context->thread_count = most < MAX_THREADS ? most : MAX_THREADS;
    if (threads && !strcmp(e->codec->name, "libx265"))
        (void)snprintf(e->x265, sizeof(e->x265), "pools=%d", threads);
}

int encoder_prepare(struct encoder *e, const struct frame *picture, int threads)
{
    static const enum AVColorSpace spaces[] = {[COLOUR_BT601] = AVCOL_SPC_SMPTE170M,
                                               [COLOUR_BT709] = AVCOL_SPC_BT709,
                                               [COLOUR_BT2020] = AVCOL_SPC_BT2020_NCL,
                                               [COLOUR_RGB] = AVCOL_SPC_RGB};
    AVCodecContext *c = e->context = avcodec_alloc_context3(e->codec);

    if (!c)
        return -ENOMEM;
    c->width = picture->width;
    c->height = picture->height;
    c->pix_fmt = e->pixels;
    limit_threads(e, threads);
    c->color_range = picture->colour.range == COLOUR_FULL ? AVCOL_RANGE_JPEG : AVCOL_RANGE_MPEG;
    c->colorspace = spaces[picture->colour.matrix];
    if (encoder_makes_rgb(e)) {
        c->color_range = AVCOL_RANGE_JPEG;
        c->colorspace = AVCOL_SPC_RGB;
    }
    return 0;
}

/* What only some encoders say with their pictures. */
static void set_light(struct encoder *e, const struct light *light)
{
    char text[160];

    if (strcmp(e->codec->name, "libx265") != 0)
        return;
    light_for_x265(light, text, sizeof(text));
    list_add(e->x265, sizeof(e->x265), ":", text);
}

void encoder_keep_aspect(struct encoder *e, const struct film_tags *tags)
{
    AVCodecContext *c = e->context;

    c->sample_aspect_ratio =
        (AVRational){(int)tags->aspect.num, tags->aspect.num ? (int)tags->aspect.den : 1};
    if (tags->width != c->width && c->sample_aspect_ratio.num) /* turned */
        c->sample_aspect_ratio = av_inv_q(c->sample_aspect_ratio);
}

void encoder_keep_tags(struct encoder *e, const struct film_tags *tags, bool from_rgb)
{
    AVCodecContext *c = e->context;
    const bool turned = tags->width != c->width;

    c->color_primaries = (enum AVColorPrimaries)tags->primaries;
    c->color_trc = (enum AVColorTransferCharacteristic)tags->transfer;
    if (!from_rgb && (tags->matrix == AVCOL_SPC_UNSPECIFIED || tags->matrix == AVCOL_SPC_BT470BG))
        c->colorspace = (enum AVColorSpace)tags->matrix;
    if (tags->range == AVCOL_RANGE_UNSPECIFIED && c->color_range == AVCOL_RANGE_MPEG)
        c->color_range = AVCOL_RANGE_UNSPECIFIED;
    if (!turned)
        c->chroma_sample_location = (enum AVChromaLocation)tags->siting;
    encoder_keep_aspect(e, tags);
    set_light(e, &tags->light);
}

/* Adds the user's to what libx265 is told by options of its own. */
static int add_x265(const struct encoder *e, AVDictionary **options)
{
    const AVDictionaryEntry *users = av_dict_get(*options, "x265-params", NULL, 0);
    char params[sizeof(e->options) + sizeof(e->x265)];

    if (!*e->x265)
        return 0;
    (void)snprintf(params, sizeof(params), "%s%s%s", e->x265, users ? ":" : "",
                   users ? users->value : "");
    return av_dict_set(options, "x265-params", params, 0);
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
    r = add_x265(e, &options);
    if (r >= 0)
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
