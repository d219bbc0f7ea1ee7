/* Opens that may write: done here, looked at, and only then emptied and given to the program. */
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <string.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "broker.h"
#include "held_calls.h"
#include "other_process.h"
#include "turn.h"
#include "walk_path.h"

enum { OLDEST_HOW = 24, ONLY_TMPFILE = O_TMPFILE & ~O_DIRECTORY, FIRST_PTY = 136, LAST_PTY = 143, TTY = 5, CONSOLE = 4 };
enum { NO_UMASK = 01000 };

static bool is_terminal(const struct stat *s)
{
    unsigned kind = major(s->st_rdev);
    return S_ISCHR(s->st_mode) && (kind == CONSOLE || kind == TTY || (kind >= FIRST_PTY && kind <= LAST_PTY));
}

/* /proc/PID/stat: session and terminal are the fourth and fifth behind the name. */
static bool read_terminal(struct task *task, int *session, int *terminal)
{
    char text[1024];
    int fd = openat(task_dir(task), "stat", O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof text - 1);
    if (fd >= 0)
        close(fd);
    text[n > 0 ? n : 0] = 0;
    const char *behind = strrchr(text, ')');
    return behind && sscanf(behind + 2, "%*c %*d %*d %d %d", session, terminal) == 2;
}

/* The broker's own /dev/tty is the person's terminal: never that. */
static int open_terminal_of(struct task *task, int flags)
{
    char path[32];
    int session, terminal;
    if (!read_terminal(task, &session, &terminal) || !terminal) {
        errno = ENXIO;
        return -1;
    }
    /* proc(5), tty_nr: the minor number is in bits 31 to 20 and 7 to 0. */
    snprintf(path, sizeof path, "/dev/pts/%u", (unsigned)(terminal & 0xff) | ((unsigned)terminal >> 12 & 0xfff00));
    return open(path, flags | O_NOCTTY | O_CLOEXEC);
}

/* It would become the controlling terminal of who opens it: nobody can do that in its place. */
static bool takes_terminal(struct task *task, int flags)
{
    int session, terminal;
    return !(flags & O_NOCTTY) && know_task(task) && read_terminal(task, &session, &terminal) && session == task->tgid &&
           !terminal;
}

/* Until the other end of a pipe is opened. */
static int open_pipe(const struct place *place, int flags)
{
    begin_wait();
    int fd = openat(place->folder, place->name, flags), why = errno;
    take_turn();
    errno = why;
    return fd;
}

static int open_file(struct call *call, const struct place *place, int flags, mode_t mode, bool magic)
{
    static __thread mode_t worn = NO_UMASK;
    mode_t mask = 0;
    char name[NAME_MAX + 2];
    int ours = (flags & ~(O_TRUNC | O_NOFOLLOW)) | O_CLOEXEC | O_NOCTTY | (magic ? 0 : O_NOFOLLOW);
    bool makes = flags & (O_CREAT | ONLY_TMPFILE);
    if (makes && !read_umask(call->task, &mask)) {
        errno = ESRCH;
        return -1;
    }
    if (makes && worn != mask)
        umask(worn = mask);
    if (place->exists && S_ISFIFO(place->status.st_mode))
        return open_pipe(place, ours & ~O_CREAT);
    return BLOCKING(openat(place->folder, spelled(place, name), ours, mode));
}

static int empty(int fd, int flags)
{
    char link[32];
    if ((flags & O_ACCMODE) != O_RDONLY)
        return BLOCKING(ftruncate(fd, 0)) ? errno : 0;
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    return BLOCKING(truncate(link, 0)) ? errno : 0;
}

/* Whether an open lets content be lost: it empties the file, or writes elsewhere than at its end. Who only wants a file
 * to be there (touch) opens it with O_NONBLOCK. */
static bool is_over(int flags)
{
    bool writes = (flags & O_ACCMODE) != O_RDONLY;
    return !(flags & ONLY_TMPFILE) && ((flags & O_TRUNC) || (writes && !(flags & (O_APPEND | O_NONBLOCK))));
}

