/* A letter is a string: strokes parted by blanks, each a sequence of points. A point is two
 * characters, x and y, in half pixels: 0..9, then a = 10 to z = 35. After a dot it is the control
 * point of a curve between its neighbours. Lines to stand on and to reach: y 6 is the baseline,
 * k the height of small letters, q that of capitals, 0 the depth of g and p. All are even, so
 * that at scale 1 horizontal lines fall on rows of pixels. */
#include "picture/font.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

#define HALF_WIDTH 0.7 /* of a line, in pixels at scale 1 */
#define CURVE_PARTS 8
#define MAX_SEGMENTS 96

static const char *const outlines[FONT_COUNT] = {
    [' ' - 32] = "",
    ['!' - 32] = "0q0d 0607",
    ['"' - 32] = "0q0l 4q4l",
    ['#' - 32] = "365q 96bq 0cdc 1kek",
    ['$' - 32] = "am.9o5o.0o0l.0h5g.afac.a858.180a 5r55",
    ['%' - 32] = "0m.0q3q.6q6m.6i3i.0i0m 8a.8ebe.eeea.e6b6.868a dq16",
    ['&' - 32] = "c62k.1q5q.9q8m.7k3h.0f0b.0656.a6cd",
    ['\'' - 32] = "0q0l",
    ['(' - 32] = "4r.0n0d.0340",
    [')' - 32] = "0r.4n4d.4300",
    ['*' - 32] = "4q4i 0o8k 8o0k",
    ['+' - 32] = "5i58 0dad",
    [',' - 32] = "1703",
    ['-' - 32] = "0d6d",
    ['.' - 32] = "0607",
    ['/' - 32] = "038r",
    ['0' - 32] = "0g0l.0q5q.aqalab.a656.060b0g",
    ['1' - 32] = "1m5q56 1696",
    ['2' - 32] = "0l.0q5q.aqal.ai7e06a6",
    ['3' - 32] = "0n.1q5q.aqal.ag5g3g 5g.agab.a656.060a",
    ['4' - 32] = "868q0cac",
    ['5' - 32] = "9q1q0h.2i5i.aiac.a656.060a",
    ['6' - 32] = "9o.8q5q.0q0i0b.0656.a6ab.ah5h.0h0b",
    ['7' - 32] = "0qaq46",
    ['8' - 32] = "5g.1g1l.1q5q.9q9l.9g5g 5g.0g0b.0656.a6ab.ag5g",
    ['9' - 32] = "18.2656.a6aeal.aq5q.0q0l.0f5f.afal",
    [':' - 32] = "0607 0i0j",
    [';' - 32] = "1703 1i1j",
    ['<' - 32] = "9k0d96",
    ['=' - 32] = "0gag 0aaa",
    ['>' - 32] = "0k9d06",
    ['?' - 32] = "0m.0q4q.9q9l.9h4f4c 4647",
    ['@' - 32] = "bc.ba8a.5a5d5f.5j8j.bjbf bjbc.b9d9.g9gf.gq8q.0q0f.0282.c2d3",
    ['A' - 32] = "066qc6 2cac",
    ['B' - 32] = "060q6q.bqbl.bg6g0g 6g.cgcb.c66606",
    ['C' - 32] = "cm.bq6q.0q0k0c.0666.b6ca",
    ['D' - 32] = "060q5q.cqcjcd.c65606",
    ['E' - 32] = "aq0q06a6 0g8g",
    ['F' - 32] = "aq0q06 0g8g",
    ['G' - 32] = "cm.bq6q.0q0k0c.0666.c6cccf7f",
    ['H' - 32] = "060q c6cq 0gcg",
    ['I' - 32] = "060q",
    ['J' - 32] = "8q8b.8646.060a",
    ['K' - 32] = "060q bq0d 4ic6",
    ['L' - 32] = "0q06a6",
    ['M' - 32] = "060q7aeqe6",
    ['N' - 32] = "060qc6cq",
    ['O' - 32] = "0c0k.0q6q.cqckcc.c666.060c",
    ['P' - 32] = "060q6q.cqck.ce6e0e",
    ['Q' - 32] = "0c0k.0q6q.cqckcc.c666.060c 8bd4",
    ['R' - 32] = "060q6q.cqck.ce6e0e 6ec6",
    ['S' - 32] = "bm.aq6q.0q0l.0h6g.cfcb.c666.160a",
    ['T' - 32] = "0qcq 6q66",
    ['U' - 32] = "0q0c.0666.c6cccq",
    ['V' - 32] = "0q66cq",
    ['W' - 32] = "0q468mc6gq",
    ['X' - 32] = "0qc6 06cq",
    ['Y' - 32] = "0q6gcq 6g66",
    ['Z' - 32] = "0qcq06c6",
    ['[' - 32] = "4r0r0040",
    ['\\' - 32] = "0r83",
    [']' - 32] = "0r4r4000",
    ['^' - 32] = "0k4q8k",
    ['_' - 32] = "04c4",
    ['`' - 32] = "0r3n",
    ['a' - 32] = "1i.1k5k.akafa6 ae4e.0e0a.0646.86a9",
    ['b' - 32] = "060q 0f.0k5k.akafab.a656.060b",
    ['c' - 32] = "9i.8k5k.0k0f0b.0656.8698",
    ['d' - 32] = "a6aq af.ak5k.0k0f0b.0656.a6ab",
    ['e' - 32] = "0dadaf.ak5k.0k0f0b.0656.96a8",
    ['f' - 32] = "7q.3q3m36 0k7k",
    ['g' - 32] = "aka4.a050.1012 af.ak5k.0k0f0b.0656.a6ab",
    ['h' - 32] = "060q 0f.0k5k.akafa6",
    ['i' - 32] = "060k 0p0q",
    ['j' - 32] = "3k33.3000 3p3q",
    ['k' - 32] = "060q 9k0b 3ea6",
    ['l' - 32] = "0q0a.0636",
    ['m' - 32] = "060k 0f.0k4k.8k8f86 8f.8kck.gkgfg6",
    ['n' - 32] = "060k 0f.0k5k.akafa6",
    ['o' - 32] = "0b0f.0k5k.akafab.a656.060b",
    ['p' - 32] = "000k 0f.0k5k.akafab.a656.060b",
    ['q' - 32] = "a0ak af.ak5k.0k0f0b.0656.a6ab",
    ['r' - 32] = "060k 0e.0k6k",
    ['s' - 32] = "9i.8k5k.0k0h.0e5d.aca9.a656.1608",
    ['t' - 32] = "3p3a.3676 0k7k",
    ['u' - 32] = "0k0b.0656.a6ab aka6",
    ['v' - 32] = "0k56ak",
    ['w' - 32] = "0k367ib6ek",
    ['x' - 32] = "0ka6 06ak",
    ['y' - 32] = "0k56 ak30",
    ['z' - 32] = "0kak06a6",
    ['{' - 32] = "5r.2r2n2h.2d0d.2d2923.2050",
    ['|' - 32] = "0r00",
    ['}' - 32] = "0r.3r3n3h.3d5d.3d3933.3000",
    ['~' - 32] = "0c.0f3f.5f6d.7b9b.cbce",
};

