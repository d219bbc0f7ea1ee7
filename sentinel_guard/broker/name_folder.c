#include "name_folder.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/sysmacros.h>
#include <time.h>
#include <unistd.h>

#include "turn.h"

enum { NAMED = 64, NAMED_SIZE = 512, FRESH_MS = 50 };

/* What the kernel calls a folder is asked for once in a while: a program that works on the files of one folder asks a
 * thousand times. Whatever is moved in the session empties this. */
struct named {
    dev_t device;
    ino_t inode;
    uint64_t mount;
    unsigned era;
    bool other_root;
    int64_t at;
    bool elsewhere;
    char name[NAMED_SIZE];
};

static struct named named[NAMED];
static unsigned era = 1;

void forget_folder_names(void)
{
    era++;
}

unsigned era_of_folder_names(void)
{
    return era;
}

static int64_t coarse_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC_COARSE, &t);
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

/* A folder may be bound to any name: the nearest folder above it that a rule names is known by its inode. */
static bool name_by_inode(int folder, char real[PATH_MAX])
{
    char whole[PATH_MAX];
    struct stat s = {0}, below;
    size_t cut = strcmp(real, "/") == 0 ? 0 : strlen(real); /* where begins what lies below the folder that is looked at */
    const char *known = NULL;
    int fd = fcntl(folder, F_DUPFD_CLOEXEC, 0);
    do {
        below = s;
        if (fd < 0 || BLOCKING(fstat(fd, &s)) || (known = ruled_folder(&s)))
            break;
        while (cut && real[--cut] != '/')
            ;
        int above = BLOCKING(openat(fd, "..", O_PATH | O_DIRECTORY | O_CLOEXEC));
        close(fd);
        fd = above;
    } while (s.st_ino != below.st_ino || s.st_dev != below.st_dev);
    if (fd >= 0)
        close(fd);
    if (!known || snprintf(whole, sizeof whole, "%s%s", known, real + cut) >= PATH_MAX)
        return false;
    strcpy(real, whole);
    return true;
}

static bool is_fresh(const struct named *kept, const struct named *now)
{
    return kept->inode == now->inode && kept->device == now->device && kept->mount == now->mount && kept->era == now->era &&
           kept->other_root == now->other_root && now->at - kept->at < FRESH_MS;
}

bool name_folder(struct task *task, bool other_root, struct place *place)
{
    struct statx s;
    if (statx(place->folder, "", AT_EMPTY_PATH | AT_STATX_DONT_SYNC, STATX_INO | STATX_MNT_ID, &s))
        return false;
    dev_t device = makedev(s.stx_dev_major, s.stx_dev_minor);
    struct named *kept = &named[s.stx_ino % NAMED];
    struct named now = {device, s.stx_ino, s.stx_mnt_id, era, other_root, coarse_ms(), false, ""};
    if (!others_run() && is_fresh(kept, &now)) {
        strcpy(place->real, kept->name);
        place->elsewhere = kept->elsewhere;
        return true;
    }
    if (!name_descriptor(place->folder, place->real))
        return false;
    bool known = !(other_root || is_on_other_mount(device, s.stx_mnt_id)) || name_by_inode(place->folder, place->real) ||
                 name_by_mount(task, place->folder, place->real);
    place->elsewhere = now.elsewhere = other_root && !known;
    if (strlen(place->real) < NAMED_SIZE) {
        *kept = now;
        strcpy(kept->name, place->real);
    }
    return true;
}
