/* A camera of PipeWire, which does as it is told:
 *
 *     camera NAME FORMAT WxH[,WxH]... PICTURES [OPTION]...
 *
 * NAME is that of the node, FORMAT one of those below, PICTURES a file of raw pictures of the first
 * size, which are shown one after the other and again, or for mjpg a file that is one JPEG. Other
 * sizes are shown grey. Options:
 *
 *     --description TEXT   what people see
 *     --property KEY=TEXT  of the node
 *     --fps N              0: no fixed rate
 *     --rateless           tells no rate at all
 *     --slow               a picture every two seconds, whatever it tells
 *     --pts KIND           as the command; absent: there is no header
 *     --short-file         memory that is shorter than what it is said to be
 *     --blocks             a block for each plane, as libcamera has them: see tell_planes()
 *     --transform N        each buffer says how its picture is turned: a number of PipeWire's
 *     --malformed          offers a choice of formats that has no room for one, too
 *
 * It takes commands, a line each:
 *
 *     damage KIND N        each Nth picture is damaged: see spoil(); N 0: none
 *     pts KIND             of the header: right, old (of a second ago), none, late, early
 *     transform N          another one
 *     stall, go on         no pictures, and again
 *     size WxH             another one, for those who read, too
 *     quit                 the end, which its standard input's is, too
 *
 * It says "format ..." and the states of the stream. */
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include <pipewire/pipewire.h>
#include <spa/param/video/format-utils.h>

#define MAX_SIZES 8

static const struct kind {
    const char *name;
    enum spa_video_format video;
    int halves; /* bytes of two pixels */
    int row;    /* bytes of two pixels in the first plane */
    int planes; /* of different sizes; 0: one */
} kinds[] = {
    {"yuy2", SPA_VIDEO_FORMAT_YUY2, 4, 4},    {"uyvy", SPA_VIDEO_FORMAT_UYVY, 4, 4},
    {"nv12", SPA_VIDEO_FORMAT_NV12, 3, 2, 2}, {"i420", SPA_VIDEO_FORMAT_I420, 3, 2, 3},
    {"grey", SPA_VIDEO_FORMAT_GRAY8, 2, 2},   {"rgb", SPA_VIDEO_FORMAT_RGB, 6, 6},
    {"bgr", SPA_VIDEO_FORMAT_BGR, 6, 6},      {"mjpg", SPA_VIDEO_FORMAT_ENCODED, 16, 0},
    {"rgbx", SPA_VIDEO_FORMAT_RGBx, 8, 8},    {"rgba", SPA_VIDEO_FORMAT_RGBA, 8, 8},
    {"xrgb", SPA_VIDEO_FORMAT_xRGB, 8, 8},    {"argb", SPA_VIDEO_FORMAT_ARGB, 8, 8},
    {"bgrx", SPA_VIDEO_FORMAT_BGRx, 8, 8},    {"bgra", SPA_VIDEO_FORMAT_BGRA, 8, 8},
    {"xbgr", SPA_VIDEO_FORMAT_xBGR, 8, 8},    {"abgr", SPA_VIDEO_FORMAT_ABGR, 8, 8},
    {"ayuv", SPA_VIDEO_FORMAT_AYUV, 8, 8},
};

struct camera {
    struct pw_main_loop *loop;
    struct pw_stream *stream;
    const struct kind *kind;
    struct spa_rectangle sizes[MAX_SIZES], size; /* offered; agreed on */
    int n_sizes;
    unsigned fps;
    uint8_t *pictures; /* of the first size */
    size_t n_bytes;    /* all of them */
    bool short_file, blocks, malformed, rateless, slow;
    bool streams, stalled, tells_turn;
    unsigned transform;
    char damage[16], pts[16];
    long every; /* Nth picture is damaged */
    uint64_t n;
};

static size_t bytes_of(const struct camera *c, struct spa_rectangle size)
{
    return (size_t)size.width * size.height * (size_t)c->kind->halves / 2;
}

/* --- pictures --- */

/* All planes are in one file. libcamera tells the plane's size as that of the memory, and the
 * stride of the first one for all. */
