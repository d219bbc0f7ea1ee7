#include "ask.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <termios.h>
#include <unistd.h>

#include "base.h"

int open_terminal(void)
{
    struct termios mode;
    /* Most commands have no terminal. An open that only reads is not held, and says so at once. */
    int fd = open("/dev/tty", O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    if (fd < 0)
        return -1;
    close(fd);
    fd = open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY);
    if (fd < 0)
        return -1;
    if (tcgetattr(fd, &mode) == 0 && (mode.c_lflag & ICANON) && tcgetpgrp(fd) == getpgrp())
        return fd;
    close(fd);
    return -1;
}

static enum reply read_reply(int terminal)
{
    char line[4096];
    ssize_t n;
    do
        n = read(terminal, line, sizeof line);
    while (n < 0 && errno == EINTR);
    return n == 2 && (line[0] == 'Y' || line[0] == 'y') && line[1] == '\n' ? YES : NO;
}

static enum reply wait_for_reply(int terminal, int guard)
{
    struct pollfd p[] = {{.fd = terminal, .events = POLLIN}, {.fd = guard, .events = POLLIN}};
    while (poll(p, 2, -1) < 0)
        if (errno != EINTR)
            return NO;
    if (p[0].revents)
        return read_reply(terminal);
    tcflush(terminal, TCIFLUSH);
    write_all(terminal, "\n", 1);
    return GUARD_SPOKE;
}

enum reply ask(const char *text, size_t size, int guard)
{
    int terminal = open_terminal();
    if (terminal < 0)
        return NOBODY;
    enum reply reply = NOBODY;
    if (write_all(terminal, text, size)) {
        tcflush(terminal, TCIFLUSH);
        reply = wait_for_reply(terminal, guard);
    }
    close(terminal);
    return reply;
}
