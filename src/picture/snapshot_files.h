#pragma once
/* The two files of a snapshot. They are written under temporary names, which begin with a dot, in
 * the folder that they are for, and get their own names once both are whole. No file is written
 * over. Context: one thread. */
#define SNAPSHOT_PATH_MAX 1024

struct snapshot_files {
    char temporary[2][SNAPSHOT_PATH_MAX]; /* before, after; empty once it is gone */
    char path[2][SNAPSHOT_PATH_MAX];      /* once they have names */
    int fd[2];                            /* to write to; -1 = closed */
};

/* Makes both in @folder, empty, for this user alone. A negative errno leaves nothing. */
int snapshot_files_create(struct snapshot_files *f, const char *folder);

/* Calls them STEM-before.png and STEM-after.png. -EEXIST: one of the names is taken; both files
 * are as they were and can be called otherwise. */
int snapshot_files_publish(struct snapshot_files *f, const char *folder, const char *stem);

/* Removes what has only a temporary name. */
void snapshot_files_discard(struct snapshot_files *f);
