#pragma once
/* The camera as USB sees it: its descriptors, and its answers to control requests. UVC 1.0,
 * MJPG and YUYV, pictures through a bulk endpoint. */
#include <linux/usb/ch9.h>
#include <stdbool.h>
#include <stdint.h>

#define DEVICE_STREAM_ENDPOINT 1
#define DEVICE_PAYLOAD 16384 /* most bytes with their header; uvcvideo asks for no more at once */
#define DEVICE_PROBE 26      /* bytes of the video probe and commit controls */

struct mode {
    bool jpeg; /* else YUYV */
    int width, height;
    int64_t interval_ns;
};

struct device {
    const char *serial, *name;   /* ASCII or Latin-1 */
    uint8_t probe[DEVICE_PROBE]; /* what is being agreed upon */
};

enum device_event { DEVICE_NOTHING, DEVICE_STARTED, DEVICE_STOPPED };

void device_init(struct device *d, const char *serial, const char *name);

/* What the host chose last. */
struct mode device_mode(const struct device *d);

/* Answers @request. @data holds what came with it, and has room for 1024 bytes of the answer.
 * Returns the length of that, or -EPIPE to refuse. */
int device_control(struct device *d, const struct usb_ctrlrequest *request, uint8_t *data,
                   enum device_event *event);
