#include "video/input.h"

#include <errno.h>
#include <fcntl.h>
#include <libavutil/avstring.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/event.h"
#include "base/url.h"
#include "video/elsewhere.h"

#define CHUNK (1 << 16)           /* bytes that are read at once */
#define ANSWER_NS (10 * NS_PER_S) /* for a network to tell what it has */
#define READ_NS (30 * NS_PER_S)   /* for it to go on */

#define MP4_RATE 20000 /* ticks a second, than which an MP4 has more only if its film had */

#define N_ELSEWHERE ((int)(sizeof(((struct video_input *)NULL)->elsewhere) / sizeof(uint32_t)))

/* What URLs may begin with, and what else libav may use for them. None of it reads files, so that
 * what comes from a network, as a playlist, can name none. */
#define SCHEMES "http,https,rtsp,rtsps,rtmp,rtmps,rtp,srt,tcp,udp"
#define ENCRYPTED "https,rtsps,rtmps"
#define PROTOCOLS SCHEMES ",crypto,httpproxy,srtp,tls"

/* Lists of pieces, each of which comes at once. */
#define PIECES "hls,dash"
#define LISTS PIECES ",concat"

/* Over HTTP, the size of these says nothing: it is that of a list, or invented. */
#define UNSIZED PIECES ",sdp,mpjpeg"

int video_errno(int code)
{
    return code == AVERROR(ENOMEM) || code == AVERROR(EIO) ? code : -EINVAL;
}

const char *video_strerror(int code, char *text, size_t size)
{
    if (code == AVERROR_INVALIDDATA)
        (void)snprintf(text, size, "it is damaged, or of a kind that libav does not know");
    else if (code == AVERROR_EOF)
        (void)snprintf(text, size, "it ends too early");
    else if (code == AVERROR_EXIT)
        (void)snprintf(text, size, "no answer");
    else if (code == AVERROR_PROTOCOL_NOT_FOUND)
        (void)snprintf(text, size, "libav cannot do that here");
    else if (av_strerror(code, text, size))
        (void)snprintf(text, size, "libav's error %d", code);
    return text;
}

static int read_bytes(void *opaque, uint8_t *buffer, int size)
{
    const struct video_input *in = opaque;
    ssize_t n;

    do
        n = read(in->fd, buffer, (size_t)size);
    while (n < 0 && errno == EINTR);
    return n > 0 ? (int)n : n ? AVERROR(errno) : AVERROR_EOF;
}

static int64_t seek_bytes(void *opaque, int64_t offset, int whence)
{
    const struct video_input *in = opaque;
    struct stat st;
    off_t at;

    if (whence == AVSEEK_SIZE)
        return fstat(in->fd, &st) ? AVERROR(errno) : (int64_t)st.st_size;
    at = lseek(in->fd, offset, whence & ~AVSEEK_FORCE);
    return at < 0 ? AVERROR(errno) : (int64_t)at;
}

