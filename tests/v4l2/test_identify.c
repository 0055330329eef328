/* What a node says that it is, and how that is taken. */
#include "tests/lib/unit.h"

#include <string.h>

#include "v4l2/node.h"

static const char *card; /* of any device that is asked; NULL: ask the kernel */
static uint32_t caps = V4L2_CAP_VIDEO_CAPTURE | V4L2_CAP_STREAMING; /* of it */

int __real_ioctl(int fd, unsigned long request, void *arg);
int __wrap_ioctl(int fd, unsigned long request, void *arg);

/* The linker puts it in front of the kernel's. */
int __wrap_ioctl(int fd, unsigned long request, void *arg)
{
    struct v4l2_capability *cap = arg;

    if (request != VIDIOC_QUERYCAP || !card)
        return __real_ioctl(fd, request, arg);
    *cap = (struct v4l2_capability){.device_caps = caps, .capabilities = V4L2_CAP_DEVICE_CAPS};
    memcpy(cap->driver, card, strnlen(card, sizeof(cap->driver)));
    memcpy(cap->card, card, strnlen(card, sizeof(cap->card)));
    return 0;
}

/* What is shown of a device's own name does nothing to a terminal; by the name as it is shown, and
 * as it is, it is found. */
static void test_names(void **state)
{
    static const char *const rows[][2] = {
        {"HD Webcam", "HD Webcam"},
        {"Caf\xc3\xa9", "Caf\xc3\xa9"},
        {"\033[31mred", "?[31mred"},
        {"\xc2\x9b"
         "2J\nx\xff",
         "??2J?x?"},
        {"thirty-two bytes, in which ends \xc3\xa9", "thirty-two bytes, in which ends "},
        {"thirty-one bytes in which ends \xc3\xa9", "thirty-one bytes in which ends ?"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct v4l2_node n;
        char own[33] = "";

        card = rows[i][0];
        memcpy(own, card, strnlen(card, sizeof(own) - 1));
        assert_int_equal(v4l2_identify(-1, &n), 0);
        card = NULL;
        assert_string_equal(n.card, rows[i][1]);
        assert_memory_equal(n.driver, rows[i][1], strlen(n.driver) - 1);
        assert_true(v4l2_is_called(&n, rows[i][1]));
        assert_true(v4l2_is_called(&n, own));
        assert_false(v4l2_is_called(&n, "HD Webcam 2"));
    }
}

static void test_kinds(void **state)
{
    static const uint32_t camera = V4L2_CAP_VIDEO_CAPTURE | V4L2_CAP_STREAMING;
    static const struct {
        const char *name;
        uint32_t caps;
        enum v4l2_kind kind;
    } rows[] = {
        {"HD Webcam", camera, V4L2_KIND_CAMERA},
        {"HD Webcam", V4L2_CAP_META_CAPTURE | V4L2_CAP_STREAMING, V4L2_KIND_OTHER},
        {"HD Webcam", V4L2_CAP_VIDEO_CAPTURE, V4L2_KIND_OTHER},
        {"Intel IPU6 ISYS Capture 0", camera | V4L2_CAP_IO_MC, V4L2_KIND_SENSOR},
        {"v4l2 loopback", camera, V4L2_KIND_LOOPBACK},
        {"v4l2 loopback", V4L2_CAP_VIDEO_OUTPUT, V4L2_KIND_LOOPBACK},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct v4l2_node n;

        card = rows[i].name;
        caps = rows[i].caps;
        assert_int_equal(v4l2_identify(-1, &n), 0);
        card = NULL;
        caps = camera;
        assert_int_equal(n.kind, rows[i].kind);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_kinds),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
