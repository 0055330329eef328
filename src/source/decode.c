#include "source/decode.h"

#include <errno.h>
#include <inttypes.h>
#include <libavutil/avstring.h>
#include <libavutil/cpu.h>
#include <string.h>

#include "base/clock.h"
#include "base/event.h"
#include "base/log.h"
#include "picture/frame.h"

#define INTERLACED "%s is interlaced; deinterlace it first"
#define LIVE_FIELDS 25 /* pictures in a row that make a live stream an interlaced one */
#define MAX_THREADS 8  /* more only take memory: one picture each */
#define MAX_ERRORS 64  /* in a row, after the end, from a decoder that may have lost its way */
/* What a file of that duration may be shorter than its header says: some only estimate it. */
#define SLACK(duration) (AV_TIME_BASE / 4 + (duration) / 64)

static int open_codec(struct decoder *d, const char *file, int threads, struct error *err)
{
    const AVCodec *codec = NULL;
    const int n = av_find_best_stream(d->in.format, AVMEDIA_TYPE_VIDEO, -1, -1, NULL, 0);
    const char *name;

    if (n < 0 || d->in.format->streams[n]->disposition & AV_DISPOSITION_ATTACHED_PIC)
        return error_set(err, -EINVAL, "%s has no video", file);
    d->stream = d->in.format->streams[n];
    if (video_input_elsewhere(&d->in, d->stream))
        return error_set(err, -EINVAL,
                         "%s keeps its pictures in another file, which is not opened for it; give "
                         "that one",
                         file);
    name = avcodec_get_name(d->stream->codecpar->codec_id);
    codec = avcodec_find_decoder(d->stream->codecpar->codec_id);
    if (d->stream->codecpar->field_order > AV_FIELD_PROGRESSIVE)
        return error_set(err, -EINVAL, INTERLACED, file);
    if (!codec)
        return error_set(err, -EINVAL, "%s holds %s, which libav cannot decode here", file, name);
    d->codec = avcodec_alloc_context3(codec);
    d->packet = av_packet_alloc();
    d->frame = av_frame_alloc();
    if (!d->codec || !d->packet || !d->frame ||
        avcodec_parameters_to_context(d->codec, d->stream->codecpar) < 0)
        return error_set(err, -ENOMEM, "out of memory for %s", file);
    d->codec->pkt_timebase = d->stream->time_base;
    d->codec->max_pixels = (int64_t)FRAME_MAX_SIDE * FRAME_MAX_SIDE;
    threads = threads ? threads : av_cpu_count();
    d->codec->thread_count = threads < MAX_THREADS ? threads : MAX_THREADS;
    if (d->live) {
        /* Threads with a picture each hold back as many pictures. */
        d->codec->thread_type = FF_THREAD_SLICE;
        d->codec->flags |= AV_CODEC_FLAG_LOW_DELAY;
    }
    if (avcodec_open2(d->codec, codec, NULL) < 0)
        return error_set(err, -EINVAL, "cannot decode %s: libav does not take its %s", file, name);
    return 0;
}

static bool is_mp4(const struct decoder *d)
{
    return av_match_name("mp4", d->in.format->iformat->name);
}

/* AVI counts what is left out, and ticks, too; MP4 what its list of edits leaves out. */
static int64_t count_frames(const struct decoder *d)
{
    const int n = is_mp4(d) ? avformat_index_get_entries_count(d->stream) : 0;
    int64_t ret = 0;

    if (av_match_name("avi", d->in.format->iformat->name))
        return 0;
    for (int i = 0; i < n; i++) {
        const AVIndexEntry *e = avformat_index_get_entry(d->stream, i);

        ret += e && !(e->flags & AVINDEX_DISCARD_FRAME);
    }
    return n && ret < d->stream->nb_frames ? ret : d->stream->nb_frames;
}

/* Says that there is sound which is not read. */
static void tell_elsewhere(const struct decoder *d, const char *file)
{
    const AVFormatContext *f = d->in.format;

    for (unsigned i = 0; i < f->nb_streams; i++)
        if (f->streams[i]->codecpar->codec_type == AVMEDIA_TYPE_AUDIO &&
            video_input_elsewhere(&d->in, f->streams[i])) {
            log_warning("%s keeps sound in another file, which is not opened for it", file);
            return;
        }
}

