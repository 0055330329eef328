#include "picture/colour.h"

#include <math.h>
#include <string.h>

/* Levels that the range of a component spans: luma 219 and chroma 224 of 255 if limited. */
static double luma_scale(enum colour_range range)
{
    return range == COLOUR_LIMITED ? 255.0 / 219.0 : 1.0;
}

static double chroma_scale(enum colour_range range)
{
    return range == COLOUR_LIMITED ? 255.0 / 224.0 : 1.0;
}

int colour_zero(struct colour c, int component)
{
    if (component > 0 && c.matrix != COLOUR_RGB)
        return 128;
    return c.range == COLOUR_LIMITED ? 16 : 0;
}

struct colour colour_in(enum frame_format format, struct colour c)
{
    const struct format_info *info = &format_table[format];
    const bool only_rgb = format == FRAME_RGB24 || format == FRAME_BGR24;

    if (only_rgb && c.matrix != COLOUR_RGB)
        return (struct colour){COLOUR_RGB, COLOUR_FULL};
    if (c.matrix == COLOUR_RGB && (info->hshift || info->components != 3))
        c.matrix = COLOUR_BT601;
    return c;
}

void colour_to_rgb(struct colour c, double m[3][3])
{
    /* Of R' and of B' in luma. */
    static const double weights[][2] = {
        [COLOUR_BT601] = {0.299, 0.114},
        [COLOUR_BT709] = {0.2126, 0.0722},
        [COLOUR_BT2020] = {0.2627, 0.0593},
        [COLOUR_RGB] = {0.0, 0.0},
    };
    const double kr = weights[c.matrix][0];
    const double kb = weights[c.matrix][1];
    const double kg = 1.0 - kr - kb;
    const double y = luma_scale(c.range);
    const double uv = chroma_scale(c.range);
    const double from_yuv[3][3] = {
        {y, 0.0, 2.0 * (1.0 - kr) * uv},
        {y, -2.0 * (1.0 - kb) * kb / kg * uv, -2.0 * (1.0 - kr) * kr / kg * uv},
        {y, 2.0 * (1.0 - kb) * uv, 0.0},
    };
    const double from_gbr[3][3] = {{0.0, 0.0, y}, {y, 0.0, 0.0}, {0.0, y, 0.0}};

    memcpy(m, c.matrix == COLOUR_RGB ? from_gbr : from_yuv, sizeof(from_yuv));
}

struct colour_distance colour_distance(struct colour colour)
{
    struct colour_distance l;
    double m[3][3];
    double q[3][3] = {{0}}; /* M^T M over (Y, U, V) */

    colour_to_rgb(colour, m);
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            for (int k = 0; k < 3; k++)
                q[i][j] += m[k][i] * m[k][j];
    l.a = sqrt(q[0][0]);
    l.b = q[0][1] / l.a;
    l.c = q[0][2] / l.a;
    l.d = sqrt(q[1][1] - l.b * l.b);
    l.e = (q[1][2] - l.b * l.c) / l.d;
    l.f = sqrt(q[2][2] - l.c * l.c - l.e * l.e);
    return l;
}

static void invert(double in[3][3], double out[3][3])
{
    double det = 0.0;

    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) {
            const int a = (j + 1) % 3, b = (j + 2) % 3, c = (i + 1) % 3, d = (i + 2) % 3;

            out[i][j] = in[a][c] * in[b][d] - in[a][d] * in[b][c];
        }
    for (int j = 0; j < 3; j++)
        det += in[0][j] * out[j][0];
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            out[i][j] /= det;
}

void colour_convert(struct colour from, struct colour to, double m[3][3], double offset[3])
{
    double rgb[3][3], to_rgb[3][3], from_rgb[3][3];

    colour_to_rgb(from, rgb);
    colour_to_rgb(to, to_rgb);
    invert(to_rgb, from_rgb);
    for (int i = 0; i < 3; i++) {
        offset[i] = colour_zero(to, i);
        for (int j = 0; j < 3; j++) {
            m[i][j] = 0.0;
            for (int k = 0; k < 3; k++)
                m[i][j] += from_rgb[i][k] * rgb[k][j];
            offset[i] -= m[i][j] * colour_zero(from, j);
        }
    }
}
