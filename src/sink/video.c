/* Video files and pictures, through libav.
 *
 * A file appears under its name once it is whole. What else is in the film that the pictures come
 * from goes with them, read from there once more, so that none of it passes through the filter.
 * Times are those of the film, or when the camera had the frame. */
#include "sink/sink.h"

#include <errno.h>
#include <inttypes.h>
#include <libswscale/swscale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/event.h"
#include "base/log.h"
#include "base/text.h"
#include "base/url.h"
#include "picture/colour.h"
#include "picture/words.h"
#include "sink/encoder.h"
#include "sink/film.h"
#include "video/light.h"
#include "video/output.h"
#include "video/pixels.h"

#define LIVE_TICKS 60000        /* a second, for what comes live, and for MPEG-4 at most */
#define DRAIN_NS (2 * NS_PER_S) /* after a stop, for what the encoder still holds */

static const AVRational ns = {1, 1000000000};

struct video_sink {
    struct sink base;
    char file[128]; /* as messages call it, quotes included */
    int stop_fd;
    bool live, timed; /* times are the camera's, or the film's; else they follow from the rate */
    bool single;      /* a picture, no film */
    struct fraction fps;
    struct encoder encoder;
    struct SwsContext *scaler; /* from the program's layout to the encoder's; or NULL */
    AVFormatContext *format;
    struct film film;
    struct video_output out;
    AVFrame *frame; /* what is encoded */
    AVFrame
        *narrow; /* words with as many bits as libav wants: that, or what it is made of; or NULL */
    AVPacket *packet;
    int64_t t_first_ns; /* of what comes live */
    int64_t first_pts, last_pts;
    uint64_t n_frames, n_written; /* of the second those that the encoder gave back */
    bool failed;
    bool told; /* that there is no more room */
};

/* ----------------------------------------------------------------- writing */

static int fail(struct video_sink *v, int code, struct error *err)
{
    char why[AV_ERROR_MAX_STRING_SIZE];

    v->failed = true;
    return error_set(err, code == AVERROR(ENOSPC) ? -ENOSPC : -EIO,
                     "cannot write frame %" PRIu64 " to %s: %s; %s", v->n_frames + 1, v->file,
                     av_make_error_string(why, sizeof(why), code), video_output_left(&v->out));
}

/* Of a film of fewer pictures than it codes in another order libx265 says when to decode them with
 * what was in its memory. No packet is earlier than the first picture by more than all last. */
static int64_t dts_of(const struct video_sink *v, const AVPacket *p)
{
    const int64_t least = av_sat_sub64(v->first_pts, av_sat_sub64(v->last_pts, v->first_pts));
    const int64_t next = av_sat_add64(least, (int64_t)v->n_written);

    if (p->dts == AV_NOPTS_VALUE || p->pts == AV_NOPTS_VALUE ||
        (p->dts >= least && p->dts <= p->pts))
        return p->dts;
    return next < p->pts ? next : p->pts;
}

/* Writes the packet, after what the film has until then. */
static int put_packet(struct video_sink *v)
{
    const AVRational base = v->encoder.context->time_base;
    AVPacket *p = v->packet;
    int r;

    p->stream_index = 0;
    if (!p->duration && v->fps.num)
        p->duration = av_rescale_q(1, (AVRational){(int)v->fps.den, (int)v->fps.num}, base);
    p->dts = dts_of(v, p);
    r = film_copy(&v->film, v->format, &v->out, av_rescale_q(p->dts, base, ns));
    av_packet_rescale_ts(p, base, v->format->streams[0]->time_base);
    if (!v->single && !video_output_take(&v->out, p->size, true) && v->n_written)
        return r;
    v->n_written++;
    return r < 0 ? r : av_interleaved_write_frame(v->format, p);
}

