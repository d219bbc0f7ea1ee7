#include "supervise.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base.h"
#include "signals.h"
#include "tap.h"

/* AT_ONCE: bytes that the guard reads in one go, and so before the next request. */
enum { LAST_ANSWER_MS = 5000, SETTLE_MS = 10, STUCK_MS = 50, AT_ONCE = 8192 };

extern char **environ;

struct run {
    const char *path;
    char **argv;
    pid_t child;
    int signals;
    bool stopped, ended, hurried;
    uint32_t code;
    int failed; /* errno of an exec that did not happen */
};

/* Large, and zero until used. */
static struct tap taps[TAPS];

void become(const char *path, char **argv)
{
    size_t count = 0;
    execve(path, argv, environ);
    if (errno != ENOEXEC)
        return;
    while (argv[count])
        count++;
    char **script = grow(NULL, (count + 3) * sizeof *script);
    script[0] = "/bin/sh";
    script[1] = (char *)path;
    memcpy(script + 2, argv + !!count, (count + !count) * sizeof *script);
    execve(script[0], script, environ);
}

void leave(uint32_t code)
{
    if (code > BY_SIGNAL)
        die_by((int)(code - BY_SIGNAL));
    _exit((int)code);
}

/* Whoever kills us without our knowing must not leave the program running unwatched. */
static _Noreturn void be_child(struct run *run, pid_t parent)
{
    wear_taps(taps);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent)
        _exit(EXIT_REFUSED);
    give_signals_back();
    become(run->path, run->argv);
    run->failed = errno;
    _exit(EXIT_REFUSED);
}

/* vfork: the parent waits until exec, and reads in shared memory why exec failed. */
static void start(struct run *run)
{
    pid_t parent = getpid();
    run->child = vfork();
    if (run->child == 0)
        be_child(run, parent);
    if (run->child < 0)
        run->failed = errno;
    ready_taps(taps);
    if (!run->failed)
        return;
    give_signals_back();
    refuse("%s cannot be started: %s.", run->path, strerror(run->failed));
}

/* Someone who freezes and thaws a whole tree wakes us first: then the child runs again, or is gone, in a moment. */
static bool stays_stopped(pid_t child)
{
    siginfo_t seen = {0};
    nanosleep(&(struct timespec){.tv_nsec = SETTLE_MS * 1000000L}, NULL);
    return waitid(P_PID, (id_t)child, &seen, WEXITED | WCONTINUED | WNOHANG | WNOWAIT) < 0 || seen.si_pid == 0;
}

static void mirror_stop(struct run *run, int signal)
{
    run->stopped = true;
    if (signal != SIGSTOP || stays_stopped(run->child))
        stop_by(signal);
}

static void end(struct run *run, int status)
{
    run->ended = true;
    run->code = WIFSIGNALED(status) ? BY_SIGNAL + (uint32_t)WTERMSIG(status) : (uint32_t)WEXITSTATUS(status);
    for (int i = 0; i < TAPS; i++)
        end_tap(&taps[i]);
}

static void look_after_child(struct run *run)
{
    int status;
    while (!run->ended && waitpid(run->child, &status, WNOHANG | WUNTRACED | WCONTINUED) == run->child) {
        if (WIFSTOPPED(status))
            mirror_stop(run, WSTOPSIG(status));
        else if (WIFCONTINUED(status))
            run->stopped = false;
        else
            end(run, status);
    }
}

/* The child's state first: a signal must find out whether the child is stopped, or there at all. */
static void look_at_signals(struct run *run)
{
    bool asked = false;
    do
        look_after_child(run);
    while (next_signal(run->signals, run->ended ? 0 : run->child, run->stopped, &asked));
    if (run->ended && asked)
        run->hurried = true;
}

static void watch(struct run *run)
{
    struct pollfd p[1 + 2 * TAPS];
    while (!run->ended || (!run->hurried && !(tap_done(&taps[0]) && tap_done(&taps[1])))) {
        p[0] = (struct pollfd){.fd = run->signals, .events = POLLIN};
        for (int i = 0; i < TAPS; i++)
            poll_tap(&taps[i], &p[1 + 2 * i]);
        int n = poll(p, 1 + 2 * TAPS, run->ended ? STUCK_MS : -1);
        if (n < 0)
            continue;
        if (n == 0) /* the program has ended and nobody reads what it wrote: that is no reason not to end */
            run->hurried = true;
        if (p[0].revents)
            look_at_signals(run);
        for (int i = 0; i < TAPS; i++)
            move_tap(&taps[i], &p[1 + 2 * i]);
    }
}

static void put_tail(struct bytes *out, char tag, int stream)
{
    const struct tail *tail = tail_of(taps, stream);
    if (tail)
        put_chunk(out, tag, tail->bytes, tail->size);
}

/* True where an answer is to be awaited. */
static bool tell(int guard, const struct run *run, int64_t began, bool ends_at_success)
{
    struct bytes outcome = {0};
    put_number(&outcome, 'X', run->code);
    put_number(&outcome, 'B', (uint32_t)(now_ms() - began));
    put_tail(&outcome, '2', STDERR_FILENO);
    put_tail(&outcome, '1', STDOUT_FILENO);
    put_end(&outcome);
    bool sent = send_message(guard, &outcome, LAST_ANSWER_MS) == WIRE_MESSAGE;
    return sent && !(ends_at_success && run->code == 0 && outcome.size <= AT_ONCE);
}

/* The guard's last words, and the exit code that it wants; what cannot be understood changes nothing. */
static uint32_t last_answer(int guard, struct reader *reader, uint32_t code)
{
    if (read_message(guard, reader, LAST_ANSWER_MS) != WIRE_MESSAGE)
        return code;
    for (size_t i = 0; i < reader->message.count; i++) {
        const struct chunk *c = &reader->message.chunks[i];
        if (c->tag == 'P' && c->size && (*c->body == '1' || *c->body == '2'))
            write_all(*c->body - '0', c->body + 1, c->size - 1);
        else if (c->tag == 'Z' && c->size == 4)
            code = number(c);
    }
    return code;
}

void supervise(int guard, struct reader *reader, bool ends_at_success, const char *path, char **argv)
{
    struct run run = {.path = path, .argv = argv};
    int64_t began = now_ms();
    run.signals = read_signals();
    begin_taps(taps);
    start(&run);
    watch(&run);
    if (tell(guard, &run, began, ends_at_success))
        run.code = last_answer(guard, reader, run.code);
    hand_over(taps);
    leave(run.code);
}
