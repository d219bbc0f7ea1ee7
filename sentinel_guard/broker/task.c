/* The tasks of the session: their memory, and what of /proc their calls need. Kept for a while, by a held /proc/TID. */
#include <errno.h>
#include <fcntl.h>
#include <linux/kcmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "../launcher/base.h"
#include "broker.h"
#include "task_identity.h"
#include "turn.h"

enum { KEPT = 128, LOOKED_AT = 3, PAGE = 4096, SHORT_TEXT = 256, MASK = 0777 };

static struct task *kept[KEPT]; /* with an identity, by their numbers; held */
static bool any_confined;

/* Each task has the mask of the one that started it: until one changes its own, all have the first's. */
static struct {
    bool known, differs;
    mode_t mask;
} umasks;
static struct task *looked_at[LOOKED_AT]; /* of those, whose program was looked at, the last first; held */

/* Programs whose start by a thread is under way: it becomes its process's first when that succeeds, and is gone as itself. */
static struct start {
    pid_t process, thread;
    int identity; /* the thread's */
} *starts;
static size_t start_count;

static long number_behind(const char *status, const char *name, int base)
{
    const char *at = strstr(status, name);
    return at ? strtol(at + strlen(name), NULL, base) : -1;
}

/* NSpid lists the task's number in each pid namespace, its own last. */
static long last_number_behind(const char *status, const char *name)
{
    const char *at = strstr(status, name);
    long n = -1;
    for (char *end = at ? (char *)at + strlen(name) : NULL; end && *end && *end != '\n';)
        n = strtol(end, &end, 10);
    return n;
}

static struct task **slot(pid_t tid)
{
    return &kept[(unsigned)tid % KEPT];
}