/* Writes what the encoder has ready, or what it has until @t_end_ns. */
static int put_packets(struct video_sink *v, int64_t t_end_ns)
{
    int r = 0;

    while (r >= 0 && !v->out.full && now_ns() < t_end_ns) {
        r = avcodec_receive_packet(v->encoder.context, v->packet);
        if (r == AVERROR(EAGAIN) || r == AVERROR_EOF)
            return 0;
        if (r >= 0)
            r = put_packet(v);
    }
    return r;
}

/* When @f is shown, in ticks. Encoders want that to grow. */
static int64_t pts_of(struct video_sink *v, const struct frame *f)
{
    const AVRational base = v->encoder.context->time_base;
    int64_t pts =
        av_rescale_q((int64_t)v->n_frames, (AVRational){(int)v->fps.den, (int)v->fps.num}, base);

    if (v->timed || v->live) {
        if (v->live && !v->n_frames)
            v->t_first_ns = f->t_capture_ns;
        pts = av_rescale_q(v->timed ? f->t_show_ns : f->t_capture_ns - v->t_first_ns, ns, base);
    }
    if (v->n_frames && pts <= v->last_pts)
        pts = v->last_pts + 1;
    return pts;
}

/* Fills v->narrow, which encoders may still hold, with as many bits as it has. */
static int narrow(struct video_sink *v, const struct frame *f)
{
    AVFrame *to = v->narrow;
    const int r = av_frame_make_writable(to);

    for (int p = 0; r >= 0 && p < format_table[f->format].planes; p++)
        for (int y = 0; y < frame_plane_rows(f, p); y++)
            words_narrow(to->data[p] + (ptrdiff_t)y * to->linesize[p],
                         f->plane[p] + (size_t)y * f->stride[p], frame_row_bytes(f, p),
                         v->encoder.depth);
    return r;
}

/* Has v->frame show @f: in place, or converted. */
static int fill_frame(struct video_sink *v, const struct frame *f)
{
    AVFrame *to = v->frame;
    const uint8_t *planes[4] = {NULL};
    int strides[4] = {0}, r = v->narrow ? narrow(v, f) : 0;

    if (r < 0 || to == v->narrow)
        return r;
    for (int p = 0; p < format_table[f->format].planes; p++) {
        planes[p] = v->narrow ? v->narrow->data[p] : f->plane[p];
        strides[p] = v->narrow ? v->narrow->linesize[p] : (int)f->stride[p];
    }
    if (v->scaler) {
        r = av_frame_make_writable(to);
        return r < 0 ? r
                     : sws_scale(v->scaler, planes, strides, 0, f->height, to->data, to->linesize);
    }
    for (int p = 0; p < 4; p++) {
        to->data[p] = (uint8_t *)planes[p];
        to->linesize[p] = strides[p];
    }
    return 0;
}

static int tell_full(struct video_sink *v, struct error *err)
{
    v->told = true;
    return error_set(err, -ENOSPC, "cannot write more than %" PRIu64 " frames to %s: %s",
                     v->n_written, v->file, strerror(v->out.full));
}

static int video_write(struct sink *s, const struct frame *f, const struct frame *before,
                       struct error *err)
{
    struct video_sink *v = (struct video_sink *)s;
    int r;

    (void)before;
    if (v->failed)
        return error_set(err, -EIO, "%s has failed before", v->file);
    if (v->single && v->n_frames)
        return error_set(err, -EINVAL, "%s has its picture, and more come: --frames 1 takes one",
                         v->file);
    r = fill_frame(v, f);
    v->frame->pts = v->last_pts = pts_of(v, f);
    v->first_pts = v->n_frames ? v->first_pts : v->last_pts;
    if (r >= 0)
        r = avcodec_send_frame(v->encoder.context, v->frame);
    if (r >= 0)
        r = put_packets(v, INT64_MAX);
    if (r < 0)
        return fail(v, r, err);
    v->n_frames++;
    return v->out.full ? tell_full(v, err) : 0;
}

/* -------------------------------------------------------------------- open */

