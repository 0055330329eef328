#include "engine/time/noise_blocks.h"

#include <math.h>
#include <stddef.h>

#include "picture/colour.h"

#define SIDE NOISE_BLOCK
#define INNER (SIDE / 2 - 2) /* cells whose neighbours are in the block */

/* The components of a block's pixels. */
struct block {
    int c[3][SIDE][SIDE];
};

struct noise_form noise_form_of(const struct frame *f)
{
    struct noise_form form = {.components = format_table[f->format].components};
    double m[3][3];

    colour_to_rgb(f->colour, m);
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) {
            double sum = 0.0;

            for (int k = 0; k < 3; k++)
                sum += m[k][i] * m[k][j];
            form.q[i][j] = (int64_t)floor(sum * NOISE_FORM_SCALE + 0.5);
        }
    for (int c = 0; c < form.components; c++)
        form.zero[c] = colour_zero(f->colour, c);
    return form;
}

static int sample_at(const struct frame *f, int component, int x, int y)
{
    const struct format_info *info = &format_table[f->format];

    x = frame_nearest(x, f->width) >> (component ? info->hshift : 0);
    y = frame_nearest(y, f->height) >> (component ? info->vshift : 0);
    return frame_byte(f, component, x, y);
}

static void load(struct block *b, const struct frame *f, int components, int x0, int y0)
{
    for (int i = 0; i < components; i++)
        for (int y = 0; y < SIDE; y++)
            for (int x = 0; x < SIDE; x++)
                b->c[i][y][x] = sample_at(f, i, x0 + x, y0 + y);
}

/* The block less where it was. */
static void load_moved(struct block *b, const struct frame *now, const struct frame *before,
                       const struct motion_vector *vectors, int components, int x0, int y0)
{
    const struct format_info *info = &format_table[now->format];
    const int cols = (now->width + MOTION_BLOCK - 1) / MOTION_BLOCK;

    for (int y = 0; y < SIDE; y++)
        for (int x = 0; x < SIDE; x++) {
            const struct motion_vector v =
                vectors ? vectors[(y0 + y) / MOTION_BLOCK * cols + (x0 + x) / MOTION_BLOCK]
                        : (struct motion_vector){0};

            for (int i = 0; i < components; i++) {
                const int dx = noise_whole(v.x, i ? info->hshift : 0);
                const int dy = noise_whole(v.y, i ? info->vshift : 0);

                b->c[i][y][x] = sample_at(now, i, x0 + x, y0 + y) -
                                sample_at(before, i, x0 + x + dx, y0 + y + dy);
            }
        }
}

static struct noise_moments moments_of(const struct block *b, int components, int side)
{
    struct noise_moments m = {0};

    for (int y = 0; y < side; y++)
        for (int x = 0; x < side; x++)
            for (int i = 0; i < components; i++) {
                const int64_t c = b->c[i][y][x];

                m.s[i] += c;
                m.a[i] += c * (2 * x - (SIDE - 1));
                m.b[i] += c * (2 * y - (SIDE - 1));
                for (int j = 0; j < components; j++)
                    m.ss[i][j] += c * b->c[j][y][x];
            }
    return m;
}

/* Q times n^2 times the covariance, for @n pixels; about a plane if @plane, and then times 85. */
static int64_t spread(const struct noise_form *f, const struct noise_moments *m, int64_t n,
                      bool plane)
{
    int64_t sum = 0;

    for (int i = 0; i < f->components; i++)
        for (int j = 0; j < f->components; j++) {
            const int64_t about_mean = n * m->ss[i][j] - m->s[i] * m->s[j];

            sum += f->q[i][j] *
                   (plane ? 85 * about_mean - m->a[i] * m->a[j] - m->b[i] * m->b[j] : about_mean);
        }
    return sum;
}

/* 64 times E of average.h, of the cells inside the block. */
static void smooth(struct block *to, const struct block *from, int components)
{
    static const int weight[4] = {1, 3, 3, 1};

    for (int i = 0; i < components; i++)
        for (int y = 0; y < INNER; y++)
            for (int x = 0; x < INNER; x++) {
                int sum = 0;

                for (int dy = 0; dy < 4; dy++)
                    for (int dx = 0; dx < 4; dx++)
                        sum += weight[dy] * weight[dx] * from->c[i][2 * y + 1 + dy][2 * x + 1 + dx];
                to->c[i][y][x] = sum;
            }
}

