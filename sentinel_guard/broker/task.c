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
#include "turn.h"

enum { KEPT = 128, LOOKED_AT = 3, PAGE = 4096, SHORT_TEXT = 256, MASK = 0777 };

static struct task *kept[KEPT];
static bool any_confined;
static struct task *looked_at[LOOKED_AT]; /* whose program was looked at, the last first; held */

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

static void forget(struct task *task)
{
    if (task->dir >= 0)
        close(task->dir);
    *task = (struct task){.holders = task->holders, .tid = task->tid, .dir = -1, .tgid = task->tid};
}

void let_go(struct task *task)
{
    if (--task->holders)
        return;
    forget(task);
    free(task);
}

static struct task *new_task(pid_t tid)
{
    struct task *task = grow(NULL, sizeof *task);
    *task = (struct task){.tid = tid, .dir = -1, .tgid = tid};
    return task;
}

static struct task *find_looked_at(pid_t tid)
{
    for (size_t i = 0; i < LOOKED_AT; i++)
        if (looked_at[i] && looked_at[i]->tid == tid)
            return looked_at[i];
    return NULL;
}

/* What is kept holds it, too. */
static struct task *find_task(pid_t tid)
{
    struct task **at = slot(tid);
    if (*at && (*at)->tid == tid)
        return *at;
    if (*at)
        let_go(*at);
    *at = find_looked_at(tid);
    *at = *at ? *at : new_task(tid);
    (*at)->holders++;
    return *at;
}

struct task *hold_task(pid_t tid)
{
    struct task *task = find_task(tid);
    task->holders++;
    return task;
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

/* Confinement is inherited; where it is not known from whom, the worst is believed. */
static bool inherits_confinement(pid_t from)
{
    const struct task *above = *slot(from);
    return any_confined && (!above || above->tid != from || !above->known || above->confined);
}

void renew_task(struct task *task)
{
    forget(task);
}

static void put_first(struct task *task, size_t from)
{
    memmove(looked_at + 1, looked_at, from * sizeof *looked_at);
    looked_at[0] = task;
}

void remember_look(struct task *task)
{
    struct task *last = looked_at[LOOKED_AT - 1];
    task->seen = true;
    if (find_looked_at(task->tid))
        return;
    task->holders++;
    put_first(task, LOOKED_AT - 1);
    if (last)
        let_go(last);
}

bool shares_seen_image(const struct call *call)
{
    for (size_t i = 0; i < LOOKED_AT; i++) {
        struct task *other = looked_at[i];
        if (!other || !other->seen || other == call->task)
            continue;
        long order = syscall(__NR_kcmp, call->task->tid, other->tid, KCMP_VM, 0, 0);
        other->seen = order >= 0 || errno != ESRCH; /* its number may become another's */
        if (order)
            continue;
        put_first(other, i);
        return still_waits(call); /* of two that have ended neither has a memory */
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
    if (read_file(task_dir(task), "status", status, sizeof status) <= 0) {
        renew_task(task);
        if (read_file(task_dir(task), "status", status, sizeof status) <= 0)
            return false;
    }
    pid_t parent = (pid_t)number_behind(status, "\nPPid:", 10);
    task->tgid = (pid_t)number_behind(status, "\nTgid:", 10);
    task->inner = (pid_t)last_number_behind(status, "\nNSpid:");
    task->umask = (mode_t)number_behind(status, "\nUmask:", 8) & MASK;
    task->confined = inherits_confinement(task->tgid != task->tid ? task->tgid : parent);
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

void remember_umask(struct task *task, mode_t umask)
{
    struct task *other;
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

void expect_new_image(struct task *task)
{
    task->seen = false;
    if (tgkill(task->tid, task->tid, 0) == 0 || errno != ESRCH || !know_task(task))
        return;
    bool confined = task->confined;
    struct task *first = find_task(task->tgid);
    first->seen = false;
    first->confined = (know_task(first) && first->confined) || confined;
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
