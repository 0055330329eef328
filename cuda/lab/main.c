/* bilatcam-lab: the ladder of kernels, the block shapes, the engine's latency and throughput.
 *
 *     bilatcam-lab ladder [--csv] [RUNG]
 *                                      kernels from the plainest to the product's
 *     bilatcam-lab shapes              the product's kernel by block shape and radius
 *     bilatcam-lab radii [RADIUS]      the tensor kernel against half2 by radius
 *     bilatcam-lab engine              latency and throughput
 *     bilatcam-lab roads [--quick]     roads through the engine against each other
 *     bilatcam-lab past                frames that are filtered with those before them
 *     bilatcam-lab cameras             many engines side by side, in one process and in many
 *     bilatcam-lab autotune            block shapes as the engine chooses them
 *     bilatcam-lab fault               a device that fails
 *
 * RUNG is a part of the names of those that are wanted.
 *
 * --csv writes a table to standard output, to be kept or sent; what it tells meanwhile goes to
 * standard error.
 *
 * --quick takes small pictures, for racecheck of compute-sanitizer, which slows kernels down a
 * thousandfold.
 *
 * Exit status 0: all within the bound of the image contract; 1: not; 77: no GPU here. */
#include "cuda/lab/lab.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "engine/process.h"
#include "engine/table.h"

static int run_part(struct lab *lab, const char *part, const char *option)
{
    int failed;

    if (!strcmp(part, "ladder"))
        failed = lab_ladder(lab, option);
    else if (!strcmp(part, "shapes"))
        failed = lab_shapes(lab);
    else if (!strcmp(part, "radii"))
        failed = lab_radii(lab, atoi(option));
    else if (!strcmp(part, "engine"))
        failed = lab_engine(lab);
    else if (!strcmp(part, "roads"))
        failed = lab_roads(!strcmp(option, "--quick"));
    else if (!strcmp(part, "past"))
        failed = lab_past(lab);
    else if (!strcmp(part, "cameras"))
        failed = lab_cameras();
    else if (!strcmp(part, "autotune"))
        failed = lab_autotune(lab);
    else if (!strcmp(part, "fault"))
        failed = lab_fault();
    else {
        fprintf(stderr, "usage: bilatcam-lab ladder [--csv] [RUNG]|shapes|radii [RADIUS]|engine|"
                        "roads [--quick]|past|cameras|autotune|fault\n");
        return 2;
    }
    return failed ? 1 : 0;
}

/* Keeps standard output for the table. 0; 1: failed, and said why. */
static int open_table(struct lab *lab)
{
    const int table = dup(STDOUT_FILENO);

    (void)fflush(stdout);
    if (table >= 0 && dup2(STDERR_FILENO, STDOUT_FILENO) >= 0)
        lab->csv = fdopen(table, "w");
    if (!lab->csv)
        fprintf(stderr, "cannot write to standard output: %s\n", strerror(errno));
    return !lab->csv;
}

int main(int argc, char **argv)
{
    const char *part = argc > 1 ? argv[1] : "", *option = argc > 2 ? argv[2] : "";
    struct lab lab = {0};
    int r = engine_process_main(engine_table, argc, argv);

    if (r >= 0)
        return r;
    if (!strcmp(part, "camera"))
        return lab_camera();
    if (!strcmp(part, "ladder") && !strcmp(option, "--csv")) {
        option = argc > 3 ? argv[3] : "";
        if (open_table(&lab))
            return 1;
    }
    r = lab_open(&lab);
    if (r == 0)
        r = run_part(&lab, part, option);
    lab_close(&lab);
    return r;
}
