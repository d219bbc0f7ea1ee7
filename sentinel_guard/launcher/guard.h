/* How the launcher finds the guard, and starts it where none runs.
 *
 * 1. Only `.sentinel` beside the launcher's own file is believed, never the environment.
 * 2. The daemon must belong to the owner of that file.
 * 3. No guard within 2 s is a refusal: nothing runs unguarded (githook.h says what may stand in for it). While somebody
 *    starts it (`start.lock` beside its socket is held), it is waited for, at most 60 s in all,
 *    however many starts fail one after the other.
 */
#ifndef SENTINEL_GUARD_H
#define SENTINEL_GUARD_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include <sys/un.h>

struct guard {
    char file[PATH_MAX]; /* the launcher's own file */
    const char *name;    /* its base name */
    uid_t owner;
    char settings[65536]; /* `.sentinel`, lines cut into strings */
    const char *socket, *python, *session;
    const char *secret; /* that the daemon must prove to know, at most 64 bytes; empty: none */
    const char *renew; /* what gives it anew */
    bool needed;       /* waited for where it does not listen; else the first try decides */
    bool starts;       /* started where it does not listen */
    int64_t until;     /* of now_ms(): by then who called has to have an answer; 0: no such time */
};

/* Fills in the name of the launcher's own file. */
void find_self(struct guard *guard);

/* Reads `.sentinel`; refuses where it is missing or incomplete. */
void find_guard(struct guard *guard);

/* The value of a line of `.sentinel`; NULL where there is none of this name. */
const char *find_setting(const struct guard *guard, const char *name);

/* A non-blocking connection. Starts the daemon at most once, where it may and nobody else does, and tries for 2 s in all,
 * however often it is called; the time in which the daemon is being started does not count. */
int connect_guard(const struct guard *guard);

/* Refuses where the daemon that was connected to last is stopped (SIGSTOP): it would never answer. */
void require_running(void);

#endif
