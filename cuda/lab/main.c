/* bilatcam-lab: the ladder of kernels, the block shapes, the engine's latency and throughput.
 *
 *     bilatcam-lab ladder [CSV-FILE]   kernels from the plainest to the product's
 *     bilatcam-lab shapes              the product's kernel by block shape and radius
 *     bilatcam-lab radii [RADIUS]      the tensor kernel against half2 by radius
 *     bilatcam-lab engine              latency and throughput
 *     bilatcam-lab roads [--quick]     roads through the engine against each other
 *     bilatcam-lab past                frames that are filtered with those before them
 *     bilatcam-lab cameras             many engines side by side, in one process and in many
 *     bilatcam-lab autotune            block shapes as the engine chooses them
 *     bilatcam-lab fault               a device that fails
 *
 * --quick takes small pictures, for racecheck of compute-sanitizer, which slows kernels down a
 * thousandfold.
 *
 * Exit status 0: all within the bound of the image contract; 1: not; 77: no GPU here. */
#include "cuda/lab/lab.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "engine/process.h"
#include "engine/table.h"

static int run_part(struct lab *lab, const char *part, const char *option)
{
    int failed;

    if (!strcmp(part, "ladder"))
        failed = lab_ladder(lab);
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
        fprintf(stderr, "usage: bilatcam-lab ladder [CSV-FILE]|shapes|radii [RADIUS]|engine|roads "
                        "[--quick]|past|cameras|"
                        "autotune|fault\n");
        return 2;
    }
    return failed ? 1 : 0;
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
    r = lab_open(&lab);
    if (r == 0 && !strcmp(part, "ladder") && *option && !(lab.csv = fopen(option, "w"))) {
        fprintf(stderr, "cannot write '%s': %s\n", option, strerror(errno));
        r = 1;
    }
    if (r == 0)
        r = run_part(&lab, part, option);
    lab_close(&lab);
    return r;
}
