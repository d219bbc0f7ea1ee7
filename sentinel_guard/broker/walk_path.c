/* A path on foot, step by step: where links on it lead through /proc, "self" is the task, never the broker. */
#include "walk_path.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "other_process.h"
#include "turn.h"

bool is_proc(int fd)
{
    struct statfs fs;
    return BLOCKING(fstatfs(fd, &fs)) == 0 && fs.f_type == PROC_SUPER_MAGIC;
}

bool is_own_process(const char *real)
{
    static char own[32];
    static size_t size;
    if (!size)
        size = (size_t)snprintf(own, sizeof own, "/proc/%d", getpid());
    return strncmp(real, own, size) == 0 && (real[size] == '/' || !real[size]);
}

pid_t number_in(const struct task *task, int proc)
{
    char own[16] = "";
    return readlinkat(proc, "self", own, sizeof own - 1) > 0 && atoi(own) == getpid() ? task->tgid : task->inner;
}

/* What a link of /proc leads to: an open file, a root or a folder of a process that must be the session's. */
static int follow_magic(struct task *task, int at, const char *name)
{
    if (is_of_other_process(task, at)) {
        errno = EACCES;
        return -1;
    }
    return BLOCKING(openat(at, name, O_PATH | O_CLOEXEC));
}

/* One step into a folder, or into what a link of /proc to an open file leads to, for the task; closes `at`. A link that
 * is a text is put in front of `rest`. -1 with errno, or the folder from which it goes on. */
static int step(struct task *task, int at, const char *name, char rest[PATH_MAX])
{
    char target[PATH_MAX], number[16], whole[2 * PATH_MAX];
    struct stat s;
    if (is_proc(at) && (strcmp(name, "self") == 0 || strcmp(name, "thread-self") == 0)) {
        snprintf(number, sizeof number, "%d", number_in(task, at));
        name = number;
    }
    int next = BLOCKING(openat(at, name, O_PATH | O_NOFOLLOW | O_CLOEXEC));
    if (next >= 0 && BLOCKING(fstat(next, &s)) == 0 && S_ISLNK(s.st_mode)) {
        ssize_t n = BLOCKING(readlinkat(next, "", target, sizeof target - 1));
        close(next);
        next = n < 0 ? -1 : is_proc(at) ? follow_magic(task, at, name) : fcntl(at, F_DUPFD_CLOEXEC, 0);
        target[n > 0 ? n : 0] = 0;
        if (next >= 0 && !is_proc(at)) {
            if (snprintf(whole, sizeof whole, "%s/%s", target, rest) >= PATH_MAX) {
                close(next);
                next = -1;
                errno = ENAMETOOLONG;
            } else {
                strcpy(rest, whole);
            }
        }
    }
    int why = errno;
    close(at);
    errno = why;
    return next;
}

int walk(struct task *task, int base, const char *path)
{
    char rest[PATH_MAX], name[NAME_MAX + 1];
    if (!know_task(task)) {
        errno = ESRCH;
        return -1;
    }
    int at = *path == '/' ? open("/", O_PATH | O_CLOEXEC) : fcntl(base, F_DUPFD_CLOEXEC, 0);
    snprintf(rest, sizeof rest, "%s", path);
    for (int steps = 0; at >= 0 && *rest; steps++) {
        if (*rest == '/') {
            close(at);
            at = open("/", O_PATH | O_CLOEXEC);
        }
        const char *from = rest + strspn(rest, "/");
        size_t n = strcspn(from, "/");
        if (n > NAME_MAX || steps > PATH_MAX) {
            close(at);
            errno = n > NAME_MAX ? ENAMETOOLONG : ELOOP;
            return -1;
        }
        memcpy(name, from, n);
        name[n] = 0;
        from += n + strspn(from + n, "/");
        memmove(rest, from, strlen(from) + 1);
        at = *name ? step(task, at, name, rest) : at;
    }
    struct stat s;
    if (at >= 0 && BLOCKING(fstat(at, &s)) == 0 && S_ISDIR(s.st_mode))
        return at;
    if (at >= 0) {
        close(at);
        errno = ENOTDIR;
    }
    return -1;
}
