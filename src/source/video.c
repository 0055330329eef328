/* Video files and pictures, and what comes over a network, through libav.
 *
 * Decoders work ahead in threads of their own, while earlier frames are filtered. A file is read to
 * its end whatever is damaged in it: what is whole is lent, and the end is told as an error. A URL
 * is a film, too, and read like a file, or it is live and taken for a camera
 * (video_input_live()). */
#include "source/source.h"

#include <errno.h>
#include <inttypes.h>
#include <libavutil/pixdesc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/pace.h"
#include "base/text.h"
#include "base/url.h"
#include "source/decode.h"
#include "source/lend.h"
#include "source/reader.h"
#include "video/light.h"
#include "video/pixels.h"

#define LATEST_NS (INT64_MAX / 2) /* after which a picture comes one after the last */
#define MAX_FPS 240               /* what live streams tell beyond that is a unit of time */
#define LOOKS 25                  /* pictures that are looked through, and then every so many */

struct video_source {
    struct source base;
    char file[128]; /* as messages call it, quotes included */
    int stop_fd;
    struct decoder decoder; /* of a file */
    struct reader *reader;  /* of a URL; or NULL */
    AVFrame *own;           /* that the reader's pictures are moved to */
    const AVFrame *frame;   /* the picture: that, or the decoder's */
    AVRational tick;        /* of its time, and where that begins */
    int64_t t_start_us;
    struct lender lender;
    struct y4m_header header;
    bool ahead;            /* the picture was not lent yet */
    bool told_transparent; /* the warning is out, or there shall be none */
    bool alpha_beside;     /* the pictures are transparent, but not as libav decodes them */
    uint64_t next;
    struct error end; /* how it ended, or empty */
    int end_code;
};

static const struct decoder *decoder_of(const struct video_source *v)
{
    return v->reader ? reader_decoder(v->reader) : &v->decoder;
}

/* A live stream is what it is, and becomes the size of the picture there was. */
static int check_live(const struct video_source *v, const struct source_config *config)
{
    const struct source *s = &v->base;

    if (!config->again && config->width &&
        (config->width != s->width || config->height != s->height))
        log_warning("%s gives %dx%d, not %dx%d", v->file, s->width, s->height, config->width,
                    config->height);
    return 0;
}

/* A file is what it is: requests that it does not meet are errors, but for the frame rate, which is
 * only a label. */
static int check_request(struct video_source *v, const struct source_config *config,
                         struct error *err)
{
    const struct source *s = &v->base;

    if (s->live)
        return check_live(v, config);
    if (config->again)
        return error_set(err, -EINVAL, "%s has an end now, as cameras have not", v->file);
    if ((config->width && config->width != s->width) ||
        (config->height && config->height != s->height))
        return error_set(err, -EINVAL, "%s is %dx%d, not %dx%d; a file cannot be resized", v->file,
                         s->width, s->height, config->width, config->height);
    if (config->format >= 0 && config->format != (int)s->format)
        return error_set(err, -EINVAL, "%s is %s, not %s; a file's format cannot be chosen",
                         v->file, format_table[s->format].name, format_table[config->format].name);
    return 0;
}

static const char *siting(const struct video_source *v)
{
    if (v->lender.turn.swap)
        return "jpeg";
    switch (v->frame->chroma_location) {
    case AVCHROMA_LOC_LEFT:
        return "mpeg2";
    case AVCHROMA_LOC_TOPLEFT:
        return "paldv";
    default:
        return "jpeg";
    }
}

