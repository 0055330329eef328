/* Which source and which sink a name chooses, and what the pipeline is told of each. */
#include "tests/lib/unit.h"

#include "config-build.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "pipeline/backends.h"

/* Files that are there, and what is in them. */
static const char *const there[][2] = {{"film", "YUV4MPEG2 W2"}, {"auto", ""},
                                       {"test", "YUV4MPEG2"},    {"Camera [0]", "YUV4MPEG"},
                                       {"clip.mkv", "any"},      {"plain.y4m", "any"}};

#define N_THERE (sizeof(there) / sizeof(there[0]))

static const struct sink_ops any_video;
#define VIDEO (&any_video)

static int make_files(void **state)
{
    static char folder[] = "/tmp/bilatcam-backends-XXXXXX";

    *state = folder;
    if (!mkdtemp(folder) || chdir(folder))
        return -1;
    for (size_t i = 0; i < N_THERE; i++) {
        FILE *const f = fopen(there[i][0], "w");

        if (!f || fputs(there[i][1], f) < 0 || fclose(f))
            return -1;
    }
    return mkfifo("fifo.mp4", 0600);
}

static int remove_files(void **state)
{
    for (size_t i = 0; i < N_THERE; i++)
        (void)unlink(there[i][0]);
    (void)unlink("fifo.mp4");
    return chdir("/") || rmdir(*state);
}

static void test_sources(void **state)
{
    static const struct {
        const char *name;
        const struct source_ops *expected; /* NULL: of video files, whatever it is */
    } cases[] = {
        {"/dev/video0", &source_v4l2},
        {"/dev/v4l/by-id/usb-a-b_c-video-index0", &source_v4l2},
        {"/dev/", &source_v4l2},
        {"HD Pro Webcam C920", &source_v4l2},
        {"Camera [1]", &source_v4l2},
        {"clip.mp4", &source_v4l2},
        {"film.y4m.old", &source_v4l2},
        {"-i", &source_v4l2},
        {"null:", &source_v4l2},
        {"", &source_v4l2},
        {"*", &source_v4l2},
        {"-", &source_y4m},
        {"film", &source_y4m}, /* is there */
        {"test", &source_y4m},
        {"Camera [0]", NULL},
        {"clip.mkv", NULL},
        {"./clip.mkv", NULL},
        {"plain.y4m", &source_y4m},
        {"fifo.mp4", &source_y4m}, /* what is in a pipe cannot be looked at first */
        {"x.y4m", &source_y4m},
        {".y4m", &source_y4m},
        {"./x", &source_y4m},
        {"../Camera [1]", &source_y4m},
        {"folder/clip.mp4", &source_y4m},
        {"/no-such-folder/x", &source_y4m},
        {"/dev/stdin", &source_y4m},
        {"/dev/fd/3", &source_y4m},
        {"/dev/shm/x.y4m", &source_y4m},
        {"\xff\xfe/x", &source_y4m},
        {"test:", &source_pattern},
        {"test:scene", &source_pattern},
        {"test:./x.y4m", &source_pattern},
        {"test://x", &source_pattern},
        {"://x", &source_y4m},
        {"./http://x", &source_y4m},
    };
    static const char *const urls[] = {"rtsp://camera/", "http://host/film.y4m",
                                       "file:///dev/video0"};

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        const struct source_ops *const ops = source_for(cases[i].name);

        if (cases[i].expected ? ops != cases[i].expected : !!strcmp(ops->name, "video"))
            fail_msg("'%s' chooses %s", cases[i].name, ops->name);
    }
    for (size_t i = 0; i < sizeof(urls) / sizeof(urls[0]); i++)
        assert_string_equal(source_for(urls[i])->name, "network");
}

/* Also where PipeWire is missing, and where a file is called so. */
static void test_live_sources(void **state)
{
    static const char *const names[] = {"pipewire:", "pipewire:x.y4m", "pipewire://x"};

    (void)state;
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        assert_string_equal(source_for(names[i])->name, "pipewire");
    assert_ptr_equal(source_for("pipewire"), &source_v4l2);
#ifdef HAVE_PIPEWIRE
    assert_ptr_equal(source_for("auto"), &source_auto);
#else
    assert_ptr_equal(source_for("auto"), &source_v4l2);
#endif
}

