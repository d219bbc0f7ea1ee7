#include "serve.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include "../launcher/base.h"
#include "broker.h"
#include "turn.h"

#ifndef SECCOMP_IOCTL_NOTIF_SET_FLAGS
#define SECCOMP_IOCTL_NOTIF_SET_FLAGS SECCOMP_IOW(4, __u64)
#endif

/* The kernel wakes all who wait for a call, not one of them: one waits. */
enum { SYNC_WAKE_UP = 1, MOST_IDLE = 1, STACK = 1 << 20, LEAST_WAIT_NS = 1000 };

static int listener = -1;
static bool can_wake_in_place;
static int idle; /* workers that wait for a call; in turns */

static bool wake_in_place(bool in_place)
{
    return ioctl(listener, SECCOMP_IOCTL_NOTIF_SET_FLAGS, in_place ? SYNC_WAKE_UP : 0) == 0;
}

/* The program goes on where it was: to bring what runs on another processor to this one would leave that idle. */
static void answer(struct call *call, struct seccomp_notif_resp response)
{
    bool there = can_wake_in_place && call->elsewhere;
    response.id = call->notification->id;
    call->answered = true;
    if (there)
        wake_in_place(false);
    ioctl(listener, SECCOMP_IOCTL_NOTIF_SEND, &response);
    if (there)
        wake_in_place(true);
}

void answer_value(struct call *call, long value)
{
    answer(call, (struct seccomp_notif_resp){.val = value});
}

void answer_error(struct call *call, int error)
{
    if (error == EMFILE)
        forget_ended(); /* it may be ours: there is room for the next call */
    answer(call, (struct seccomp_notif_resp){.error = -error});
}

void answer_continue(struct call *call)
{
    answer(call, (struct seccomp_notif_resp){.flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE});
}

/* In one step with the answer. In two, the answer would wake the program on this processor (SYNC_WAKE_UP), but by then the
 * descriptor has woken it on another one. */
bool answer_descriptor(struct call *call, int fd, bool close_on_exec)
{
    struct seccomp_notif_addfd add = {
        .id = call->notification->id,
        .flags = SECCOMP_ADDFD_FLAG_SEND,
        .srcfd = (unsigned)fd,
        .newfd_flags = close_on_exec ? O_CLOEXEC : 0,
    };
    bool given = ioctl(listener, SECCOMP_IOCTL_NOTIF_ADDFD, &add) >= 0;
    int why = errno;
    call->answered = true;
    if (!given && why != ENOENT)
        answer_error(call, why); /* EMFILE is the program's */
    BLOCKING(close(fd));
    return given;
}

bool still_waits(const struct call *call)
{
    return ioctl(listener, SECCOMP_IOCTL_NOTIF_ID_VALID, &call->notification->id) == 0;
}

static void *work(void *);

static bool add_worker(void)
{
    pthread_t thread;
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    pthread_attr_setstacksize(&attributes, STACK);
    bool made = pthread_create(&thread, &attributes, work, NULL) == 0;
    pthread_attr_destroy(&attributes);
    idle += made;
    return made;
}

void keep_serving(void)
{
    if (!idle)
        add_worker();
}

void begin_wait(void)
{
    keep_serving();
    end_turn();
}

/* ENOENT is said of a call whose program was killed, and at once where nobody wears the filter any more. */
static bool is_worn(void)
{
    struct pollfd p = {.fd = listener};
    return poll(&p, 1, 0) == 0 || !(p.revents & POLLHUP);
}

static int64_t now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * INT64_C(1000000000) + t.tv_nsec;
}

/* Who waits for a call is woken by it, on its processor. A call that is there already was made on another one, if not by the
 * program that was just woken on this. */
static bool is_elsewhere(const struct seccomp_notif *call, bool waited)
{
    static __u32 last;
    bool elsewhere = !waited && call->pid != last;
    last = call->pid;
    return elsewhere;
}

static void *work(void *unused)
{
    unshare(CLONE_FS); /* a umask of its own */
    for (;;) {
        struct seccomp_notif notification;
        memset(&notification, 0, sizeof notification);
        int64_t before = now_ns();
        if (ioctl(listener, SECCOMP_IOCTL_NOTIF_RECV, &notification)) {
            if (errno == EINTR || (errno == ENOENT && is_worn()))
                continue;
            return unused; /* the broker ends with the last process below it */
        }
        bool waited = now_ns() - before > LEAST_WAIT_NS;
        take_turn();
        idle--;
        struct call call = {.notification = &notification, .task = hold_task((pid_t)notification.pid), .elsewhere = is_elsewhere(&notification, waited)};
        handle(&call);
        if (!call.answered)
            answer_error(&call, EPERM);
        let_go(call.task);
        bool enough = ++idle > MOST_IDLE;
        idle -= enough;
        end_turn();
        if (enough)
            return unused;
    }
}

void serve(int fd)
{
    listener = fd;
    /* The caller's processor goes straight to us and back (Linux 6.6): half the time of a call. */
    can_wake_in_place = wake_in_place(true);
    if (!add_worker())
        refuse("there is no thread left for the broker of held system calls. End some programs and try again.");
}
