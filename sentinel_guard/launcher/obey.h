/* The guard's answer, and doing as it says (docs/protocol.md, "Daemon to launcher").
 *
 * 1. An answer is understood as a whole before any of it is obeyed; a verb we do not know is a refusal.
 * 2. Without a verb that says how it goes on or ends (X S H Q Z) it is a refusal too.
 * 3. Where a verdict is asked for, what would run a program is none, nor is an exit code other than 0 and 1.
 *    A hook may end with any code, but 126: that is a refusal in words, which the launcher puts into its form.
 * 4. The first answer on a connection proves that the daemon knows the session's secret, where there is one.
 * 5. Where the connection closes before a whole answer was there, the question is asked again: nothing has run yet.
 */
#ifndef SENTINEL_OBEY_H
#define SENTINEL_OBEY_H

#include "guard.h"
#include "wire.h"

struct errand {
    const struct guard *guard;
    struct bytes request;
    char **argv;  /* for the program to run, where the answer gives none */
    int patience; /* milliseconds to wait for the first answer */
    bool verdict; /* only a yes (exit code 0) or a no (1) is an answer, and nothing is run */
    bool hook;    /* only words and an exit code are an answer; 126 is refused in the client's form */
    int connection;
    bool ends_at_success; /* the guard has nothing to say of a program that ends with 0 */
    bool proved; /* that who answers on this connection knows the session's secret */
    struct reader reader;
};

#ifndef FIRST_ANSWER_MS
#define FIRST_ANSWER_MS 10000 /* on a busy machine longer, in all BUSY_MS: a daemon that has ended closes the connection */
#endif

/* Asks, waits, obeys. */
_Noreturn void run_errand(struct errand *errand);

#endif