static int open_file(struct video_input *in, const char *name, struct error *err)
{
    struct stat st;

    in->fd = open(name, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    if (in->fd < 0 || fstat(in->fd, &st)) {
        const int e = errno;

        return error_set(err, -e, "cannot open '%.120s': %s", name, strerror(e));
    }
    if (!S_ISREG(st.st_mode))
        return error_set(err, -EINVAL, "cannot read '%.120s': it is no file", name);
    if (!st.st_size)
        return error_set(err, -EINVAL, "'%.120s' is empty", name);
    return 0;
}

/* libav asks this ten times a second while it waits. */
static int gives_up(void *opaque)
{
    const struct video_input *in = opaque;

    return event_rung(in->stop_fd) || now_ns() >= in->t_limit_ns;
}

static int prepare_file(struct video_input *in)
{
    uint8_t *buffer = av_malloc(CHUNK);

    in->io = buffer ? avio_alloc_context(buffer, CHUNK, 0, in, read_bytes, NULL, seek_bytes) : NULL;
    if (!in->io)
        av_free(buffer);
    in->format->pb = in->io;
    in->format->flags |= AVFMT_FLAG_CUSTOM_IO;
    return in->io ? 0 : AVERROR(ENOMEM);
}

/* Finds out what the file is, as avformat_open_input() would. */
static int probe(struct video_input *in, const AVInputFormat **ret)
{
    int r = prepare_file(in);

    if (r >= 0)
        r = av_probe_input_buffer2(in->io, ret, NULL, in->format, 0, 0);
    if (r >= 0 && av_match_name((*ret)->name, LISTS)) {
        in->list = true;
        r = AVERROR(EINVAL);
    }
    return r;
}

/* Most cameras have made their certificates themselves; libav checks them since version 9. */
static int trust(AVDictionary **options)
{
    return av_dict_set(options, "tls_verify", "0", 0);
}

/* Pieces of a list have no options of those who open the list. A new context has libav's own way to
 * open them. */
static int open_io(AVFormatContext *format, AVIOContext **ret, const char *url, int flags,
                   AVDictionary **options)
{
    AVFormatContext *const plain = avformat_alloc_context();
    AVDictionary *none = NULL;
    int r = plain ? trust(options ? options : &none) : AVERROR(ENOMEM);

    if (r >= 0)
        r = plain->io_open(format, ret, url, flags, options ? options : &none);
    av_dict_free(&none);
    avformat_free_context(plain);
    return r;
}

static int open_format(struct video_input *in, const char *url)
{
    const AVInputFormat *kind = NULL;
    AVDictionary *options = NULL;
    int r;

    in->format = avformat_alloc_context();
    if (!in->format)
        return AVERROR(ENOMEM);
    in->format->interrupt_callback = (AVIOInterruptCB){gives_up, in};
    in->format->io_open = open_io;
    r = url ? 0 : probe(in, &kind);
    /* A playlist would have other files opened, also such as its author may not read. */
    if (r >= 0)
        r = av_dict_set(&options, "protocol_whitelist", url ? PROTOCOLS : "none", 0);
    /* What is lost on the way costs pictures; UDP is for those who have nothing else. */
    if (r >= 0 && url)
        r = av_dict_set(&options, "rtsp_flags", "prefer_tcp", 0);
    if (r >= 0 && url)
        r = trust(&options);
    if (r >= 0)
        r = avformat_open_input(&in->format, url, kind, &options);
    av_dict_free(&options);
#if LIBAVFORMAT_VERSION_INT < AV_VERSION_INT(60, 15, 100)
    /* Later versions tell decoders by themselves how the picture is to be turned. */
    if (r >= 0)
        av_format_inject_global_side_data(in->format);
#endif
    return r;
}

/* Whether the file only names others, where libav does not know it for that. */
static bool looks_like_list(const struct video_input *in)
{
    static const char *const marks[] = {"#EXTM3U", "ffconcat version", "<MPD"};
    char text[512];
    const ssize_t n = in->fd < 0 ? -1 : pread(in->fd, text, sizeof(text) - 1, 0);
    bool ret = false;

    if (n <= 0)
        return false;
    text[n] = '\0';
    for (size_t i = 0; i < sizeof(marks) / sizeof(marks[0]); i++)
        ret |= strstr(text, marks[i]) != NULL;
    return ret;
}

static bool scheme_is(const char *url, const char *schemes)
{
    char scheme[16];

    (void)snprintf(scheme, sizeof(scheme), "%.*s", (int)strcspn(url, ":"), url);
    return av_match_list(scheme, schemes, ',');
}

/* All that libav tells of a connection that cannot be made is that it cannot. */
static const char *unreached(const char *url)
{
    if (scheme_is(url, ENCRYPTED))
        return "no such host, no encryption there, or it broke off";
    return "no such host, or it broke off";
}

static int tell_unread(const struct video_input *in, int code, const char *shown, struct error *err)
{
    char why[AV_ERROR_MAX_STRING_SIZE];

    if (in->list || (code != AVERROR_EXIT && code != AVERROR(ENOMEM) && looks_like_list(in)))
        return error_set(err, -EINVAL,
                         "cannot read '%s': it is a list of other files, none of which is opened "
                         "for it; give one of them, or the URL of the list",
                         shown);
    if (in->fd < 0 && code == AVERROR(EIO))
        return error_set(err, code, "cannot read '%s': %s", shown, unreached(shown));
    return error_set(err, video_errno(code), "cannot read '%s': %s", shown,
                     video_strerror(code, why, sizeof(why)));
}

static int check_scheme(const char *url, const char *name, struct error *err)
{
    if (scheme_is(url, SCHEMES))
        return 0;
    return error_usage(err,
                       "'%.120s': of URLs only those of %s are read, and files are told by their "
                       "name",
                       name, SCHEMES);
}

bool video_input_elsewhere(const struct video_input *in, const AVStream *s)
{
    for (int i = 0; i < in->n_elsewhere; i++)
        if (in->elsewhere[i] == (uint32_t)s->id)
            return true;
    return false;
}

static void look_elsewhere(struct video_input *in)
{
    const AVFormatContext *f = in->format;

    if (in->fd < 0 || !av_match_name("mov", f->iformat->name))
        return;
    in->n_elsewhere = elsewhere_tracks(in->fd, in->elsewhere, N_ELSEWHERE);
    for (unsigned i = 0; i < f->nb_streams; i++)
        if (video_input_elsewhere(in, f->streams[i]))
            f->streams[i]->discard = AVDISCARD_ALL;
}

int video_input_open(struct video_input *in, const char *name, int stop_fd, struct error *err)
{
    const bool url = is_url(name);
    char shown[128];
    int r;

    /* What it would print names no file, and says what users cannot use. */
    av_log_set_level(AV_LOG_QUIET);
    *in = (struct video_input){.fd = -1, .stop_fd = stop_fd, .t_limit_ns = INT64_MAX};
    (void)url_public(name, shown, sizeof(shown));
    r = url ? check_scheme(name, shown, err) : open_file(in, name, err);
    if (!r) {
        in->t_limit_ns = url ? now_ns() + ANSWER_NS : INT64_MAX;
        r = open_format(in, url ? name : NULL);
        if (r >= 0)
            r = avformat_find_stream_info(in->format, NULL);
        r = r < 0 ? tell_unread(in, r, shown, err) : 0;
        in->follows = !r && !video_input_live(in);
        if (!r)
            look_elsewhere(in);
    }
    if (r)
        video_input_close(in);
    return r;
}

/* How far the packet goes, of whichever stream it is. */
static void note_end(struct video_input *in, const AVPacket *p)
{
    const AVRational base = in->format->streams[p->stream_index]->time_base;
    int64_t t = p->pts != AV_NOPTS_VALUE ? p->pts : p->dts;

    if (t == AV_NOPTS_VALUE)
        return;
    t = av_rescale_q(av_sat_add64(t, p->duration), base, AV_TIME_BASE_Q);
    in->end_us = t > in->end_us ? t : in->end_us;
}

/* The longest pause there can be: what an MP4 of these streams can hold. */
static int64_t longest_pause_ns(const AVFormatContext *f)
{
    int64_t rate = MP4_RATE;

    for (unsigned i = 0; i < f->nb_streams; i++) {
        const AVStream *s = f->streams[i];

        rate = FFMAX3(rate, s->codecpar->sample_rate, s->time_base.den / s->time_base.num);
    }
    return av_rescale(INT32_MAX, NS_PER_S, FFMIN(rate, VIDEO_TICKS));
}

bool video_input_may_jump(const struct video_input *in)
{
    const AVFormatContext *f = in->format;

    return f->iformat->flags & AVFMT_TS_DISCONT || f->duration > longest_pause_ns(f) / NS_PER_US;
}

/* How long the packet is shown, as far as it tells. */
static int64_t length_ns(const AVStream *s, const AVPacket *p)
{
    const AVRational fps = s->avg_frame_rate;

    if (p->duration > 0)
        return av_rescale_q(p->duration, s->time_base, (AVRational){1, NS_PER_S});
    return fps.num > 0 && fps.den > 0 ? av_rescale(NS_PER_S, fps.den, fps.num) : 0;
}

/* When the packet is due; pictures are shown in another order. Those that are decoded before a gap
 * and shown behind it show that there is one. */
static int64_t due(const AVStream *s, const AVPacket *p, int64_t on_ns)
{
    const int64_t on = av_rescale_q(on_ns, (AVRational){1, NS_PER_S}, s->time_base);

    if (p->pts == AV_NOPTS_VALUE)
        return p->dts;
    if (p->dts == AV_NOPTS_VALUE)
        return s->codecpar->codec_type == AVMEDIA_TYPE_AUDIO ? p->pts : AV_NOPTS_VALUE;
    return av_sat_sub64(p->pts, p->dts) > on ? p->pts : p->dts;
}

/* Gives the packet the time of all. */
static int follow(struct video_input *in, AVPacket *p)
{
    const AVStream *s = in->format->streams[p->stream_index];
    const bool cover = s->disposition & AV_DISPOSITION_ATTACHED_PIC;
    const bool pictures = s->codecpar->codec_type == AVMEDIA_TYPE_VIDEO && !cover;
    const int64_t on_ns = longest_pause_ns(in->format);
    const int64_t t = due(s, p, on_ns);
    const int64_t t_ns = video_ns(t, s->time_base, video_input_start_us(in));
    const struct timeline_packet packet = {.stream = (unsigned)p->stream_index,
                                           .steady = pictures ||
                                                     s->codecpar->codec_type == AVMEDIA_TYPE_AUDIO,
                                           .leads = pictures,
                                           .t_ns = t_ns,
                                           .long_ns = length_ns(s, p)};
    int64_t shift_ns, shift;
    int r;

    in->timeline.on_ns = on_ns;
    r = timeline_follow(&in->timeline, &packet, &shift_ns);
    if (r || (t != AV_NOPTS_VALUE && t_ns == INT64_MIN))
        return r;
    shift = av_rescale_q(shift_ns, (AVRational){1, NS_PER_S}, s->time_base);
    if (p->pts != AV_NOPTS_VALUE)
        p->pts = av_sat_add64(p->pts, shift);
    if (p->dts != AV_NOPTS_VALUE)
        p->dts = av_sat_add64(p->dts, shift);
    return 0;
}

int video_input_read(struct video_input *in, AVPacket *packet)
{
    int r;

    in->t_limit_ns = in->io ? INT64_MAX : now_ns() + READ_NS;
    r = av_read_frame(in->format, packet);
    if (r < 0)
        return r;
    note_end(in, packet);
    if (in->follows && follow(in, packet)) {
        av_packet_unref(packet);
        return AVERROR(ENOMEM);
    }
    return 0;
}

int64_t video_input_start_us(const struct video_input *in)
{
    return in->format->start_time == AV_NOPTS_VALUE ? 0 : in->format->start_time;
}

static bool is_tame(int64_t ns)
{
    return ns > INT64_MIN / 8 && ns < INT64_MAX / 8;
}

int64_t video_ns(int64_t t, AVRational base, int64_t start_us)
{
    const AVRational ns = {1, NS_PER_S};
    const int64_t start_ns = av_rescale(start_us, NS_PER_US, 1);
    int64_t ret;

    if (t == AV_NOPTS_VALUE)
        return INT64_MIN;
    ret = av_rescale_q(t, base, ns);
    if (is_tame(ret) && is_tame(start_ns))
        return ret - start_ns;
    /* What begins centuries from 0 may be short all the same. */
    ret = av_rescale_q(av_sat_sub64(t, av_rescale_q(start_us, AV_TIME_BASE_Q, base)), base, ns);
    return is_tame(ret) ? ret : INT64_MIN;
}

bool video_input_live(const struct video_input *in)
{
    const AVFormatContext *f = in->format;

    if (in->io)
        return false;
    if (!av_strstart(f->url, "http", NULL))
        return true;
    return f->duration <= 0 && (av_match_name(f->iformat->name, UNSIZED) || avio_size(f->pb) <= 0);
}

bool video_input_in_pieces(const struct video_input *in)
{
    return av_match_name(in->format->iformat->name, PIECES);
}

void video_input_close(struct video_input *in)
{
    timeline_finish(&in->timeline);
    avformat_close_input(&in->format);
    if (in->io)
        av_freep(&in->io->buffer);
    avio_context_free(&in->io);
    if (in->fd > 0)
        (void)close(in->fd);
    in->fd = -1;
}
