/* Signals: what was inherited goes to the program unchanged.
 *
 * While a child runs, every signal is blocked and read as data, so no disposition changes that exec would show. Two
 * must change, SIGPIPE (a print must not end us) and SIGCHLD (where ignored, no exit code would be left to read).
 */
#ifndef SENTINEL_SIGNALS_H
#define SENTINEL_SIGNALS_H

#include <stdbool.h>
#include <sys/types.h>

void take_signals(void);

/* Mask and dispositions as they were inherited. */
void give_signals_back(void);

/* Blocks every signal; returns a descriptor to read them from. */
int read_signals(void);

/* Passes on what was sent to us alone. False where nothing is left to read. True in `*asked` for a signal that a person
 * or program sent (not SIGCHLD, SIGCONT, SIGWINCH). */
bool next_signal(int fd, pid_t child, bool stopped, bool *asked);

/* Stops as the child did, and returns when continued. */
void stop_by(int signal);

/* Ends by that signal, without a core dump of our own. */
_Noreturn void die_by(int signal);

#endif