static void tell_planes(const struct camera *c, struct spa_buffer *b)
{
    const uint32_t luma = c->size.width * c->size.height;
    const uint32_t other = ((uint32_t)bytes_of(c, c->size) - luma) / (b->n_datas - 1);

    for (uint32_t i = 0; i < b->n_datas; i++) {
        b->datas[i].maxsize = i ? other : luma;
        *b->datas[i].chunk = (struct spa_chunk){.offset = i ? luma + (i - 1) * other : 0,
                                                .size = i ? other : luma,
                                                .stride = (int32_t)c->size.width};
    }
}

/* What is wrong with it can be seen, too, if it is shown. */
static void spoil(const struct camera *c, struct spa_data *d, struct spa_meta_header *h)
{
    memset(d->data, 0xee, c->short_file ? d->maxsize / 4 : d->maxsize);
    if (!strcmp(c->damage, "stride"))
        d->chunk->stride -= 2;
    else if (!strcmp(c->damage, "wide"))
        d->chunk->stride *= 2;
    else if (!strcmp(c->damage, "huge"))
        d->chunk->stride = INT32_MAX;
    else if (!strcmp(c->damage, "negative"))
        d->chunk->stride = -d->chunk->stride;
    else if (!strcmp(c->damage, "short"))
        d->chunk->size -= d->chunk->size > 1000 ? 100 : 1;
    else if (!strcmp(c->damage, "empty"))
        d->chunk->size = 0;
    else if (!strcmp(c->damage, "long"))
        d->chunk->size = d->maxsize + 4096;
    else if (!strcmp(c->damage, "corrupted"))
        d->chunk->flags = SPA_CHUNK_FLAG_CORRUPTED;
    else if (!strcmp(c->damage, "header") && h)
        h->flags = SPA_META_HEADER_FLAG_CORRUPTED;
    else if (!strcmp(c->damage, "offset"))
        d->chunk->offset = 64;
    else if (!strcmp(c->damage, "far"))
        d->chunk->offset = UINT32_MAX - 63;
}

static int64_t now_ns(void)
{
    struct timespec t;

    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * SPA_NSEC_PER_SEC + t.tv_nsec;
}

static int64_t stamp(const struct camera *c)
{
    const int64_t hour = 3600 * SPA_NSEC_PER_SEC;

    return !strcmp(c->pts, "old")     ? now_ns() - SPA_NSEC_PER_SEC
           : !strcmp(c->pts, "none")  ? -1
           : !strcmp(c->pts, "late")  ? now_ns() + hour
           : !strcmp(c->pts, "early") ? 1
                                      : now_ns();
}

static void fill(const struct camera *c, struct spa_buffer *b)
{
    struct spa_data *d = &b->datas[0];
    struct spa_meta_header *h = spa_buffer_find_meta_data(b, SPA_META_Header, sizeof(*h));
    struct spa_meta_videotransform *t =
        spa_buffer_find_meta_data(b, SPA_META_VideoTransform, sizeof(*t));
    const bool first = c->size.width == c->sizes[0].width && c->size.height == c->sizes[0].height;
    const bool jpeg = c->kind->video == SPA_VIDEO_FORMAT_ENCODED;
    size_t size = jpeg ? c->n_bytes : bytes_of(c, c->size);

    if (!c->blocks)
        size = size < d->maxsize ? size : d->maxsize;
    if (c->short_file)
        memset(d->data, 0xee, d->maxsize / 4);
    else if (first && size <= c->n_bytes)
        memcpy(d->data, c->pictures + c->n % (c->n_bytes / size) * size, size);
    else
        memset(d->data, 128, size);
    *d->chunk = (struct spa_chunk){
        .size = (uint32_t)size,
        .stride = (int32_t)(c->size.width * (unsigned)c->kind->row / 2),
    };
    if (c->blocks)
        tell_planes(c, b);
    if (t)
        t->transform = c->transform;
    if (h)
        *h = (struct spa_meta_header){.pts = stamp(c), .seq = c->n};
    if (c->every && c->n % (uint64_t)c->every == 0)
        spoil(c, d, h);
}

static void on_timer(void *data, uint64_t expirations)
{
    struct camera *c = data;
    struct pw_buffer *b;

    (void)expirations;
    if (!c->streams || c->stalled)
        return;
    b = pw_stream_dequeue_buffer(c->stream);
    if (b) {
        fill(c, b->buffer);
        (void)pw_stream_queue_buffer(c->stream, b);
    }
    c->n++;
    (void)pw_stream_trigger_process(c->stream);
}

/* --- the stream --- */

