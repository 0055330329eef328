#include "tests/vm/usbcam/device.h"

#include <endian.h>
#include <errno.h>
#include <linux/usb/video.h>
#include <string.h>

#define LE16(x) (x) & 0xff, (x) >> 8 & 0xff
#define LE32(x) LE16(x), LE16((x) >> 16)

#define CONTROL_INTERFACE 0
#define STREAM_INTERFACE 1
#define CAMERA_TERMINAL 1
#define OUTPUT_TERMINAL 2

#define INTERVAL_100NS 333333 /* 30 fps; half of that is offered, too */

/* Lengths that descriptors in front have to tell. */
#define FRAME_LENGTH 34
#define CONTROL_LENGTH (13 + 18 + 9)
#define STREAM_LENGTH (15 + (11 + 3 * FRAME_LENGTH + 6) + (27 + 2 * FRAME_LENGTH + 6))
#define TOTAL_LENGTH (9 + 8 + 9 + CONTROL_LENGTH + 9 + STREAM_LENGTH + 7)

#define FRAME(subtype, index, width, height)                                                       \
    FRAME_LENGTH, USB_DT_CS_INTERFACE, subtype, index, 0, LE16(width), LE16(height),               \
        LE32((width) * (height)*16 * 15), LE32((width) * (height)*16 * 30),                        \
        LE32((width) * (height)*2), LE32(INTERVAL_100NS), 2, LE32(INTERVAL_100NS),                 \
        LE32(2 * INTERVAL_100NS)

/* sRGB primaries and transfer, BT.601 matrix. */
#define COLOUR_MATCHING 6, USB_DT_CS_INTERFACE, UVC_VS_COLORFORMAT, 1, 1, 4

/* clang-format off */
static const uint8_t device_descriptor[] = {
    18, USB_DT_DEVICE, LE16(0x0200), USB_CLASS_MISC, 2, 1, 64,
    LE16(0x1209), LE16(0x0001), LE16(0x0100), /* pid.codes' number for tests */
    1, 2, 3, 1,
};

static const uint8_t configuration[] = {
    9, USB_DT_CONFIG, LE16(TOTAL_LENGTH), 2, 1, 0, USB_CONFIG_ATT_ONE, 250,
    8, USB_DT_INTERFACE_ASSOCIATION, CONTROL_INTERFACE, 2,
        USB_CLASS_VIDEO, UVC_SC_VIDEO_INTERFACE_COLLECTION, UVC_PC_PROTOCOL_UNDEFINED, 0,

    9, USB_DT_INTERFACE, CONTROL_INTERFACE, 0, 0,
        USB_CLASS_VIDEO, UVC_SC_VIDEOCONTROL, UVC_PC_PROTOCOL_UNDEFINED, 0,
    13, USB_DT_CS_INTERFACE, UVC_VC_HEADER, LE16(0x0100), LE16(CONTROL_LENGTH), LE32(1000000),
        1, STREAM_INTERFACE,
    18, USB_DT_CS_INTERFACE, UVC_VC_INPUT_TERMINAL, CAMERA_TERMINAL, LE16(UVC_ITT_CAMERA),
        0, 0, LE16(0), LE16(0), LE16(0), 3, 0, 0, 0,
    9, USB_DT_CS_INTERFACE, UVC_VC_OUTPUT_TERMINAL, OUTPUT_TERMINAL, LE16(UVC_TT_STREAMING),
        0, CAMERA_TERMINAL, 0,

    9, USB_DT_INTERFACE, STREAM_INTERFACE, 0, 1,
        USB_CLASS_VIDEO, UVC_SC_VIDEOSTREAMING, UVC_PC_PROTOCOL_UNDEFINED, 0,
    15, USB_DT_CS_INTERFACE, UVC_VS_INPUT_HEADER, 2, LE16(STREAM_LENGTH),
        USB_DIR_IN | DEVICE_STREAM_ENDPOINT, 0, OUTPUT_TERMINAL, 0, 0, 0, 1, 0, 0,
    11, USB_DT_CS_INTERFACE, UVC_VS_FORMAT_MJPEG, 1, 3, 1, 1, 0, 0, 0, 0,
    FRAME(UVC_VS_FRAME_MJPEG, 1, 640, 480),
    FRAME(UVC_VS_FRAME_MJPEG, 2, 1280, 720),
    FRAME(UVC_VS_FRAME_MJPEG, 3, 320, 240),
    COLOUR_MATCHING,
    27, USB_DT_CS_INTERFACE, UVC_VS_FORMAT_UNCOMPRESSED, 2, 2,
        'Y', 'U', 'Y', '2', 0, 0, 0x10, 0, 0x80, 0, 0, 0xaa, 0, 0x38, 0x9b, 0x71,
        16, 1, 0, 0, 0, 0,
    FRAME(UVC_VS_FRAME_UNCOMPRESSED, 1, 640, 480),
    FRAME(UVC_VS_FRAME_UNCOMPRESSED, 2, 320, 240),
    COLOUR_MATCHING,
    7, USB_DT_ENDPOINT, USB_DIR_IN | DEVICE_STREAM_ENDPOINT, USB_ENDPOINT_XFER_BULK,
        LE16(512), 0,
};
/* clang-format on */

