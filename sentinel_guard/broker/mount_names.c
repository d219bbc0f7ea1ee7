/* Other names of a folder, by its mount: where in its file system a mount begins stands in mountinfo (proc(5)). What is
 * bound below the folder of a rule has no such folder above it. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "match_names.h"
#include "name_folder.h"
#include "turn.h"

struct mount {
    unsigned long long id;
    unsigned major, minor;
    char root[PATH_MAX], point[PATH_MAX];
};

/* Blanks and the like are written as three octal digits. */
static void unescape(char *text)
{
    char *to = text;
    for (; *text; text++, to++) {
        unsigned byte;
        *to = *text;
        if (*text == '\\' && sscanf(text + 1, "%3o", &byte) == 1) {
            *to = (char)byte;
            text += 3;
        }
    }
    *to = 0;
}

static bool read_mount(FILE *lines, struct mount *mount)
{
    _Static_assert(PATH_MAX == 4096, "the widths below");
    if (!lines || fscanf(lines, "%llu %*u %u:%u %4095s %4095s%*[^\n]", &mount->id, &mount->major, &mount->minor, mount->root,
                         mount->point) != 5)
        return false;
    unescape(mount->root);
    unescape(mount->point);
    return true;
}

static FILE *open_mounts(int process)
{
    int fd = openat(process, "mountinfo", O_RDONLY | O_CLOEXEC);
    FILE *lines = fd < 0 ? NULL : fdopen(fd, "r");
    if (fd >= 0 && !lines)
        close(fd);
    return lines;
}

static uint64_t mount_of(int fd, ino_t *inode)
{
    struct statx s;
    if (fd < 0 || statx(fd, "", AT_EMPTY_PATH | AT_STATX_DONT_SYNC, STATX_INO | STATX_MNT_ID, &s))
        return 0;
    *inode = s.stx_ino;
    return s.stx_mnt_id;
}

/* Where in the name of a folder begins what lies below its mount. */
static size_t below_mount(int folder, const char *real, uint64_t *mount)
{
    size_t cut = strcmp(real, "/") == 0 ? 0 : strlen(real);
    ino_t inode = 0, upper = 0;
    int fd = fcntl(folder, F_DUPFD_CLOEXEC, 0);
    *mount = mount_of(fd, &inode);
    while (fd >= 0 && cut) {
        int above = BLOCKING(openat(fd, "..", O_PATH | O_DIRECTORY | O_CLOEXEC));
        close(fd);
        fd = above;
        if (mount_of(fd, &upper) != *mount || upper == inode)
            break;
        inode = upper;
        while (cut && real[--cut] != '/')
            ;
    }
    if (fd >= 0)
        close(fd);
    return cut;
}

static bool is_named(const char *name, int folder)
{
    struct stat meant, there;
    return BLOCKING(fstat(folder, &meant)) == 0 && BLOCKING(stat(name, &there)) == 0 && there.st_ino == meant.st_ino && there.st_dev == meant.st_dev;
}

/* Of the names that the mounts of the broker give it, the one that lies in the folder of a rule. */
static bool find_ruled_name(int folder, const struct mount *on, const char *inner, char real[PATH_MAX])
{
    struct mount mount;
    char name[PATH_MAX];
    size_t length = strlen(inner);
    int own = open("/proc/self", O_PATH | O_DIRECTORY | O_CLOEXEC);
    FILE *lines = own < 0 ? NULL : open_mounts(own);
    bool found = false;
    while (!found && read_mount(lines, &mount)) {
        bool same = mount.major == on->major && mount.minor == on->minor;
        int depth = same ? depth_below(inner, length, mount.root, strlen(mount.root)) : -1;
        const char *rest = inner + depth + (depth == 1 && inner[1] ? -1 : 0);
        const char *point = mount.point[1] ? mount.point : "";
        found = depth >= 0 && snprintf(name, sizeof name, "%s%s", point, rest) < PATH_MAX && lies_in_ruled_folder(name) &&
                is_named(name, folder);
    }
    if (lines)
        fclose(lines);
    if (own >= 0)
        close(own);
    if (found)
        strcpy(real, name);
    return found;
}

bool name_by_mount(struct task *task, int folder, char real[PATH_MAX])
{
    struct mount on = {0};
    char inner[PATH_MAX];
    uint64_t id;
    size_t cut = below_mount(folder, real, &id);
    FILE *lines = open_mounts(task_dir(task));
    bool known = false;
    while (!known && read_mount(lines, &on))
        known = on.id == id;
    if (lines)
        fclose(lines);
    if (!known || snprintf(inner, sizeof inner, "%s%s", on.root[1] || !real[cut] ? on.root : "", real + cut) >= PATH_MAX)
        return false;
    return find_ruled_name(folder, &on, inner, real);
}
