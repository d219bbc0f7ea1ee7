#include "probe.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/seccomp.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "broker.h"
#include "pass_descriptor.h"
#include "seccomp_filter.h"
#include "wear.h"

#ifndef SECCOMP_IOCTL_NOTIF_SET_FLAGS
#define SECCOMP_IOCTL_NOTIF_SET_FLAGS SECCOMP_IOW(4, __u64)
#endif

enum { ANSWERED = 0, NOT_WORN = 1, NOT_ANSWERED = 2, SECONDS = 2 };

static _Noreturn void try_in_child(int line)
{
    static const char readable[] = READABLE;
    struct worn worn = {(uint64_t)(uintptr_t)readable, getpid()};
    char go;
    int listener = wear_filter(scope_signals());
    if (listener < 0 || !send_descriptor(line, listener, &worn, sizeof worn) || read(line, &go, 1) != 1)
        _exit(NOT_WORN);
    close(listener);
    int fd = open("/dev/null", O_WRONLY | O_CLOEXEC);
    _exit(fd >= 0 && write(fd, "x", 1) == 1 ? ANSWERED : NOT_ANSWERED);
}

/* Answers one held open with a descriptor. */
static bool answer_one(int listener)
{
    struct seccomp_notif held;
    memset(&held, 0, sizeof held);
    if (ioctl(listener, SECCOMP_IOCTL_NOTIF_RECV, &held))
        return false;
    int fd = open("/dev/null", O_WRONLY | O_CLOEXEC);
    struct seccomp_notif_addfd add = {.id = held.id, .flags = SECCOMP_ADDFD_FLAG_SEND, .srcfd = (unsigned)fd};
    bool given = ioctl(listener, SECCOMP_IOCTL_NOTIF_ADDFD, &add) >= 0;
    close(fd);
    return given;
}

/* As the broker of a session does; what is forbidden is tried. */
static bool drops_rights(void)
{
    if (!drop_own_rights())
        return false;
    bool reaches_network = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0) >= 0;
    return !reaches_network && syscall(__NR_execve, "", NULL, NULL) < 0 && errno == EPERM;
}

static int say(const char *fact, const char *reason)
{
    printf("%s%s\n", fact, reason);
    return *reason ? 1 : 0;
}

int probe(void)
{
    int line[2], status;
    struct worn worn;
    char seen[sizeof READABLE] = "";
    alarm(SECONDS); /* a machine that neither answers nor refuses */
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, line))
        return say("none: ", strerror(errno));
    pid_t child = fork();
    if (child == 0) {
        close(line[0]);
        try_in_child(line[1]);
    }
    close(line[1]);
    if (!drops_rights())
        return say("none: ", "the broker cannot drop its own rights");
    int listener = receive_descriptor(line[0], &worn, sizeof worn);
    if (listener < 0)
        return say("none: ", "the kernel gives no seccomp listener, or another one is worn already");
    if (read_memory(child, worn.address, seen, sizeof seen) != sizeof seen)
        return say("none: ", "the memory of programs cannot be read (ptrace_scope, AppArmor)");
    bool quick = ioctl(listener, SECCOMP_IOCTL_NOTIF_SET_FLAGS, 1) == 0;
    if (write(line[0], "g", 1) != 1 || !answer_one(listener))
        return say("none: ", "the listener cannot be answered (AppArmor)");
    if (waitpid(child, &status, 0) != child || status != 0)
        return say("none: ", "an answer does not arrive (Linux 5.14 is needed)");
    return say(quick ? "full" : "full, slower", "");
}