/* What a y4m file of these pictures would say, for a sink that writes one. */
static void make_header(struct video_source *v)
{
    static const char *const names[FRAME_N_FORMATS] = {
        [FRAME_I422] = "422",     [FRAME_I444] = "444",     [FRAME_GREY] = "mono",
        [FRAME_RGB24] = "444",    [FRAME_BGR24] = "444",    [FRAME_GREY16] = "mono",
        [FRAME_I420_16] = "420p", [FRAME_I422_16] = "422p", [FRAME_I444_16] = "444p"};
    const struct decoder *d = decoder_of(v);
    const AVRational given =
        av_guess_sample_aspect_ratio(d->in.format, d->stream, (AVFrame *)v->frame);
    const AVRational aspect = v->lender.turn.swap ? av_inv_q(given) : given;
    struct source *s = &v->base;
    struct y4m_header *h = &v->header;
    char chroma[16];

    *h = (struct y4m_header){
        .format = s->format, .width = s->width, .height = s->height, .fps = s->fps};
    if (s->format == FRAME_I420)
        (void)snprintf(chroma, sizeof(chroma), "420%s", siting(v));
    else if (s->depth)
        (void)snprintf(chroma, sizeof(chroma), "%s%d", names[s->format], s->depth);
    else
        (void)snprintf(chroma, sizeof(chroma), "%s", names[s->format]);
    (void)snprintf(
        h->tags, sizeof(h->tags), " W%d H%d F%" PRIu32 ":%" PRIu32 " Ip A%d:%d C%s XCOLORRANGE=%s",
        s->width, s->height, s->fps.num, s->fps.den, given.num ? aspect.num : 0,
        given.num ? aspect.den : 0, chroma, s->colour.range == COLOUR_FULL ? "FULL" : "LIMITED");
    s->y4m = h;
}

/* How many frames a film has, as far as it tells. */
static uint64_t count_frames(const struct decoder *d, AVRational fps)
{
    int64_t n;

    if (d->live)
        return 0;
    if (d->n_frames > 0)
        return (uint64_t)d->n_frames;
    if (d->in.format->duration <= 0 || fps.num <= 0 || fps.den <= 0)
        return 0;
    n = av_rescale_q(d->in.format->duration, AV_TIME_BASE_Q, av_inv_q(fps));
    return n > 0 ? (uint64_t)n : 0;
}

/* Says what of the film cannot go with its pictures, and @why. */
static void leave_out_sound(struct video_source *v, const char *why)
{
    const AVFormatContext *f = decoder_of(v)->in.format;
    bool sound = false, subtitles = false;
    char what[32] = "";

    for (unsigned i = 0; i < f->nb_streams; i++) {
        sound |= f->streams[i]->codecpar->codec_type == AVMEDIA_TYPE_AUDIO;
        subtitles |= f->streams[i]->codecpar->codec_type == AVMEDIA_TYPE_SUBTITLE;
    }
    if (sound)
        list_add(what, sizeof(what), " and ", "sound");
    if (subtitles)
        list_add(what, sizeof(what), " and ", "subtitles");
    if (*what)
        (void)snprintf(v->base.left_out, sizeof(v->base.left_out), "%s (%s)", what, why);
}

/* Whether the container says that the pictures have an alpha channel, and they are decoded without:
 * it is coded as a film of its own beside them. The decoders that libav prefers know nothing of it.
 */
static bool has_second_film(const struct video_source *v)
{
    const AVPixFmtDescriptor *d = av_pix_fmt_desc_get((enum AVPixelFormat)v->frame->format);
    const AVDictionaryEntry *e =
        av_dict_get(decoder_of(v)->stream->metadata, "alpha_mode", NULL, 0);

    return e && !strcmp(e->value, "1") && !(d->flags & AV_PIX_FMT_FLAG_ALPHA);
}

static void keep_tags(struct video_source *v)
{
    const AVStream *from = decoder_of(v)->stream;
    const AVCodecParameters *p = from->codecpar;
    const AVRational aspect = from->sample_aspect_ratio;

    v->base.tags = (struct film_tags){.width = p->width,
                                      .primaries = p->color_primaries,
                                      .transfer = p->color_trc,
                                      .matrix = p->color_space,
                                      .range = p->color_range,
                                      .siting = p->chroma_location};
    if (aspect.num > 0 && aspect.den > 0)
        v->base.tags.aspect = (struct fraction){(uint32_t)aspect.num, (uint32_t)aspect.den};
    light_of(v->frame, &v->base.tags.light);
}

