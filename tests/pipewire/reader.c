/* A program that takes pictures from a PipeWire camera:
 *
 *     reader NAME [OPTION]...
 *
 * NAME is that of the node. It says in lines what it gets: "format ...", "picture N", "gone", and
 * ends after --pictures N (1 where none is given), or when the camera goes. */
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <pipewire/pipewire.h>
#include <spa/param/video/format-utils.h>

#define NOT_YET 3       /* status: the session manager has not seen the camera yet */
#define PAUSE_US 100000 /* before the next try then */
#define TRIES 600

struct reader {
    struct pw_main_loop *loop;
    struct pw_stream *stream;
    enum spa_video_format format; /* wanted; SPA_VIDEO_FORMAT_UNKNOWN: any */
    struct spa_rectangle size;    /* wanted; 0x0: any */
    FILE *out;                    /* raw pictures; or NULL */
    long pictures;                /* to get */
    bool hang;                    /* keep every buffer */
    bool scribble;                /* try to change what others see */
    int slow_ms;                  /* after each picture */
    long n;
    uint64_t seq; /* of the last one */
    long n_missed;
    int64_t pts;
    bool ended;
    int status; /* of the program */
};

static void quit(struct reader *r, int status)
{
    r->ended = true;
    r->status = status;
    (void)pw_main_loop_quit(r->loop);
}

/* --- what is tried on it --- */

static void scribble(const struct spa_data *d)
{
    const size_t size = d->maxsize;
    void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, (int)d->fd, d->mapoffset);

    if (memory != MAP_FAILED) {
        memset(memory, 255, size);
        (void)munmap(memory, size);
        printf("scribbled\n");
    }
    if (ftruncate((int)d->fd, 0) == 0)
        printf("cut off\n");
}

static void check_stamp(struct reader *r, const struct spa_buffer *b)
{
    const struct spa_meta_header *h = spa_buffer_find_meta_data(b, SPA_META_Header, sizeof(*h));

    if (!h) {
        printf("no header\n");
        return;
    }
    if (h->pts <= r->pts || (r->n && h->seq <= r->seq))
        printf("not later: %lld after %lld, number %llu after %llu\n", (long long)h->pts,
               (long long)r->pts, (unsigned long long)h->seq, (unsigned long long)r->seq);
    if (r->n)
        r->n_missed += (long)(h->seq - r->seq - 1);
    r->pts = h->pts;
    r->seq = h->seq;
}

static void take(struct reader *r, const struct spa_buffer *b)
{
    const struct spa_data *d = &b->datas[0];

    check_stamp(r, b);
    if (!d->data || d->chunk->offset || d->chunk->size > d->maxsize) {
        printf("no picture\n");
        return;
    }
    if (r->scribble)
        scribble(d);
    if (r->out && (fwrite(d->data, 1, d->chunk->size, r->out) != d->chunk->size || fflush(r->out)))
        quit(r, 1);
    printf("picture %ld\n", ++r->n);
}

/* --- the stream --- */

static void on_process(void *data)
{
    struct reader *r = data;
    struct pw_buffer *b;

    while ((b = pw_stream_dequeue_buffer(r->stream))) {
        if (r->n < r->pictures)
            take(r, b->buffer);
        if (!r->hang)
            (void)pw_stream_queue_buffer(r->stream, b);
        if (r->slow_ms)
            (void)usleep((unsigned)r->slow_ms * 1000);
    }
    if (r->n >= r->pictures)
        quit(r, 0);
}

static void on_param(void *data, uint32_t id, const struct spa_pod *param)
{
    struct reader *r = data;
    struct spa_video_info_raw info = {.format = SPA_VIDEO_FORMAT_UNKNOWN};
    uint8_t memory[512];
    struct spa_pod_builder b = SPA_POD_BUILDER_INIT(memory, sizeof(memory));
    const struct spa_pod *params[2];

    if (id != SPA_PARAM_Format || !param || spa_format_video_raw_parse(param, &info) < 0)
        return;
    printf("format %s %ux%u %u/%u matrix %d range %d transfer %d primaries %d\n",
           info.format == SPA_VIDEO_FORMAT_YUY2   ? "yuy2"
           : info.format == SPA_VIDEO_FORMAT_I420 ? "i420"
                                                  : "other",
           info.size.width, info.size.height, info.framerate.num, info.framerate.denom,
           (int)info.color_matrix, (int)info.color_range, (int)info.transfer_function,
           (int)info.color_primaries);
    params[0] = spa_pod_builder_add_object(
        &b, SPA_TYPE_OBJECT_ParamBuffers, SPA_PARAM_Buffers, SPA_PARAM_BUFFERS_buffers,
        SPA_POD_CHOICE_RANGE_Int(8, 1, 32), SPA_PARAM_BUFFERS_dataType,
        SPA_POD_CHOICE_FLAGS_Int(1 << SPA_DATA_MemFd | 1 << SPA_DATA_MemPtr));
    params[1] = spa_pod_builder_add_object(&b, SPA_TYPE_OBJECT_ParamMeta, SPA_PARAM_Meta,
                                           SPA_PARAM_META_type, SPA_POD_Id(SPA_META_Header),
                                           SPA_PARAM_META_size,
                                           SPA_POD_Int(sizeof(struct spa_meta_header)));
    (void)pw_stream_update_params(r->stream, params, 2);
}

