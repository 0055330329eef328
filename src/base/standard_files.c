#include "base/standard_files.h"

#include <fcntl.h>
#include <unistd.h>

void standard_files_open(void)
{
    int fd;

    /* open() takes the lowest free number. The wrong direction makes every use an error, as it
     * is with a closed descriptor. */
    do
        fd = open("/dev/null", fcntl(STDIN_FILENO, F_GETFD) < 0 ? O_WRONLY : O_RDONLY);
    while (fd >= 0 && fd <= STDERR_FILENO);
    if (fd >= 0)
        (void)close(fd);
}
