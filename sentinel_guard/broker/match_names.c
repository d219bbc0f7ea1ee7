/* How paths and patterns of rules match. */
#include "match_names.h"

#include <fnmatch.h>
#include <limits.h>
#include <string.h>

int depth_below(const char *path, const char *folder)
{
    size_t n = strlen(folder);
    if (n == 1 && *folder == '/')
        return 1;
    return strncmp(path, folder, n) == 0 && (path[n] == '/' || !path[n]) ? (int)n : -1;
}

/* fnmatch for one name; most patterns differ from it in their first byte, or are a name's end. */
static bool fits(const char *glob, const char *name)
{
    static const char wild[] = "*?[\\";
    if (!strchr(wild, *glob) && *glob != *name)
        return false;
    if (*glob == '*' && !strpbrk(glob + 1, wild)) {
        size_t end = strlen(glob + 1), n = strlen(name);
        return n >= end && strcmp(name + n - end, glob + 1) == 0;
    }
    return fnmatch(glob, name, 0) == 0;
}

bool fits_on_the_way(const char *glob, const char *path)
{
    char name[NAME_MAX + 1];
    while (*path) {
        size_t n = strcspn(path, "/");
        if (n && n < sizeof name) {
            memcpy(name, path, n);
            name[n] = 0;
            if (fits(glob, name))
                return true;
        }
        path += n + !!path[n];
    }
    return false;
}
