/* Which held call is which, and what they share. */
#include "held_calls.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/ptrace.h>
#include <unistd.h>

#include "system_calls.h"
#include "turn.h"

#define ARG(i) (call->notification->data.args[i])
#define INT(i) ((int)call->notification->data.args[i])
#define MODE(i) ((mode_t)call->notification->data.args[i])

static bool changed_meanwhile(const struct place *place)
{
    struct stat now;
    if (place->folder < 0)
        return false; /* a descriptor stands for it */
    bool exists = BLOCKING(fstatat(place->folder, place->name, &now, AT_SYMLINK_NOFOLLOW)) == 0;
    if (!place->exists || !exists)
        return exists != place->exists;
    return now.st_ino != place->status.st_ino || now.st_dev != place->status.st_dev;
}

bool may(struct call *call, enum word word, const char *what, const struct place *place)
{
    if (word == PASS)
        return true;
    struct place before = *place;
    struct stat now;
    /* Whether it is there was not asked yet (UNSEEN): what the person says yes to is what is there now. */
    if (before.folder >= 0 && !before.exists)
        before.exists = BLOCKING(fstatat(before.folder, before.name, &now, AT_SYMLINK_NOFOLLOW)) == 0,
        before.status = before.exists ? now : before.status;
    if (ask_daemon(call, what, place->real, NULL) && still_waits(call) && !changed_meanwhile(&before))
        return true;
    answer_error(call, EACCES);
    return false;
}

bool find(struct call *call, int dirfd, uint64_t path, enum last_link last, struct place *place)
{
    char text[PATH_MAX];
    place->folder = -1;
    if (!read_text(call, path, text, sizeof text))
        return false;
    int why = resolve(call, dirfd, text, last, place);
    if (why)
        answer_error(call, why);
    return !why;
}

bool judges_itself(struct call *call)
{
    bool confined = is_confined(call->task);
    if (confined)
        answer_continue(call);
    return confined;
}

bool name_descriptor(int fd, char real[PATH_MAX])
{
    char link[32];
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t n = readlink(link, real, PATH_MAX - 1);
    real[n > 0 ? n : 0] = 0;
    return n > 0;
}

void answer_result(struct call *call, int result)
{
    if (result < 0)
        answer_error(call, errno);
    else
        answer_value(call, result);
}

/* Without Landlock: signals and traces reach the session only. A group's number is harmless, since the broker leads a
 * group of its own; a signal to all is not. */
static void held_reach(struct call *call, pid_t whom)
{
    if ((whom <= 0 && whom != -1) || (know_task(call->task) && whom == call->task->tgid) || descends_from(whom, getpid()))
        answer_continue(call); /* registers */
    else
        answer_error(call, EPERM);
}

static void held_ptrace(struct call *call)
{
    if (ARG(0) == PTRACE_ATTACH || ARG(0) == PTRACE_SEIZE)
        held_reach(call, INT(1));
    else
        answer_continue(call); /* of what is traced already, or itself */
}

/* Calls that aarch64 has only in the form with a folder. */
static bool handle_old(struct call *call)
{
#ifdef __x86_64__
    switch (call->notification->data.nr) {
    case __NR_open:
        held_open(call, AT_FDCWD, ARG(0), INT(1), MODE(2));
        return true;
    case __NR_creat:
        held_open(call, AT_FDCWD, ARG(0), O_CREAT | O_WRONLY | O_TRUNC, MODE(1));
        return true;
    case __NR_rename:
        held_rename(call, AT_FDCWD, ARG(0), AT_FDCWD, ARG(1), 0);
        return true;
    case __NR_unlink:
        held_unlink(call, AT_FDCWD, ARG(0), 0);
        return true;
    case __NR_rmdir:
        held_unlink(call, AT_FDCWD, ARG(0), AT_REMOVEDIR);
        return true;
    case __NR_link:
        held_link(call, AT_FDCWD, ARG(0), AT_FDCWD, ARG(1), 0);
        return true;
    case __NR_symlink:
        held_symlink(call, ARG(0), AT_FDCWD, ARG(1));
        return true;
    case __NR_mknod:
        held_mknod(call, AT_FDCWD, ARG(0), MODE(1), (dev_t)ARG(2));
        return true;
    case __NR_chmod:
        held_chmod(call, AT_FDCWD, ARG(0), MODE(1), 0);
        return true;
    case __NR_chown:
        held_chown(call, AT_FDCWD, ARG(0), (uid_t)ARG(1), (gid_t)ARG(2), 0);
        return true;
    case __NR_lchown:
        held_chown(call, AT_FDCWD, ARG(0), (uid_t)ARG(1), (gid_t)ARG(2), AT_SYMLINK_NOFOLLOW);
        return true;
    default:
        return false;
    }
#else
    (void)call;
    return false;
#endif
}