struct point {
    double x, y;
};

struct segments {
    struct point from[MAX_SEGMENTS], to[MAX_SEGMENTS];
    int n;
};

static int digit(char c)
{
    return c <= '9' ? c - '0' : c - 'a' + 10;
}

/* The point that @text tells, in pixels at scale 1 from the cell's top left corner. */
static struct point point_at(const char *text)
{
    return (struct point){1.5 + digit(text[0]) / 2.0, 2.5 + (digit('q') - digit(text[1])) / 2.0};
}

static void add(struct segments *s, struct point from, struct point to)
{
    if (s->n == MAX_SEGMENTS)
        return;
    s->from[s->n] = from;
    s->to[s->n++] = to;
}

/* The quadratic curve from @a to @b with the control point @c. */
static void add_curve(struct segments *s, struct point a, struct point c, struct point b)
{
    struct point last = a;

    for (int i = 1; i <= CURVE_PARTS; i++) {
        const double t = (double)i / CURVE_PARTS, u = 1.0 - t;
        const struct point p = {u * u * a.x + 2.0 * u * t * c.x + t * t * b.x,
                                u * u * a.y + 2.0 * u * t * c.y + t * t * b.y};

        add(s, last, p);
        last = p;
    }
}

static void trace(struct segments *s, const char *outline)
{
    struct point at = {0};
    bool begun = false;

    s->n = 0;
    while (*outline) {
        if (*outline == ' ') {
            begun = false;
            outline++;
        } else if (*outline == '.') {
            const struct point end = point_at(outline + 3);

            add_curve(s, at, point_at(outline + 1), end);
            at = end;
            outline += 5;
        } else {
            const struct point p = point_at(outline);

            if (begun)
                add(s, at, p);
            at = p;
            begun = true;
            outline += 2;
        }
    }
}

static double distance(const struct segments *s, int i, struct point p)
{
    const double dx = s->to[i].x - s->from[i].x, dy = s->to[i].y - s->from[i].y;
    const double px = p.x - s->from[i].x, py = p.y - s->from[i].y;
    const double length2 = dx * dx + dy * dy;
    const double t = length2 > 0.0 ? fmin(fmax((px * dx + py * dy) / length2, 0.0), 1.0) : 0.0;

    return hypot(px - t * dx, py - t * dy);
}

int font_advance(int c)
{
    const char *const outline = outlines[c - FONT_FIRST];
    int widest = 0;

    if (c == ' ')
        return 4;
    if (c >= '0' && c <= '9') /* equally wide, so that numbers do not jump */
        return 8;
    for (size_t i = 0; outline[i];) {
        if (outline[i] == ' ' || outline[i] == '.') {
            i++;
            continue;
        }
        if (digit(outline[i]) > widest)
            widest = digit(outline[i]);
        i += 2;
    }
    return 3 + (widest + 1) / 2;
}

void font_render(int c, int scale, uint8_t *cell, size_t stride)
{
    struct segments s;

    trace(&s, outlines[c - FONT_FIRST]);
    for (int y = 0; y < FONT_CELL_HEIGHT * scale; y++)
        for (int x = 0; x < FONT_CELL_WIDTH * scale; x++) {
            const struct point p = {(x + 0.5) / scale, (y + 0.5) / scale};
            double ink = 0.0;

            for (int i = 0; i < s.n; i++)
                ink = fmax(ink, 0.5 + (HALF_WIDTH - distance(&s, i, p)) * scale);
            cell[(size_t)y * stride + (size_t)x] = (uint8_t)lround(255.0 * fmin(ink, 1.0));
        }
}