int decoder_open(struct decoder *d, const char *name, const char *file, int threads, int stop_fd,
                 struct error *err)
{
    int r = video_input_open(&d->in, name, stop_fd, err);

    if (r)
        return r;
    d->live = video_input_live(&d->in);
    r = open_codec(d, file, threads, err);
    if (r)
        return r;
    tell_elsewhere(d, file);
    d->n_frames = count_frames(d);
    return 0;
}

void decoder_close(struct decoder *d)
{
    av_frame_free(&d->frame);
    av_packet_free(&d->packet);
    avcodec_free_context(&d->codec);
    video_input_close(&d->in);
}

/* Says where the times of the input go on by so much that it is no pause. */
static void tell_cut(struct decoder *d, const char *file)
{
    const struct timeline *t = &d->in.timeline;

    if (!t->cut_ns || d->told_cut)
        return;
    d->told_cut = true;
    log_warning("%s has times that jump ahead by %" PRId64 " s after %.1f s; the gap is left out",
                file, t->cut_ns / NS_PER_S, (double)t->t_cut_ns / NS_PER_S);
}

/* Gives the decoder one packet, or the end. */
static int feed(struct decoder *d, const char *file)
{
    int r = video_input_read(&d->in, d->packet);

    if (r < 0) {
        d->drains = true;
        d->cut = r == AVERROR_EOF ? 0 : r;
        r = avcodec_send_packet(d->codec, NULL);
        return r == AVERROR(ENOMEM) ? -ENOMEM : 0;
    }
    tell_cut(d, file);
    r = 0;
    if (d->packet->stream_index == d->stream->index) {
        d->n_packets += !(d->packet->flags & AV_PKT_FLAG_DISCARD);
        /* What comes before a gap is marked, and whole more often than not: the decoder knows. */
        d->n_gaps += d->packet->flags & AV_PKT_FLAG_CORRUPT ? 1 : 0;
        if (avcodec_send_packet(d->codec, d->packet) < 0)
            d->n_bad++;
    }
    av_packet_unref(d->packet);
    return r;
}

/* An MP4 says where each of its frames is, of sound, too. */
static bool lacks_frames(const struct decoder *d)
{
    const AVFormatContext *f = d->in.format;
    const int64_t size = is_mp4(d) && f->pb ? avio_size(f->pb) : 0;

    for (unsigned i = 0; size > 0 && i < f->nb_streams; i++) {
        const int n = video_input_elsewhere(&d->in, f->streams[i])
                          ? 0
                          : avformat_index_get_entries_count(f->streams[i]);

        for (int k = 0; k < n; k++) {
            const AVIndexEntry *e = avformat_index_get_entry(f->streams[i], k);

            if (e && !(e->flags & AVINDEX_DISCARD_FRAME) && e->pos > size - e->size)
                return true;
        }
    }
    return false;
}

/* Headers say how much there should be: from the first time stamp on, or, in Matroska and in pieces
 * cut out of a longer file, from 0 on. That of an MP4 whose frames are all there may go on. */
static bool is_short(const struct decoder *d)
{
    const AVFormatContext *f = d->in.format;
    const int64_t start = video_input_start_us(&d->in);

    if (d->n_frames > d->n_packets || lacks_frames(d))
        return true;
    if (is_mp4(d) && d->n_frames == d->n_packets)
        return false;
    return f->duration_estimation_method == AVFMT_DURATION_FROM_STREAM && f->duration > 0 &&
           d->n_packets > 1 &&
           (start > 0 ? d->in.end_us : av_sat_sub64(d->in.end_us, start)) <
               f->duration - SLACK(f->duration);
}

static bool is_interlaced(const AVFrame *f)
{
#ifdef AV_FRAME_FLAG_INTERLACED
    return f->flags & AV_FRAME_FLAG_INTERLACED;
#else
    return f->interlaced_frame;
#endif
}

/* A live stream that becomes interlaced is opened again, and refused then if it begins so. One that
 * is both in turn would be opened for ever, so the second time it goes on, whatever else it was
 * opened again for. Single pictures that say so are believed of neither. */
static int check_live_fields(struct decoder *d, const char *file, struct error *err)
{
    if (d->n_fields < LIVE_FIELDS)
        return 0;
    if (!d->became_interlaced)
        return error_set(err, -EPROTO, "%s is interlaced now", file);
    d->mixed = true;
    log_warning("%s is interlaced at times, and filtered as if it was not", file);
    return 0;
}

