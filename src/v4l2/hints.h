#pragma once
/* What messages advise where a device is missing. */

#define HINT_NO_CAMERA "plug one in, or use --input test: for a moving scene"
#define HINT_SENSOR                                                                                \
    "have PipeWire read it by libcamera (from Debian 13 on: libspa-0.2-libcamera and "             \
    "libcamera-ipa), and use --input pipewire: (docs/troubleshooting.md)"
#define HINT_PERMISSION                                                                            \
    "join the group of video devices (sudo usermod -aG video $USER) and log in again"

#define LOOPBACK_LABEL "bilatcam"
#define LOOPBACK_OPTIONS "exclusive_caps=1 card_label=" LOOPBACK_LABEL
#define HINT_MODPROBE "sudo modprobe v4l2loopback " LOOPBACK_OPTIONS
#define HINT_MODPROBE_AGAIN "sudo modprobe -r v4l2loopback && " HINT_MODPROBE
