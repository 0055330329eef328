#include "sink/film.h"

#include <errno.h>
#include <libavcodec/avcodec.h>

#include "base/text.h"
#include "base/url.h"

/* What decoders of sound want to hear first. */
#define PREROLL_NS INT64_C(200000000)

static const AVRational ns = {1, 1000000000};

/* Makes a stream in @to that is coded as @from. NULL: out of memory. */
static AVStream *make_stream(AVFormatContext *to, const AVStream *from)
{
    AVStream *s = avformat_new_stream(to, NULL);

    if (!s || avcodec_parameters_copy(s->codecpar, from->codecpar) < 0)
        return NULL;
    s->codecpar->codec_tag = 0;
    s->time_base = from->time_base;
    return s;
}

/* Whether a film like @to may have such a stream. What libav lists for a format is not all taken
 * when it begins, so one is begun with that stream alone, in memory. */
static bool can_hold(const AVFormatContext *to, const AVStream *from)
{
    AVFormatContext *trial = NULL;
    uint8_t *bytes = NULL;
    bool ret;

    if (avformat_query_codec(to->oformat, from->codecpar->codec_id, FF_COMPLIANCE_NORMAL) != 1 ||
        avformat_alloc_output_context2(&trial, to->oformat, NULL, NULL) < 0)
        return false;
    ret = avio_open_dyn_buf(&trial->pb) >= 0 && make_stream(trial, from) &&
          avformat_write_header(trial, NULL) >= 0;
    if (trial->pb)
        (void)avio_close_dyn_buf(trial->pb, &bytes);
    av_free(bytes);
    avformat_free_context(trial);
    return ret;
}

/* Whether it is one of the list's items. */
static bool is_left_out(const struct film *f, const char *what)
{
    const size_t n = strlen(what);

    for (const char *item = f->left_out;; item += 2) {
        const size_t length = strcspn(item, ",");

        if (length == n && !memcmp(item, what, n))
            return true;
        item += length;
        if (!*item)
            return false;
    }
}

static void leave_out_item(struct film *f, const char *what)
{
    if (!is_left_out(f, what))
        list_add(f->left_out, sizeof(f->left_out), ", ", what);
}

static bool is_format(const AVFormatContext *to, const char *name)
{
    return !strcmp(to->oformat->name, name);
}

/* Has @s keep what @from says as @key, or say @otherwise. */
static int keep_tag(AVStream *s, const AVStream *from, const char *key, const char *otherwise)
{
    const AVDictionaryEntry *e = av_dict_get(from->metadata, key, NULL, 0);

    return av_dict_set(&s->metadata, key, e ? e->value : otherwise, 0);
}

/* Makes an attachment of the cover, which Matroska has no other place for. */
static int attach_cover(const AVStream *from, AVFormatContext *to)
{
    const bool png = from->codecpar->codec_id == AV_CODEC_ID_PNG;
    const AVPacket *picture = &from->attached_pic;
    uint8_t *data = av_mallocz((size_t)picture->size + AV_INPUT_BUFFER_PADDING_SIZE);
    AVStream *s = data ? make_stream(to, from) : NULL;
    AVCodecParameters *p;

    if (!s) {
        av_free(data);
        return -ENOMEM;
    }
    memcpy(data, picture->data, (size_t)picture->size);
    p = s->codecpar;
    av_freep(&p->extradata);
    p->codec_type = AVMEDIA_TYPE_ATTACHMENT;
    p->extradata = data;
    p->extradata_size = picture->size;
    if (keep_tag(s, from, "filename", png ? "cover.png" : "cover.jpg") < 0 ||
        keep_tag(s, from, "mimetype", png ? "image/png" : "image/jpeg") < 0)
        return -ENOMEM;
    return 0;
}

static int add_cover(struct film *f, const AVStream *from, AVFormatContext *to)
{
    const enum AVCodecID id = from->codecpar->codec_id;
    const bool known = id == AV_CODEC_ID_PNG || id == AV_CODEC_ID_MJPEG;
    AVStream *s;

    if (known && is_format(to, "matroska") && from->attached_pic.size > 0)
        return attach_cover(from, to);
    if (!known || !is_format(to, "mp4")) {
        leave_out_item(f, "the cover");
        return 0;
    }
    s = make_stream(to, from);
    if (!s)
        return -ENOMEM;
    s->disposition = AV_DISPOSITION_ATTACHED_PIC;
    f->places[from->index].to = s->index;
    return 0;
}

/* Fonts and the like, which have no packets. */
static int add_attachment(struct film *f, const AVStream *from, AVFormatContext *to)
{
    const enum AVCodecID id = from->codecpar->codec_id;
    AVStream *s;

    if (!is_format(to, "matroska") || !av_dict_get(from->metadata, "filename", NULL, 0) ||
        !av_dict_get(from->metadata, "mimetype", NULL, 0)) {
        leave_out_item(f, id == AV_CODEC_ID_TTF || id == AV_CODEC_ID_OTF ? "fonts" : "attachments");
        return 0;
    }
    s = make_stream(to, from);
    return s && av_dict_copy(&s->metadata, from->metadata, 0) >= 0 ? 0 : -ENOMEM;
}

