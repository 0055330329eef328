/* usbcam SERIAL [NAME]                  a USB camera, plugged into this machine
 * usbcam --picture NUMBER WIDTHxHEIGHT   the YUYV frame that it shows, on stdout
 *
 * The camera is a program: the kernel's vhci_hcd, made for USB over a network, is given one end
 * of a socket as if a device were behind it, and speaks the usbip protocol with this program at
 * the other end. All above is real: USB core, uvcvideo, V4L2. Needs root, and vhci_hcd loaded.
 *
 * Commands, one per line on stdin; its end ends the program, which is an unplugged camera, too:
 *   plug, unplug
 *   picture N         shows another picture
 *   good, cut, gap, empty, garbage, wrong-size, error, hang [N]
 *                     what frames are like from now on; all, or only every Nth
 *   slow MS           a frame takes so long from its first byte to its last
 *   die               ends at once */
#include <arpa/inet.h>
#include <endian.h>
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/usb/video.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "tests/vm/usbcam/device.h"
#include "tests/vm/usbcam/picture.h"

#define VHCI "/sys/devices/platform/vhci_hcd.0/"
#define DEVICE_ID 0x10002 /* bus 1, device 2; any would do */
#define MAX_URBS 32
#define PAYLOAD_HEADER 2

enum fault { GOOD, CUT, GAP, EMPTY, GARBAGE, WRONG_SIZE, ERROR, HANG, N_FAULTS };

static const char *const fault_names[N_FAULTS] = {
    [GOOD] = "good",   [CUT] = "cut",         [GAP] = "gap",
    [EMPTY] = "empty", [GARBAGE] = "garbage", [WRONG_SIZE] = "wrong-size",
    [ERROR] = "error", [HANG] = "hang",
};

/* Of the usbip protocol; all numbers are big-endian. */
enum { CMD_SUBMIT = 1, CMD_UNLINK = 2, RET_SUBMIT = 3, RET_UNLINK = 4 };

struct message {
    uint32_t command, seqnum, device, is_in, endpoint;
    union {
        struct {
            uint32_t flags, length, start_frame, n_packets, interval;
            struct usb_ctrlrequest setup;
        } submit;
        struct {
            uint32_t status, length, start_frame, n_packets, n_errors;
        } result;
        uint32_t unlink_seqnum;
        uint8_t padding[28];
    };
};

_Static_assert(sizeof(struct message) == 48, "the protocol says so");

/* A request of the host for picture data, not answered yet. */
struct urb {
    uint32_t seqnum, length;
};

struct camera {
    int sock; /* -1: unplugged */
    struct device device;
    struct urb urbs[MAX_URBS];
    int n_urbs;
    uint32_t seqnum;                /* of the newest request */
    struct message early[MAX_URBS]; /* what takes requests back that have not come yet */
    int n_early;

    bool streaming;
    struct mode mode;
    int64_t t_next_ns; /* of the next frame */
    int64_t slow_ns;   /* from the first piece of a frame to the last */
    int64_t t_last_ns; /* when the last piece of this one is due */
    unsigned n_frames;
    uint8_t frame_id; /* alternates, so that the host sees where a frame ends */

    unsigned picture;
    enum fault fault;
    unsigned every;         /* so many frames until one with the fault */
    struct bytes good, bad; /* frames of the picture */
    struct bytes frame;     /* one of both, while it is being sent */
    size_t sent;
    bool sending, flawed;
};

static int64_t now_ns(void)
{
    struct timespec t;

    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

/* --- the cable --- */

/* A port of the virtual host controller that nothing is plugged into, for high speed. */
static unsigned free_port(void)
{
    FILE *status = fopen(VHCI "status", "re");
    char line[128];
    unsigned port, state;

    if (!status)
        err(1, VHCI "status");
    while (fgets(line, sizeof(line), status))
        if (sscanf(line, "hs %u %u", &port, &state) == 2 && state == 4) {
            (void)fclose(status);
            return port;
        }
    errx(1, "no port is free");
}

static void plug(struct camera *c)
{
    const unsigned port = free_port();
    int fds[2], attach;

    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds))
        err(1, "socketpair");
    attach = open(VHCI "attach", O_WRONLY | O_CLOEXEC);
    if (attach < 0 ||
        dprintf(attach, "%u %d %u %u", port, fds[1], DEVICE_ID, 3 /* high speed */) < 0)
        err(1, VHCI "attach");
    (void)close(attach);
    (void)close(fds[1]);
    c->sock = fds[0];
    c->seqnum = 0;
    c->n_early = 0;
    printf("plugged into port %u\n", port);
}