static uint32_t make_offers(const struct camera *c, struct spa_pod_builder *b,
                            const struct spa_pod *ret[MAX_SIZES])
{
    for (int i = 0; i < c->n_sizes; i++) {
        struct spa_pod_frame f;
        const struct spa_fraction rate = {c->fps, 1};

        spa_pod_builder_push_object(b, &f, SPA_TYPE_OBJECT_Format, SPA_PARAM_EnumFormat);
        spa_pod_builder_add(b, SPA_FORMAT_mediaType, SPA_POD_Id(SPA_MEDIA_TYPE_video), 0);
        if (c->kind->video == SPA_VIDEO_FORMAT_ENCODED)
            spa_pod_builder_add(b, SPA_FORMAT_mediaSubtype, SPA_POD_Id(SPA_MEDIA_SUBTYPE_mjpg), 0);
        else
            spa_pod_builder_add(b, SPA_FORMAT_mediaSubtype, SPA_POD_Id(SPA_MEDIA_SUBTYPE_raw),
                                SPA_FORMAT_VIDEO_format, SPA_POD_Id(c->kind->video), 0);
        spa_pod_builder_add(b, SPA_FORMAT_VIDEO_size, SPA_POD_Rectangle(&c->sizes[i]), 0);
        if (!c->rateless)
            spa_pod_builder_add(b, SPA_FORMAT_VIDEO_framerate, SPA_POD_Fraction(&rate), 0);
        ret[i] = spa_pod_builder_pop(b, &f);
    }
    return (uint32_t)c->n_sizes;
}

static const struct spa_pod *make_malformed(struct spa_pod_builder *b)
{
    static const struct spa_pod choice[] = {{8, SPA_TYPE_Choice}, {SPA_CHOICE_Enum, 0}};
    struct spa_pod_frame f;

    spa_pod_builder_push_object(b, &f, SPA_TYPE_OBJECT_Format, SPA_PARAM_EnumFormat);
    spa_pod_builder_add(b, SPA_FORMAT_mediaType, SPA_POD_Id(SPA_MEDIA_TYPE_video),
                        SPA_FORMAT_mediaSubtype, SPA_POD_Id(SPA_MEDIA_SUBTYPE_raw), 0);
    spa_pod_builder_prop(b, SPA_FORMAT_VIDEO_format, 0);
    (void)spa_pod_builder_raw_padded(b, choice, sizeof(choice));
    /* What is read as the type of the values and their size. */
    spa_pod_builder_prop(b, 4, SPA_TYPE_Id);
    spa_pod_builder_id(b, 0);
    return spa_pod_builder_pop(b, &f);
}

static const struct spa_pod *make_meta(struct spa_pod_builder *b, enum spa_meta_type type,
                                       size_t size)
{
    return spa_pod_builder_add_object(b, SPA_TYPE_OBJECT_ParamMeta, SPA_PARAM_Meta,
                                      SPA_PARAM_META_type, SPA_POD_Id(type), SPA_PARAM_META_size,
                                      SPA_POD_Int((int)size));
}

static void on_param(void *data, uint32_t id, const struct spa_pod *param)
{
    struct camera *c = data;
    struct spa_video_info_raw raw;
    struct spa_video_info_mjpg jpeg;
    uint8_t memory[512];
    struct spa_pod_builder b = SPA_POD_BUILDER_INIT(memory, sizeof(memory));
    const struct spa_pod *params[3];
    uint32_t n = 1;

    spa_zero(raw);
    spa_zero(jpeg);
    if (id != SPA_PARAM_Format || !param)
        return;
    if (c->kind->video == SPA_VIDEO_FORMAT_ENCODED) {
        (void)spa_format_video_mjpg_parse(param, &jpeg);
        c->size = jpeg.size;
    } else {
        (void)spa_format_video_raw_parse(param, &raw);
        c->size = raw.size;
    }
    printf("format %ux%u\n", c->size.width, c->size.height);
    params[0] = spa_pod_builder_add_object(
        &b, SPA_TYPE_OBJECT_ParamBuffers, SPA_PARAM_Buffers, SPA_PARAM_BUFFERS_buffers,
        SPA_POD_CHOICE_RANGE_Int(4, 2, 8), SPA_PARAM_BUFFERS_blocks,
        SPA_POD_Int(c->blocks ? c->kind->planes : 1), SPA_PARAM_BUFFERS_size,
        SPA_POD_Int((int)bytes_of(c, c->size)), SPA_PARAM_BUFFERS_dataType,
        SPA_POD_CHOICE_FLAGS_Int(1 << SPA_DATA_MemFd | 1 << SPA_DATA_MemPtr));
    if (strcmp(c->pts, "absent") != 0)
        params[n++] = make_meta(&b, SPA_META_Header, sizeof(struct spa_meta_header));
    if (c->tells_turn)
        params[n++] =
            make_meta(&b, SPA_META_VideoTransform, sizeof(struct spa_meta_videotransform));
    (void)pw_stream_update_params(c->stream, params, n);
}

