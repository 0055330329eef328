#include "tools/bench/quality/peers.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const struct peer peer_table[] = {
    {"hqdn3d", "hqdn3d=12"},
    {"dctdnoiz", "format=gbrp,dctdnoiz=s=10"},
    {"nlmeans", "nlmeans=s=5"},
    {"atadenoise", "atadenoise=0a=0.1:0b=0.3:1a=0.1:1b=0.3:2a=0.1:2b=0.3:s=9"},
    {"fftdnoiz", "fftdnoiz=sigma=12:prev=1:next=1"},
    {NULL, NULL},
};

static bool move_planes(const struct frame *f, FILE *file, bool write)
{
    for (int p = 0; p < 3; p++)
        for (int y = 0; y < frame_plane_rows(f, p); y++) {
            uint8_t *row = f->plane[p] + (size_t)y * f->stride[p];
            const size_t n = frame_row_bytes(f, p);

            if ((write ? fwrite(row, 1, n, file) : fread(row, 1, n, file)) != n)
                return false;
        }
    return true;
}

static bool move_frames(const struct frame frames[CLIP_FRAMES], const char *path, bool write)
{
    FILE *file = fopen(path, write ? "wb" : "rb");
    bool done = file;

    for (int t = 0; t < CLIP_FRAMES && done; t++)
        done = move_planes(&frames[t], file, write);
    if (file)
        done = fclose(file) == 0 && done;
    return done;
}

bool peer_run(const struct peer *p, const struct frame in[CLIP_FRAMES],
              const struct frame out[CLIP_FRAMES])
{
    const char *const format = in[0].format == FRAME_I420 ? "yuv420p" : "yuv422p";
    char folder[] = "/tmp/bilatcam-quality-XXXXXX", from[64], to[64], command[512];
    bool done;

    if (!mkdtemp(folder))
        return false;
    (void)snprintf(from, sizeof(from), "%s/in.yuv", folder);
    (void)snprintf(to, sizeof(to), "%s/out.yuv", folder);
    (void)snprintf(command, sizeof(command),
                   "ffmpeg -nostdin -loglevel error -f rawvideo -pix_fmt %s -s %dx%d -r 30 "
                   "-i %s -vf '%s' -f rawvideo -pix_fmt %s %s 2>/dev/null",
                   format, CLIP_WIDTH, CLIP_HEIGHT, from, p->filter, format, to);
    done = move_frames(in, from, true) && system(command) == 0 && move_frames(out, to, false);
    (void)unlink(from);
    (void)unlink(to);
    (void)rmdir(folder);
    return done;
}
