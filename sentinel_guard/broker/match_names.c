/* How paths and patterns of rules match. */
#include "match_names.h"

#include <fnmatch.h>
#include <limits.h>
#include <string.h>

static const char wild[] = "*?[\\";

/* fnmatch for one name of a path; most patterns differ from it in their first byte, or are a name's end. */
static bool fits(const char *glob, const char *name, size_t size)
{
    char text[NAME_MAX + 1];
    if (*glob != *name && !strchr(wild, *glob))
        return false;
    if (*glob == '*' && !strpbrk(glob + 1, wild)) {
        size_t end = strlen(glob + 1);
        return size >= end && memcmp(name + size - end, glob + 1, end) == 0;
    }
    memcpy(text, name, size);
    text[size] = 0;
    return fnmatch(glob, text, 0) == 0;
}

bool fits_on_the_way(const char *glob, const char *path)
{
    for (const char *end; *path; path = end + !!*end) {
        end = strchrnul(path, '/');
        size_t size = (size_t)(end - path);
        if (size && size <= NAME_MAX && fits(glob, path, size))
            return true;
    }
    return false;
}
