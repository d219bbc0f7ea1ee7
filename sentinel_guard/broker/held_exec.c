/* Programs and mounts: calls that only their caller can make. They are judged, and go on by themselves. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <unistd.h>

#include "../launcher/base.h"
#include "held_calls.h"
#include "turn.h"

enum { MOST_ARGUMENTS = 4096, ARGUMENTS_SIZE = 1 << 20, AGREED = 1 << 16 };

/* What the daemon has said yes to: programs with their arguments. It may fork, and outlive who started it. */
static uint64_t agreed[AGREED];

/* FNV-1a: what an attacker gains by a collision is a run of the same program. */
static uint64_t hash(uint64_t h, const void *data, size_t size)
{
    for (const unsigned char *at = data; size--; at++)
        h = (h ^ *at) * 1099511628211u;
    return h;
}

static uint64_t hash_image(const struct stat *s, const char *arguments, size_t size)
{
    uint64_t h = hash(14695981039346656037u, &s->st_ino, sizeof s->st_ino);
    h = hash(h, &s->st_dev, sizeof s->st_dev);
    return hash(h, arguments, size);
}

struct arguments {
    char *text;
    size_t size;
    char **argv;
};

/* False where they cannot be read whole. */
static bool read_arguments(const struct call *call, uint64_t at, struct arguments *to)
{
    pid_t tid = (pid_t)call->notification->pid;
    uint64_t *pointers = grow(NULL, MOST_ARGUMENTS * sizeof *pointers);
    size_t n = BLOCKING(read_memory(tid, at, pointers, MOST_ARGUMENTS * sizeof *pointers)) / sizeof *pointers, i;
    to->text = grow(NULL, ARGUMENTS_SIZE);
    to->argv = grow(NULL, (MOST_ARGUMENTS + 1) * sizeof *to->argv);
    to->size = 0;
    for (i = 0; i < n && pointers[i]; i++) {
        size_t got = BLOCKING(read_memory(tid, pointers[i], to->text + to->size, ARGUMENTS_SIZE - to->size));
        const char *end = memchr(to->text + to->size, 0, got);
        if (!end)
            break;
        to->argv[i] = to->text + to->size;
        to->size = (size_t)(end + 1 - to->text);
    }
    bool whole = i < n && !pointers[i] && to->size;
    to->argv[i] = NULL;
    free(pointers);
    return whole;
}

static enum word judge_file(const struct place *place, const struct stat *s, int file, struct program *program)
{
    int fd = file;
    if (fd < 0 && may_be_copy(s))
        fd = BLOCKING(openat(place->folder, place->name, O_RDONLY | O_CLOEXEC | O_NONBLOCK));
    enum word word = word_on_program(s, fd, program);
    if (fd >= 0)
        close(fd);
    return word;
}

/* ld-linux.so PROGRAM: any of the arguments that is a program which is asked about; `at`: which. */
static enum word judge_loaded(struct call *call, uint64_t argv, struct program *program, size_t *at)
{
    uint64_t pointers[MOST_ARGUMENTS];
    char path[PATH_MAX];
    enum word word = PASS;
    pid_t tid = (pid_t)call->notification->pid;
    size_t n = BLOCKING(read_memory(tid, argv, pointers, sizeof pointers)) / sizeof *pointers;
    for (size_t i = 1; i < n && pointers[i] && word == PASS; i++) {
        struct place place;
        struct stat s;
        size_t got = BLOCKING(read_memory(tid, pointers[i], path, sizeof path));
        if (!memchr(path, 0, got) || resolve(call, AT_FDCWD, path, FOLLOW, &place))
            continue;
        if (BLOCKING(fstatat(place.folder, place.name, &s, 0)) == 0 && S_ISREG(s.st_mode))
            word = judge_file(&place, &s, -1, program);
        *at = i;
        release(&place);
    }
    return word;
}

static bool is_loader(const char *real)
{
    const char *slash = strrchr(real, '/');
    return slash && strncmp(slash + 1, "ld-", 3) == 0;
}

/* The launcher has asked already about what it becomes. A program that was agreed to may start itself again: git does. */
static bool asks_itself(const struct call *call, const struct stat *program)
{
    struct stat exe;
    struct program own;
    if (!stat_image(call->task, &exe))
        return false;
    word_on_program(&exe, -1, &own);
    return own.is_launcher || is_same_program(&exe, program);
}

static void go_on(struct call *call)
{
    if (expect_new_image(call->task))
        answer_continue(call);
    else
        answer_error(call, EAGAIN);
}

/* What it becomes is known again by its file and arguments. Asked about, where the word says so, is the program of the rule,
 * whatever name or copy of it is run; its arguments begin at `from`. */
static void agree_to_run(struct call *call, enum word word, const struct program *program, const struct stat *s, uint64_t argv,
                         size_t from)
{
    struct arguments arguments = {0};
    bool yes = read_arguments(call, argv, &arguments) &&
               (word == PASS || asks_itself(call, s) || ask_daemon(call, "run", program->path, arguments.argv + from));
    if (yes && still_waits(call)) {
        uint64_t image = hash_image(s, arguments.text, arguments.size);
        agreed[image % AGREED] = image;
        go_on(call);
    } else
        answer_error(call, EACCES);
    free(arguments.text);
    free(arguments.argv);
}

/* A PATH is searched by starts that fail: not to be looked at anew for each folder. */
static void answer_failed(struct call *call, int why)
{
    keep_task(call->task);
    if (!call->task->seen)
        remember_look(call);
    answer_error(call, why);
}