static int add_packets(struct film *f, const AVStream *from, AVFormatContext *to)
{
    AVStream *s;

    if (!can_hold(to, from)) {
        leave_out_item(f, avcodec_get_name(from->codecpar->codec_id));
        return 0;
    }
    s = make_stream(to, from);
    if (!s)
        return -ENOMEM;
    s->disposition = from->disposition;
    f->places[from->index].to = s->index;
    return av_dict_copy(&s->metadata, from->metadata, 0) < 0 ? -ENOMEM : 0;
}

/* Whether it is data that nobody else has: times of day and chapters are kept in another way, and
 * how to send a film is for servers. */
static bool is_own_data(const AVStream *from)
{
    const uint32_t tag = from->codecpar->codec_tag;

    return from->discard < AVDISCARD_ALL && tag != MKTAG('t', 'm', 'c', 'd') &&
           tag != MKTAG('r', 't', 'p', ' ');
}

/* Gives @from a place in @to, if that can hold it. */
static int add_stream(struct film *f, const AVStream *from, AVFormatContext *to)
{
    if (video_input_elsewhere(&f->in, from))
        return 0;
    switch (from->codecpar->codec_type) {
    case AVMEDIA_TYPE_AUDIO:
    case AVMEDIA_TYPE_SUBTITLE:
        return add_packets(f, from, to);
    case AVMEDIA_TYPE_ATTACHMENT:
        return add_attachment(f, from, to);
    case AVMEDIA_TYPE_VIDEO:
        if (from->disposition & AV_DISPOSITION_ATTACHED_PIC)
            return add_cover(f, from, to);
        if (from != f->video)
            leave_out_item(f, "other pictures");
        return 0;
    case AVMEDIA_TYPE_DATA:
        if (is_own_data(from))
            leave_out_item(f, "data");
        return 0;
    default:
        return 0;
    }
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
        const int64_t start =
            av_rescale_q(video_input_start_us(&f->in), AV_TIME_BASE_Q, from->time_base);
        AVChapter *c;

        if (from->end <= start)
            continue;
        c = av_mallocz(sizeof(*c));
        if (!c)
            return -ENOMEM;
        to->chapters[to->nb_chapters++] = c;
        c->id = from->id;
        c->time_base = from->time_base;
        c->start = from->start > start ? av_sat_sub64(from->start, start) : 0;
        c->end = av_sat_sub64(from->end, start);
        if (av_dict_copy(&c->metadata, from->metadata, 0) < 0)
            return -ENOMEM;
    }
    return 0;
}

/* Has the new pictures be called as the old ones, but for what is said of how those are coded. */
static int name_pictures(const struct film *f, AVStream *to)
{
    static const char *const stale[] = {"encoder", "BPS", "NUMBER_OF_", "_STATISTICS_"};
    int r = av_dict_copy(&to->metadata, f->video->metadata, 0);

    to->disposition = f->video->disposition;
    for (size_t i = 0; r >= 0 && i < sizeof(stale) / sizeof(stale[0]); i++) {
        const AVDictionaryEntry *e;

        while (r >= 0 &&
               (e = av_dict_get(to->metadata, stale[i], NULL, AV_DICT_IGNORE_SUFFIX)) != NULL)
            r = av_dict_set(&to->metadata, e->key, NULL, 0);
    }
    return r;
}

/* Whether the stream, which is left out, shows how the times go on: whoever reads the pictures goes
 * by all pictures and sound, too. */
static bool is_clock(const struct film *f, const AVStream *s)
{
    const enum AVMediaType type = s->codecpar->codec_type;

    return (type == AVMEDIA_TYPE_VIDEO || type == AVMEDIA_TYPE_AUDIO) &&
           s->discard < AVDISCARD_ALL && video_input_may_jump(&f->in);
}

int film_open(struct film *f, const char *name, int stop_fd, AVFormatContext *to, struct error *err)
{
    const AVFormatContext *in;
    char shown[128];
    int r = video_input_open(&f->in, name, stop_fd, err);
    int n;

    if (r && r != -ECANCELED && is_url(name)) {
        const struct error why = *err;

        return error_set(err, r,
                         "%s (a second time, for its sound and subtitles; with --fps they "
                         "are left out)",
                         why.text);
    }
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
    f->packet = av_packet_alloc();
    r = f->places && f->packet ? 0 : -ENOMEM;
    for (unsigned i = 0; !r && i < f->n_places; i++) {
        f->places[i] = (struct film_place){.to = -1, .last = AV_NOPTS_VALUE};
        r = add_stream(f, in->streams[i], to);
        if (f->places[i].to < 0 && !is_clock(f, in->streams[i]))
            in->streams[i]->discard = AVDISCARD_ALL;
    }
    if (!r)
        r = add_chapters(f, to);
    if (!r &&
        (av_dict_copy(&to->metadata, in->metadata, 0) < 0 || name_pictures(f, to->streams[0]) < 0))
        r = -ENOMEM;
    return r ? error_set(err, r, "out of memory for '%s'", shown) : 0;
}

