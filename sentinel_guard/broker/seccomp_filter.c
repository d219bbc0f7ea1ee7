/* What the filter lets pass by a call's number alone costs nothing: the kernel keeps such numbers in a bitmap. Arguments
 * in registers are safe to judge here; what pointers lead to is not. */
#include "seccomp_filter.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/fs.h>
#include <linux/fsverity.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "system_calls.h"

#define COUNT(list) (sizeof(list) / sizeof *(list))
#define LOAD(field) ((struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, field)))
#define RETURN(what) ((struct sock_filter)BPF_STMT(BPF_RET | BPF_K, what))
#define SKIP_UNLESS(op, k, skip) ((struct sock_filter)BPF_JUMP(BPF_JMP | (op) | BPF_K, k, 0, skip))

enum { WRITING = O_ACCMODE | O_CREAT | O_TRUNC | (O_TMPFILE & ~O_DIRECTORY), X32 = 0x40000000 };

static const int held[] = {HELD_CALLS};
/* Not there, as on an older kernel: programs have another way. io_uring would do all of the above unseen; the flags of
 * clone3 stand in memory, those of clone in a register. */
static const int absent[] = {ABSENT_CALLS};
static const int refused[] = {REFUSED_CALLS};
static const int foreign[] = {FOREIGN_CALLS};
/* Where Landlock does not bar signals and traces: whom they reach is judged by registers. */
static const int reaching[] = {REACHING_CALLS};
static const int reaching_by_descriptor[] = {__NR_pidfd_getfd, __NR_pidfd_send_signal};

/* What they change is the file's, though its descriptor is one for reading. */
static const uint32_t attribute_requests[] = {FS_IOC_SETFLAGS, FS_IOC_FSSETXATTR, FS_IOC_ENABLE_VERITY};

static const struct {
    int number;
    unsigned flags;
} sending[] = {SENDING_CALLS};

static struct sock_filter code[256];
static unsigned short size;

static void add(struct sock_filter instruction)
{
    code[size++] = instruction;
}

static void add_call(int number, uint32_t action)
{
    add(SKIP_UNLESS(BPF_JEQ, (uint32_t)number, 1));
    add(RETURN(action));
}

static void add_calls(const int *numbers, size_t count, uint32_t action)
{
    for (size_t i = 0; i < count; i++)
        add_call(numbers[i], action);
}

/* Only an open that may write is held; O_PATH cannot. */
static void add_open(int number, unsigned flags)
{
    add(SKIP_UNLESS(BPF_JEQ, (uint32_t)number, 5));
    add((struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args) + flags * 8));
    add(SKIP_UNLESS(BPF_JSET, WRITING, 2)); /* reads leave first */
    add((struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, O_PATH, 1, 0));
    add(RETURN(SECCOMP_RET_USER_NOTIF));
    add(RETURN(SECCOMP_RET_ALLOW));
}

/* 32-bit numbers name other calls, and would go round the list. */
static void add_architecture(void)
{
    add(LOAD(arch));
    add(SKIP_UNLESS(BPF_JEQ, ARCHITECTURE, 1));
    add((struct sock_filter)BPF_STMT(BPF_JMP | BPF_JA, 1));
    add(RETURN(SECCOMP_RET_ERRNO | ENOSYS));
    add(LOAD(nr));
    add(SKIP_UNLESS(BPF_JGE, X32, 1));
    add(RETURN(SECCOMP_RET_ERRNO | ENOSYS));
}

static void add_namespaces(void)
{
    add(SKIP_UNLESS(BPF_JEQ, __NR_clone, 4));
    add(LOAD(args[0]));
    add(SKIP_UNLESS(BPF_JSET, CLONE_NEWNS | CLONE_NEWUSER | CLONE_NEWPID, 1));
    add(RETURN(SECCOMP_RET_USER_NOTIF));
    add(RETURN(SECCOMP_RET_ALLOW));
}

/* A process that hid its memory could not be judged: it is told yes, and stays as it is. And none may wear another
 * program's name (PR_SET_MM_EXE_FILE, in a user namespace). */
static void add_prctl(void)
{
    add(SKIP_UNLESS(BPF_JEQ, __NR_prctl, 5));
    add(LOAD(args[0]));
    add(SKIP_UNLESS(BPF_JEQ, PR_SET_DUMPABLE, 1));
    add(RETURN(SECCOMP_RET_ERRNO | 0));
    add(SKIP_UNLESS(BPF_JEQ, PR_SET_MM, 1));
    add(RETURN(SECCOMP_RET_ERRNO | EPERM));
    add(RETURN(SECCOMP_RET_ALLOW));
}

