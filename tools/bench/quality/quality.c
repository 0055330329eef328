/* What the filters gain on clips of which the clean picture is known, beside those of ffmpeg:
 *
 *     bench-quality [--engine NAME] [--format i422|i420] [NOISE [CLIP]]
 *
 * Without them: the reference, i422, all kinds of noise, all clips.
 *
 * The first table has dB of PSNR over the noisy clip for each filter; the second, for the mean over
 * frames, where it gains how much. Means are over the clips. The tables are Markdown. The reference
 * takes minutes for each kind of noise. */
#include <getopt.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/engine.h"
#include "engine/table.h"
#include "tools/bench/quality/measure.h"
#include "tools/bench/quality/peers.h"

static const struct {
    const char *name;
    struct filter filter;
} own[] = {
    {"spatial", {.radius = 5, .sigma_space = 2.5, .sigma_color = 18}},
    {"spatial auto", {.radius = 5, .sigma_space = 2.5}},
    {"window 4",
     {.radius = 3,
      .sigma_space = 1.5,
      .sigma_color = 18,
      .temporal = 4,
      .temporal_mode = TEMPORAL_WINDOW}},
    {"recursive 16, radius 3", {.radius = 3, .sigma_space = 1.5, .temporal = 16}},
    {"recursive 16, radius 5", {.radius = 5, .sigma_space = 2.5, .temporal = 16}},
};

#define N_OWN (int)(sizeof(own) / sizeof(own[0]))
#define SPATIAL 0
#define RECURSIVE (N_OWN - 1)
#define MAX_COLUMNS 16
#define N_WHERE (N_PARTS + 6) /* columns of the second table */

/* What is asked for. */
struct options {
    const char *engine;
    enum frame_format format;
    const char *noise, *clip; /* NULL: all */
};

/* What is added up over the clips. */
struct mean {
    double sum, n;
};

static void add(struct mean *m, double v)
{
    if (isnan(v))
        return;
    m->sum += v;
    m->n++;
}

static void print_cell(double v)
{
    if (isnan(v))
        printf(" - |");
    else
        printf(" %.2f |", v);
}

static void print_mean(const struct mean *m)
{
    print_cell(m->n > 0.0 ? m->sum / m->n : NAN);
}

static void die(const char *what)
{
    fprintf(stderr, "bench-quality: %s\n", what);
    exit(1);
}

static void filter_clip(const char *engine_name, const struct filter *f,
                        const struct frame in[CLIP_FRAMES], struct frame out[CLIP_FRAMES])
{
    const struct engine_config config = {0};
    struct engine *e;
    struct error err;

    if (engine_open(&e, engine_table, engine_name, &config, &err))
        die(err.text);
    for (int t = 0; t < CLIP_FRAMES; t++)
        if (e->ops->submit(e, &in[t], &out[t], f) || e->ops->collect(e))
            die("the engine cannot do that");
    e->ops->destroy(e);
}

/* One clip's numbers for the second table. */
struct row {
    const char *clip;
    struct score noisy, recursive;
    struct blocks blocks;
};

/* One cell of the first table. */
static void print_gain(const struct score *s, const struct row *row, struct mean *mean)
{
    const double gain = s->psnr[PART_WHOLE] - row->noisy.psnr[PART_WHOLE];

    print_cell(gain);
    add(mean, gain);
    (void)fflush(stdout);
}

static void run_own(struct row *row, const char *engine, const struct film *film,
                    struct mean means[N_OWN])
{
    static struct frame spatial[CLIP_FRAMES], out[CLIP_FRAMES];

    if (!frames_alloc(spatial, film->clean[0].format) || !frames_alloc(out, film->clean[0].format))
        die("out of memory");
    for (int i = 0; i < N_OWN; i++) {
        struct frame *to = i == SPATIAL ? spatial : out;
        struct score s;

        filter_clip(engine, &own[i].filter, film->noisy, to);
        s = measure(to, film);
        print_gain(&s, row, &means[i]);
        if (i == RECURSIVE) {
            row->recursive = s;
            row->blocks = compare_blocks(out, spatial, film);
        }
    }
    frames_free(spatial);
    frames_free(out);
}

static void run_peers(const struct row *row, const struct film *film, struct mean *means)
{
    static struct frame out[CLIP_FRAMES];

    if (!frames_alloc(out, film->clean[0].format))
        die("out of memory");
    for (const struct peer *p = peer_table; p->name; p++, means++) {
        struct score s = {.psnr = {NAN}};

        if (peer_run(p, film->noisy, out))
            s = measure(out, film);
        print_gain(&s, row, means);
    }
    frames_free(out);
}