/* Some files say it of their frames alone; what says the contrary of its first frame is believed. A
 * film that becomes interlaced is told of and goes on, so that nothing of it is lost. */
static int check_fields(struct decoder *d, const char *file, struct error *err)
{
    d->n_fields = is_interlaced(d->frame) ? d->n_fields + 1 : 0;
    if (!d->n_fields || d->mixed)
        return 0;
    if (!d->n_shown && d->stream->codecpar->field_order == AV_FIELD_UNKNOWN)
        return error_set(err, -EINVAL, INTERLACED, file);
    if (d->live)
        return check_live_fields(d, file, err);
    d->mixed = true;
    if (d->n_shown)
        log_warning("%s is interlaced from frame %" PRId64 " on, and filtered as if it was not",
                    file, d->n_shown + 1);
    return 0;
}

/* Whether the input is an MP4 whose index comes after what it is of, and cannot be gone back in. */
static bool needs_parts(const struct decoder *d)
{
    const AVIOContext *io = d->in.format->pb;

    return is_mp4(d) && !d->n_packets && io && !(io->seekable & AVIO_SEEKABLE_NORMAL);
}

static int end(const struct decoder *d, const char *file, struct error *err)
{
    char why[AV_ERROR_MAX_STRING_SIZE];

    if (d->cut == AVERROR(ENOMEM))
        return error_set(err, -ENOMEM, "out of memory for %s", file);
    if (d->cut && needs_parts(d))
        return error_set(
            err, -EBADMSG,
            "%s has its index at its end, and the server sends no parts of it: fetch it, "
            "or have the index first (ffmpeg -movflags faststart)",
            file);
    if (d->cut)
        return error_set(err, -EBADMSG, "%s is broken after %" PRId64 " frames: %s", file,
                         d->n_shown, video_strerror(d->cut, why, sizeof(why)));
    if (is_short(d))
        return error_set(err, -EBADMSG, "%s ends too early: after %" PRId64 " frames", file,
                         d->n_shown);
    if (d->n_bad)
        return error_set(err, -EBADMSG, "%s is damaged; frames that are left out: %" PRIu64, file,
                         d->n_bad);
    if (d->n_gaps > d->in.timeline.part)
        return error_set(err, -EBADMSG, "%s is damaged; places where something is missing: %d",
                         file, d->n_gaps);
    return error_set(err, -ENODATA, "the end of %s", file);
}

/* How the film is to be turned, earlier versions of libav say with its first picture alone. */
static void tell_turn(const struct decoder *d)
{
#if LIBAVFORMAT_VERSION_INT < AV_VERSION_INT(60, 15, 100)
    size_t size = 0;
    const uint8_t *matrix = av_stream_get_side_data(d->stream, AV_PKT_DATA_DISPLAYMATRIX, &size);
    AVFrameSideData *to = NULL;

    if (matrix && !av_frame_get_side_data(d->frame, AV_FRAME_DATA_DISPLAYMATRIX))
        to = av_frame_new_side_data(d->frame, AV_FRAME_DATA_DISPLAYMATRIX, size);
    if (to)
        memcpy(to->data, matrix, size);
#else
    (void)d;
#endif
}

int decoder_next(struct decoder *d, const char *file, int stop_fd, struct error *err)
{
    while (!event_rung(stop_fd)) {
        int r = avcodec_receive_frame(d->codec, d->frame);

        if (!r && !d->frame->decode_error_flags && !(d->frame->flags & AV_FRAME_FLAG_CORRUPT)) {
            tell_turn(d);
            r = check_fields(d, file, err);
            d->n_shown++;
            return r;
        }
        if (r == AVERROR_EOF || (d->drains && r < 0 && d->n_errors++ == MAX_ERRORS))
            return end(d, file, err);
        if (r == AVERROR(EAGAIN)) {
            r = feed(d, file);
        } else {
            d->n_bad++;
            r = r == AVERROR(ENOMEM) ? -ENOMEM : 0;
        }
        if (r)
            return error_set(err, r, "out of memory for %s", file);
    }
    return error_set(err, -ECANCELED, "stopped reading %s", file);
}
