#pragma once
/* Block shapes that were measured, and the file that keeps them: cuda-shapes in the folder
 * bilatcam of $XDG_CACHE_HOME, or of ~/.cache. Its first line is a key; a file with another key
 * or with anything in it that was not written here counts as none.
 * Context: plain data; files may be read and written by several processes at once. */
#define SHAPE_CLASSES 6 /* radii that share a shape */
#define SHAPES_MAX 32   /* sizes that are kept */

struct shape {
    int width, rows;          /* of a launch */
    int warps[SHAPE_CLASSES]; /* of a block; 0 = not measured */
};

struct shape_table {
    int n;
    struct shape shapes[SHAPES_MAX]; /* from the oldest */
};

/* The class of @radius (1..32), and the largest radius of a class. */
int shape_class(int radius);
int shape_class_radius(int class);

/* NULL where the size is not known. */
const struct shape *shape_find(const struct shape_table *t, int width, int rows);

/* Replaces what is known of that size. A full table forgets its oldest. */
void shape_add(struct shape_table *t, const struct shape *s);

/* @key is one line. -ENOENT: nothing is kept, or there is no home; -ESTALE: under another key;
 * -EBADMSG: the file is damaged; other errors of opening it, such as -ELOOP for a symbolic link.
 * On error @ret is unchanged. */
int shape_cache_load(struct shape_table *ret, const char *key);

/* Replaces the file as a whole. Makes the folder. 0 or -errno; -EPERM: the folder is another
 * user's, or others may write to it. */
int shape_cache_save(const struct shape_table *t, const char *key);