/* What means leave of a block that has no more than noise. */
static void count_left(struct noise_sums *sums, const struct noise_form *f, int64_t apart,
                       const struct noise_moments *smoothed)
{
    const int64_t n = INNER * INNER;
    int64_t *to = sums->covariance;

    sums->moved += apart;
    sums->left += spread(f, smoothed, n, false);
    for (int i = 0; i < f->components; i++)
        for (int j = i; j < f->components; j++)
            *to++ += f->q[0][0] * (n * smoothed->ss[i][j] - smoothed->s[i] * smoothed->s[j]);
}

static void count_tint(struct tint_sums *sums, const struct noise_form *f, bool alike,
                       const struct noise_moments *still, const struct noise_moments *moved,
                       const struct noise_moments *before)
{
    const int64_t n = SIDE * SIDE, y = still->s[0] - n * f->zero[0];
    const uint32_t votes = tint_n_votes(y, (int)n);

    sums->all += votes;
    for (int i = 1; i < f->components && alike && votes; i++) {
        const int64_t c = still->s[i] - n * f->zero[i];
        const int followed = tint_bin(y, moved->s[0], c, moved->s[i]);
        const int in_place = tint_bin(y, still->s[0] - before->s[0], c, still->s[i] - before->s[i]);

        sums->votes[TINT_FOLLOWED][i - 1][followed] += votes;
        sums->votes[TINT_IN_PLACE][i - 1][in_place] += votes;
    }
}

void noise_count(struct noise_sums *sums, const struct noise *known, const struct noise_form *f,
                 const struct noise_moments *still, const struct noise_moments *moved,
                 const struct noise_moments *smoothed, const struct noise_moments *before)
{
    const int class = noise_class((int)(still->s[0] / (SIDE * SIDE)));
    const int64_t own = spread(f, still, SIDE * SIDE, true);
    const int64_t apart = moved ? spread(f, moved, SIDE * SIDE, false) : 0;
    const double between = (double)apart / (2.0 * 65536.0 * NOISE_FORM_SCALE);
    double variance = (double)own / (85.0 * 65536.0 * NOISE_FORM_SCALE);

    if (moved) {
        variance = fmin(variance, between);
        sums->flat[class] += own <= 85 * apart;
    }
    sums->blocks[class][noise_bin(variance)]++;
    if (moved && noise_is_quiet(known, class, noise_bin(between)))
        count_left(sums, f, apart, smoothed);
    if (moved)
        count_tint(&sums->tint, f,
                   tint_is_alike(noise_bin(between), noise_bin(known->variance[class])), still,
                   moved, before);
}

static void gather_block(struct noise_sums *sums, const struct noise *known,
                         const struct noise_form *f, const struct frame *now,
                         const struct frame *before, const struct motion_vector *vectors, int x0,
                         int y0)
{
    struct block b = {0}, smoothed = {0};
    struct noise_moments still, moved, left, there;

    load(&b, now, f->components, x0, y0);
    still = moments_of(&b, f->components, SIDE);
    if (before) {
        load(&b, before, f->components, x0, y0);
        there = moments_of(&b, f->components, SIDE);
        load_moved(&b, now, before, vectors, f->components, x0, y0);
        moved = moments_of(&b, f->components, SIDE);
        smooth(&smoothed, &b, f->components);
        left = moments_of(&smoothed, f->components, INNER);
    }
    noise_count(sums, known, f, &still, before ? &moved : NULL, before ? &left : NULL,
                before ? &there : NULL);
}

void noise_gather(struct noise_sums *sums, const struct noise *known, const struct frame *now,
                  const struct frame *before, const struct motion_vector *vectors)
{
    const struct noise_form form = noise_form_of(now);
    const int step = noise_step(now->width, now->height);

    for (int row = 0; row < now->height / SIDE; row++)
        for (int col = noise_first(row, step); col < now->width / SIDE; col += step)
            gather_block(sums, known, &form, now, before, vectors, SIDE * col, SIDE * row);
}