/* Called only where the memory is of our own: with --short-file and --blocks. */
static void on_add_buffer(void *data, struct pw_buffer *buffer)
{
    const struct camera *c = data;
    struct spa_buffer *const b = buffer->buffer;
    const size_t size = bytes_of(c, c->size);
    const int fd = c->short_file || c->blocks ? memfd_create("camera", MFD_CLOEXEC) : -1;

    if (fd < 0)
        return;
    if (ftruncate(fd, (off_t)(c->short_file ? size / 4 : size)) < 0)
        exit(1);
    for (uint32_t i = 0; i < b->n_datas; i++) {
        b->datas[i].type = SPA_DATA_MemFd;
        b->datas[i].flags = SPA_DATA_FLAG_READABLE;
        b->datas[i].fd = fd;
        b->datas[i].mapoffset = 0;
        b->datas[i].maxsize = (uint32_t)size;
    }
    b->datas[0].data = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (c->blocks)
        tell_planes(c, b);
}

static void on_state(void *data, enum pw_stream_state old, enum pw_stream_state state,
                     const char *error)
{
    struct camera *c = data;

    (void)old;
    c->streams = state == PW_STREAM_STATE_STREAMING;
    printf("%s%s%s\n", pw_stream_state_as_string(state), error ? ": " : "", error ? error : "");
    if (state == PW_STREAM_STATE_UNCONNECTED)
        (void)pw_main_loop_quit(c->loop);
}

static const struct pw_stream_events events = {
    .version = PW_VERSION_STREAM_EVENTS,
    .state_changed = on_state,
    .param_changed = on_param,
    .add_buffer = on_add_buffer,
};

static void read_sizes(struct camera *c, const char *text)
{
    for (c->n_sizes = 0; c->n_sizes < MAX_SIZES && text; c->n_sizes++) {
        if (sscanf(text, "%ux%u", &c->sizes[c->n_sizes].width, &c->sizes[c->n_sizes].height) != 2)
            exit(2);
        text = strchr(text, ',');
        text = text ? text + 1 : NULL;
    }
}

static void change_size(struct camera *c, const char *text)
{
    uint8_t memory[4096];
    struct spa_pod_builder b = SPA_POD_BUILDER_INIT(memory, sizeof(memory));
    const struct spa_pod *offers[MAX_SIZES];

    read_sizes(c, text);
    (void)pw_stream_update_params(c->stream, offers, make_offers(c, &b, offers));
}

static void on_command(void *data, int fd, uint32_t mask)
{
    struct camera *c = data;
    char line[64] = "";

    (void)mask;
    for (size_t n = 0; n < sizeof(line) - 1 && read(fd, line + n, 1) == 1 && line[n] != '\n'; n++)
        ;
    line[strcspn(line, "\n")] = '\0';
    if (sscanf(line, "damage %15s %ld", c->damage, &c->every) == 2 ||
        sscanf(line, "pts %15s", c->pts) == 1 || sscanf(line, "transform %u", &c->transform) == 1)
        return;
    if (!strcmp(line, "stall"))
        c->stalled = true;
    else if (!strcmp(line, "go on"))
        c->stalled = false;
    else if (!strncmp(line, "size ", 5))
        change_size(c, line + 5);
    else
        (void)pw_main_loop_quit(c->loop);
}

/* --- the beginning --- */

static int read_pictures(struct camera *c, const char *name)
{
    FILE *f = fopen(name, "re");
    long size;

    if (!f || fseek(f, 0, SEEK_END) || (size = ftell(f)) <= 0)
        return -1;
    rewind(f);
    c->n_bytes = (size_t)size;
    c->pictures = malloc(c->n_bytes);
    if (!c->pictures || fread(c->pictures, 1, c->n_bytes, f) != c->n_bytes)
        return -1;
    return fclose(f);
}

