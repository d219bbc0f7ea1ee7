#include "guard.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base.h"

#ifndef START_MS
#define START_MS 60000 /* a start gives up after 30 s by itself; a machine may be slow to begin it */
#endif
enum { TRIES = 200, PAUSE_MS = 10 };

extern char **environ;

void find_self(struct guard *g)
{
    ssize_t n = readlink("/proc/self/exe", g->file, sizeof g->file - 1);
    if (n <= 0)
        refuse("/proc is not there, so the guard cannot be found. Mount /proc.");
    g->file[n] = 0;
    char *slash = strrchr(g->file, '/');
    g->name = slash ? slash + 1 : g->file;
}

const char *find_setting(const struct guard *g, const char *name)
{
    size_t length = strlen(name);
    for (const char *line = g->settings; *line; line += strlen(line) + 1)
        if (strncmp(line, name, length) == 0 && line[length] == '=')
            return line + length + 1;
    return NULL;
}

static const char *setting(const struct guard *g, const char *name)
{
    const char *value = find_setting(g, name);
    return value ? value : "";
}

static ssize_t read_whole(int fd, char *at, size_t room)
{
    size_t size = 0;
    while (size < room) {
        ssize_t n = read(fd, at + size, room - size);
        if (n == 0)
            return (ssize_t)size;
        if (n < 0 && errno != EINTR)
            return -1;
        size += n > 0 ? (size_t)n : 0;
    }
    errno = EFBIG;
    return -1;
}

static void read_settings(struct guard *g, const char *path)
{
    struct stat seen = {0};
    /* A pipe in its place would be waited for, without an end. */
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (fd >= 0 && fstat(fd, &seen) == 0 && !S_ISREG(seen.st_mode))
        refuse("%s is no file, so the guard is not known. %s", path, g->renew);
    ssize_t n = fd < 0 ? -1 : read_whole(fd, g->settings, sizeof g->settings - 2);
    if (n < 0)
        refuse("%s cannot be read (%s), so the guard is not known. %s", path, strerror(errno), g->renew);
    if (memchr(g->settings, 0, (size_t)n))
        refuse("%s holds a zero byte, so it is not the guard's. %s", path, g->renew);
    close(fd);
    g->owner = seen.st_uid;
    for (ssize_t i = 0; i < n; i++)
        if (g->settings[i] == '\n')
            g->settings[i] = 0;
}

void find_guard(struct guard *g)
{
    char path[PATH_MAX + 16];
    snprintf(path, sizeof path, "%.*s.sentinel", (int)(g->name - g->file), g->file);
    read_settings(g, path);
    g->socket = setting(g, "socket");
    g->python = setting(g, "python");
    g->session = setting(g, "session");
    g->secret = setting(g, "secret");
    if (strlen(g->secret) > 64)
        refuse("%s holds no secret of the guard. %s", path, g->renew);
    if (!*g->socket || strlen(g->socket) >= sizeof((struct sockaddr_un *)0)->sun_path)
        refuse("%s names no socket of the guard. %s", path, g->renew);
}

static int open_socket(const struct guard *g)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    strcpy(address.sun_path, g->socket);
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0)
        refuse("no socket can be made: %s.", strerror(errno));
    if (connect(fd, (struct sockaddr *)&address, sizeof address) == 0)
        return fd;
    int why = errno;
    close(fd);
    errno = why;
    return -1;
}

static pid_t daemon_pid;

/* In /tmp, anyone could have made the folder before us. */
static void require_owner(const struct guard *g, int fd)
{
    struct ucred peer;
    socklen_t size = sizeof peer;
    if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) < 0 || peer.uid != g->owner)
        refuse("%s is served by another user. Remove that folder, then 'sentinel-guard daemon start'.", g->socket);
    daemon_pid = peer.pid;
}

void require_running(void)
{
    char path[32], stat[512];
    snprintf(path, sizeof path, "/proc/%d/stat", (int)daemon_pid);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? 0 : read(fd, stat, sizeof stat - 1);
    if (fd >= 0)
        close(fd);
    stat[n > 0 ? n : 0] = 0;
    const char *state = strrchr(stat, ')'); /* proc(5): the name may hold anything */
    if (state && (strncmp(state, ") T", 3) == 0 || strncmp(state, ") t", 3) == 0))
        refuse("the guard daemon (process %d) is stopped. The user continues it with 'kill -CONT %d'.", (int)daemon_pid,
               (int)daemon_pid);
}