/* A connection that begins with its first data (TCP fast open): told that it is off, programs connect first. */
static void add_sending(void)
{
    for (size_t i = 0; i < COUNT(sending); i++) {
        add(SKIP_UNLESS(BPF_JEQ, (uint32_t)sending[i].number, 4));
        add((struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args) + sending[i].flags * 8));
        add(SKIP_UNLESS(BPF_JSET, MSG_FASTOPEN, 1));
        add(RETURN(SECCOMP_RET_ERRNO | EOPNOTSUPP));
        add(RETURN(SECCOMP_RET_ALLOW));
    }
}

static void add_attribute_requests(void)
{
    add(SKIP_UNLESS(BPF_JEQ, __NR_ioctl, 2 * COUNT(attribute_requests) + 2));
    add(LOAD(args[1]));
    for (size_t i = 0; i < COUNT(attribute_requests); i++)
        add_call((int)attribute_requests[i], SECCOMP_RET_USER_NOTIF);
    add(RETURN(SECCOMP_RET_ALLOW));
}

static void build(bool scoped)
{
    size = 0;
    add_architecture();
    add_open(__NR_openat, 2);
    add(LOAD(nr));
#ifdef __NR_open
    add_open(__NR_open, 1);
    add(LOAD(nr));
#endif
    add_calls(held, COUNT(held), SECCOMP_RET_USER_NOTIF);
    add_calls(absent, COUNT(absent), SECCOMP_RET_ERRNO | ENOSYS);
    add_calls(refused, COUNT(refused), SECCOMP_RET_ERRNO | EPERM);
    if (!scoped) {
        add_calls(reaching, COUNT(reaching), SECCOMP_RET_USER_NOTIF);
        add_calls(reaching_by_descriptor, COUNT(reaching_by_descriptor), SECCOMP_RET_ERRNO | ENOSYS);
    }
    add_attribute_requests();
    add_sending();
    add_namespaces();
    add_prctl();
}

/* SPEC_ALLOW: an older kernel slows down all who wear a filter, as if each ran foreign code. */
static int set_filter(const struct sock_fprog *program, unsigned long flags)
{
    return (int)syscall(__NR_seccomp, SECCOMP_SET_MODE_FILTER, flags | SECCOMP_FILTER_FLAG_SPEC_ALLOW, program);
}

int wear_filter(bool scoped)
{
    struct sock_fprog program = {0, code};
    build(scoped);
    program.len = size;
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
        return -1;
    /* WAIT_KILLABLE: a held call is interrupted by nothing but death; Go sends itself signals all the time. */
    int fd = set_filter(&program, SECCOMP_FILTER_FLAG_NEW_LISTENER | WAIT_KILLABLE);
    if (fd < 0 && errno == EINVAL)
        fd = set_filter(&program, SECCOMP_FILTER_FLAG_NEW_LISTENER);
    return fd;
}

static void add_unless(int number, int test, uint32_t value)
{
    add(SKIP_UNLESS(BPF_JEQ, (uint32_t)number, 4));
    add(LOAD(args[0]));
    add(SKIP_UNLESS(test, value, 1));
    add(RETURN(SECCOMP_RET_ALLOW));
    add(RETURN(SECCOMP_RET_ERRNO | EPERM));
}

bool drop_own_rights(void)
{
    struct sock_fprog program = {0, code};
    size = 0;
    add_architecture();
    add_calls(absent, COUNT(absent), SECCOMP_RET_ERRNO | ENOSYS);
    add_calls(foreign, COUNT(foreign), SECCOMP_RET_ERRNO | EPERM);
    add_unless(__NR_clone, BPF_JSET, CLONE_THREAD);
    add_unless(__NR_socket, BPF_JEQ, AF_UNIX);
    add_unless(__NR_unshare, BPF_JEQ, CLONE_FS);
    add(RETURN(SECCOMP_RET_ALLOW));
    program.len = size;
    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && set_filter(&program, 0) == 0;
}

/* ABI 6, which linux/landlock.h may not know. It handles no right of files: a domain that does forbids every mount, and
 * with it bubblewrap inside. */
struct ruleset {
    uint64_t files, network, scoped;
};

bool scope_signals(void)
{
    struct ruleset rules = {.scoped = 1 << 1};
    int fd = (int)syscall(__NR_landlock_create_ruleset, &rules, sizeof rules, 0);
    if (fd < 0 || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
        return false;
    bool done = syscall(__NR_landlock_restrict_self, fd, 0) == 0;
    close(fd);
    return done;
}
