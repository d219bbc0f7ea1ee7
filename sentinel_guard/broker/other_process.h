/* What lies in /proc outside of the session: the broker may open what the program may not (other_process.c). */
#ifndef SENTINEL_OTHER_PROCESS_H
#define SENTINEL_OTHER_PROCESS_H

#include "broker.h"

/* Of a folder in /proc, whatever its name. What cannot be told is believed to be another's. */
bool is_of_other_process(struct task *task, int folder);

/* Whether an open file is one of /proc, and another process's; `folder`: in which it was opened, or -1. */
bool opens_other_process(struct task *task, int fd, const struct stat *status, int folder);

#endif