static void set_picture(struct video_sink *v, const struct sink_config *config)
{
    struct frame *p = &v->base.picture;

    *p = frame_like(&config->picture);
    p->format = v->encoder.format;
    if (v->encoder.full || (encoder_makes_rgb(&v->encoder) && v->single))
        p->colour.range = COLOUR_FULL;
    if (v->encoder.codec->id == AV_CODEC_ID_MJPEG ||
        (p->colour.matrix == COLOUR_RGB && format_filtered(p->format) && !v->encoder.rgb))
        p->colour.matrix = COLOUR_BT601; /* libav has other layouts for planes of R'G'B' */
    p->colour = colour_in(p->format, p->colour);
    (void)frame_layout(p);
}

/* The nearest one that the encoder takes. */
static AVRational codec_base(enum AVCodecID id, AVRational wanted, AVRational rate)
{
    if (id == AV_CODEC_ID_MPEG1VIDEO || id == AV_CODEC_ID_MPEG2VIDEO)
        return av_inv_q(rate);
    if (id == AV_CODEC_ID_MPEG4 && wanted.den > 65535)
        return (AVRational){1, LIVE_TICKS};
    return wanted.den / wanted.num > VIDEO_TICKS ? (AVRational){1, VIDEO_TICKS} : wanted;
}

static void set_times(struct video_sink *v, const struct sink_config *config)
{
    AVCodecContext *c = v->encoder.context;
    const struct fraction fps = config->fps.num ? config->fps : (struct fraction){25, 1};

    v->timed = config->tick.num;
    v->live = !config->pace && !v->timed;
    v->fps = fps;
    c->framerate = (AVRational){(int)fps.num, (int)fps.den};
    c->time_base = v->timed  ? (AVRational){(int)config->tick.num, (int)config->tick.den}
                   : v->live ? (AVRational){1, LIVE_TICKS}
                             : av_inv_q(c->framerate);
    c->time_base = codec_base(v->encoder.codec->id, c->time_base, c->framerate);
}

static int open_film(struct video_sink *v, const struct sink_config *config, struct error *err)
{
    char shown[128];
    const int r = film_open(&v->film, config->film, v->stop_fd, v->format, err);

    if (r)
        return r;
    if (*v->film.left_out)
        log_warning("%s cannot hold all that is in '%s'; left out: %s", v->file,
                    url_public(config->film, shown, sizeof(shown)), v->film.left_out);
    return 0;
}

/* Sets @to to the size and colours of what is encoded, in @pixels. */
static int shape_frame(const struct video_sink *v, AVFrame *to, enum AVPixelFormat pixels,
                       bool own_memory)
{
    to->format = pixels;
    to->width = v->base.picture.width;
    to->height = v->base.picture.height;
    to->color_range = v->encoder.context->color_range;
    to->colorspace = v->encoder.context->colorspace;
    return own_memory && av_frame_get_buffer(to, 0) < 0 ? -ENOMEM : 0;
}

/* Frames that show the picture's own samples have no memory of their own. */
static int open_frames(struct video_sink *v)
{
    const struct encoder *e = &v->encoder;
    const struct frame *p = &v->base.picture;
    const int *const from = scaler_matrix(p->colour.matrix);
    const bool converts = e->planes != e->pixels;
    const bool narrows = e->depth && e->depth < 16;
    const int to_full = encoder_makes_rgb(e) || p->colour.range == COLOUR_FULL;

    v->frame = av_frame_alloc();
    if (narrows)
        v->narrow = converts ? av_frame_alloc() : v->frame;
    if (!v->frame || (narrows && !v->narrow) ||
        shape_frame(v, v->frame, e->pixels, converts || narrows))
        return -ENOMEM;
    if (!converts)
        return 0;
    if (narrows && shape_frame(v, v->narrow, e->planes, true))
        return -ENOMEM;
    v->scaler =
        sws_getContext(p->width, p->height, e->planes, p->width, p->height, e->pixels,
                       SWS_BICUBIC | SWS_ACCURATE_RND | SWS_FULL_CHR_H_INT, NULL, NULL, NULL);
    if (!v->scaler)
        return -ENOMEM;
    (void)sws_setColorspaceDetails(v->scaler, from, p->colour.range == COLOUR_FULL, from, to_full,
                                   0, 1 << 16, 1 << 16);
    return 0;
}