_Static_assert(sizeof(configuration) == TOTAL_LENGTH, "a length in a descriptor is wrong");

/* --- what is streamed --- */

/* Where the probe and commit controls have it. */
enum {
    PROBE_FORMAT = 2,
    PROBE_FRAME = 3,
    PROBE_INTERVAL = 4,
    PROBE_BYTES = 18,
    PROBE_PAYLOAD = 22
};

static uint32_t get_le32(const uint8_t *p)
{
    uint32_t value;

    memcpy(&value, p, sizeof(value));
    return le32toh(value);
}

static void put_le32(uint8_t *p, uint32_t value)
{
    value = htole32(value);
    memcpy(p, &value, sizeof(value));
}

/* The frame descriptor, or NULL. */
static const uint8_t *find_frame(int format, int frame)
{
    const uint8_t *p = configuration + sizeof(configuration) - 7 - STREAM_LENGTH;
    int in_format = 0;

    for (; p < configuration + sizeof(configuration); p += p[0]) {
        if (p[2] == UVC_VS_FORMAT_MJPEG || p[2] == UVC_VS_FORMAT_UNCOMPRESSED)
            in_format = p[3];
        else if (p[0] == FRAME_LENGTH && in_format == format && p[3] == frame)
            return p;
    }
    return NULL;
}

/* Makes what is possible of what the host proposed. */
static void settle(struct device *d)
{
    uint8_t *probe = d->probe;

    if (!find_frame(probe[PROBE_FORMAT], probe[PROBE_FRAME])) {
        probe[PROBE_FORMAT] = 1;
        probe[PROBE_FRAME] = 1;
    }
    if (get_le32(probe + PROBE_INTERVAL) != 2 * INTERVAL_100NS)
        put_le32(probe + PROBE_INTERVAL, INTERVAL_100NS);
    put_le32(probe + PROBE_BYTES,
             get_le32(find_frame(probe[PROBE_FORMAT], probe[PROBE_FRAME]) + 17));
    put_le32(probe + PROBE_PAYLOAD, DEVICE_PAYLOAD);
}

void device_init(struct device *d, const char *serial, const char *name)
{
    *d = (struct device){.serial = serial, .name = name};
    settle(d);
}

struct mode device_mode(const struct device *d)
{
    const uint8_t *frame = find_frame(d->probe[PROBE_FORMAT], d->probe[PROBE_FRAME]);

    return (struct mode){
        .jpeg = frame[2] == UVC_VS_FRAME_MJPEG,
        .width = frame[5] | frame[6] << 8,
        .height = frame[7] | frame[8] << 8,
        .interval_ns = (int64_t)get_le32(d->probe + PROBE_INTERVAL) * 100,
    };
}

