/* Whose process an entry of /proc is. Its name says nothing: /proc can be bound to any folder, and one process's entry over
 * another's. The program itself is barred from what is outside of the session (Landlock); the broker is not. */
#include "other_process.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "walk_path.h"

enum { ROOT_OF_PROC = 1, DEEPEST = 8, STATUS = 1024 };

/* The process whose folder of /proc this is; 0: none's. */
static pid_t process_of(int folder)
{
    char text[STATUS];
    int fd = openat(folder, "status", O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof text - 1);
    if (fd >= 0)
        close(fd);
    text[n > 0 ? n : 0] = 0;
    const char *at = strstr(text, "\nTgid:");
    return at ? atoi(at + strlen("\nTgid:")) : 0;
}

static bool read_namespace(int folder, const char *name, char to[NAME_MAX])
{
    ssize_t n = readlinkat(folder, name, to, NAME_MAX - 1);
    to[n > 0 ? n : 0] = 0;
    return n > 0;
}

/* A number means another process in another process namespace: what is in one that the session made, with the task, is
 * the session's. */
static bool shares_own_namespace(struct task *task, int folder)
{
    char theirs[NAME_MAX], tasks[NAME_MAX], ours[NAME_MAX];
    return read_namespace(folder, "ns/pid", theirs) && read_namespace(task_dir(task), "ns/pid", tasks) &&
           read_namespace(AT_FDCWD, "/proc/self/ns/pid", ours) && strcmp(theirs, tasks) == 0 && strcmp(theirs, ours) != 0;
}

static bool is_of_session(struct task *task, int folder, pid_t process)
{
    return (know_task(task) && process == task->tgid) || descends_from(process, getpid()) || shares_own_namespace(task, folder);
}

static bool stands_on_mount(int fd, uint64_t *mount)
{
    struct statx s;
    bool same = statx(fd, "", AT_EMPTY_PATH, STATX_MNT_ID, &s) == 0 && (!*mount || *mount == s.stx_mnt_id);
    *mount = s.stx_mnt_id;
    return same;
}

bool is_of_other_process(struct task *task, int folder)
{
    uint64_t mount = 0;
    struct stat s;
    int at = fcntl(folder, F_DUPFD_CLOEXEC, 0);
    bool other = true; /* what is bound elsewhere without its process's folder is nobody's */
    for (int steps = 0; at >= 0 && steps < DEEPEST && stands_on_mount(at, &mount) && fstat(at, &s) == 0; steps++) {
        pid_t process = s.st_ino == ROOT_OF_PROC ? 0 : process_of(at);
        if (s.st_ino == ROOT_OF_PROC || process) {
            other = process && !is_of_session(task, at, process);
            break;
        }
        int above = openat(at, "..", O_PATH | O_DIRECTORY | O_CLOEXEC);
        close(at);
        at = above;
    }
    if (at >= 0)
        close(at);
    return other;
}

/* The folder in which a file of /proc lies, by the name that the kernel has for it, if that leads to it; else -1. */
static int open_folder_of(int fd)
{
    char path[PATH_MAX];
    struct stat meant, there;
    char *slash = name_descriptor(fd, path) ? strrchr(path, '/') : NULL;
    if (!slash || fstat(fd, &meant) || stat(path, &there) || there.st_ino != meant.st_ino || there.st_dev != meant.st_dev)
        return -1;
    *slash = 0;
    return open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
}

static bool lies_in(int fd, int folder)
{
    uint64_t mount = 0;
    return is_proc(folder) && stands_on_mount(fd, &mount) && stands_on_mount(folder, &mount);
}

bool opens_other_process(struct task *task, int fd, const struct stat *status, int folder)
{
    bool link_or_file = S_ISREG(status->st_mode) || S_ISDIR(status->st_mode) || S_ISLNK(status->st_mode);
    /* A file system of the kernel's own has no device, and /proc no devices, pipes and sockets. */
    if (major(status->st_dev) || !link_or_file || !is_proc(fd))
        return false;
    if (folder >= 0 && lies_in(fd, folder))
        return is_of_other_process(task, folder);
    int found = open_folder_of(fd);
    bool other = found < 0 || !lies_in(fd, found) || is_of_other_process(task, found);
    if (found >= 0)
        close(found);
    return other;
}
