/* What a held call costs at the least: one filter, one notification, and a supervisor that judges nothing.
 *
 * least_held_call number | descriptor | exec: microseconds a call. Of an unlink that is answered with a number, of an open
 * that the supervisor makes itself and gives as a descriptor, of /bin/true started and waited for. Linux 6.6. */
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <spawn.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#ifndef SECCOMP_IOCTL_NOTIF_SET_FLAGS
#define SECCOMP_IOCTL_NOTIF_SET_FLAGS SECCOMP_IOW(4, __u64)
#endif

enum { CALLS = 4000, SPAWNS = 300, ROUNDS = 5, SYNC_WAKE_UP = 1, KILLABLE = 1 << 5, LISTENER = 100 };

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e6 + (double)t.tv_nsec / 1e3;
}

static int by_size(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void call(char what)
{
    char *argv[] = {"true", NULL}, *environment[] = {NULL};
    pid_t child;
    if (what == 'n')
        unlink("least");
    else if (what == 'd')
        close(open("least", O_WRONLY | O_CREAT, 0600));
    else if (posix_spawn(&child, "/bin/true", NULL, NULL, argv, environment) == 0)
        waitpid(child, NULL, 0);
}

static _Noreturn void make_calls(char what)
{
    double taken[ROUNDS];
    int count = what == 'e' ? SPAWNS : CALLS;
    for (int round = 0; round < ROUNDS; round++) {
        double began = now();
        for (int n = 0; n < count; n++)
            call(what);
        taken[round] = (now() - began) / count;
    }
    qsort(taken, ROUNDS, sizeof *taken, by_size);
    printf("%.2f\n", taken[ROUNDS / 2]);
    exit(0);
}

static int wear(char what)
{
    int number = what == 'n' ? __NR_unlink : what == 'd' ? __NR_openat : __NR_execve;
    struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)number, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_USER_NOTIF),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = {sizeof code / sizeof *code, code};
    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    return (int)syscall(__NR_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_NEW_LISTENER | KILLABLE, &program);
}

static void answer(int listener, const struct seccomp_notif *held, char what)
{
    struct seccomp_notif_resp response = {.id = held->id, .flags = what == 'e' ? SECCOMP_USER_NOTIF_FLAG_CONTINUE : 0};
    int fd = what == 'd' ? open("given", O_WRONLY | O_CREAT | O_CLOEXEC, 0600) : -1;
    struct seccomp_notif_addfd add = {.id = held->id, .srcfd = (unsigned)fd};
    if (fd >= 0)
        response.val = ioctl(listener, SECCOMP_IOCTL_NOTIF_ADDFD, &add);
    ioctl(listener, SECCOMP_IOCTL_NOTIF_SEND, &response);
    if (fd >= 0)
        close(fd);
}

int main(int argc, char *argv[])
{
    char what = argc == 2 ? *argv[1] : 0;
    if (!what || !strchr("nde", what))
        return 2;
    /* The child shares the descriptors: the listener is then the parent's, too, who wears no filter. */
    pid_t child = (pid_t)syscall(__NR_clone, 0x400 | 17, NULL, NULL, NULL, NULL); /* CLONE_FILES, SIGCHLD */
    if (child == 0) {
        int listener = wear(what);
        if (listener < 0 || dup2(listener, LISTENER) < 0)
            _exit(1);
        make_calls(what);
    }
    while (fcntl(LISTENER, F_GETFD) < 0)
        if (waitpid(child, NULL, WNOHANG))
            return 1;
    ioctl(LISTENER, SECCOMP_IOCTL_NOTIF_SET_FLAGS, SYNC_WAKE_UP);
    for (;;) {
        struct seccomp_notif held;
        memset(&held, 0, sizeof held);
        if (ioctl(LISTENER, SECCOMP_IOCTL_NOTIF_RECV, &held) == 0)
            answer(LISTENER, &held, what);
        else if (errno != ENOENT || waitpid(child, NULL, WNOHANG) == child)
            return 0;
    }
}
