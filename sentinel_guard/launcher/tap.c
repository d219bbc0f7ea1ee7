#include "tap.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base.h"

static bool same_file(int one, int other)
{
    struct stat a, b;
    return fstat(one, &a) == 0 && fstat(other, &b) == 0 && a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

/* Datagrams have borders that a pipe loses; a socket that is also standard input is a conversation. */
static bool stream_socket(int fd)
{
    int type = 0;
    socklen_t size = sizeof type;
    return getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &size) == 0 && type == SOCK_STREAM && !same_file(fd, STDIN_FILENO);
}

static bool can_be_tapped(int fd, mode_t mode)
{
    if (S_ISSOCK(mode))
        return stream_socket(fd);
    return S_ISFIFO(mode) && (fcntl(fd, F_GETFL) & O_ACCMODE) != O_RDONLY;
}

static off_t position(int fd, const struct stat *seen)
{
    return fcntl(fd, F_GETFL) & O_APPEND ? seen->st_size : lseek(fd, 0, SEEK_CUR);
}

/* An open file description of our own can be non-blocking without others noticing. */
static void open_target(struct tap *t)
{
    char path[32];
    snprintf(path, sizeof path, "/proc/self/fd/%d", t->stream);
    int own = t->socket ? -1 : open(path, O_WRONLY | O_NONBLOCK | O_CLOEXEC);
    t->to = own < 0 ? t->stream : own;
    t->blocks = !t->socket && own < 0;
}

/* Field by field: what is held stays untouched, 64 pages that are zero and that most commands never need. */
static void no_tap(struct tap *t, int stream)
{
    t->stream = stream;
    t->child_end = t->from = t->to = -1;
    t->began = -1;
}

static void begin_tap(struct tap *t, int stream)
{
    struct stat seen;
    int ends[2];
    no_tap(t, stream);
    t->left = SIZE_MAX;
    if (fstat(stream, &seen) < 0)
        return;
    if (S_ISREG(seen.st_mode))
        t->began = position(stream, &seen);
    if (!can_be_tapped(stream, seen.st_mode) || pipe2(ends, O_CLOEXEC) < 0)
        return;
    t->used = true;
    t->socket = S_ISSOCK(seen.st_mode);
    t->from = ends[0];
    t->child_end = ends[1];
}

void begin_taps(struct tap taps[TAPS])
{
    begin_tap(&taps[0], STDOUT_FILENO);
    if (taps[0].used && same_file(STDOUT_FILENO, STDERR_FILENO)) {
        taps[0].shared = true;
        no_tap(&taps[1], STDERR_FILENO);
        return;
    }
    begin_tap(&taps[1], STDERR_FILENO);
}

void wear_taps(const struct tap taps[TAPS])
{
    for (int i = 0; i < TAPS; i++)
        if (taps[i].used)
            dup2(taps[i].child_end, taps[i].stream);
    if (taps[0].shared)
        dup2(taps[0].child_end, STDERR_FILENO);
}

static void ready_tap(struct tap *t)
{
    close(t->child_end);
    fcntl(t->from, F_SETFL, O_NONBLOCK);
    open_target(t);
}

void ready_taps(struct tap taps[TAPS])
{
    for (int i = 0; i < TAPS; i++)
        if (taps[i].used)
            ready_tap(&taps[i]);
}

/* Standard error stays open for a last hint to the agent. */
static void close_target(struct tap *t)
{
    if (t->to != t->stream)
        close(t->to);
    if (t->stream == STDOUT_FILENO && !t->shared) {
        int null = open("/dev/null", O_WRONLY | O_CLOEXEC);
        dup2(null, STDOUT_FILENO);
        close(null);
    }
    t->to = -1;
}

static void close_source(struct tap *t)
{
    close(t->from);
    t->from = -1;
    t->left = 0;
    if (t->start == t->end)
        close_target(t);
}

static void give_up(struct tap *t)
{
    t->start = t->end = 0;
    if (t->from >= 0)
        close_source(t);
    else
        close_target(t);
}

static void keep(struct tail *tail, const char *data, size_t size)
{
    if (tail->size + size > TAIL) {
        size_t stay = TAIL - size;
        memmove(tail->bytes, tail->bytes + tail->size - stay, stay);
        tail->size = stay;
    }
    memcpy(tail->bytes + tail->size, data, size);
    tail->size += size;
}

static void fill(struct tap *t)
{
    ssize_t n = read(t->from, t->held, t->left < TAIL ? t->left : TAIL);
    if (n > 0) {
        t->start = 0;
        t->end = (size_t)n;
        t->left -= t->left == SIZE_MAX ? 0 : (size_t)n;
        keep(&t->tail, t->held, t->end);
    } else if (n == 0 || errno != EAGAIN) {
        close_source(t);
    }
}

static void flush(struct tap *t)
{
    size_t size = t->end - t->start;
    ssize_t n;
    if (t->socket)
        n = send(t->to, t->held + t->start, size, MSG_DONTWAIT | MSG_NOSIGNAL);
    else /* a pipe that says POLLOUT takes PIPE_BUF bytes without blocking */
        n = write(t->to, t->held + t->start, t->blocks && size > PIPE_BUF ? PIPE_BUF : size);
    if (n >= 0)
        t->start += (size_t)n;
    else if (errno != EAGAIN && errno != EINTR)
        give_up(t);
    if (t->start == t->end && t->from < 0 && t->to >= 0)
        close_target(t);
}

void poll_tap(const struct tap *t, struct pollfd wait[2])
{
    bool holds = t->start < t->end;
    wait[0] = (struct pollfd){.fd = holds || !t->left ? -1 : t->from, .events = POLLIN};
    wait[1] = (struct pollfd){.fd = t->to, .events = holds ? POLLOUT : 0};
}

void move_tap(struct tap *t, const struct pollfd seen[2])
{
    if (seen[1].revents & (POLLERR | POLLHUP | POLLNVAL)) {
        give_up(t);
        return;
    }
    if (seen[0].revents)
        fill(t);
    if (t->start < t->end && (seen[1].revents || !t->blocks))
        flush(t);
}

void end_tap(struct tap *t)
{
    int waiting = 0;
    if (t->from >= 0 && ioctl(t->from, FIONREAD, &waiting) == 0)
        t->left = (size_t)waiting;
}

bool tap_done(const struct tap *t)
{
    return t->start == t->end && (t->from < 0 || !t->left);
}

/* What the child wrote to a file is read back from the file. */
static const struct tail *read_back(struct tap *t)
{
    char path[32];
    snprintf(path, sizeof path, "/proc/self/fd/%d", t->stream);
    off_t from = t->began, to = lseek(t->stream, 0, SEEK_CUR);
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return NULL;
    if (to - from > TAIL)
        from = to - TAIL;
    ssize_t n = to > from ? pread(fd, t->tail.bytes, (size_t)(to - from), from) : 0;
    t->tail.size = n > 0 ? (size_t)n : 0;
    close(fd);
    return &t->tail;
}

const struct tail *tail_of(struct tap taps[TAPS], int stream)
{
    struct tap *t = taps[0].shared ? &taps[0] : &taps[stream - 1];
    if (t->used)
        return &t->tail;
    return t->began < 0 ? NULL : read_back(t);
}
