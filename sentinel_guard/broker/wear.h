/* The agent's first process: wears the filter, hands the listener over, becomes the agent. */
#ifndef SENTINEL_WEAR_H
#define SENTINEL_WEAR_H

#include <stdint.h>
#include <sys/types.h>

/* What comes with the listener: a text in the memory of who wears the filter, by which the broker finds out whether it can
 * be read (Yama, AppArmor). */
struct worn {
    uint64_t address;
    pid_t pid;
};

#define READABLE "the memory of the session can be read"

/* `line`: a Unix socket at whose other end the broker waits. Refuses with words where the filter cannot be worn. */
_Noreturn void wear(int line, const char *path, char *argv[]);

#endif
