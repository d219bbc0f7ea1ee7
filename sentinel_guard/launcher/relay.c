/* The detached relay: what is left of a tap when the child has ended before its background jobs. */
#include <signal.h>
#include <stdint.h>
#include <unistd.h>

#include "base.h"
#include "tap.h"

static bool others_hold(const struct tap *t)
{
    struct pollfd p = {.fd = t->from, .events = POLLIN};
    if (t->start < t->end)
        return true;
    return t->from >= 0 && !(poll(&p, 1, 0) == 1 && (p.revents & POLLHUP) && !(p.revents & POLLIN));
}

static bool needed(const struct tap taps[TAPS], int fd)
{
    for (int i = 0; i < TAPS; i++)
        if (fd == taps[i].from || fd == taps[i].to)
            return true;
    return false;
}

/* Anything else that stayed open would keep some reader, writer or folder waiting for us. */
static void close_all_but(const struct tap taps[TAPS])
{
    int fd = 0, highest = 0;
    for (int i = 0; i < TAPS; i++) {
        highest = taps[i].from > highest ? taps[i].from : highest;
        highest = taps[i].to > highest ? taps[i].to : highest;
    }
    for (; fd <= highest; fd++)
        if (!needed(taps, fd))
            close(fd);
    close_from(fd);
}

static _Noreturn void copy_to_the_end(struct tap taps[TAPS])
{
    struct pollfd p[2 * TAPS];
    for (;;) {
        for (int i = 0; i < TAPS; i++)
            poll_tap(&taps[i], &p[2 * i]);
        if (tap_done(&taps[0]) && tap_done(&taps[1]))
            _exit(0);
        poll(p, 2 * TAPS, -1);
        for (int i = 0; i < TAPS; i++)
            move_tap(&taps[i], &p[2 * i]);
    }
}

void hand_over(struct tap taps[TAPS])
{
    if (!others_hold(&taps[0]) && !others_hold(&taps[1]))
        return;
    if (fork() != 0)
        return;
    setsid();
    if (chdir("/") < 0)
        _exit(EXIT_REFUSED);
    close_all_but(taps);
    for (int i = 0; i < TAPS; i++)
        if (taps[i].from >= 0)
            taps[i].left = SIZE_MAX;
    copy_to_the_end(taps);
}
