/* Running the program as a child that cannot tell (docs/protocol.md, "Supervise"). */
#ifndef SENTINEL_SUPERVISE_H
#define SENTINEL_SUPERVISE_H

#include <stdbool.h>

#include "wire.h"

/* An exit code of the wire: 0-255, or 256 + n for death by signal n. */
enum { BY_SIGNAL = 256 };

/* Becomes that program; a script without #! is run by /bin/sh, as execvp does. Returns only where it cannot. */
void become(const char *path, char **argv);

/* Runs it, tells the guard how it ended, says what the guard answers, ends as the program did. With ends_at_success no
 * answer is awaited where it ended with 0. */
_Noreturn void supervise(int guard, struct reader *reader, bool ends_at_success, const char *path, char **argv);

/* Ends with an exit code of the wire. */
_Noreturn void leave(uint32_t code);

#endif