static bool handle_files(struct call *call)
{
    switch (call->notification->data.nr) {
    case __NR_openat:
        held_open(call, INT(0), ARG(1), INT(2), MODE(3));
        return true;
    case __NR_openat2:
        held_openat2(call);
        return true;
    case __NR_renameat:
        held_rename(call, INT(0), ARG(1), INT(2), ARG(3), 0);
        return true;
    case __NR_renameat2:
        held_rename(call, INT(0), ARG(1), INT(2), ARG(3), (unsigned)ARG(4));
        return true;
    case __NR_unlinkat:
        held_unlink(call, INT(0), ARG(1), INT(2));
        return true;
    case __NR_linkat:
        held_link(call, INT(0), ARG(1), INT(2), ARG(3), INT(4));
        return true;
    case __NR_symlinkat:
        held_symlink(call, ARG(0), INT(1), ARG(2));
        return true;
    case __NR_mknodat:
        held_mknod(call, INT(0), ARG(1), MODE(2), (dev_t)ARG(3));
        return true;
    case __NR_truncate:
        held_truncate(call, ARG(0), (off_t)ARG(1));
        return true;
    default:
        return false;
    }
}

static bool handle_attributes(struct call *call)
{
    switch (call->notification->data.nr) {
    case __NR_fchmod:
        held_chmod(call, INT(0), 0, MODE(1), 0);
        return true;
    case __NR_fchmodat:
        held_chmod(call, INT(0), ARG(1), MODE(2), 0);
        return true;
    case __NR_fchmodat2:
        held_chmod(call, INT(0), ARG(1), MODE(2), INT(3));
        return true;
    case __NR_fchown:
        held_chown(call, INT(0), 0, (uid_t)ARG(1), (gid_t)ARG(2), 0);
        return true;
    case __NR_fchownat:
        held_chown(call, INT(0), ARG(1), (uid_t)ARG(2), (gid_t)ARG(3), INT(4));
        return true;
    case __NR_setxattr:
    case __NR_removexattr:
        held_attribute(call, AT_FDCWD, ARG(0), 0);
        return true;
    case __NR_lsetxattr:
    case __NR_lremovexattr:
        held_attribute(call, AT_FDCWD, ARG(0), AT_SYMLINK_NOFOLLOW);
        return true;
    case __NR_file_setattr:
        held_attribute(call, INT(0), ARG(1), INT(4));
        return true;
    case __NR_fsetxattr:
    case __NR_fremovexattr:
    case __NR_ioctl:
        held_attribute(call, INT(0), 0, 0);
        return true;
    default:
        return false;
    }
}

static void handle_process(struct call *call)
{
    switch (call->notification->data.nr) {
    case __NR_execve:
        held_exec(call, AT_FDCWD, ARG(0), ARG(1), 0);
        break;
    case __NR_execveat:
        held_exec(call, INT(0), ARG(1), ARG(2), INT(4));
        break;
    case __NR_connect:
        held_connect(call, INT(0), ARG(1), ARG(2));
        break;
    case __NR_mount:
        held_mount(call, ARG(1), ARG(2), ARG(3));
        break;
    case __NR_ptrace:
        held_ptrace(call);
        break;
    case __NR_kill:
    case __NR_tkill:
    case __NR_tgkill:
    case __NR_process_vm_writev:
        held_reach(call, INT(0));
        break;
    case __NR_chroot:
    case __NR_pivot_root:
    case __NR_unshare:
    case __NR_setns:
    case __NR_clone:
        roots_may_differ();
        answer_continue(call); /* what can be reached from there is judged by inode */
        break;
    case __NR_umask:
        remember_umask(call->task, MODE(0));
        answer_continue(call); /* a register */
        break;
    case __NR_landlock_restrict_self:
        remember_confinement(call->task);
        answer_continue(call); /* a register */
        break;
    default:
        answer_error(call, EPERM);
    }
}

void handle(struct call *call)
{
    int number = call->notification->data.nr;
    if (number != __NR_execve && number != __NR_execveat) /* what is known of it ends with the start of a program */
        keep_task(call->task);
    if (!call->task->seen && !check_image(call))
        return;
    if (!handle_files(call) && !handle_old(call) && !handle_attributes(call))
        handle_process(call);
}
