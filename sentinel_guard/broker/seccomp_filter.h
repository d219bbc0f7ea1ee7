/* The filter that a session wears: which system calls are held, refused, or pass (docs/protocol.md). */
#ifndef SENTINEL_SECCOMP_FILTER_H
#define SENTINEL_SECCOMP_FILTER_H

#include <stdbool.h>

/* Landlock (ABI 6): no signal to, no trace of what is outside of the session. False where the kernel has it not. */
bool scope_signals(void);

/* Sets no_new_privs and wears the filter; a listener for what it holds, or -1 with errno. `scoped`: as above. */
int wear_filter(bool scoped);

/* Takes from the broker what it never needs: whoever came to rule it could start no program, take no other identity and
 * reach no network. What it starts afterwards, its threads, is the same. */
bool drop_own_rights(void);

#endif