static void describe(struct video_source *v, const struct source_config *config)
{
    const struct decoder *d = decoder_of(v);
    const AVRational fps = av_guess_frame_rate(d->in.format, d->stream, NULL);
    struct source *s = &v->base;

    s->live = d->live;
    s->format = v->lender.frame.format;
    s->width = v->lender.frame.width;
    s->height = v->lender.frame.height;
    s->colour = v->lender.frame.colour;
    s->depth = v->lender.depth;
    s->reduced = v->lender.reduced;
    keep_tags(v);
    if (fps.num > 0 && fps.den > 0 && (!d->live || fps.num / fps.den <= MAX_FPS))
        s->fps = (struct fraction){(uint32_t)fps.num, (uint32_t)fps.den};
    s->n_frames = count_frames(d, fps);
    v->tick = d->stream->time_base;
    v->t_start_us = video_input_start_us(&d->in);
    if (d->live) {
        leave_out_sound(v, "the input is live");
    } else if (config->fps.num && config->fps.den) {
        s->fps = config->fps; /* and with it other times */
        leave_out_sound(v, "fps gives its pictures other times");
    } else {
        s->tick = (struct fraction){(uint32_t)v->tick.num, (uint32_t)v->tick.den};
    }
    (void)snprintf(s->name, sizeof(s->name), "%s (%s%s)", v->file,
                   avcodec_get_name(d->codec->codec_id),
                   v->lender.reduced ? ", taken to 8 bits" : "");
    v->alpha_beside = has_second_film(v);
    make_header(v);
}

static void video_close(struct source *s)
{
    struct video_source *v = (struct video_source *)s;

    if (!v)
        return;
    lender_finish(&v->lender);
    av_frame_free(&v->own);
    reader_close(v->reader);
    decoder_close(&v->decoder);
    free(v);
}

/* The first picture says what all are like. */
static int begin(struct video_source *v, const struct source_config *config, struct error *err)
{
    const int depth = decoder_of(v)->live ? config->live_depth : config->depth;
    int r = lender_init(&v->lender, v->frame, depth, v->file, err);

    if (!r) {
        describe(v, config);
        r = check_request(v, config, err);
    }
    return r;
}

static int open_url(struct video_source *v, const struct source_config *config, struct error *err)
{
    int r;

    v->own = av_frame_alloc();
    if (!v->own)
        return error_set(err, -ENOMEM, "out of memory for %s", v->file);
    r = reader_open(&v->reader, config, v->file, err);
    if (!r) {
        v->frame = reader_first(v->reader);
        r = begin(v, config, err);
    }
    v->frame = v->own;
    return r;
}

static int open_file(struct video_source *v, const struct source_config *config, struct error *err)
{
    int r = decoder_open(&v->decoder, config->name, v->file, config->threads, v->stop_fd, err);

    if (!r)
        r = decoder_next(&v->decoder, v->file, v->stop_fd, err);
    if (r)
        return r;
    v->ahead = true;
    v->frame = v->decoder.frame;
    return begin(v, config, err);
}

static int open_any(struct source **ret, const struct source_ops *ops,
                    const struct source_config *config, struct error *err)
{
    struct video_source *v = calloc(1, sizeof(*v));
    char shown[121];
    int r;

    (void)url_public(config->name, shown, sizeof(shown));
    if (!v)
        return error_set(err, -ENOMEM, "out of memory for '%s'", shown);
    v->base.ops = ops;
    v->stop_fd = config->stop_fd;
    v->told_transparent = config->again;
    v->base.became_interlaced = config->became_interlaced;
    (void)snprintf(v->file, sizeof(v->file), "'%s'", shown);
    r = ops == &source_network ? open_url(v, config, err) : open_file(v, config, err);
    if (r == -ENODATA)
        r = error_set(err, -EBADMSG, "%s has no pictures", v->file);
    if (r) {
        video_close(&v->base);
        return r;
    }
    *ret = &v->base;
    return 0;
}