static void run_clip(struct row *row, const struct options *o, const struct clip *clip,
                     enum noise_kind kind, struct mean means[MAX_COLUMNS])
{
    static struct film film;

    if (!film_shoot(&film, clip, kind, o->format))
        die("out of memory, or no JPEG library");
    row->clip = clip->name;
    row->noisy = measure(film.noisy, &film);
    printf("| %s | %.2f |", clip->name, row->noisy.psnr[PART_WHOLE]);
    run_own(row, o->engine, &film, means);
    run_peers(row, &film, means + N_OWN);
    printf("\n");
    film_free(&film);
}

static void print_where(const struct row *rows, int n)
{
    static const char *const others[] = {
        "worst block",       "blocks < -1 dB, %", "after the first frame",
        "blocks < -1 dB, %", "flicker",           "of the noisy"};
    struct mean means[N_WHERE] = {0};

    printf("\n| %s, by part |", own[RECURSIVE].name);
    for (int i = 0; i < N_WHERE; i++)
        printf(" %s |", i < N_PARTS ? part_names[i] : others[i - N_PARTS]);
    printf("\n| --- |");
    for (int i = 0; i < N_WHERE; i++)
        printf(" --- |");
    printf("\n");
    for (int k = 0; k < n; k++) {
        const struct row *r = &rows[k];
        double cell[N_WHERE] = {[N_PARTS] = r->blocks.worst, r->blocks.share_worse,
                                r->blocks.later_worst,       r->blocks.later_share,
                                r->recursive.flicker,        r->noisy.flicker};

        for (int i = 0; i < N_PARTS; i++)
            cell[i] = r->recursive.psnr[i] - r->noisy.psnr[i];
        printf("| %s |", r->clip);
        for (int i = 0; i < N_WHERE; i++) {
            print_cell(cell[i]);
            add(&means[i], cell[i]);
        }
        printf("\n");
    }
    printf("| mean |");
    for (int i = 0; i < N_WHERE; i++)
        print_mean(&means[i]);
    printf("\n");
}

static void run_noise(const struct options *o, enum noise_kind kind)
{
    static struct row rows[32];
    struct mean means[MAX_COLUMNS] = {0};
    int n = 0, columns = 0;

    printf("\n| %s | noisy, dB |", noise_names[kind]);
    for (int i = 0; i < N_OWN; i++, columns++)
        printf(" %s |", own[i].name);
    for (const struct peer *p = peer_table; p->name; p++, columns++)
        printf(" %s |", p->name);
    printf("\n| --- | --- |");
    for (int i = 0; i < columns; i++)
        printf(" --- |");
    printf("\n");
    for (const struct clip *c = clip_table; c->name; c++)
        if (!o->clip || !strcmp(o->clip, c->name))
            run_clip(&rows[n++], o, c, kind, means);
    printf("| mean | |");
    for (int i = 0; i < columns; i++)
        print_mean(&means[i]);
    printf("\n");
    print_where(rows, n);
}

static bool is_noise(const char *name)
{
    bool found = false;

    for (int kind = 0; kind < NOISE_N_KINDS; kind++)
        found = found || !strcmp(name, noise_names[kind]);
    return found;
}

static bool is_clip(const char *name)
{
    bool found = false;

    for (const struct clip *c = clip_table; c->name; c++)
        found = found || !strcmp(name, c->name);
    return found;
}

static struct options parse(int argc, char **argv)
{
    static const struct option known[] = {
        {"engine", required_argument, NULL, 'e'},
        {"format", required_argument, NULL, 'f'},
        {0},
    };
    struct options o = {.engine = "reference", .format = FRAME_I422};

    for (int c; (c = getopt_long(argc, argv, "", known, NULL)) != -1;)
        if (c == 'e')
            o.engine = optarg;
        else if (c == 'f' && !strcmp(optarg, "i420"))
            o.format = FRAME_I420;
        else if (c != 'f' || strcmp(optarg, "i422") != 0)
            die("usage: bench-quality [--engine NAME] [--format i422|i420] [NOISE [CLIP]]");
    if (optind < argc)
        o.noise = argv[optind++];
    if (optind < argc)
        o.clip = argv[optind++];
    if (optind < argc)
        die("more than a kind of noise and a clip");
    if (o.noise && !is_noise(o.noise))
        die("there is no such noise: white, correlated, blotchy, jpeg");
    if (o.clip && !is_clip(o.clip))
        die("there is no such clip: docs/quality.md lists them");
    return o;
}

int main(int argc, char **argv)
{
    const struct options o = parse(argc, argv);

    for (int kind = 0; kind < NOISE_N_KINDS; kind++)
        if (!o.noise || !strcmp(o.noise, noise_names[kind]))
            run_noise(&o, (enum noise_kind)kind);
    return 0;
}
