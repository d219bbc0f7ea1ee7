/* A path on foot (resolve_path.c). */
#ifndef SENTINEL_WALK_PATH_H
#define SENTINEL_WALK_PATH_H

#include "broker.h"

bool is_proc(int fd);

/* The broker's own /proc entry, reached by a link to /proc/self: never on a program's behalf. */
bool is_own_process(const char *real);

/* The number of a known task in a /proc: that of the broker's process namespace, or of the task's own. */
pid_t number_in(const struct task *task, int proc);

/* The folder that a path leads to from `base`, with the task's own "self" on the way; -1 with errno. */
int walk(struct task *task, int base, const char *path);

#endif