/* --- control requests --- */

static int answer(uint8_t *data, const void *from, size_t size)
{
    memcpy(data, from, size);
    return (int)size;
}

static int string_descriptor(uint8_t *data, const char *text)
{
    const size_t n = strlen(text);

    data[0] = (uint8_t)(2 + 2 * n);
    data[1] = USB_DT_STRING;
    for (size_t i = 0; i < n; i++) {
        data[2 + 2 * i] = (uint8_t)text[i];
        data[3 + 2 * i] = 0;
    }
    return data[0];
}

static int get_descriptor(const struct device *d, int type, int index, uint8_t *data)
{
    static const uint8_t languages[] = {4, USB_DT_STRING, LE16(0x0409)};
    const char *const strings[] = {NULL, "bilatcam", d->name, d->serial};

    switch (type) {
    case USB_DT_DEVICE:
        return answer(data, device_descriptor, sizeof(device_descriptor));
    case USB_DT_CONFIG:
        return answer(data, configuration, sizeof(configuration));
    case USB_DT_STRING:
        if (index == 0)
            return answer(data, languages, sizeof(languages));
        return index <= 3 ? string_descriptor(data, strings[index]) : -EPIPE;
    default:
        return -EPIPE;
    }
}

static int get_stream_control(const struct device *d, int request, uint8_t *data)
{
    switch (request) {
    case UVC_GET_CUR:
    case UVC_GET_MIN:
    case UVC_GET_MAX:
    case UVC_GET_DEF:
        return answer(data, d->probe, sizeof(d->probe));
    case UVC_GET_LEN:
        return answer(data, (const uint8_t[]){DEVICE_PROBE, 0}, 2);
    case UVC_GET_INFO:
        return answer(data, (const uint8_t[]){UVC_CONTROL_CAP_GET | UVC_CONTROL_CAP_SET}, 1);
    default:
        return -EPIPE;
    }
}

static int stream_control(struct device *d, int request, int selector, uint8_t *data,
                          enum device_event *event)
{
    if (selector != UVC_VS_PROBE_CONTROL && selector != UVC_VS_COMMIT_CONTROL)
        return -EPIPE;
    if (request != UVC_SET_CUR)
        return get_stream_control(d, request, data);
    memcpy(d->probe, data, sizeof(d->probe));
    settle(d);
    if (selector == UVC_VS_COMMIT_CONTROL)
        *event = DEVICE_STARTED;
    return 0;
}

int device_control(struct device *d, const struct usb_ctrlrequest *request, uint8_t *data,
                   enum device_event *event)
{
    const int value = le16toh(request->wValue), index = le16toh(request->wIndex);

    *event = DEVICE_NOTHING;
    switch (request->bRequestType & (USB_TYPE_MASK | USB_RECIP_MASK)) {
    case USB_TYPE_CLASS | USB_RECIP_INTERFACE:
        return index == STREAM_INTERFACE
                   ? stream_control(d, request->bRequest, value >> 8, data, event)
                   : -EPIPE;
    case USB_TYPE_STANDARD | USB_RECIP_ENDPOINT:
        /* How uvcvideo ends a stream that comes through a bulk endpoint. */
        if (request->bRequest == USB_REQ_CLEAR_FEATURE)
            *event = DEVICE_STOPPED;
        break;
    default:
        break;
    }
    switch (request->bRequest) {
    case USB_REQ_GET_DESCRIPTOR:
        return get_descriptor(d, value >> 8, value & 0xff, data);
    case USB_REQ_GET_STATUS:
        return answer(data, (const uint8_t[]){0, 0}, 2);
    case USB_REQ_SET_CONFIGURATION:
    case USB_REQ_SET_INTERFACE:
    case USB_REQ_CLEAR_FEATURE:
        return 0;
    default:
        return -EPIPE;
    }
}