static struct pw_properties *take_options(struct camera *c, int argc, char **argv)
{
    struct pw_properties *p =
        pw_properties_new(PW_KEY_MEDIA_CLASS, "Video/Source", PW_KEY_MEDIA_ROLE, "Camera",
                          PW_KEY_NODE_NAME, argv[1], PW_KEY_NODE_DESCRIPTION, argv[1], NULL);

    for (int i = 5; i < argc; i++) {
        char *value = i + 1 < argc ? argv[i + 1] : argv[argc];

        if (!strcmp(argv[i], "--short-file")) {
            c->short_file = true;
            continue;
        }
        if (!strcmp(argv[i], "--rateless")) {
            c->rateless = true;
            continue;
        }
        if (!strcmp(argv[i], "--slow")) {
            c->slow = true;
            continue;
        }
        if (!strcmp(argv[i], "--blocks")) {
            c->blocks = true;
            continue;
        }
        if (!strcmp(argv[i], "--malformed")) {
            c->malformed = true;
            continue;
        }
        if (!value)
            exit(2);
        if (!strcmp(argv[i], "--description"))
            (void)pw_properties_set(p, PW_KEY_NODE_DESCRIPTION, value);
        else if (!strcmp(argv[i], "--fps"))
            c->fps = (unsigned)atoi(value);
        else if (!strcmp(argv[i], "--transform")) {
            c->transform = (unsigned)atoi(value);
            c->tells_turn = true;
        } else if (!strcmp(argv[i], "--pts"))
            (void)snprintf(c->pts, sizeof(c->pts), "%s", value);
        else if (!strcmp(argv[i], "--property") && strchr(value, '=')) {
            *strchr(value, '=') = '\0';
            (void)pw_properties_set(p, value, value + strlen(value) + 1);
        } else
            exit(2);
        i++;
    }
    return p;
}

static int connect_stream(struct camera *c, struct pw_properties *properties)
{
    uint8_t memory[4096];
    struct spa_pod_builder b = SPA_POD_BUILDER_INIT(memory, sizeof(memory));
    const struct spa_pod *offers[MAX_SIZES + 1];
    uint32_t n = make_offers(c, &b, offers);

    if (c->malformed)
        offers[n++] = make_malformed(&b);
    c->stream =
        pw_stream_new_simple(pw_main_loop_get_loop(c->loop), "camera", properties, &events, c);
    if (!c->stream)
        return -errno;
    return pw_stream_connect(c->stream, PW_DIRECTION_OUTPUT, PW_ID_ANY,
                             PW_STREAM_FLAG_DRIVER |
                                 (c->short_file || c->blocks ? PW_STREAM_FLAG_ALLOC_BUFFERS
                                                             : PW_STREAM_FLAG_MAP_BUFFERS),
                             offers, n);
}

int main(int argc, char **argv)
{
    struct camera c = {.fps = 30};
    struct pw_loop *loop;
    struct spa_source *timer;
    struct timespec interval;

    if (argc < 5)
        return 2;
    (void)setvbuf(stdout, NULL, _IOLBF, 0);
    for (size_t i = 0; i < SPA_N_ELEMENTS(kinds); i++)
        if (!strcmp(kinds[i].name, argv[2]))
            c.kind = &kinds[i];
    if (!c.kind || read_pictures(&c, argv[4]))
        return 2;
    pw_init(NULL, NULL);
    c.loop = pw_main_loop_new(NULL);
    loop = pw_main_loop_get_loop(c.loop);
    read_sizes(&c, argv[3]);
    if (connect_stream(&c, take_options(&c, argc, argv)) < 0)
        return 1;
    timer = pw_loop_add_timer(loop, on_timer, &c);
    interval = (struct timespec){.tv_nsec = SPA_NSEC_PER_SEC / (c.fps ? c.fps : 30) - 1};
    if (c.slow)
        interval = (struct timespec){.tv_sec = 2};
    (void)pw_loop_update_timer(loop, timer, &interval, &interval, false);
    (void)pw_loop_add_io(loop, STDIN_FILENO, SPA_IO_IN | SPA_IO_HUP, false, on_command, &c);
    (void)pw_main_loop_run(c.loop);
    pw_stream_destroy(c.stream);
    pw_main_loop_destroy(c.loop);
    pw_deinit();
    free(c.pictures);
    return 0;
}
