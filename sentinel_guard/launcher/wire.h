/* Frames <-> chunks (docs/protocol.md): the C half of core/wire_framing.py.
 *
 * 1. A message is chunks `tag(1) length(4, little-endian) bytes`, closed by the end chunk ('.', length 0).
 * 2. A chunk over MAX_CHUNK or a message over MAX_MESSAGE is refused before it is buffered.
 * 3. Nothing is guessed: bytes that cannot be a frame are garbage.
 */
#ifndef SENTINEL_WIRE_H
#define SENTINEL_WIRE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { MAX_CHUNK = 4 << 20, MAX_MESSAGE = 8 << 20, HEAD = 5 };

/* Bytes that grow. All zero is empty. */
struct bytes {
    char *at;
    size_t size, room;
};

struct chunk {
    char tag;
    size_t size;
    char *body; /* followed by a NUL that is not part of it */
};

/* Valid until the next read_message of its reader. */
struct message {
    struct chunk *chunks;
    size_t count;
};

/* What has come from a connection, and how far it is understood. All zero is a fresh one. */
struct reader {
    struct bytes buffer;
    size_t done;    /* bytes of messages that were handed out */
    size_t scanned; /* bytes of whole chunks of the next message, from `done` */
    struct message message;
    size_t room;
};

enum wire { WIRE_MESSAGE, WIRE_CLOSED, WIRE_LATE, WIRE_GARBAGE };

void put(struct bytes *out, const void *data, size_t size);
void put_chunk(struct bytes *out, char tag, const void *body, size_t size);
void put_number(struct bytes *out, char tag, uint32_t number);
void put_end(struct bytes *out);

/* The number that a body of 4 bytes holds. */
uint32_t number(const struct chunk *chunk);
bool has_nul(const struct chunk *chunk);

void forget(struct reader *reader);

/* What is called after each WATCH_MS in which the other side neither took nor sent a byte; NULL for nothing. */
enum { WATCH_MS = 2000 };
void watch_silence(void (*look)(void));

/* Sends a whole message on a non-blocking socket. */
enum wire send_message(int fd, const struct bytes *message, int milliseconds);

/* Waits for a whole message, at most so long; a negative time waits without limit. */
enum wire read_message(int fd, struct reader *reader, int milliseconds);

#endif