/* Only what stood in the environment of the daemon that began the session: nothing of the caller's, who may be an agent. */
static char **daemon_environment(const struct guard *g)
{
    static const char named[] = "environ.";
    size_t count = 0;
    char **given = grow(NULL, sizeof g->settings / sizeof named * sizeof *given);
    for (const char *line = g->settings; *line; line += strlen(line) + 1)
        if (strncmp(line, named, sizeof named - 1) == 0)
            given[count++] = (char *)line + sizeof named - 1;
    given[count] = NULL;
    return given;
}

static void forget_signals(void)
{
    sigset_t none;
    sigemptyset(&none);
    for (int s = 1; s < NSIG; s++)
        signal(s, SIG_DFL);
    sigprocmask(SIG_SETMASK, &none, NULL);
}

/* The lock of who starts the daemon; -1 where there is no place for it yet. */
static int open_start_lock(const struct guard *g)
{
    char path[sizeof((struct sockaddr_un *)0)->sun_path + 16];
    const char *slash = strrchr(g->socket, '/');
    snprintf(path, sizeof path, "%.*sstart.lock", (int)(slash ? slash + 1 - g->socket : 0), g->socket);
    return open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0600);
}

static bool is_being_started(const struct guard *g)
{
    int lock = open_start_lock(g);
    bool held = lock >= 0 && flock(lock, LOCK_SH | LOCK_NB) < 0 && errno == EWOULDBLOCK;
    if (lock >= 0)
        close(lock);
    return held;
}

/* Nothing of the agent's may stay open in the daemon: an agent that reads its pipe to the end would wait for ever. The
 * lock (3) is given up when the start has ended, well or not. */
static _Noreturn void become_daemon(const struct guard *g, int lock)
{
    char *argv[] = {(char *)g->python, "-I", "-m", "sentinel_guard", "daemon", "start", NULL};
    forget_signals();
    int null = open("/dev/null", O_RDWR);
    for (int fd = 0; fd <= 2; fd++)
        dup2(null, fd);
    int lowest = 3;
    if (lock == lowest)
        fcntl(lock, F_SETFD, 0);
    if (lock == lowest || dup2(lock, lowest) == lowest)
        lowest++;
    close_from(lowest);
    if (chdir("/") == 0)
        execve(g->python, argv, daemon_environment(g));
    _exit(EXIT_REFUSED);
}

static void fork_daemon(const struct guard *g, int lock)
{
    pid_t child = fork();
    if (child == 0) {
        setsid();
        if (fork() == 0)
            become_daemon(g, lock);
        _exit(0);
    }
    if (child > 0)
        waitpid(child, NULL, 0);
}

/* False where somebody else does so at this moment: a thousand commands start one daemon, not a thousand. */
static bool start_daemon(const struct guard *g)
{
    if (!*g->python)
        return true;
    int lock = open_start_lock(g);
    if (lock >= 0 && flock(lock, LOCK_EX | LOCK_NB) < 0 && errno == EWOULDBLOCK) {
        close(lock);
        return false;
    }
    fork_daemon(g, lock);
    if (lock >= 0)
        close(lock);
    return true;
}

int connect_guard(const struct guard *g)
{
    static int tries;
    static bool started, again;
    int64_t began = now_ms();
    bool absent = false;
    while (tries < TRIES && (g->needed || !absent) && (!g->until || now_ms() < g->until)) {
        if (again)
            nanosleep(&(struct timespec){.tv_nsec = PAUSE_MS * 1000000L}, NULL);
        again = true;
        int fd = open_socket(g);
        if (fd >= 0) {
            tries++;
            require_owner(g, fd);
            return fd;
        }
        absent = errno == ENOENT || errno == ECONNREFUSED;
        if (absent && g->starts && !started)
            started = start_daemon(g);
        if (!absent || now_ms() - began > START_MS || !is_being_started(g))
            tries++;
    }
    refuse("the guard daemon does not answer. Start it with 'sentinel-guard daemon start'.");
}