static void stop(struct camera *c)
{
    if (c->streaming)
        printf("stopped after %u frames\n", c->n_frames);
    c->streaming = false;
    c->sending = false;
}

static void unplug(struct camera *c)
{
    if (c->sock < 0)
        return;
    (void)close(c->sock);
    c->sock = -1;
    c->n_urbs = 0;
    stop(c);
    printf("unplugged\n");
}

/* False: the host has let go of the device, which is unplugged then. */
static bool receive(struct camera *c, void *data, size_t size)
{
    if (size == 0 || recv(c->sock, data, size, MSG_WAITALL) == (ssize_t)size)
        return true;
    unplug(c);
    return false;
}

static void transmit(struct camera *c, const void *data, size_t size)
{
    for (const char *p = data; size && c->sock >= 0;) {
        const ssize_t n = send(c->sock, p, size, MSG_NOSIGNAL);

        if (n <= 0) {
            unplug(c);
            return;
        }
        p += n;
        size -= (size_t)n;
    }
}

/* --- the stream --- */

static struct bytes encode(const struct camera *c, int divisor)
{
    const int width = c->mode.width / divisor, height = c->mode.height / divisor;

    return c->mode.jpeg ? picture_jpeg(c->picture, width, height)
                        : picture_yuyv(c->picture, width, height);
}

/* After each change of what is shown. A frame that is half sent ends there. */
static void make_frames(struct camera *c)
{
    size_t half;

    free(c->good.data);
    free(c->bad.data);
    c->sending = false;
    c->good = encode(c, 1);
    half = c->good.size / 2;
    c->bad = c->fault == WRONG_SIZE ? encode(c, 2) : picture_garbage(c->good.size);
    if (c->fault == CUT || c->fault == GAP || c->fault == ERROR)
        memcpy(c->bad.data, c->good.data, c->good.size);
    if (c->fault == CUT)
        c->bad.size /= 2;
    if (c->fault == GAP) {
        c->bad.size -= half / 2;
        memcpy(c->bad.data + half, c->good.data + half + half / 2, c->bad.size - half);
    }
    if (c->fault == EMPTY)
        c->bad.size = 0;
}

static void start(struct camera *c)
{
    stop(c);
    c->mode = device_mode(&c->device);
    c->streaming = true;
    c->n_frames = 0;
    c->t_next_ns = now_ns();
    make_frames(c);
    printf("streaming %s %dx%d\n", c->mode.jpeg ? "mjpg" : "yuyv", c->mode.width, c->mode.height);
}

static bool last_piece(const struct camera *c)
{
    return c->frame.size - c->sent <= DEVICE_PAYLOAD - PAYLOAD_HEADER;
}

/* When there is something to send, or INT64_MAX. */
static int64_t t_due(const struct camera *c)
{
    if (!c->streaming || !c->n_urbs)
        return INT64_MAX;
    if (c->sending)
        return last_piece(c) ? c->t_last_ns : 0;
    return c->fault == HANG ? INT64_MAX : c->t_next_ns;
}

static void begin_frame(struct camera *c)
{
    const int64_t now = now_ns();

    c->n_frames++;
    c->flawed = c->fault != GOOD && c->n_frames % c->every == 0;
    c->frame = c->flawed ? c->bad : c->good;
    c->sent = 0;
    c->sending = true;
    c->t_last_ns = now + c->slow_ns;
    c->frame_id ^= UVC_STREAM_FID;
    /* Frames that could not be sent in time are left out. */
    c->t_next_ns += c->mode.interval_ns;
    if (c->t_next_ns < now)
        c->t_next_ns = now;
}