static int open_format(struct video_sink *v, const char *name)
{
    if (avformat_alloc_output_context2(&v->format, NULL, v->single ? "image2pipe" : NULL, name) < 0)
        return -ENOMEM;
    v->packet = av_packet_alloc();
    return avformat_new_stream(v->format, NULL) && v->packet ? 0 : -ENOMEM;
}

/* What the stream says. The encoder's parameters replace all others, so what it does not know comes
 * after them. */
static int describe_stream(const struct video_sink *v, const struct film_tags *tags, AVStream *s)
{
    AVCodecParameters *const p = s->codecpar;

    s->time_base = v->encoder.context->time_base;
    s->avg_frame_rate = v->encoder.context->framerate;
    s->sample_aspect_ratio = v->encoder.context->sample_aspect_ratio;
    if (avcodec_parameters_from_context(p, v->encoder.context) < 0)
        return -ENOMEM;
    /* Of the two names that HEVC has there, Apple's players know one. */
    if (p->codec_id == AV_CODEC_ID_HEVC &&
        (!strcmp(v->format->oformat->name, "mp4") || !strcmp(v->format->oformat->name, "mov")))
        p->codec_tag = MKTAG('h', 'v', 'c', '1');
    return tags && tags->width && !v->single ? light_to_stream(&tags->light, s) : 0;
}

static int start(struct video_sink *v, const struct sink_config *config, struct error *err)
{
    char why[AV_ERROR_MAX_STRING_SIZE];
    int r;

    if (v->format->oformat->flags & AVFMT_GLOBALHEADER)
        v->encoder.context->flags |= AV_CODEC_FLAG_GLOBAL_HEADER;
    r = encoder_start(&v->encoder, v->file, err);
    if (r)
        return r;
    if (describe_stream(v, config->tags, v->format->streams[0]) || open_frames(v))
        return error_set(err, -ENOMEM, "out of memory for %s", v->file);
    r = video_output_open(&v->out, config->name, err);
    if (r)
        return r;
    v->format->pb = v->out.io;
    r = avformat_write_header(v->format, NULL);
    if (r < 0)
        return error_set(err, -EINVAL, "cannot begin %s with %s: %s%s", v->file,
                         v->encoder.codec->name, av_make_error_string(why, sizeof(why), r),
                         v->encoder.depth > 8 ? " (--depth 8 makes 8 bits of it)" : "");
    return 0;
}

static void free_all(struct video_sink *v)
{
    sws_freeContext(v->scaler);
    encoder_finish(&v->encoder);
    film_close(&v->film);
    if (v->narrow != v->frame)
        av_frame_free(&v->narrow);
    av_frame_free(&v->frame);
    av_packet_free(&v->packet);
    avformat_free_context(v->format);
    video_output_discard(&v->out);
    free(v);
}

