#pragma once
/* Where the user keeps pictures. Context: any thread; reads the environment. */
#include <stddef.h>

/* $XDG_PICTURES_DIR, else what user-dirs.dirs says in $XDG_CONFIG_HOME (a file of xdg-user-dirs,
 * which localized desktops have), else ~/Pictures if there is such a folder, else the current
 * folder. Absolute, where it exists. */
void pictures_folder(char *ret, size_t size);