/* What was opened is compared with what was judged. An error number, or 0. */
static int check_opened(struct call *call, int fd, const struct place *place, int flags)
{
    struct place opened = {.folder = -1, .exists = true, .name = "."};
    if (!place->exists && (flags & O_EXCL))
        return 0;
    if (BLOCKING(fstat(fd, &opened.status)))
        return errno;
    bool magic = place->exists && S_ISLNK(place->status.st_mode); /* it leads anywhere */
    if (opens_other_process(call->task, fd, &opened.status, magic ? -1 : place->folder))
        return EACCES;
    if (S_ISDIR(opened.status.st_mode) && (flags & O_TRUNC) && !(flags & ONLY_TMPFILE)) /* by a magic link */
        return EISDIR;
    if (place->exists && S_ISREG(place->status.st_mode) && opened.status.st_ino != place->status.st_ino)
        return EACCES;
    if (magic) {
        name_descriptor(fd, opened.real);
        if (!may(call, word_on(&opened), "write", &opened) ||
            !may(call, is_over(flags) ? word_on_loss(&opened, fd, false) : PASS, "overwrite", &opened))
            return EACCES;
    }
    bool made = !place->exists;
    return (flags & O_TRUNC) && S_ISREG(opened.status.st_mode) && !made ? empty(fd, flags) : 0;
}

static void open_resolved(struct call *call, struct place *place, int flags, mode_t mode)
{
    bool link = place->exists && S_ISLNK(place->status.st_mode);
    bool magic = link && !(flags & O_NOFOLLOW) && is_proc(place->folder);
    bool folder = place->exists && S_ISDIR(place->status.st_mode);
    bool truncates = (flags & O_TRUNC) && !(flags & ONLY_TMPFILE);
    if ((magic && is_of_other_process(call->task, place->folder)) || (place->exists && S_ISBLK(place->status.st_mode))) {
        answer_error(call, EACCES);
        return;
    }
    if (!magic && (!may(call, word_on(place), "write", place) ||
                   !may(call, is_over(flags) ? word_on_loss(place, -1, false) : PASS, "overwrite", place)))
        return;
    if (judges_itself(call))
        return;
    if (place->exists && is_terminal(&place->status) && takes_terminal(call->task, flags)) {
        answer_continue(call);
        return;
    }
    if ((folder && truncates) || (place->slash && (flags & O_CREAT))) {
        answer_error(call, EISDIR);
        return;
    }
    bool own_terminal = place->exists && S_ISCHR(place->status.st_mode) && place->status.st_rdev == makedev(TTY, 0);
    int fd = own_terminal ? open_terminal_of(call->task, flags) : open_file(call, place, flags, mode, magic);
    int why = fd < 0 ? errno : own_terminal ? 0 : check_opened(call, fd, place, flags);
    if (fd >= 0 && why)
        BLOCKING(close(fd));
    if (why) {
        if (!call->answered)
            answer_error(call, why);
        return;
    }
    bool made = !place->exists && !own_terminal && (flags & O_CREAT);
    if (!answer_descriptor(call, fd, flags & O_CLOEXEC) && made)
        BLOCKING(unlinkat(place->folder, place->name, 0)); /* for nobody */
}

void held_open(struct call *call, int dirfd, uint64_t path, int flags, mode_t mode)
{
    struct place place;
    bool exclusive = (flags & O_CREAT) && (flags & O_EXCL);
    bool follows = !(flags & O_NOFOLLOW) && !exclusive;
    /* Where it must not be there the kernel looks. */
    enum last_link last = exclusive && !(flags & O_DIRECTORY) ? UNSEEN : follows ? FOLLOW : FOLLOW_WITH_SLASH;
    if (!find(call, dirfd, path, last, &place))
        return;
    open_resolved(call, &place, flags, mode);
    release(&place);
}

void held_openat2(struct call *call)
{
    const __u64 *args = call->notification->data.args;
    struct open_how how = {0};
    size_t size = args[3] < sizeof how ? args[3] : sizeof how;
    const uint64_t known = RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS;
    if (args[3] < OLDEST_HOW || BLOCKING(read_memory((pid_t)call->notification->pid, args[2], &how, size)) != size)
        answer_error(call, EINVAL);
    else if (how.resolve & ~known)
        answer_error(call, ENOSYS); /* programs go on with openat, step by step */
    else
        held_open(call, (int)args[0], args[1], (int)how.flags | (how.resolve ? O_NOFOLLOW : 0), (mode_t)how.mode);
}
