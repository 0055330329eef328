/* Loaded before a program, makes a file wait six seconds for its name, as on a slow disk. */
#include <fcntl.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

int rename(const char *old, const char *new)
{
    (void)sleep(6);
    return (int)syscall(SYS_renameat2, AT_FDCWD, old, AT_FDCWD, new, 0);
}
