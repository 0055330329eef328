#include "picture/jpeg_whole.h"

#include <endian.h>
#include <string.h>

#include "picture/jpeg_layout.h"

enum {
    LONGEST = 16,    /* bits of a code */
    QUICK = 12,      /* codes of up to so many bits are looked up, as many as these hold */
    BLOCK = 64,      /* coefficients */
    BLOCK_END = 128, /* in a step: behind the last of any block */
    READ = 4096,     /* bytes at once */
    BLOCK_BYTES = 64 * 31 / 8 + 16, /* more than the longest block takes */
};

/* What a code stands for, or several in a row. */
struct code {
    uint8_t bits; /* of it and of the value behind it; 0: there is no such code */
    uint8_t step; /* to the next coefficient that is coded */
};

struct codes {
    struct code quick[1 << QUICK], several[1 << QUICK];
    struct code code[256]; /* in their order */
    /* Of each length: what is above its codes if all are taken as numbers of 16 bits, and what
     * makes the number of one its place in the order. */
    uint32_t end[LONGEST + 1];
    int offset[LONGEST + 1];
};

/* The bits between two markers. */
struct reader {
    const uint8_t *from, *end;         /* bytes to come */
    uint8_t bytes[READ + BLOCK_BYTES]; /* without the zeros that follow each 0xff, and zeros */
    size_t at, n;                      /* the next of them, and where those zeros begin */
    uint64_t bits;                     /* next one on top */
    int n_bits;
};

/* By their symbols: how many bits follow, and, of AC, how many zeros are before. */
static struct code dc_code(int length, int symbol)
{
    return (struct code){.bits = (uint8_t)(symbol > 15 ? 0 : length + symbol)};
}

static struct code ac_code(int length, int symbol)
{
    const int zeros = symbol >> 4, more = symbol & 15;
    const int step = more || zeros == 15 ? zeros + 1 : BLOCK_END;

    return (struct code){.bits = (uint8_t)(length + more), .step = (uint8_t)step};
}

/* Joins codes of AC that are in the same bits. A block may end with the last of them only. */
static void join_codes(struct codes *c)
{
    for (unsigned i = 0; i < 1U << QUICK; i++) {
        struct code all = c->quick[i], next = all;

        while (next.bits && all.bits < QUICK && all.step < BLOCK) {
            next = c->quick[i << all.bits & ((1U << QUICK) - 1)];
            if (all.bits + next.bits > QUICK)
                break;
            all.bits = (uint8_t)(all.bits + next.bits);
            all.step = (uint8_t)(all.step + next.step);
        }
        c->several[i] = all;
    }
}

/* False: there are more codes than there can be. */
static bool make_codes(struct codes *c, const uint8_t *table, bool ac)
{
    uint32_t next = 0; /* of 16 bits */
    int n = 0;

    if (!table)
        return false;
    memset(c->quick, 0, sizeof(c->quick));
    for (int length = 1; length <= LONGEST; length++) {
        const uint32_t step = 1U << (LONGEST - length);

        c->offset[length] = n - (int)(next / step);
        for (int i = 0; i < table[length - 1]; i++, n++, next += step) {
            c->code[n] = (ac ? ac_code : dc_code)(length, table[LONGEST + n]);
            if (next + step > 1U << LONGEST)
                return false;
            for (uint32_t k = 0; length <= QUICK && k < 1U << (QUICK - length); k++)
                c->quick[(next >> (LONGEST - QUICK)) + k] = c->code[n];
        }
        c->end[length] = next;
    }
    if (ac)
        join_codes(c);
    return true;
}

static void begin_reading(struct reader *r, const uint8_t *from, const uint8_t *end)
{
    r->from = from;
    r->end = end;
    r->at = r->n = 0;
    r->bits = 0;
    r->n_bits = 0;
}

/* Copies bytes until there are READ of them, or no more. */
static void read_more(struct reader *r)
{
    r->n -= r->at;
    memmove(r->bytes, r->bytes + r->at, r->n);
    r->at = 0;
    while (r->n < READ && r->from < r->end) {
        const size_t room = READ - r->n, left = (size_t)(r->end - r->from);
        const size_t most = room < left ? room : left;
        const uint8_t *const stuffed = memchr(r->from, 0xff, most);
        const size_t n = stuffed ? (size_t)(stuffed - r->from) + 1 : most;

        memcpy(r->bytes + r->n, r->from, n);
        r->n += n;
        r->from += n;
        r->from += stuffed && r->from < r->end;
    }
    memset(r->bytes + r->n, 0, BLOCK_BYTES);
}

