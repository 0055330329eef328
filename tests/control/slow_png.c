/* Loaded into the program by LD_PRELOAD: a PNG row takes its time until there is a file that is
 * called as $SLOW_PNG_UNTIL says. */
#include <dlfcn.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include <png.h>

void png_write_row(png_structrp png, png_const_bytep row)
{
    static void (*real)(png_structrp, png_const_bytep);
    const struct timespec pause = {.tv_nsec = 100000000};
    const char *const until = getenv("SLOW_PNG_UNTIL");

    if (!real)
        *(void **)&real = dlsym(RTLD_NEXT, "png_write_row");
    if (until && access(until, F_OK))
        (void)nanosleep(&pause, NULL);
    real(png, row);
}
