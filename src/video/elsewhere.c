#include "video/elsewhere.h"

#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define MAX_BOXES 65536 /* that are looked through at each level */
#define SELF 1          /* the flag of a reference: the samples are in this file */
#define EMPTY 13        /* bytes of a reference that names nothing but an end of text */

/* A part of the file: what is in it begins at @at and ends before @end. */
struct box {
    char type[4];
    int64_t at, end;
};

static uint32_t number(const uint8_t *p)
{
    return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

/* The box at @at of a parent that ends at @end. False: there is none. */
static bool read_box(int fd, int64_t at, int64_t end, struct box *ret)
{
    uint8_t head[16];
    uint64_t size;
    int n = 8;

    if (end - at < 8 || pread(fd, head, 8, at) != 8)
        return false;
    size = number(head);
    if (size == 1) {
        n = 16;
        if (end - at < n || pread(fd, head, 16, at) != 16)
            return false;
        size = (uint64_t)number(head + 8) << 32 | number(head + 12);
    } else if (!size) {
        size = (uint64_t)(end - at);
    }
    if (size < (uint64_t)n || size > (uint64_t)(end - at))
        return false;
    memcpy(ret->type, head + 4, 4);
    ret->at = at + n;
    ret->end = at + (int64_t)size;
    return true;
}

/* The first one of the boxes in @in, from @at on, that is of the type. */
static bool find_box(int fd, const struct box *in, int64_t at, const char *type, struct box *ret)
{
    for (int i = 0; i < MAX_BOXES && read_box(fd, at, in->end, ret); i++) {
        if (!memcmp(ret->type, type, 4))
            return true;
        at = ret->end;
    }
    return false;
}

/* Whether all that the track refers to is named, and none of it is the file itself. */
static bool is_elsewhere(int fd, const struct box *track)
{
    static const char *const way[] = {"mdia", "minf", "dinf", "dref"};
    struct box in = *track, ref;
    int64_t at;
    int n = 0;

    for (size_t i = 0; i < sizeof(way) / sizeof(way[0]); i++) {
        const struct box parent = in;

        if (!find_box(fd, &parent, parent.at, way[i], &in))
            return false;
    }
    for (at = in.at + 8; n < MAX_BOXES && read_box(fd, at, in.end, &ref); n++) {
        uint8_t flags[4];

        if (pread(fd, flags, 4, ref.at) != 4 || flags[3] & SELF || ref.end - at <= EMPTY)
            return false;
        at = ref.end;
    }
    return n > 0;
}

static bool read_id(int fd, const struct box *track, uint32_t *ret)
{
    struct box head;
    uint8_t data[24];

    if (!find_box(fd, track, track->at, "tkhd", &head) || pread(fd, data, 24, head.at) != 24)
        return false;
    *ret = number(data + (data[0] == 1 ? 20 : 12));
    return true;
}

int elsewhere_tracks(int fd, uint32_t *ret, int n)
{
    struct stat st;
    struct box movie, track;
    int found = 0;
    int64_t at;

    if (fstat(fd, &st) ||
        !find_box(fd, &(struct box){.end = (int64_t)st.st_size}, 0, "moov", &movie))
        return 0;
    for (at = movie.at; found < n && find_box(fd, &movie, at, "trak", &track); at = track.end)
        if (is_elsewhere(fd, &track) && read_id(fd, &track, &ret[found]))
            found++;
    return found;
}