/* Makes sure that the next block is there. False: the one before ended behind the end. */
static bool begin_block(struct reader *r)
{
    if (r->at + BLOCK_BYTES > r->n && r->from < r->end)
        read_more(r);
    return 8 * r->at <= 8 * r->n + (size_t)r->n_bits;
}

/* Makes them 56 or more. */
static void fill(struct reader *r)
{
    uint64_t word;

    memcpy(&word, r->bytes + r->at, sizeof(word));
    r->bits |= be64toh(word) >> r->n_bits;
    r->at += (size_t)(63 - r->n_bits) / 8;
    r->n_bits |= 56;
}

static struct code first_code(const struct codes *c, uint64_t bits)
{
    const uint32_t front = (uint32_t)(bits >> (64 - LONGEST));
    int length = 1;

    if (c->quick[bits >> (64 - QUICK)].bits)
        return c->quick[bits >> (64 - QUICK)];
    while (length <= LONGEST && front >= c->end[length])
        length++;
    if (length > LONGEST)
        return (struct code){0};
    return c->code[(int)(front >> (LONGEST - length)) + c->offset[length]];
}

static void take(struct reader *r, struct code code)
{
    r->bits <<= code.bits;
    r->n_bits -= code.bits;
    fill(r);
}

static bool block_is_whole(struct reader *r, const struct codes *dc, const struct codes *ac)
{
    struct code code = first_code(dc, r->bits);
    int at = 1;

    while (code.bits) {
        take(r, code);
        if (at >= BLOCK)
            return at == BLOCK || at > BLOCK_END;
        code = ac->several[r->bits >> (64 - QUICK)];
        if (!code.bits || at + code.step % BLOCK_END >= BLOCK)
            code = first_code(ac, r->bits);
        at += code.step;
    }
    return false;
}

/* @n groups of blocks. */
static bool part_is_whole(const struct jpeg_layout *l, struct codes codes[2][JPEG_TABLES],
                          struct reader *r, int64_t n)
{
    read_more(r);
    fill(r);
    for (int64_t i = 0; i < n; i++)
        for (int c = 0; c < l->n_components; c++) {
            const struct jpeg_component *k = &l->component[c];

            for (int b = 0; b < k->blocks; b++)
                if (!begin_block(r) || !block_is_whole(r, &codes[0][k->dc_id], &codes[1][k->ac_id]))
                    return false;
        }
    return begin_block(r);
}

bool jpeg_is_whole(const uint8_t *jpeg, size_t size)
{
    struct codes codes[2][JPEG_TABLES];
    struct jpeg_layout l;
    struct reader r;
    int64_t left;
    size_t at, end;

    if (jpeg_layout_read(&l, jpeg, size))
        return false;
    for (int c = 0; c < l.n_components; c++) {
        const int dc = l.component[c].dc_id, ac = l.component[c].ac_id;

        if (c == 2 && dc == l.component[1].dc_id && ac == l.component[1].ac_id)
            break;
        if (!make_codes(&codes[0][dc], l.table[0][dc], false) ||
            !make_codes(&codes[1][ac], l.table[1][ac], true))
            return false;
    }
    left = (int64_t)jpeg_groups_across(&l) * jpeg_group_rows(&l);
    at = l.header;
    for (int part = 0;; part++) {
        const int64_t n = l.interval && l.interval < left ? l.interval : left;

        end = jpeg_next_marker(jpeg, at, size);
        begin_reading(&r, jpeg + at, jpeg + end);
        if (end == size || !part_is_whole(&l, codes, &r, n))
            return false;
        left -= n;
        if (left == 0)
            return jpeg[end + 1] == JPEG_EOI || jpeg_is_restart(jpeg[end + 1]) ||
                   jpeg_is_comment(jpeg[end + 1]);
        if (jpeg[end + 1] != JPEG_RST0 + part % 8)
            return false;
        at = end + 2;
    }
}