static int video_open(struct sink **ret, const struct sink_config *config, struct error *err)
{
    struct video_sink *v = calloc(1, sizeof(*v));
    int r;

    if (!v)
        return error_set(err, -ENOMEM, "out of memory for '%.120s'", config->name);
    v->base.ops = &sink_video;
    v->stop_fd = config->stop_fd;
    v->single = ends_with(config->name, ".png") || ends_with(config->name, ".jpg");
    (void)snprintf(v->file, sizeof(v->file), "'%.120s'", config->name);
    av_log_set_level(AV_LOG_QUIET);
    r = encoder_choose(&v->encoder, config, err);
    if (!r) {
        set_picture(v, config);
        r = encoder_prepare(&v->encoder, &v->base.picture, config->threads);
        r = r ? r : open_format(v, config->name);
        if (r)
            (void)error_set(err, r, "out of memory for %s", v->file);
    }
    if (!r) {
        if (config->tags && config->tags->width && v->single)
            encoder_keep_aspect(&v->encoder, config->tags);
        else if (config->tags && config->tags->width)
            encoder_keep_tags(&v->encoder, config->tags,
                              config->picture.colour.matrix == COLOUR_RGB);
        set_times(v, config);
        r = config->film && !v->single ? open_film(v, config, err) : 0;
    }
    r = r ? r : start(v, config, err);
    if (r) {
        free_all(v);
        return r;
    }
    if (config->left_out && *config->left_out && !v->single)
        log_warning("%s gets no %s", v->file, config->left_out);
    (void)snprintf(v->base.name, sizeof(v->base.name), "%s (%s)", v->file, v->encoder.codec->name);
    *ret = &v->base;
    return 0;
}

/* ------------------------------------------------------------------- close */

/* What the encoder and the film still have. A stop leaves no time for all of it. */
static int drain(struct video_sink *v, bool stopped)
{
    const int64_t t_last_ns = av_rescale_q(v->last_pts + 1, v->encoder.context->time_base, ns);
    int r = avcodec_send_frame(v->encoder.context, NULL);

    if (r >= 0)
        r = put_packets(v, stopped ? now_ns() + DRAIN_NS : INT64_MAX);
    if (r >= 0 && !v->out.full && v->n_written < v->n_frames)
        log_warning("%s lacks its last %" PRIu64 " frames: the encoder did not give them in time",
                    v->file, v->n_frames - v->n_written);
    if (r >= 0 && !v->out.full)
        r = film_copy(&v->film, v->format, &v->out, stopped ? t_last_ns : INT64_MAX);
    return r;
}

/* Where there is no more room, the film ends with the frames that are in it. */
static int finish(struct video_sink *v)
{
    const bool stopped = event_rung(v->stop_fd);
    int r = v->out.full ? 0 : drain(v, stopped);

    if (r >= 0)
        r = av_write_trailer(v->format);
    return r < 0 ? r : video_output_keep(&v->out, !stopped);
}

static int video_close(struct sink *s, struct error *err)
{
    struct video_sink *v = (struct video_sink *)s;
    char why[AV_ERROR_MAX_STRING_SIZE];
    int r = 0;

    if (!v)
        return 0;
    if (v->n_frames && !v->failed)
        r = finish(v);
    if (r < 0)
        r = error_set(err, -EIO, "cannot finish %s: %s; %s", v->file,
                      av_make_error_string(why, sizeof(why), r), video_output_left(&v->out));
    else if (v->out.full && !v->told && !v->failed)
        r = tell_full(v, err);
    else if (v->film.cut && !event_rung(v->stop_fd))
        r = error_set(err, -EIO, "%s has no sound and subtitles from %.1f s on: %s", v->file,
                      (double)v->film.t_end_ns / 1e9,
                      av_make_error_string(why, sizeof(why), v->film.cut));
    if (v->film.n_wild)
        log_warning("%s lacks some of its sound (%" PRIu64 " packet%s): their times are no times",
                    v->file, v->film.n_wild, v->film.n_wild > 1 ? "s" : "");
    if (v->film.n_damaged)
        log_warning("%s lacks some of its sound and subtitles (%" PRIu64
                    " packet%s): they are damaged",
                    v->file, v->film.n_damaged, v->film.n_damaged > 1 ? "s" : "");
    free_all(v);
    return r;
}

/* No encoder at all is for open to tell. */
static bool video_words(const struct sink_config *config)
{
    struct encoder encoder = {0};
    struct error ignored;

    return encoder_choose(&encoder, config, &ignored) == 0 &&
           format_table[encoder.format].bytes > 1;
}

const struct sink_ops sink_video = {
    .name = "video",
    .finishes = true,
    .words = video_words,
    .open = video_open,
    .write = video_write,
    .close = video_close,
};
