/* Where a path leads, for the task that named it: in its root, from its folder, by its descriptors. Links at the end are
 * followed here, one by one, so that what is judged is a folder that is held and a name in it. */
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "broker.h"
#include "name_folder.h"
#include "turn.h"
#include "walk_path.h"

enum { MOST_LINKS = 40, MOST_TRIES = 8 };

static bool roots_differ;

void roots_may_differ(void)
{
    roots_differ = true;
}

static int open_below(int base, const char *path, uint64_t resolve)
{
    struct open_how how = {.flags = O_PATH | O_DIRECTORY | O_CLOEXEC, .resolve = resolve};
    return (int)BLOCKING(syscall(__NR_openat2, base, path, &how, sizeof how));
}

int open_without_links(const char *path)
{
    struct open_how how = {.flags = O_PATH | O_CLOEXEC, .resolve = RESOLVE_NO_SYMLINKS};
    if (*path == '/' && !roots_differ)
        return (int)BLOCKING(syscall(__NR_openat2, AT_FDCWD, path, &how, sizeof how));
    errno = ELOOP;
    return -1;
}

/* What follows a prefix; several slashes are one. NULL where it does not begin so. */
static const char *behind(const char *path, const char *prefix)
{
    for (; *prefix; prefix++, path++) {
        if (*path != *prefix)
            return NULL;
        while (*path == '/' && path[1] == '/')
            path++;
    }
    return path;
}

/* Its own number in its own /proc; 0: it has gone. */
static pid_t own_number(struct task *task)
{
    if (!know_task(task) || task->inner == task->tgid)
        return task->tgid * task->known;
    int proc = openat(task_dir(task), "root/proc", O_PATH | O_CLOEXEC);
    pid_t number = number_in(task, proc);
    if (proc >= 0)
        close(proc);
    return number;
}

/* "self" would be the broker. False where it does not fit any more, or the task has gone. */
static bool name_the_task(struct task *task, char path[PATH_MAX])
{
    static const struct {
        const char *path, *becomes;
        bool folder;
    } own[] = {{"/proc/self/", "", true},    {"/proc/thread-self/", "", true}, {"/dev/fd/", "fd/", true},
               {"/dev/stdin", "fd/0", false}, {"/dev/stdout", "fd/1", false},   {"/dev/stderr", "fd/2", false}};
    char changed[PATH_MAX];
    for (size_t i = 0; i < sizeof own / sizeof *own; i++) {
        const char *rest = behind(path, own[i].path);
        if (!rest || (!own[i].folder && *rest))
            continue;
        pid_t number = own_number(task);
        int size = !number ? -1 : snprintf(changed, sizeof changed, "/proc/%d/%s%s", number, own[i].becomes, rest);
        if (size < 0 || (size_t)size >= sizeof changed)
            return false;
        memcpy(path, changed, (size_t)size + 1);
        break;
    }
    return true;
}

/* Until something in the session has left the common root, all paths begin at the broker's own. */
static bool has_other_root(struct task *task)
{
    static struct statx ours;
    struct statx root;
    if (!roots_differ)
        return false;
    if (!ours.stx_mask)
        statx(AT_FDCWD, "/", 0, STATX_INO | STATX_MNT_ID, &ours);
    return statx(task_dir(task), "root", 0, STATX_INO | STATX_MNT_ID, &root) || root.stx_ino != ours.stx_ino ||
           root.stx_mnt_id != ours.stx_mnt_id;
}

/* In another root (a container, a chroot) links are read from there: the whole path, below that root. Magic links do not
 * work then (EXDEV). */
static int open_in_root(struct task *task, const char *base, const char *path)
{
    char whole[2 * PATH_MAX], at[PATH_MAX] = "";
    ssize_t n = *path == '/' ? 0 : readlinkat(task_dir(task), base, at, sizeof at - 1);
    if (n < 0)
        return -1;
    at[n] = 0;
    int root = openat(task_dir(task), "root", O_PATH | O_CLOEXEC);
    if (root < 0)
        return -1;
    snprintf(whole, sizeof whole, "%s/%s", at, path);
    int fd = open_below(root, whole, RESOLVE_IN_ROOT), why = errno;
    close(root);
    errno = why;
    return fd;
}

static bool is_there(struct task *task, const char *link)
{
    char one[2];
    return readlinkat(task_dir(task), link, one, sizeof one) >= 0;
}

/* Whether what is missing may be missing for the broker alone: a link on the way led through its own /proc/self. */
static bool is_missing_by_link(int base, const char *path)
{
    int fd = errno == ENOENT ? open_below(base, path, RESOLVE_NO_SYMLINKS) : -1;
    bool link = errno == ELOOP;
    if (fd >= 0)
        close(fd);
    return link;
}

/* A link of /proc to an open file on the way to a folder leads there for the task, never for the broker. */
static int open_for(struct task *task, int base, const char *path, bool on_foot)
{
    int fd = on_foot ? -1 : open_below(base, path, RESOLVE_NO_MAGICLINKS);
    return fd >= 0 || (!on_foot && !is_missing_by_link(base, path)) ? fd : walk(task, base, path);
}