void film_close(struct film *f)
{
    av_packet_free(&f->packet);
    av_freep(&f->places);
    video_input_close(&f->in);
}

static AVRational base_of(const struct film *f)
{
    return f->in.format->streams[f->packet->stream_index]->time_base;
}

static struct film_place *place_of(const struct film *f)
{
    const unsigned i = (unsigned)f->packet->stream_index;

    return i < f->n_places && f->places[i].to >= 0 ? &f->places[i] : NULL;
}

/* When the packet is due, as it says, from the start; INT64_MIN: it does not say. */
static int64_t told_ns(const struct film *f)
{
    const int64_t t = f->packet->dts != AV_NOPTS_VALUE ? f->packet->dts : f->packet->pts;

    return video_ns(t, base_of(f), video_input_start_us(&f->in));
}

static bool is_early(const struct film *f, int64_t t_ns)
{
    const int64_t told = told_ns(f);

    return told != INT64_MIN && told > t_ns;
}

/* Whether libav would refuse the packet, whose time is not after that of the one before. */
static bool is_late(const struct film_place *place, int64_t dts, const AVFormatContext *to)
{
    const bool same = to->oformat->flags & AVFMT_TS_NONSTRICT;

    return dts != AV_NOPTS_VALUE && place->last != AV_NOPTS_VALUE &&
           (same ? dts < place->last : dts <= place->last);
}

/* Whether it says a time that nothing can be calculated with. */
static bool is_wild(const struct film *f)
{
    const int64_t pts = f->packet->pts, dts = f->packet->dts;
    const int64_t start_us = video_input_start_us(&f->in);

    return (pts != AV_NOPTS_VALUE && video_ns(pts, base_of(f), start_us) == INT64_MIN) ||
           (dts != AV_NOPTS_VALUE && video_ns(dts, base_of(f), start_us) == INT64_MIN);
}

/* Counts it if it is sound that is left out for its times. */
static void count_wild(struct film *f)
{
    const AVStream *s = f->in.format->streams[f->packet->stream_index];

    if (place_of(f) && s->codecpar->codec_type == AVMEDIA_TYPE_AUDIO && is_wild(f))
        f->n_wild++;
}

/* Whether it is sound that an MP4's list of edits leaves out, and that no other sound needs. */
static bool is_cut_off(const struct film *f)
{
    return f->packet->flags & AV_PKT_FLAG_DISCARD &&
           (place_of(f)->shown || told_ns(f) < -PREROLL_NS);
}

static void note_end(struct film *f)
{
    const int64_t t_ns = told_ns(f);

    if (f->in.format->streams[f->packet->stream_index]->codecpar->codec_type ==
            AVMEDIA_TYPE_AUDIO &&
        t_ns != INT64_MIN)
        f->t_end_ns = FFMAX(f->t_end_ns, t_ns + av_rescale_q(f->packet->duration, base_of(f), ns));
}

static int write_packet(struct film *f, AVFormatContext *to, struct video_output *out)
{
    AVPacket *p = f->packet;
    struct film_place *place = place_of(f);
    const AVRational base = base_of(f);
    const int64_t start = av_rescale_q(video_input_start_us(&f->in), AV_TIME_BASE_Q, base);
    int r;

    note_end(f);
    if (p->pts != AV_NOPTS_VALUE)
        p->pts = av_sat_sub64(p->pts, start);
    if (p->dts != AV_NOPTS_VALUE)
        p->dts = av_sat_sub64(p->dts, start);
    av_packet_rescale_ts(p, base, to->streams[place->to]->time_base);
    if (is_late(place, p->dts, to) || !video_output_take(out, p->size, false)) {
        av_packet_unref(p);
        return 0;
    }
    if (p->dts != AV_NOPTS_VALUE)
        place->last = p->dts;
    place->shown = place->shown || !(p->flags & AV_PKT_FLAG_DISCARD);
    p->stream_index = place->to;
    p->pos = -1;
    r = av_interleaved_write_frame(to, p);
    if (r != AVERROR_INVALIDDATA)
        return r;
    f->n_damaged++; /* libav has dropped it, and takes the next one */
    return 0;
}

int film_copy(struct film *f, AVFormatContext *to, struct video_output *out, int64_t t_ns)
{
    int r = 0;

    while (r >= 0 && f->video && !out->full) {
        const bool waited = f->waiting;

        f->waiting = false;
        if (!waited)
            r = video_input_read(&f->in, f->packet);
        if (r < 0) {
            f->video = NULL;
            f->cut = r == AVERROR_EOF || f->in.io ? 0 : r;
            return 0;
        }
        if (!place_of(f) || is_wild(f) || is_cut_off(f)) {
            count_wild(f);
            av_packet_unref(f->packet);
            continue;
        }
        if (t_ns != INT64_MAX && is_early(f, t_ns))
            return f->waiting = true, 0;
        r = write_packet(f, to, out);
    }
    return r;
}
