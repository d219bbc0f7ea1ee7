#include "signals.h"

#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "base.h"

static sigset_t mask;
static struct sigaction on_pipe, on_child;

void take_signals(void)
{
    struct sigaction ignore = {.sa_handler = SIG_IGN}, plain = {.sa_handler = SIG_DFL};
    sigprocmask(SIG_SETMASK, NULL, &mask);
    sigaction(SIGPIPE, &ignore, &on_pipe);
    sigaction(SIGCHLD, &plain, &on_child);
}

void give_signals_back(void)
{
    sigaction(SIGPIPE, &on_pipe, NULL);
    sigaction(SIGCHLD, &on_child, NULL);
    sigprocmask(SIG_SETMASK, &mask, NULL);
}

int read_signals(void)
{
    sigset_t all;
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, NULL);
    int fd = signalfd(-1, &all, SFD_CLOEXEC | SFD_NONBLOCK);
    if (fd < 0)
        refuse("its signals cannot be watched. Close some descriptors and try again.");
    return fd;
}

/* The terminal's signals go to a whole process group: a child in ours has them already. */
static bool from_terminal(const struct signalfd_siginfo *s)
{
    static const int those[] = {SIGINT, SIGQUIT, SIGTSTP, SIGHUP, SIGCONT, SIGWINCH, SIGTTIN, SIGTTOU};
    if (s->ssi_code != SI_KERNEL)
        return false;
    for (size_t i = 0; i < sizeof those / sizeof *those; i++)
        if ((int)s->ssi_signo == those[i])
            return true;
    return false;
}

/* A shell with job control has a process group of its own, which nobody but us knows: `fg` gave the terminal to ours. */
static void lend_terminal(pid_t child)
{
    pid_t group = getpgid(child);
    int terminal = open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY);
    if (terminal < 0)
        return;
    if (group > 0 && tcgetpgrp(terminal) == getpgrp())
        tcsetpgrp(terminal, group);
    close(terminal);
}

static void forward(const struct signalfd_siginfo *s, pid_t child, bool stopped)
{
    int signal = (int)s->ssi_signo;
    pid_t sender = s->ssi_code == SI_KERNEL ? 0 : (pid_t)s->ssi_pid;
    if (sender == getpid() || sender == child) /* our own SIGPIPE; a child that signals its whole group */
        return;
    if (signal == SIGCONT && !stopped)
        return;
    if (from_terminal(s) && getpgid(child) == getpgrp())
        return;
    if (signal == SIGCONT)
        lend_terminal(child);
    kill(child, signal);
}

bool next_signal(int fd, pid_t child, bool stopped, bool *asked)
{
    struct signalfd_siginfo s;
    if (read(fd, &s, sizeof s) != sizeof s)
        return false;
    if (s.ssi_signo == SIGCHLD)
        return true;
    if (child > 0)
        forward(&s, child, stopped);
    *asked |= s.ssi_signo != SIGCONT && s.ssi_signo != SIGWINCH && s.ssi_signo != SIGPIPE;
    return true;
}

static void take_default(int signal)
{
    sigset_t one;
    struct sigaction plain = {.sa_handler = SIG_DFL};
    sigaction(signal, &plain, NULL);
    sigemptyset(&one);
    sigaddset(&one, signal);
    kill(getpid(), signal);
    sigprocmask(SIG_UNBLOCK, &one, NULL);
}

void stop_by(int signal)
{
    sigset_t all;
    take_default(signal);
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, NULL);
}

void die_by(int signal)
{
    prctl(PR_SET_DUMPABLE, 0);
    setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
    take_default(signal);
    _exit(128 + signal);
}
