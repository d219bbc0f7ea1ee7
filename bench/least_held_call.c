/* What a held call costs at the least: one filter, one notification, and a supervisor that judges nothing.
 *
 * least_held_call number | descriptor | exec[+path|+folder] COMMAND...: runs a program under it. An unlink is answered with
 * a number, an open for writing with a descriptor of a file that the supervisor opens itself, a program's start goes on.
 * `+path`: it reads the path that is meant, too. `+folder`: and makes the call itself, in the program's folder, as it must
 * where the program is to have no chance to exchange the path after the look. Linux 6.6. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#ifndef SECCOMP_IOCTL_NOTIF_SET_FLAGS
#define SECCOMP_IOCTL_NOTIF_SET_FLAGS SECCOMP_IOW(4, __u64)
#endif

enum { SYNC_WAKE_UP = 1, KILLABLE = 1 << 5, LISTENER = 100, SHORT_TEXT = 256 };

static int wear(char what)
{
    int number = what == 'n' ? __NR_unlink : what == 'd' ? __NR_openat : __NR_execve;
    struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)number, 0, 3),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[2])), /* the flags of an open */
        BPF_JUMP(BPF_JMP | (what == 'd' ? BPF_JSET : BPF_JGE) | BPF_K, what == 'd' ? O_ACCMODE : 0, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_USER_NOTIF),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = {sizeof code / sizeof *code, code};
    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    return (int)syscall(__NR_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_NEW_LISTENER | KILLABLE, &program);
}

static void read_path(const struct seccomp_notif *held, char path[SHORT_TEXT])
{
    struct iovec here = {path, SHORT_TEXT - 1}, there = {(void *)held->data.args[held->data.nr == __NR_openat], SHORT_TEXT - 1};
    ssize_t n = process_vm_readv((pid_t)held->pid, &here, 1, &there, 1, 0);
    path[n > 0 ? n : 0] = 0;
}

static int open_folder(pid_t pid)
{
    static int process = -1;
    static pid_t last;
    char path[32];
    if (pid != last) {
        close(process);
        snprintf(path, sizeof path, "/proc/%d", pid);
        process = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
        last = pid;
    }
    return openat(process, "cwd", O_PATH | O_DIRECTORY | O_CLOEXEC);
}

static void answer(int listener, const struct seccomp_notif *held, char what, bool path, bool folder)
{
    struct seccomp_notif_resp response = {.id = held->id, .flags = what == 'e' ? SECCOMP_USER_NOTIF_FLAG_CONTINUE : 0};
    char text[SHORT_TEXT] = "";
    int in = folder ? open_folder((pid_t)held->pid) : AT_FDCWD;
    if (path)
        read_path(held, text);
    int fd = what == 'd' ? openat(in, folder ? text : "given", O_WRONLY | O_CREAT | O_CLOEXEC, 0600) : -1;
    if (folder && what == 'n')
        response.error = unlinkat(in, text, 0) ? -errno : 0;
    struct seccomp_notif_addfd add = {.id = held->id, .srcfd = (unsigned)fd, .flags = SECCOMP_ADDFD_FLAG_SEND};
    if (fd < 0 || ioctl(listener, SECCOMP_IOCTL_NOTIF_ADDFD, &add) < 0)
        ioctl(listener, SECCOMP_IOCTL_NOTIF_SEND, &response);
    if (fd >= 0)
        close(fd);
    if (folder)
        close(in);
}

int main(int argc, char *argv[])
{
    char what = argc > 2 ? *argv[1] : 0;
    bool folder = what && strstr(argv[1], "+folder"), path = folder || (what && strstr(argv[1], "+path"));
    if (!what || !strchr("nde", what))
        return 2;
    /* The child shares the descriptors: the listener is then the parent's, too, who wears no filter. */
    pid_t child = (pid_t)syscall(__NR_clone, 0x400 | 17, NULL, NULL, NULL, NULL); /* CLONE_FILES, SIGCHLD */
    if (child == 0) {
        int listener = wear(what);
        if (listener < 0 || dup3(listener, LISTENER, O_CLOEXEC) < 0)
            _exit(1);
        execvp(argv[2], argv + 2);
        _exit(1);
    }
    while (fcntl(LISTENER, F_GETFD) < 0)
        if (waitpid(child, NULL, WNOHANG))
            return 1;
    ioctl(LISTENER, SECCOMP_IOCTL_NOTIF_SET_FLAGS, SYNC_WAKE_UP);
    for (;;) {
        struct seccomp_notif held;
        memset(&held, 0, sizeof held);
        if (ioctl(LISTENER, SECCOMP_IOCTL_NOTIF_RECV, &held) == 0)
            answer(LISTENER, &held, what, path, folder);
        else if (errno != ENOENT || waitpid(child, NULL, WNOHANG) == child)
            return 0;
    }
}
