/* Whether a number still is the task that it was: the kernel gives numbers anew (task_identity.c). */
#ifndef SENTINEL_TASK_IDENTITY_H
#define SENTINEL_TASK_IDENTITY_H

#include <stdbool.h>
#include <sys/types.h>

/* What stands for the task that has this number now, a thread too, and for no later one; -1 with errno. Closed by who has
 * it. */
int open_identity(pid_t tid);

/* Whether its number may be another's by now. */
bool has_ended(int identity);

#endif
