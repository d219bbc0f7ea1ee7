/* sentinel-broker wear | serve | probe (docs/protocol.md, "The face `kernel`"). */
#include "broker.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../launcher/base.h"
#include "../launcher/wire.h"
#include "daemon_link.h"
#include "pass_descriptor.h"
#include "probe.h"
#include "seccomp_filter.h"
#include "serve.h"
#include "turn.h"
#include "wear.h"

enum { SECRET = 64 };

struct options {
    struct daemon_address daemon;
    int control, status;
};

static int descriptor(const char *text)
{
    char *end;
    long n = strtol(text, &end, 10);
    if (!*text || *end || n < 0 || fcntl((int)n, F_GETFD) < 0)
        refuse("%s is no open descriptor.", text);
    return (int)n;
}

static const char *read_secret(int fd)
{
    static char secret[SECRET + 1];
    size_t size = 0;
    ssize_t n;
    while (size < SECRET && (n = read(fd, secret + size, SECRET - size)) > 0)
        size += (size_t)n;
    close(fd);
    return secret;
}

static struct options read_options(char *argv[])
{
    struct options o = {.control = -1, .status = -1};
    for (; argv[0] && argv[1]; argv += 2) {
        if (strcmp(argv[0], "--socket") == 0)
            o.daemon.socket = argv[1];
        else if (strcmp(argv[0], "--session") == 0)
            o.daemon.session = argv[1];
        else if (strcmp(argv[0], "--secret-fd") == 0)
            o.daemon.secret = read_secret(descriptor(argv[1]));
        else if (strcmp(argv[0], "--control-fd") == 0)
            o.control = descriptor(argv[1]);
        else if (strcmp(argv[0], "--status-fd") == 0)
            o.status = descriptor(argv[1]);
        else
            refuse("there is no option %s.", argv[0]);
    }
    if (argv[0] || !o.daemon.socket || !o.daemon.session || !o.daemon.secret || o.control < 0 || o.status < 0)
        refuse("serve needs --socket, --session, --secret-fd, --control-fd and --status-fd.");
    return o;
}

/* What a terminal, or a program, sends to the whole group is not for us. Not setsid: a session of its own is another
 * autogroup of the scheduler, and every held call then waits for a turn. */
static void stand_apart(void)
{
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    prctl(PR_SET_DUMPABLE, 0);
    setpgid(0, 0);
    signal(SIGPIPE, SIG_IGN);
    signal(SIGHUP, SIG_IGN);
}

/* Who waits for the end of our output must not wait for us. */
static void give_up_streams(void)
{
    int null = open("/dev/null", O_RDWR | O_CLOEXEC);
    for (int fd = 0; null >= 0 && fd <= STDERR_FILENO; fd++)
        dup2(null, fd);
    if (null > STDERR_FILENO)
        close(null);
}

static void require_readable(const struct worn *worn)
{
    char seen[sizeof READABLE] = "";
    if (read_memory(worn->pid, worn->address, seen, sizeof seen) != sizeof seen || strcmp(seen, READABLE) != 0)
        refuse("the memory of the session's programs cannot be read: %s. A kernel setting (kernel.yama.ptrace_scope) or "
               "AppArmor forbids it; [kernel] mode = \"off\" in your policy runs without this layer.",
               strerror(errno));
}

static bool is_writable(pid_t pid, int number)
{
    char path[64], text[256];
    unsigned flags = O_RDONLY;
    snprintf(path, sizeof path, "/proc/%d/fdinfo/%d", pid, number);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? 0 : read(fd, text, sizeof text - 1);
    text[n > 0 ? n : 0] = 0;
    const char *at = strstr(text, "flags:");
    if (fd >= 0)
        close(fd);
    return at && sscanf(at, "flags: %o", &flags) == 1 && (flags & O_ACCMODE) != O_RDONLY;
}

/* What was opened before the filter was worn needs no held call to be written to. */
static void refuse_open_files(pid_t pid)
{
    char path[32];
    snprintf(path, sizeof path, "/proc/%d/fd", pid);
    DIR *folder = opendir(path);
    for (struct dirent *entry; folder && (entry = readdir(folder));) {
        struct stat s;
        int number = atoi(entry->d_name);
        if (fstatat(dirfd(folder), entry->d_name, &s, 0) == 0 && is_restricted(&s) && is_writable(pid, number))
            refuse("descriptor %d is open for writing on a restricted file. Start the agent without that redirection.", number);
    }
    if (folder)
        closedir(folder);
}

/* Until nothing is left below us. The runner hears of each child what it would hear if it were its own. */
static _Noreturn void reap(int runner)
{
    int status;
    for (pid_t pid; (pid = waitpid(-1, &status, WUNTRACED)) > 0 || errno == EINTR;) {
        int told[] = {pid, status};
        if (pid > 0 && write(runner, told, sizeof told) != sizeof told)
            errno = 0; /* the runner has gone: the daemon ends the session */
    }
    _exit(0);
}

/* glibc sets 64 MB of addresses apart for each thread: where these are limited, nothing would be left for calls that wait. */
static void share_memory(void)
{
#ifdef __GLIBC__
    mallopt(M_ARENA_MAX, 1);
#endif
}

static _Noreturn void serve_session(char *argv[])
{
    struct options o = read_options(argv);
    struct worn worn;
    stand_apart();
    share_memory();
    if (!drop_own_rights())
        refuse("the broker of held system calls cannot drop its own rights: %s.", strerror(errno));
    if (!watch_turns())
        refuse("there is no thread left for the broker of held system calls. End some programs and try again.");
    find_daemon(&o.daemon);
    follow_rules();
    int listener = receive_descriptor(o.control, &worn, sizeof worn);
    if (listener < 0)
        refuse("the session's first process gave no listener.");
    require_readable(&worn);
    refuse_open_files(worn.pid);
    serve(listener);
    if (!write_all(o.control, "g", 1))
        refuse("the session's first process has gone.");
    close(o.control);
    give_up_streams();
    reap(o.status);
}

int main(int argc, char *argv[])
{
    refuse_as("the agent", EXIT_REFUSED);
    fill_standard_descriptors();
    if (argc > 4 && strcmp(argv[1], "wear") == 0)
        wear(descriptor(argv[2]), argv[3], argv + 4);
    if (argc > 1 && strcmp(argv[1], "serve") == 0)
        serve_session(argv + 2);
    if (argc == 2 && strcmp(argv[1], "probe") == 0)
        return probe();
    fprintf(stderr, "sentinel-broker wear FD PATH NAME [ARGUMENT...] | serve OPTIONS | probe\n");
    return 2;
}
