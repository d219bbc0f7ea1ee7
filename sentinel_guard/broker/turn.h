/* Whose turn it is (turn.c). */
#ifndef SENTINEL_TURN_H
#define SENTINEL_TURN_H

#include <stdbool.h>

/* Taken by whoever judges and acts: nothing of the session is renamed in between. Also while rules are exchanged. */
void take_turn(void);
void end_turn(void);

/* Around what may take for ever (a FUSE server that has died, a network folder, a lease, a serial line): where it does, the
 * next has the turn meanwhile, and this one goes on when it has it again. */
void begin_blocking(void);
void end_blocking(void);
/* Whether one whose turn was given away still runs: a folder may be moved at any moment. */
bool others_run(void);

/* One call of the kernel, whose arguments are the caller's own: what is shared may change meanwhile. */
#define BLOCKING(call)                                                                                                 \
    __extension__({                                                                                                    \
        begin_blocking();                                                                                              \
        __typeof__(call) result_ = (call);                                                                             \
        end_blocking();                                                                                                \
        result_;                                                                                                       \
    })

/* Starts to watch over calls that block. False: there is no thread left. */
bool watch_turns(void);

#endif
