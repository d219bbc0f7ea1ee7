/* Random paths through broker/resolve_path.c, compared with what the kernel makes of the same path.
 *
 * fuzz_resolve FOLDER SEED COUNT: FOLDER is an empty one. Built with sanitizers; prints the first difference, and ends with 1.
 * LLVMFuzzerTestOneInput is there for a fuzzer that is guided by coverage. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "broker.h"
#include "turn.h"

enum { MOST_WORDS = 12, FOLDER_FD = 9 };

static const char *const words[] = {
    "a", "d", "d/e", "link", "up", "loop", "one", "two", "dead", "far", "file", "none", ".", "..", "/", "//", "", "proc", "self", "fd", "9", "cwd",
    "root", "thread-self", "dev", "stdin", "exe", "environ", "\xff\n", "name-of-some-length-that-is-not-there",
};
static const char *const starts[] = {"", "", "/proc/self/", "/proc//self/", "/proc/thread-self/", "/dev/fd/", "far/", "proc/", "/"};
static struct task *task;
static int differences;

/* Of the broker, what resolution needs and nobody asks here. */
void answer_error(struct call *call, int error)
{
    (void)error;
    call->answered = true;
}

bool still_waits(const struct call *call)
{
    (void)call;
    return true;
}

const char *ruled_folder(const struct stat *status)
{
    (void)status;
    return NULL;
}

bool lies_in_ruled_folder(const char *path)
{
    (void)path;
    return false;
}

/* Nobody waits for a turn here. */
void begin_blocking(void)
{
}

void end_blocking(void)
{
}

bool others_run(void)
{
    return false;
}

/* Where the broker says that it ends: no memory. */
void *grow(void *memory, size_t size)
{
    return realloc(memory, size);
}

/* As if each folder could have another name. */
bool is_on_other_mount(dev_t device, uint64_t mount)
{
    (void)device;
    return mount % 2;
}

bool name_descriptor(int fd, char real[PATH_MAX])
{
    char link[32];
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t n = readlink(link, real, PATH_MAX - 1);
    real[n > 0 ? n : 0] = 0;
    return n > 0;
}

static void differ(const char *what, const char *path)
{
    fprintf(stderr, "%s: ", what);
    for (; *path; path++)
        fprintf(stderr, *path < ' ' ? "\\x%02x" : "%c", (unsigned char)*path);
    fputc('\n', stderr);
    differences++;
}

/* Whose entry of /proc "self" is differs: there only that it is never the broker's is known. */
static bool is_ours_to_compare(const char *path)
{
    return !strstr(path, "proc") && !strstr(path, "dev") && !strstr(path, "far");
}

static void compare(int dirfd, const char *path, enum last_link last, const struct place *place, int why)
{
    char own[32], name[NAME_MAX + 2];
    struct stat there, ours;
    int flags = last == FOLLOW ? 0 : AT_SYMLINK_NOFOLLOW;
    bool found = fstatat(dirfd, path, &there, flags) == 0;
    snprintf(own, sizeof own, "/proc/%d/", getpid());
    if (!why && (strchr(place->name, '/') || !*place->name || place->folder < 0 || *place->real != '/'))
        differ("no folder and name", path);
    if (!why && strncmp(place->real, own, strlen(own)) == 0)
        differ("the broker's own process", path);
    if (last == UNSEEN || !is_ours_to_compare(path))
        return;
    bool reached = !why && fstatat(place->folder, spelled(place, name), &ours, AT_SYMLINK_NOFOLLOW) == 0;
    if (found != reached)
        differ(found ? "not found" : "found", path);
    else if (found && (there.st_ino != ours.st_ino || there.st_dev != ours.st_dev))
        differ("another file", path);
}

static void try_path(int dirfd, const char *path, enum last_link last)
{
    struct seccomp_notif notification = {.pid = (__u32)task->tid};
    struct call call = {.notification = &notification, .task = task};
    struct place place;
    int why = resolve(&call, dirfd, path, last, &place);
    compare(dirfd, path, last, &place, why);
    release(&place);
}

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size)
{
    char path[PATH_MAX];
    if (size < 2 || size - 2 >= sizeof path)
        return 0;
    memcpy(path, data + 2, size - 2);
    path[size - 2] = 0;
    try_path(data[0] & 1 ? FOLDER_FD : AT_FDCWD, path, (enum last_link)(data[1] & 3));
    return 0;
}

static void make_tree(const char *folder)
{
    if (chdir(folder) || mkdir("d", 0755) || mkdir("d/e", 0755) || mkdir("a", 0755) || symlink("d", "link") ||
        symlink("..", "d/up") || symlink("loop", "loop") || symlink("nowhere", "dead") || symlink("/proc/self/cwd", "far") ||
        symlink("../link/e", "a/link") || symlink("two", "one") || symlink("link/..//file", "two") || symlink("/proc", "proc") || close(open("file", O_CREAT | O_WRONLY, 0644)) ||
        dup2(open("d", O_PATH), FOLDER_FD) != FOLDER_FD) {
        perror(folder);
        exit(2);
    }
}

static size_t make_input(unsigned char *input, size_t room)
{
    size_t size = 2, count = (size_t)random() % MOST_WORDS;
    input[0] = (unsigned char)random();
    input[1] = (unsigned char)random();
    size += (size_t)snprintf((char *)input + size, room - size, "%s", starts[(size_t)random() % (sizeof starts / sizeof *starts)]);
    for (size_t i = 0; i < count; i++) {
        const char *word = words[(size_t)random() % (sizeof words / sizeof *words)];
        size += (size_t)snprintf((char *)input + size, room - size, "%s%s", word, random() % 4 ? "/" : "");
    }
    if (random() % 64 == 0) /* longer than any path */
        for (; size + 1 < room && size < PATH_MAX + 1; size++)
            input[size] = (unsigned char)(random() % 7 ? 'x' : '/');
    return size - (size > 2 && random() % 2);
}

int main(int argc, char *argv[])
{
    static unsigned char input[2 * PATH_MAX];
    if (argc != 4)
        return 2;
    make_tree(argv[1]);
    srandom((unsigned)atoi(argv[2]));
    pid_t child = fork(); /* whose paths they are */
    if (child == 0)
        for (;;)
            pause();
    task = hold_task(child);
    for (long left = atol(argv[3]); task && left && !differences; left--)
        LLVMFuzzerTestOneInput(input, make_input(input, sizeof input));
    int lowest = open("/", O_PATH);
    if (lowest > 16)
        differ("descriptors are left open", "/");
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    return !task || differences;
}
