#include "wire.h"

#include <ctype.h>
#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>

#include "base.h"

static void reserve(struct bytes *b, size_t more)
{
    if (b->room - b->size >= more)
        return;
    b->room = (b->size + more) * 2;
    b->at = grow(b->at, b->room);
}

void put(struct bytes *out, const void *data, size_t size)
{
    reserve(out, size);
    if (size)
        memcpy(out->at + out->size, data, size);
    out->size += size;
}

static void put_head(struct bytes *out, char tag, size_t size)
{
    unsigned char head[HEAD] = {(unsigned char)tag, size & 255, size >> 8 & 255, size >> 16 & 255, size >> 24 & 255};
    put(out, head, HEAD);
}

void put_chunk(struct bytes *out, char tag, const void *body, size_t size)
{
    if (size > MAX_CHUNK || out->size + size + 2 * HEAD > MAX_MESSAGE)
        refuse("what it was given is larger than the guard reads (%d MiB in all). Split it, or pass it in a file.",
               MAX_MESSAGE >> 20);
    put_head(out, tag, size);
    put(out, body, size);
}

void put_number(struct bytes *out, char tag, uint32_t n)
{
    unsigned char body[4] = {n & 255, n >> 8 & 255, n >> 16 & 255, n >> 24 & 255};
    put_chunk(out, tag, body, sizeof body);
}

void put_end(struct bytes *out)
{
    put_head(out, '.', 0);
}

static uint32_t little_endian(const char *at)
{
    const unsigned char *u = (const unsigned char *)at;
    return u[0] | (uint32_t)u[1] << 8 | (uint32_t)u[2] << 16 | (uint32_t)u[3] << 24;
}

uint32_t number(const struct chunk *chunk)
{
    return little_endian(chunk->body);
}

bool has_nul(const struct chunk *chunk)
{
    return memchr(chunk->body, 0, chunk->size) != NULL;
}

void forget(struct reader *reader)
{
    reader->buffer.size = reader->done = reader->scanned = reader->message.count = 0;
}

static void (*look_at_silence)(void);

void watch_silence(void (*look)(void))
{
    look_at_silence = look;
}

/* Milliseconds until the earlier of both; a negative deadline never passes. */
static int time_left(int64_t deadline, int64_t glance)
{
    int64_t until = deadline < 0 || (glance >= 0 && glance < deadline) ? glance : deadline;
    int64_t left = until - now_ms();
    return until < 0 ? -1 : left < 0 ? 0 : (int)left;
}

/* Waits until the socket is ready or the deadline has passed; a negative deadline never passes. */
static bool ready(int fd, short events, int64_t deadline)
{
    int64_t glance = look_at_silence ? now_ms() + WATCH_MS : -1;
    for (;;) {
        int n = poll(&(struct pollfd){.fd = fd, .events = events}, 1, time_left(deadline, glance));
        if (n > 0)
            return true;
        if (n < 0 && errno != EINTR)
            return false;
        if (glance >= 0 && now_ms() >= glance) {
            look_at_silence();
            glance = now_ms() + WATCH_MS;
        }
        if (deadline >= 0 && now_ms() >= deadline)
            return false;
    }
}

static int64_t deadline_in(int milliseconds)
{
    return milliseconds < 0 ? -1 : now_ms() + milliseconds;
}

enum wire send_message(int fd, const struct bytes *message, int milliseconds)
{
    int64_t deadline = deadline_in(milliseconds);
    for (size_t sent = 0; sent < message->size;) {
        ssize_t n = send(fd, message->at + sent, message->size - sent, MSG_NOSIGNAL);
        if (n >= 0)
            sent += (size_t)n;
        else if (errno == EAGAIN && !ready(fd, POLLOUT, deadline))
            return WIRE_LATE;
        else if (errno != EAGAIN && errno != EINTR)
            return WIRE_CLOSED;
    }
    return WIRE_MESSAGE;
}

static void drop_last_message(struct reader *r)
{
    r->message.count = 0;
    if (!r->done)
        return;
    r->buffer.size -= r->done;
    memmove(r->buffer.at, r->buffer.at + r->done, r->buffer.size);
    r->done = 0;
}

static void append(struct reader *r, struct chunk chunk)
{
    if (r->message.count == r->room) {
        r->room = r->room ? r->room * 2 : 16;
        r->message.chunks = grow(r->message.chunks, r->room * sizeof chunk);
    }
    r->message.chunks[r->message.count++] = chunk;
}

/* The buffer has moved while it grew, so bodies are placed once all is there. The byte after a body is the tag of
 * the next chunk, already read: it becomes the NUL. */
static void place_bodies(struct reader *r)
{
    size_t at = 0;
    for (size_t i = 0; i < r->message.count; i++) {
        struct chunk *c = &r->message.chunks[i];
        c->body = r->buffer.at + at + HEAD;
        c->body[c->size] = 0;
        at += HEAD + c->size;
    }
}

static bool refused(const struct reader *r, char tag, size_t size)
{
    return !(isalnum((unsigned char)tag) || tag == '.') || size > MAX_CHUNK || r->scanned + size > MAX_MESSAGE;
}

/* WIRE_LATE while bytes are missing. */
static enum wire scan(struct reader *r)
{
    while (r->buffer.size - r->scanned >= HEAD) {
        const char *head = r->buffer.at + r->scanned;
        size_t size = little_endian(head + 1);
        if (refused(r, *head, size))
            return WIRE_GARBAGE;
        if (r->buffer.size - r->scanned - HEAD < size)
            return WIRE_LATE;
        r->scanned += HEAD + size;
        if (*head == '.' && size)
            return WIRE_GARBAGE;
        if (*head == '.') {
            r->done = r->scanned;
            r->scanned = 0;
            place_bodies(r);
            return WIRE_MESSAGE;
        }
        append(r, (struct chunk){.tag = *head, .size = size});
    }
    return WIRE_LATE;
}

enum wire read_message(int fd, struct reader *r, int milliseconds)
{
    int64_t deadline = deadline_in(milliseconds);
    drop_last_message(r);
    for (;;) {
        enum wire seen = scan(r);
        if (seen != WIRE_LATE)
            return seen;
        reserve(&r->buffer, 4096);
        ssize_t n = recv(fd, r->buffer.at + r->buffer.size, r->buffer.room - r->buffer.size, MSG_DONTWAIT);
        if (n > 0)
            r->buffer.size += (size_t)n;
        else if (n < 0 && errno == EAGAIN && !ready(fd, POLLIN, deadline))
            return WIRE_LATE;
        else if (n == 0 || (errno != EAGAIN && errno != EINTR))
            return WIRE_CLOSED;
    }
}