static ssize_t read_file(int folder, const char *name, char *text, size_t room)
{
    int fd = openat(folder, name, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? -1 : read(fd, text, room - 1);
    if (fd >= 0)
        close(fd);
    text[n > 0 ? n : 0] = 0;
    return n;
}

static void close_if_open(int fd)
{
    if (fd >= 0)
        close(fd);
}

void let_go(struct task *task)
{
    if (--task->holders)
        return;
    close_if_open(task->dir);
    close_if_open(task->identity);
    free(task);
}

static void drop(struct task **at)
{
    if (*at)
        let_go(*at);
    *at = NULL;
}

/* The task that is kept by this number, if it has it still; what has ended is not kept any longer. */
static struct task *find_task(pid_t tid)
{
    struct task **places[LOOKED_AT + 1] = {slot(tid)};
    for (size_t i = 0; i < LOOKED_AT; i++)
        places[i + 1] = &looked_at[i];
    for (size_t i = 0; i <= LOOKED_AT; i++) {
        struct task *found = *places[i];
        if (!found || found->tid != tid)
            continue;
        if (!has_ended(found->identity))
            return found;
        drop(places[i]);
    }
    return NULL;
}

static void end_start(size_t i)
{
    close(starts[i].identity);
    starts[i] = starts[--start_count];
}

void forget_ended(void)
{
    for (size_t i = 0; i < KEPT + LOOKED_AT; i++) {
        struct task **at = i < KEPT ? &kept[i] : &looked_at[i - KEPT];
        if (*at && has_ended((*at)->identity))
            drop(at);
    }
    for (size_t i = start_count; i--;)
        if (has_ended(starts[i].identity))
            end_start(i);
}

/* -1 where it has gone, or no descriptor is left. */
static int identify(pid_t tid)
{
    int identity = open_identity(tid);
    if (identity >= 0 || errno != EMFILE)
        return identity;
    forget_ended();
    return open_identity(tid);
}

struct task *hold_task(pid_t tid)
{
    struct task *task = find_task(tid);
    for (size_t i = start_count; i--;)
        if (starts[i].thread == tid)
            end_start(i); /* it has failed */
    if (!task) {
        task = grow(NULL, sizeof *task);
        *task = (struct task){.tid = tid, .identity = -1, .dir = -1, .tgid = tid};
    }
    task->holders++;
    return task;
}

void keep_task(struct task *task)
{
    struct task **at = slot(task->tid);
    if (*at == task)
        return;
    if (task->identity < 0 && (task->identity = identify(task->tid)) < 0)
        return;
    drop(at);
    *at = task;
    task->holders++;
}

int task_dir(struct task *task)
{
    char path[32];
    if (task->dir < 0) {
        snprintf(path, sizeof path, "/proc/%d", task->tid);
        task->dir = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
    }
    return task->dir;
}

static void put_first(struct task *task, size_t from)
{
    memmove(looked_at + 1, looked_at, from * sizeof *looked_at);
    looked_at[0] = task;
}

static bool is_starting(pid_t process)
{
    bool found = false;
    for (size_t i = start_count; i--;) {
        if (has_ended(starts[i].identity))
            end_start(i);
        else if (starts[i].process == process)
            found = true;
    }
    return found;
}

/* Before it is known that the task still waits: what it was is then what it is. */
bool remember_look(const struct call *call)
{
    struct task *task = call->task;
    bool stays = task->identity >= 0 && !is_starting(task->tid);
    if (!still_waits(call))
        return false;
    if (!stays)
        return true;
    task->seen = true;
    for (size_t i = 0; i < LOOKED_AT; i++)
        if (looked_at[i] == task)
            return true;
    drop(&looked_at[LOOKED_AT - 1]);
    task->holders++;
    put_first(task, LOOKED_AT - 1);
    return true;
}

bool shares_seen_image(const struct call *call)
{
    for (size_t i = 0; i < LOOKED_AT; i++) {
        struct task *other = looked_at[i];
        if (!other || !other->seen || other == call->task ||
            syscall(__NR_kcmp, call->task->tid, other->tid, KCMP_VM, 0, 0) != 0 || has_ended(other->identity))
            continue;
        put_first(other, i);
        return true;
    }
    return false;
}

bool stat_image(struct task *task, struct stat *image)
{
    char path[32];
    if (task->dir >= 0)
        return BLOCKING(fstatat(task->dir, "exe", image, 0)) == 0;
    snprintf(path, sizeof path, "/proc/%d/exe", task->tid);
    return BLOCKING(stat(path, image)) == 0;
}

/* The kernel takes longer to write this text than for all else that a call needs. */
bool know_task(struct task *task)
{
    char status[PAGE];
    if (task->known)
        return true;
    if (read_file(task_dir(task), "status", status, sizeof status) <= 0)
        return false;
    task->tgid = (pid_t)number_behind(status, "\nTgid:", 10);
    task->inner = (pid_t)last_number_behind(status, "\nNSpid:");
    task->umask = (mode_t)number_behind(status, "\nUmask:", 8) & MASK;
    task->confined = any_confined; /* it may be the child of one that is */
    task->known = true;
    return true;
}

bool is_confined(struct task *task)
{
    return any_confined && (!know_task(task) || task->confined);
}

/* Of what is remembered, the one at `i` if it is known as one of the same process; else NULL. */
static struct task *known_sibling(const struct task *task, size_t i)
{
    struct task *other = i < KEPT ? kept[i] : looked_at[i - KEPT];
    return other && other->known && other->tgid == task->tgid ? other : NULL;
}

bool read_umask(struct task *task, mode_t *umask)
{
    bool common = umasks.known && !umasks.differs;
    if (!common && !know_task(task))
        return false;
    if (!umasks.known)
        umasks.mask = task->umask;
    umasks.known = true;
    *umask = common ? umasks.mask : task->umask;
    return true;
}

void remember_umask(struct task *task, mode_t umask)
{
    struct task *other;
    mode_t before;
    if (read_umask(task, &before) && !umasks.differs && before == (umask & MASK))
        return;
    umasks.differs = true;
    know_task(task);
    for (size_t i = 0; i < KEPT + LOOKED_AT; i++)
        if ((other = known_sibling(task, i)))
            other->umask = umask & MASK;
}

void remember_confinement(struct task *task)
{
    struct task *other;
    know_task(task);
    any_confined = task->confined = true;
    for (size_t i = 0; i < KEPT + LOOKED_AT; i++)
        if ((other = known_sibling(task, i)))
            other->confined = true;
}

bool expect_new_image(struct task *task)
{
    task->seen = false;
    if (tgkill(task->tid, task->tid, 0) == 0 || errno != ESRCH)
        return true;
    if (!know_task(task))
        return false;
    struct start start = {task->tgid, task->tid, identify(task->tid)};
    struct task *first = find_task(task->tgid);
    if (start.identity < 0)
        return false;
    starts = grow(starts, (start_count + 1) * sizeof *starts);
    starts[start_count++] = start;
    if (first)
        first->seen = first->known = false;
    return true;
}

size_t read_memory(pid_t tid, uint64_t at, void *to, size_t size)
{
    /* In two pieces: a text may end before a page that is not there. */
    size_t first = PAGE - (at & (PAGE - 1));
    bool one = first >= size;
    struct iovec here = {to, size};
    struct iovec there[] = {{(void *)at, one ? size : first}, {(void *)(at + first), one ? 0 : size - first}};
    ssize_t n = process_vm_readv(tid, &here, 1, there, one ? 1 : 2, 0);
    return n < 0 ? 0 : (size_t)n;
}

bool read_text(struct call *call, uint64_t at, char *text, size_t room)
{
    pid_t tid = (pid_t)call->notification->pid;
    size_t most = room < SHORT_TEXT ? room : SHORT_TEXT, n = BLOCKING(read_memory(tid, at, text, most));
    if (n == most && !memchr(text, 0, n))
        n = BLOCKING(read_memory(tid, at, text, room));
    if (n && memchr(text, 0, n))
        return true;
    answer_error(call, n == room ? ENAMETOOLONG : EFAULT);
    return false;
}

static pid_t parent_of(pid_t pid)
{
    char path[32], text[1024];
    pid_t parent;
    snprintf(path, sizeof path, "/proc/%d/stat", pid);
    read_file(AT_FDCWD, path, text, sizeof text);
    const char *behind = strrchr(text, ')');
    return behind && sscanf(behind + 2, "%*c %d", &parent) == 1 ? parent : 0;
}

bool descends_from(pid_t pid, pid_t above)
{
    do
        pid = parent_of(pid);
    while (pid > 1 && pid != above);
    return pid == above;
}
