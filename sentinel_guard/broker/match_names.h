/* How paths and patterns of rules match (match_names.c). */
#ifndef SENTINEL_MATCH_NAMES_H
#define SENTINEL_MATCH_NAMES_H

#include <stdbool.h>
#include <string.h>

/* The length of the folder where the path is it, or lies in it; else -1. "/" is all. A path is compared with more than a
 * hundred folders: most differ from it where they end. */
static inline int depth_below(const char *path, size_t length, const char *folder, size_t size)
{
    if (size == 1 && *folder == '/')
        return 1;
    bool ends = size <= length && (path[size] == '/' || !path[size]);
    return ends && memcmp(path, folder, size) == 0 ? (int)size : -1;
}

/* A pattern fits the last name, or a folder on the way to it: what is restricted as a folder is so with its content. */
bool fits_on_the_way(const char *glob, const char *path);

#endif