/* ESRCH: the task has gone. */
static int open_folder(struct task *task, int from, int dirfd, const char *path, bool on_foot)
{
    char base[32] = "cwd";
    if (from >= 0 && *path != '/')
        return open_for(task, from, path, on_foot);
    if (dirfd != AT_FDCWD)
        snprintf(base, sizeof base, "fd/%d", dirfd);
    if (has_other_root(task))
        return open_in_root(task, base, path);
    if (*path == '/')
        return open_for(task, AT_FDCWD, path, on_foot);
    int own = open_below(task_dir(task), base, 0);
    if (own < 0 && errno == ENOENT)
        errno = !is_there(task, "cwd") ? ESRCH : dirfd != AT_FDCWD && !is_there(task, base) ? EBADF : ENOENT;
    if (own < 0 || strcmp(path, ".") == 0)
        return own;
    int fd = open_for(task, own, path, on_foot), why = errno;
    close(own);
    errno = why;
    return fd;
}

/* Cuts a path into its folder and its last name. */
static int split(char *path, struct place *place, const char **folder)
{
    size_t n = strlen(path);
    place->slash = n > 1 && path[n - 1] == '/';
    while (n > 1 && path[n - 1] == '/')
        path[--n] = 0;
    char *slash = strrchr(path, '/');
    const char *name = slash ? slash + 1 : path;
    if (strlen(name) > NAME_MAX)
        return ENAMETOOLONG;
    if (!*name || strcmp(name, ".") == 0 || strcmp(name, "..") == 0) {
        strcpy(place->name, ".");
        *folder = path;
        return 0;
    }
    strcpy(place->name, name);
    *folder = !slash ? "." : slash == path ? "/" : path;
    if (slash)
        *slash = 0;
    return 0;
}

/* Opens the folder and names it. */
static int open_named(struct task *task, int from, int dirfd, const char *path, bool on_foot, struct place *place)
{
    place->folder = open_folder(task, from, dirfd, path, on_foot);
    if (place->folder < 0)
        return errno;
    return name_folder(task, has_other_root(task), place) ? 0 : EACCES;
}

static int enter(struct task *task, int from, int dirfd, char *path, bool look, struct place *place)
{
    const char *folder;
    int why = split(path, place, &folder);
    why = why ? why : open_named(task, from, dirfd, folder, false, place);
    if (!why && is_own_process(place->real)) {
        /* "self" of a link on the way was the broker. */
        release(place);
        why = open_named(task, from, dirfd, folder, true, place);
        why = why ? why : is_own_process(place->real) ? EACCES : 0;
    }
    if (why)
        return why;
    size_t size = strlen(place->real), more = strlen(place->name);
    if (strcmp(place->name, ".") != 0) {
        if (size + more + 2 > sizeof place->real)
            return ENAMETOOLONG;
        if (size > 1)
            place->real[size++] = '/';
        memcpy(place->real + size, place->name, more + 1);
    }
    place->exists = look && BLOCKING(fstatat(place->folder, place->name, &place->status, AT_SYMLINK_NOFOLLOW)) == 0;
    return 0;
}

/* A link of /proc to an open file: no text leads there, it is opened as it is. */
static bool is_followed(const struct place *place, enum last_link last)
{
    if (!place->exists || !S_ISLNK(place->status.st_mode) || is_proc(place->folder))
        return false;
    return last == FOLLOW || (last == FOLLOW_WITH_SLASH && place->slash);
}

static int resolve_once(struct call *call, int dirfd, const char *text, enum last_link last, struct place *place)
{
    char path[PATH_MAX];
    int from = -1, why = ELOOP;
    bool slash = false; /* "link/" means what the link leads to, and that must be a folder */
    place->folder = -1;
    if (!*text)
        return ENOENT;
    strcpy(path, text);
    for (int links = 0; links <= MOST_LINKS; links++) {
        place->folder = -1;
        place->exists = place->slash = false;
        why = name_the_task(call->task, path) ? enter(call->task, from, dirfd, path, last != UNSEEN, place) : ENAMETOOLONG;
        if (from >= 0)
            close(from);
        from = -1;
        slash = place->slash |= slash;
        if (why || !is_followed(place, last))
            break;
        ssize_t n = BLOCKING(readlinkat(place->folder, place->name, path, sizeof path - 1));
        why = n > 0 ? ELOOP : n < 0 ? errno : ENOENT;
        if (n <= 0)
            break;
        path[n] = 0;
        from = place->folder;
        place->folder = -1;
    }
    if (from >= 0)
        close(from);
    if (why)
        release(place);
    return why;
}

/* Where it took so long that others had their turn meanwhile, folders may have been moved: then once more. */
int resolve(struct call *call, int dirfd, const char *text, enum last_link last, struct place *place)
{
    for (int tries = 0; tries < MOST_TRIES; tries++) {
        unsigned before = era_of_folder_names();
        int why = resolve_once(call, dirfd, text, last, place);
        if (era_of_folder_names() == before)
            return why;
        if (!why)
            release(place);
    }
    return EACCES;
}

void release(struct place *place)
{
    if (place->folder >= 0)
        close(place->folder);
    place->folder = -1;
}

const char *spelled(const struct place *place, char room[NAME_MAX + 2])
{
    if (!place->slash)
        return place->name;
    snprintf(room, NAME_MAX + 2, "%s/", place->name);
    return room;
}