static void test_sinks(void **state)
{
    static const struct {
        const char *name;
        const struct sink_ops *expected; /* NULL: none; VIDEO: of video files, whatever it is */
    } cases[] = {
#ifdef HAVE_PIPEWIRE
        {"auto", &sink_auto},
        {"pipewire:", &sink_pipewire},
        {"pipewire:x.y4m", &sink_pipewire},
#else
        {"auto", &sink_v4l2loopback},
#endif
        {"pipewire", NULL},
        {"/dev/video20", &sink_v4l2loopback},
        {"/dev/stdout", &sink_y4m},
        {"/dev/fd/63", &sink_y4m},
        {"-", &sink_y4m},
        {"x.y4m", &sink_y4m},
        {"/tmp/x.y4m", &sink_y4m},
        {"/dev/shm/x.y4m", &sink_y4m},
        {"null:", &sink_null},
        {"null", NULL},
        {"null:x", NULL},
        {"x.mp4", VIDEO},
        {"./.mkv", VIDEO},
        {"/tmp/x.y4m.webm", VIDEO},
        {"x.mov", VIDEO},
        {"x.png", VIDEO},
        {"x.jpg", VIDEO},
        {"/dev/shm/x.mp4", VIDEO},
        {"x.MP4", NULL},
        {"x.avi", NULL},
        {"mp4", NULL},
        {"./x", NULL},
        {"film", NULL},
        {"test:", NULL},
        {"preview", NULL},
        {"x.Y4M", NULL},
        {"", NULL},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        const struct sink_ops *const ops = sink_for(cases[i].name);

        if (cases[i].expected == VIDEO ? !ops || !!strcmp(ops->name, "video")
                                       : ops != cases[i].expected)
            fail_msg("'%s' chooses %s", cases[i].name, ops ? ops->name : "nothing");
    }
}

static void test_source_flags(void **state)
{
    const struct {
        const struct source_ops *ops;
        bool device, file, reopens;
    } cases[] = {
        {&source_v4l2, .device = true, .reopens = true},
        {&source_pattern, .reopens = true},
        {&source_y4m, .file = true},
        {source_for("clip.mkv"), .file = true},
        {source_for("rtsp://camera/"), .device = true, .reopens = true},
        {source_for("pipewire:"), .device = true, .reopens = true},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        const struct source_ops *const ops = cases[i].ops;

        assert_int_equal(ops->device, cases[i].device);
        assert_int_equal(ops->file, cases[i].file);
        assert_int_equal(ops->reopens, cases[i].reopens);
        assert_true(ops->name && (ops->missing || (ops->open && ops->close && ops->read &&
                                                   ops->release && ops->truth)));
    }
}

static void test_sink_flags(void **state)
{
    const struct {
        const struct sink_ops *ops;
        bool device, virtual_camera, card, compare, finishes, discards;
    } cases[] = {
        {&sink_v4l2loopback, .device = true, .virtual_camera = true},
        {&sink_y4m, false},
        {&sink_null, .discards = true},
        {sink_for("x.mp4"), .finishes = !sink_for("x.mp4")->missing},
        {window_sink, .card = !window_sink->missing, .compare = !window_sink->missing},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        const struct sink_ops *const ops = cases[i].ops;

        assert_non_null(ops->name);
        assert_int_equal(ops->device, cases[i].device);
        assert_int_equal(ops->virtual_camera, cases[i].virtual_camera);
        assert_int_equal(ops->card, cases[i].card);
        assert_int_equal(ops->compare, cases[i].compare);
        assert_int_equal(ops->finishes, cases[i].finishes);
        assert_int_equal(ops->discards, cases[i].discards);
        if (!ops->missing)
            assert_true(ops->open && ops->write && ops->close &&
                        !ops->readers == !ops->virtual_camera);
    }
}

static void test_window(void **state)
{
    (void)state;
    assert_string_equal(window_sink->name, "preview");
    if (window_sink->missing)
        assert_string_equal(window_sink->missing,
                            "the preview window is not built into this program");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sources),    cmocka_unit_test(test_live_sources),
        cmocka_unit_test(test_sinks),      cmocka_unit_test(test_source_flags),
        cmocka_unit_test(test_sink_flags), cmocka_unit_test(test_window),
    };

    return cmocka_run_group_tests(tests, make_files, remove_files);
}