static int video_open(struct source **ret, const struct source_config *config, struct error *err)
{
    return open_any(ret, &source_video, config, err);
}

static int network_open(struct source **ret, const struct source_config *config, struct error *err)
{
    return open_any(ret, &source_network, config, err);
}

/* When the picture is shown: what the file says, or else one after the last. */
static int64_t shown_ns(struct video_source *v)
{
    const int64_t told_ns = video_ns(v->frame->best_effort_timestamp, v->tick, v->t_start_us);
    const int64_t last_ns = v->lender.frame.t_show_ns;
    const struct fraction fps = v->base.fps;
    const int64_t one_ns = pace_ns(fps.num ? fps.num : 25, fps.num ? fps.den : 1, 1);

    if (v->base.live)
        return 0;
    if (told_ns != INT64_MIN && told_ns < LATEST_NS)
        return told_ns;
    return v->next ? last_ns + one_ns : 0;
}

static int next_picture(struct video_source *v, struct error *err)
{
    int r;

    if (v->reader) {
        r = reader_take(v->reader, v->own, v->stop_fd, err);
        reader_counts(v->reader, &v->base.n_dropped, &v->base.n_bad);
    } else {
        r = decoder_next(&v->decoder, v->file, v->stop_fd, err);
        v->base.n_bad = v->decoder.n_bad;
    }
    return r;
}

/* The next picture. The end stays the end. */
static int advance(struct video_source *v, struct error *err)
{
    int r;

    if (v->end_code)
        return error_set(err, v->end_code, "%s", v->end.text);
    r = next_picture(v, &v->end);
    if (r == 0)
        return 0;
    if (r == -EPROTO) {
        v->base.became_interlaced = true;
        r = -EIO;
    }
    if (r != -ECANCELED && r != -ETIMEDOUT)
        v->end_code = r;
    return error_set(err, r, "%s", v->end.text);
}

/* A look at every sample takes as long as a part of the filter: after the first pictures, few. */
static void look_through(struct video_source *v)
{
    if (v->told_transparent || (v->next >= LOOKS && v->next % LOOKS) ||
        (!v->alpha_beside && !pixels_transparent(v->frame)))
        return;
    v->told_transparent = true;
    log_warning("%s is transparent in places; that is lost, and what is behind it shows", v->file);
}

static int video_read(struct source *s, struct frame *ret, struct error *err)
{
    struct video_source *v = (struct video_source *)s;
    int r = 0;

    if (!v->ahead)
        r = advance(v, err);
    if (r)
        return r;
    v->ahead = false;
    look_through(v);
    r = lender_take(&v->lender, v->frame);
    if (r)
        return error_set(err, r, "out of memory for %s", v->file);
    v->lender.frame.t_show_ns = shown_ns(v);
    v->lender.frame.seq = v->next++;
    v->lender.frame.t_capture_ns = now_ns();
    *ret = v->lender.frame;
    return 0;
}

static void video_release(struct source *s)
{
    (void)s;
}

static int video_truth(const struct source *s, uint64_t seq, struct frame *clean)
{
    (void)s;
    (void)seq;
    (void)clean;
    return -ENOTSUP;
}

const struct source_ops source_video = {
    .name = "video",
    .file = true,
    .films = true,
    .open = video_open,
    .close = video_close,
    .read = video_read,
    .release = video_release,
    .truth = video_truth,
};

const struct source_ops source_network = {
    .name = "network",
    .device = true,
    .films = true,
    .reopens = true,
    .open = network_open,
    .close = video_close,
    .read = video_read,
    .release = video_release,
    .truth = video_truth,
};
