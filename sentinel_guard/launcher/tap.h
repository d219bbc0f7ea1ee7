/* A tap: one of the child's streams goes through a pipe of ours, and its last 64 KiB are kept.
 *
 * 1. Only pipes and stream sockets are tapped. A terminal, a file, /dev/null is given to the child untouched.
 * 2. Where both streams are one pipe (2>&1) they share one tap: the order of what is written stays.
 * 3. When the reader goes away, our pipe is closed at once, so that the child gets SIGPIPE as it would without us.
 * 4. When the child closes its standard output early, its reader sees the end early.
 * 5. We never block on a slow reader, nor change the mode of a descriptor that others share.
 */
#ifndef SENTINEL_TAP_H
#define SENTINEL_TAP_H

#include <poll.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

enum { TAIL = 65536, TAPS = 2 };

struct tail {
    size_t size;
    char bytes[TAIL];
};

struct tap {
    int stream;    /* 1 or 2 */
    bool used;     /* false: the child has the stream itself */
    bool shared;   /* both streams go through this tap */
    int child_end; /* write end of our pipe, for the child */
    int from;      /* read end of our pipe; -1 when at its end or given up */
    int to;        /* where it goes, without blocking */
    bool socket, blocks;
    off_t began;            /* for a regular file: where the child's output begins, else -1 */
    size_t start, end;      /* what is read and not yet written, in `held` */
    size_t left;            /* bytes that may still be read, once the child has ended */
    struct tail tail;
    char held[TAIL];
};

/* Makes the taps of streams 1 and 2: taps[0] and taps[1], which are zero before. */
void begin_taps(struct tap taps[TAPS]);

/* In the child: puts the pipes in the streams' places. */
void wear_taps(const struct tap taps[TAPS]);

/* In the launcher, once the child has its ends: what it need not wait for. */
void ready_taps(struct tap taps[TAPS]);

/* What to wait for: two entries a tap, then moves what can be moved. */
void poll_tap(const struct tap *tap, struct pollfd wait[2]);
void move_tap(struct tap *tap, const struct pollfd seen[2]);

/* From now on only what is in the pipe is taken. */
void end_tap(struct tap *tap);
bool tap_done(const struct tap *tap);

/* The last 64 KiB of a stream (1 or 2), or NULL where it was not seen. */
const struct tail *tail_of(struct tap taps[TAPS], int stream);

/* Where a background job still holds a pipe, a detached process goes on copying until that job ends. */
void hand_over(struct tap taps[TAPS]);

#endif