/* Most programs are found without a link on the way, and in a PATH most are not there: then no folder need be named.
 * False where there is more to be known; else the call was answered. */
static bool is_plain_start(struct call *call, const char *path)
{
    struct program program;
    struct stat s;
    int fd = open_without_links(path);
    if (fd < 0 && errno == ENOENT) {
        answer_failed(call, ENOENT);
        return true;
    }
    bool plain = fd >= 0 && BLOCKING(fstat(fd, &s)) == 0 && !may_be_copy(&s) && !is_loader(path) &&
                 word_on_program(&s, -1, &program) == PASS && !program.is_loader;
    if (fd >= 0)
        close(fd);
    if (plain)
        go_on(call);
    return plain;
}

/* Only the caller can become it. What it became is looked at before its first effect (check_image). */
void held_exec(struct call *call, int dirfd, uint64_t path, uint64_t argv, int flags)
{
    char text[PATH_MAX], link[32];
    struct place place = {.folder = -1};
    struct stat s;
    struct program program;
    size_t from = 0;
    int why, file = -1;
    if (!read_text(call, path, text, sizeof text) || is_plain_start(call, text))
        return;
    if (!*text && (flags & AT_EMPTY_PATH)) {
        snprintf(link, sizeof link, "fd/%d", dirfd);
        int process = task_dir(call->task);
        file = BLOCKING(openat(process, link, O_RDONLY | O_CLOEXEC | O_NONBLOCK));
        why = BLOCKING(fstatat(process, link, &s, 0)) ? EBADF : 0;
    } else {
        why = resolve(call, dirfd, text, flags & AT_SYMLINK_NOFOLLOW ? FOLLOW_WITH_SLASH : FOLLOW, &place);
        s = place.status;
        if (!why && (!place.exists || S_ISLNK(s.st_mode)))
            why = BLOCKING(fstatat(place.folder, place.name, &s, 0)) ? errno : 0;
    }
    if (why) {
        if (file >= 0)
            close(file);
        answer_failed(call, why);
    } else {
        enum word word = judge_file(&place, &s, file, &program);
        bool loads = program.is_loader;
        if (loads || (!program.is_known && place.folder >= 0 && is_loader(place.real)))
            word = judge_loaded(call, argv, &program, &from);
        if (word == ASK || loads)
            agree_to_run(call, word, &program, &s, argv, from);
        else
            go_on(call);
    }
    release(&place);
}

/* What was agreed to is known by its arguments, as the program's memory has them: that may be anything's. */
static bool is_agreed(struct task *task, const struct stat *exe)
{
    char *arguments = grow(NULL, ARGUMENTS_SIZE);
    int fd = openat(task_dir(task), "cmdline", O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? -1 : BLOCKING(read(fd, arguments, ARGUMENTS_SIZE));
    if (fd >= 0)
        close(fd);
    uint64_t image = hash_image(exe, arguments, n > 0 ? (size_t)n : 0);
    free(arguments);
    return n > 0 && agreed[image % AGREED] == image;
}

bool check_image(struct call *call)
{
    struct stat exe;
    struct program became;
    if (shares_seen_image(call))
        return remember_look(call);
    if (!stat_image(call->task, &exe))
        return false;
    int file = may_be_copy(&exe) ? BLOCKING(openat(task_dir(call->task), "exe", O_RDONLY | O_CLOEXEC)) : -1;
    bool passes = word_on_program(&exe, file, &became) == PASS && !became.is_loader;
    if (file >= 0)
        close(file);
    if (passes || is_agreed(call->task, &exe))
        return remember_look(call);
    kill(call->task->tid, SIGKILL); /* all of its threads */
    return false;
}

/* Whether what it mounts is seen outside of the session, too: only root can. */
static bool mounts_for_all(struct task *task)
{
    struct stat own, theirs;
    return stat("/proc/self/ns/mnt", &own) == 0 && fstatat(task_dir(task), "ns/mnt", &theirs, 0) == 0 &&
           own.st_ino == theirs.st_ino;
}

static bool may_be_covered(struct call *call, uint64_t target)
{
    struct place place;
    if (!find(call, AT_FDCWD, target, FOLLOW, &place))
        return false;
    bool yes = may(call, stricter(word_on(&place), word_on_contents(&place)), "replace", &place);
    release(&place);
    return yes;
}

/* Binding, moving and making private names nothing new: inodes are judged, not mounts. An overlay or FUSE would. */
void held_mount(struct call *call, uint64_t target, uint64_t type, uint64_t flags)
{
    static const char *const plain[] = {"proc", "tmpfs", "sysfs", "devpts", "mqueue", "cgroup2", "ramfs"};
    enum { BY_FLAGS = MS_BIND | MS_REMOUNT | MS_MOVE | MS_PRIVATE | MS_SHARED | MS_SLAVE | MS_UNBINDABLE };
    char name[64] = "";
    bool known = flags & BY_FLAGS; /* a register: it cannot be exchanged */
    if (!known && type && !read_text(call, type, name, sizeof name))
        return;
    for (size_t i = 0; !known && i < sizeof plain / sizeof *plain; i++)
        known = strcmp(plain[i], name) == 0;
    bool covers = !(flags & (MS_REMOUNT | MS_PRIVATE | MS_SHARED | MS_SLAVE | MS_UNBINDABLE));
    if (known && covers && mounts_for_all(call->task) && !may_be_covered(call, target))
        return;
    if (known)
        answer_continue(call);
    else
        answer_error(call, EPERM);
}
