/* The face of a git hook (docs/protocol.md, "A git hook").
 *
 * 1. No daemon is started for it, and none is needed: outside of a session a hook that gets no answer becomes
 *    `python -m sentinel_guard hook`, with all that git sent on standard input.
 * 2. Where SENTINEL_SESSION is set there is no such way out: no answer is a refusal.
 * 3. Standard input is read only where git sends something: any other hook has the user's, which may never end.
 * 4. Outside of a session a ref transaction that nobody judges goes on; there are too many of them for a process each.
 */
#ifndef SENTINEL_GITHOOK_H
#define SENTINEL_GITHOOK_H

#include <stdbool.h>

#include "guard.h"
#include "wire.h"

/* Whether git waits for an answer at all. */
bool githook_is_asked(char **argv);

bool githook_reads(char **argv);

/* From now on what would be a refusal is a judgement of its own, where that may be. */
void githook_may_stand_alone(const struct guard *guard, char **argv, const struct bytes *input);

#endif
