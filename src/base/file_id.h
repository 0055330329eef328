#pragma once
/* Which file a path leads to, however it is spelled, also if the file is not there yet: then by
 * its folder and the name that it will have there. Symbolic links are followed, as by open().
 * Context: any thread; the file system may change right afterwards. */
#include <limits.h>
#include <stdbool.h>
#include <sys/types.h>

struct file_id {
    mode_t type;             /* S_IFREG and so on; 0: not there yet */
    dev_t dev;               /* of the file, or of the folder that it will be in */
    ino_t ino;               /* likewise */
    dev_t rdev;              /* of a device */
    char name[NAME_MAX + 1]; /* of a file that is not there yet, else empty */
};

/* What opening @path for writing would open or create. @dash_fd: the descriptor that "-" stands
 * for. A negative errno: it would fail. */
int file_id_get(const char *path, int dash_fd, struct file_id *ret);

bool file_id_equal(const struct file_id *a, const struct file_id *b);

/* Removes the file that @fd has open from where @path leads to: not a link on the way, nor another
 * file that has the name by now. */
void file_id_unlink(const char *path, int fd);

/* Whether it is /dev/null, which any number of writers can share. */
bool file_id_is_null(const struct file_id *id);
