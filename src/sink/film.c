#include "sink/film.h"

#include <errno.h>
#include <libavcodec/avcodec.h>

#include "base/text.h"
#include "base/url.h"

static const AVRational ns = {1, 1000000000};

static bool is_copied(const AVStream *s)
{
    return s->codecpar->codec_type == AVMEDIA_TYPE_AUDIO ||
           s->codecpar->codec_type == AVMEDIA_TYPE_SUBTITLE;
}

/* Gives @from a place in @to, if that can hold it. */
static int add_stream(struct film *f, const AVStream *from, AVFormatContext *to)
{
    const AVCodecParameters *p = from->codecpar;
    AVStream *s;

    if (!is_copied(from))
        return 0;
    if (avformat_query_codec(to->oformat, p->codec_id, FF_COMPLIANCE_NORMAL) != 1) {
        list_add(f->left_out, sizeof(f->left_out), ", ", avcodec_get_name(p->codec_id));
        return 0;
    }
    s = avformat_new_stream(to, NULL);
    if (!s || avcodec_parameters_copy(s->codecpar, p) < 0)
        return -ENOMEM;
    s->codecpar->codec_tag = 0;
    s->time_base = from->time_base;
    s->disposition = from->disposition;
    f->places[from->index] = s->index;
    return av_dict_copy(&s->metadata, from->metadata, 0) < 0 ? -ENOMEM : 0;
}

static int64_t start_of(const struct film *f)
{
    return f->in.format->start_time == AV_NOPTS_VALUE ? 0 : f->in.format->start_time;
}

static int add_chapters(const struct film *f, AVFormatContext *to)
{
    const unsigned n = f->in.format->nb_chapters;

    if (!n)
        return 0;
    to->chapters = av_calloc(n, sizeof(*to->chapters));
    if (!to->chapters)
        return -ENOMEM;
    for (unsigned i = 0; i < n; i++) {
        const AVChapter *from = f->in.format->chapters[i];
        const int64_t start = av_rescale_q(start_of(f), AV_TIME_BASE_Q, from->time_base);
        AVChapter *c;

        if (from->end <= start)
            continue;
        c = av_mallocz(sizeof(*c));
        if (!c)
            return -ENOMEM;
        to->chapters[to->nb_chapters++] = c;
        c->id = from->id;
        c->time_base = from->time_base;
        c->start = from->start > start ? from->start - start : 0;
        c->end = from->end - start;
        if (av_dict_copy(&c->metadata, from->metadata, 0) < 0)
            return -ENOMEM;
    }
    return 0;
}

int film_open(struct film *f, const char *name, int stop_fd, AVFormatContext *to, struct error *err)
{
    const AVFormatContext *in;
    char shown[128];
    int r = video_input_open(&f->in, name, stop_fd, err);
    int n;

    if (r)
        return r;
    (void)url_public(name, shown, sizeof(shown));
    in = f->in.format;
    n = av_find_best_stream(f->in.format, AVMEDIA_TYPE_VIDEO, -1, -1, NULL, 0);
    if (n < 0)
        return error_set(err, -EINVAL, "'%s' has no video any more", shown);
    f->video = in->streams[n];
    f->n_places = in->nb_streams;
    f->places = av_malloc_array(f->n_places, sizeof(*f->places));
    f->last = av_malloc_array(f->n_places, sizeof(*f->last));
    f->packet = av_packet_alloc();
    r = f->places && f->last && f->packet ? 0 : -ENOMEM;
    for (unsigned i = 0; !r && i < f->n_places; i++) {
        f->places[i] = -1;
        f->last[i] = AV_NOPTS_VALUE;
        r = add_stream(f, in->streams[i], to);
        if (f->places[i] < 0)
            in->streams[i]->discard = AVDISCARD_ALL;
    }
    if (!r)
        r = add_chapters(f, to);
    if (!r && (av_dict_copy(&to->metadata, in->metadata, 0) < 0 ||
               av_dict_copy(&to->streams[0]->metadata, f->video->metadata, 0) < 0))
        r = -ENOMEM;
    return r ? error_set(err, r, "out of memory for '%s'", shown) : 0;
}

void film_close(struct film *f)
{
    av_packet_free(&f->packet);
    av_freep(&f->places);
    av_freep(&f->last);
    video_input_close(&f->in);
}

static AVRational base_of(const struct film *f)
{
    return f->in.format->streams[f->packet->stream_index]->time_base;
}

static bool is_left_out(const struct film *f)
{
    const unsigned i = (unsigned)f->packet->stream_index;

    return i >= f->n_places || f->places[i] < 0;
}

/* When the packet is due, from the start; INT64_MIN: it does not say. */
static int64_t due_ns(const struct film *f)
{
    const int64_t t = f->packet->dts != AV_NOPTS_VALUE ? f->packet->dts : f->packet->pts;

    if (t == AV_NOPTS_VALUE)
        return INT64_MIN;
    return av_rescale_q(t, base_of(f), ns) - start_of(f) * 1000 + f->shift_ns;
}

/* Where times go back, they go on from what was there. */
static void follow_times(struct film *f)
{
    const int64_t t_ns = due_ns(f);

    if (t_ns == INT64_MIN)
        return;
    if (t_ns < f->t_end_ns - VIDEO_JUMP_NS)
        f->shift_ns += f->t_end_ns - t_ns;
    f->t_end_ns = FFMAX(f->t_end_ns, due_ns(f) + av_rescale_q(f->packet->duration, base_of(f), ns));
}

/* Whether libav would refuse the packet, whose time is not after that of the one before. */
static bool is_late(const struct film *f, const AVFormatContext *to)
{
    const int64_t last = f->last[f->packet->stream_index], dts = f->packet->dts;
    const bool same = to->oformat->flags & AVFMT_TS_NONSTRICT;

    return dts != AV_NOPTS_VALUE && last != AV_NOPTS_VALUE && (same ? dts < last : dts <= last);
}

static int write_packet(struct film *f, AVFormatContext *to)
{
    AVPacket *p = f->packet;
    const AVRational base = base_of(f);
    const AVStream *s = to->streams[f->places[p->stream_index]];
    const int64_t shift =
        av_rescale_q(f->shift_ns, ns, base) - av_rescale_q(start_of(f), AV_TIME_BASE_Q, base);

    if (p->pts != AV_NOPTS_VALUE)
        p->pts += shift;
    if (p->dts != AV_NOPTS_VALUE)
        p->dts += shift;
    av_packet_rescale_ts(p, base, s->time_base);
    if (is_late(f, to)) {
        av_packet_unref(p);
        return 0;
    }
    if (p->dts != AV_NOPTS_VALUE)
        f->last[p->stream_index] = p->dts;
    p->stream_index = s->index;
    p->pos = -1;
    f->n_bytes += p->size;
    return av_interleaved_write_frame(to, p);
}

int film_copy(struct film *f, AVFormatContext *to, int64_t t_ns)
{
    int r = 0;

    while (r >= 0 && f->video) {
        const bool waited = f->waiting;

        f->waiting = false;
        if (!waited)
            r = video_input_read(&f->in, f->packet);
        if (r < 0) {
            f->video = NULL;
            f->cut = r == AVERROR_EOF || f->in.io ? 0 : r;
            return 0;
        }
        if (is_left_out(f)) {
            av_packet_unref(f->packet);
            continue;
        }
        if (!waited)
            follow_times(f);
        if (t_ns != INT64_MAX && due_ns(f) > t_ns)
            return f->waiting = true, 0;
        r = write_packet(f, to);
    }
    return r;
}