/* Answers the oldest request with the next piece of the frame. */
static void send_payload(struct camera *c)
{
    static struct {
        struct message head;
        uint8_t data[DEVICE_PAYLOAD];
    } reply;
    const struct urb urb = c->urbs[0];
    const size_t room =
        (urb.length < DEVICE_PAYLOAD ? urb.length : DEVICE_PAYLOAD) - PAYLOAD_HEADER;
    const size_t left = c->frame.size - c->sent, n = left < room ? left : room;

    memmove(c->urbs, c->urbs + 1, (size_t)--c->n_urbs * sizeof(*c->urbs));
    reply.head = (struct message){
        .command = htonl(RET_SUBMIT),
        .seqnum = htonl(urb.seqnum),
        .result.length = htonl((uint32_t)(PAYLOAD_HEADER + n)),
    };
    reply.data[0] = PAYLOAD_HEADER;
    reply.data[1] = UVC_STREAM_EOH | c->frame_id;
    if (c->flawed && c->fault == ERROR)
        reply.data[1] |= UVC_STREAM_ERR;
    memcpy(reply.data + PAYLOAD_HEADER, c->frame.data + c->sent, n);
    c->sent += n;
    if (c->sent == c->frame.size) {
        reply.data[1] |= UVC_STREAM_EOF;
        c->sending = false;
    }
    transmit(c, &reply, sizeof(reply.head) + PAYLOAD_HEADER + n);
}

/* --- requests of the host --- */

static void answer_control(struct camera *c, const struct message *m)
{
    struct {
        struct message head;
        uint8_t data[1024];
    } reply = {.head = {.command = htonl(RET_SUBMIT), .seqnum = m->seqnum}};
    const uint32_t asked = ntohl(m->submit.length);
    enum device_event event;
    size_t answered = 0;
    int r;

    if (asked > sizeof(reply.data))
        errx(1, "a control request of %u bytes", asked);
    if (!m->is_in && !receive(c, reply.data, asked))
        return;
    r = device_control(&c->device, &m->submit.setup, reply.data, &event);
    if (event == DEVICE_STARTED)
        start(c);
    else if (event == DEVICE_STOPPED)
        stop(c);
    if (r < 0)
        reply.head.result.status = htonl((uint32_t)r);
    else if (m->is_in)
        answered = (uint32_t)r < asked ? (uint32_t)r : asked;
    reply.head.result.length = htonl(m->is_in ? (uint32_t)answered : asked);
    transmit(c, &reply, sizeof(reply.head) + answered);
}

static void keep_urb(struct camera *c, const struct message *m)
{
    if (c->n_urbs == MAX_URBS)
        errx(1, "more than %d requests for data", MAX_URBS);
    c->urbs[c->n_urbs++] =
        (struct urb){.seqnum = ntohl(m->seqnum), .length = ntohl(m->submit.length)};
}

/* The host takes a request back; one that is not here any more has been answered. */
static void answer_unlink(struct camera *c, const struct message *m)
{
    struct message reply = {.command = htonl(RET_UNLINK), .seqnum = m->seqnum};
    int i = 0;

    while (i < c->n_urbs && c->urbs[i].seqnum != ntohl(m->unlink_seqnum))
        i++;
    if (i < c->n_urbs) {
        c->n_urbs--;
        memmove(c->urbs + i, c->urbs + i + 1, (size_t)(c->n_urbs - i) * sizeof(*c->urbs));
        reply.result.status = htonl((uint32_t)-ECONNRESET);
    }
    transmit(c, &reply, sizeof(reply));
}

/* The host can send this before the request itself, which it would miss if it were answered now. */
static void take_back(struct camera *c, const struct message *m)
{
    if ((int32_t)(ntohl(m->unlink_seqnum) - c->seqnum) <= 0)
        answer_unlink(c, m);
    else if (c->n_early == MAX_URBS)
        errx(1, "more than %d requests taken back before they came", MAX_URBS);
    else
        c->early[c->n_early++] = *m;
}

