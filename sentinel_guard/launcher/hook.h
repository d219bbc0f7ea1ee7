/* The face of an agent's own hook (docs/protocol.md, "A hook of an agent").
 *
 * 1. `.sentinel` says, for each client and event, how long the client waits and the form in which it reads a refusal:
 *    an exit code that one client obeys lets the tool of another one run.
 * 2. Whatever the launcher refuses by itself, or the daemon with exit code 126, is said in that form, before that time
 *    is over. A form that is empty stands for an event at which nothing can be stopped: nothing is said.
 * 3. Only words, a hold and an exit code are an answer: a hook runs no program.
 */
#ifndef SENTINEL_HOOK_H
#define SENTINEL_HOOK_H

#include "guard.h"

/* From now on every refusal has the form of this client and event, where `.sentinel` has one. */
void hook_refuses_in_form(struct guard *guard, char **argv);

#endif
