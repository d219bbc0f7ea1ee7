/* The rules by which a call is ordinary or is asked about: the daemon's, the last whole set (docs/protocol.md). */
#ifndef SENTINEL_RULES_H
#define SENTINEL_RULES_H

#include "../launcher/wire.h"

/* Takes a message of `R` chunks in the place of the rules before. False where it is not understood: those stay. */
bool take_rules(const struct message *message);

#endif
