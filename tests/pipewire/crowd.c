/* Many cameras of PipeWire that give no pictures and have names which do no good to a terminal:
 *
 *     crowd N
 *
 * They are there until its standard input ends. */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <pipewire/pipewire.h>
#include <spa/param/video/format-utils.h>

static void on_end(void *data, int fd, uint32_t mask)
{
    (void)fd;
    (void)mask;
    (void)pw_main_loop_quit(data);
}

static bool add_camera(struct pw_core *core, int n)
{
    struct spa_video_info_raw info = {.format = SPA_VIDEO_FORMAT_YUY2,
                                      .size = SPA_RECTANGLE(64, 48),
                                      .framerate = SPA_FRACTION(30, 1)};
    struct pw_properties *const p =
        pw_properties_new(PW_KEY_MEDIA_CLASS, "Video/Source", PW_KEY_MEDIA_ROLE, "Camera",
                          PW_KEY_NODE_DESCRIPTION, "\033[31mone\nof \xff\xc2\x9b many", NULL);
    uint8_t memory[512];
    struct spa_pod_builder b = SPA_POD_BUILDER_INIT(memory, sizeof(memory));
    const struct spa_pod *const offer = spa_format_video_raw_build(&b, SPA_PARAM_EnumFormat, &info);
    struct pw_stream *stream;

    (void)pw_properties_setf(p, PW_KEY_NODE_NAME, "\033[%dm%d\r\n", n, n);
    stream = pw_stream_new(core, "crowd", p);
    return stream &&
           pw_stream_connect(stream, PW_DIRECTION_OUTPUT, PW_ID_ANY, PW_STREAM_FLAG_DRIVER,
                             (const struct spa_pod *[]){offer}, 1) == 0;
}

/* The connection's end is that of the streams. */
int main(int argc, char **argv)
{
    const int n = argc == 2 ? atoi(argv[1]) : 0;
    struct pw_main_loop *loop;
    struct pw_core *core;

    pw_init(NULL, NULL);
    loop = pw_main_loop_new(NULL);
    core = pw_context_connect(pw_context_new(pw_main_loop_get_loop(loop), NULL, 0), NULL, 0);
    for (int i = 0; i < n; i++)
        if (!core || !add_camera(core, i))
            return 1;
    (void)pw_loop_add_io(pw_main_loop_get_loop(loop), STDIN_FILENO, SPA_IO_IN | SPA_IO_HUP, false,
                         on_end, loop);
    (void)pw_main_loop_run(loop);
    return 0;
}