static void on_state(void *data, enum pw_stream_state old, enum pw_stream_state state,
                     const char *error)
{
    struct reader *r = data;

    (void)old;
    if (r->ended)
        return;
    if (state == PW_STREAM_STATE_ERROR && !strcmp(error, "no node available")) {
        quit(r, NOT_YET);
        return;
    }
    if (state == PW_STREAM_STATE_ERROR)
        printf("error %s\n", error);
    else if (state == PW_STREAM_STATE_UNCONNECTED)
        printf("gone\n");
    if (state <= PW_STREAM_STATE_UNCONNECTED)
        quit(r, 1);
}

static const struct pw_stream_events events = {
    .version = PW_VERSION_STREAM_EVENTS,
    .state_changed = on_state,
    .param_changed = on_param,
    .process = on_process,
};

static const struct spa_pod *wanted(struct spa_pod_builder *b, const struct reader *r)
{
    struct spa_pod_frame f;
    const struct spa_rectangle least = {1, 1}, most = {16384, 16384};

    spa_pod_builder_push_object(b, &f, SPA_TYPE_OBJECT_Format, SPA_PARAM_EnumFormat);
    spa_pod_builder_add(b, SPA_FORMAT_mediaType, SPA_POD_Id(SPA_MEDIA_TYPE_video),
                        SPA_FORMAT_mediaSubtype, SPA_POD_Id(SPA_MEDIA_SUBTYPE_raw), 0);
    if (r->format == SPA_VIDEO_FORMAT_UNKNOWN)
        spa_pod_builder_add(b, SPA_FORMAT_VIDEO_format,
                            SPA_POD_CHOICE_ENUM_Id(3, SPA_VIDEO_FORMAT_YUY2, SPA_VIDEO_FORMAT_YUY2,
                                                   SPA_VIDEO_FORMAT_I420),
                            0);
    else
        spa_pod_builder_add(b, SPA_FORMAT_VIDEO_format, SPA_POD_Id(r->format), 0);
    if (r->size.width)
        spa_pod_builder_add(b, SPA_FORMAT_VIDEO_size, SPA_POD_Rectangle(&r->size), 0);
    else
        spa_pod_builder_add(b, SPA_FORMAT_VIDEO_size,
                            SPA_POD_CHOICE_RANGE_Rectangle(&least, &least, &most), 0);
    return spa_pod_builder_pop(b, &f);
}

static int read_camera(struct reader *r, const char *name)
{
    uint8_t memory[512];
    struct spa_pod_builder b = SPA_POD_BUILDER_INIT(memory, sizeof(memory));
    const struct spa_pod *format = wanted(&b, r);

    r->ended = false;
    r->loop = pw_main_loop_new(NULL);
    r->stream = pw_stream_new_simple(
        pw_main_loop_get_loop(r->loop), "reader",
        pw_properties_new(PW_KEY_MEDIA_TYPE, "Video", PW_KEY_MEDIA_CATEGORY, "Capture",
                          PW_KEY_MEDIA_ROLE, "Camera", PW_KEY_TARGET_OBJECT, name, NULL),
        &events, r);
    if (!r->stream || pw_stream_connect(r->stream, PW_DIRECTION_INPUT, PW_ID_ANY,
                                        PW_STREAM_FLAG_AUTOCONNECT | PW_STREAM_FLAG_MAP_BUFFERS,
                                        &format, 1) < 0) {
        printf("error %s\n", strerror(errno));
        return 1;
    }
    (void)pw_main_loop_run(r->loop);
    pw_stream_destroy(r->stream);
    pw_main_loop_destroy(r->loop);
    return r->status;
}

static void take_option(struct reader *r, const char *name, const char *value)
{
    if (!strcmp(name, "--pictures"))
        r->pictures = atol(value);
    else if (!strcmp(name, "--slow"))
        r->slow_ms = atoi(value);
    else if (!strcmp(name, "--out"))
        r->out = fopen(value, "w");
    else if (!strcmp(name, "--format"))
        r->format = !strcmp(value, "i420") ? SPA_VIDEO_FORMAT_I420 : SPA_VIDEO_FORMAT_YUY2;
    else if (!strcmp(name, "--size"))
        (void)sscanf(value, "%ux%u", &r->size.width, &r->size.height);
    else
        exit(2);
}

int main(int argc, char **argv)
{
    struct reader r = {.pictures = 1, .format = SPA_VIDEO_FORMAT_UNKNOWN};
    int status;

    if (argc < 2)
        return 2;
    (void)setvbuf(stdout, NULL, _IOLBF, 0);
    for (int i = 2; i < argc; i++) {
        if (!strcmp(argv[i], "--hang"))
            r.hang = true;
        else if (!strcmp(argv[i], "--scribble"))
            r.scribble = true;
        else if (i + 1 < argc)
            take_option(&r, argv[i], argv[i + 1]), i++;
        else
            return 2;
    }
    pw_init(&argc, &argv);
    status = read_camera(&r, argv[1]);
    for (int i = 0; i < TRIES && status == NOT_YET; i++) {
        (void)usleep(PAUSE_US);
        status = read_camera(&r, argv[1]);
    }
    pw_deinit();
    printf("end: %ld pictures, %ld missed\n", r.n, r.n_missed);
    if (r.out && fclose(r.out))
        status = 1;
    return status;
}