/* Answers what waited for the newest request. */
static void answer_early(struct camera *c)
{
    const int n = c->n_early;

    c->n_early = 0;
    for (int i = 0; i < n; i++)
        take_back(c, &c->early[i]);
}

static void serve_host(struct camera *c)
{
    struct message m;

    if (!receive(c, &m, sizeof(m)))
        return;
    if (ntohl(m.command) == CMD_UNLINK) {
        take_back(c, &m);
        return;
    }
    if (ntohl(m.command) != CMD_SUBMIT)
        errx(1, "unknown command %u", ntohl(m.command));
    c->seqnum = ntohl(m.seqnum);
    if (ntohl(m.endpoint) == 0)
        answer_control(c, &m);
    else
        keep_urb(c, &m);
    answer_early(c);
}

/* --- commands --- */

static enum fault find_fault(const char *name)
{
    int fault = 0;

    while (fault < N_FAULTS && strcmp(fault_names[fault], name))
        fault++;
    return (enum fault)fault;
}

static void obey(struct camera *c, const char *line)
{
    char word[16] = "";
    unsigned number = 1;

    (void)sscanf(line, "%15s %u", word, &number);
    if (!strcmp(word, "plug") && c->sock < 0) {
        plug(c);
    } else if (!strcmp(word, "unplug")) {
        unplug(c);
    } else if (!strcmp(word, "picture")) {
        c->picture = number;
    } else if (!strcmp(word, "slow")) {
        c->slow_ns = (int64_t)number * 1000000;
    } else if (!strcmp(word, "die")) {
        exit(0);
    } else if (find_fault(word) < N_FAULTS && number > 0) {
        c->fault = find_fault(word);
        c->every = number;
    } else {
        errx(2, "cannot do '%s'", line);
    }
    if (c->streaming)
        make_frames(c);
}

static void read_commands(struct camera *c)
{
    static char text[256];
    static size_t used;
    const ssize_t n = read(STDIN_FILENO, text + used, sizeof(text) - 1 - used);
    char *line = text, *end;

    if (n <= 0)
        exit(0);
    used += (size_t)n;
    text[used] = '\0';
    while ((end = strchr(line, '\n'))) {
        *end = '\0';
        obey(c, line);
        line = end + 1;
    }
    used = strlen(line);
    memmove(text, line, used);
}

static void run(struct camera *c)
{
    for (;;) {
        struct pollfd fds[] = {{.fd = c->sock, .events = POLLIN},
                               {.fd = STDIN_FILENO, .events = POLLIN}};
        const int64_t due = t_due(c), wait = due - now_ns();

        if (poll(fds, 2, due == INT64_MAX ? -1 : wait > 0 ? (int)(wait / 1000000) + 1 : 0) < 0)
            err(1, "poll");
        if (fds[0].revents)
            serve_host(c);
        if (fds[1].revents)
            read_commands(c);
        if (t_due(c) > now_ns())
            continue;
        if (!c->sending)
            begin_frame(c);
        if (t_due(c) <= now_ns())
            send_payload(c);
    }
}

static int print_picture(const char *number, const char *size)
{
    int width, height;
    struct bytes picture;

    if (sscanf(size, "%dx%d", &width, &height) != 2)
        errx(2, "'%s' is no size", size);
    picture = picture_yuyv((unsigned)atoi(number), width, height);
    if (fwrite(picture.data, picture.size, 1, stdout) != 1)
        err(1, "stdout");
    free(picture.data);
    return 0;
}

int main(int argc, char **argv)
{
    static struct camera camera = {.sock = -1, .every = 1};

    if (argc == 4 && !strcmp(argv[1], "--picture"))
        return print_picture(argv[2], argv[3]);
    if (argc != 2 && argc != 3)
        errx(2, "usage: usbcam SERIAL [NAME] | --picture NUMBER WIDTHxHEIGHT");
    (void)setvbuf(stdout, NULL, _IOLBF, 0);
    device_init(&camera.device, argv[1], argc > 2 ? argv[2] : "USB test camera");
    run(&camera);
}
