/* How paths and patterns of rules match (match_names.c). */
#ifndef SENTINEL_MATCH_NAMES_H
#define SENTINEL_MATCH_NAMES_H

#include <stdbool.h>

/* The length of the folder where the path is it, or lies in it; else -1. "/" is all. */
int depth_below(const char *path, const char *folder);

/* A pattern fits the last name, or a folder on the way to it: what is restricted as a folder is so with its content. */
bool fits_on_the_way(const char *glob, const char *path);

#endif
