/* Whether this machine can hold system calls: tried, since a kernel's version proves nothing. */
#ifndef SENTINEL_PROBE_H
#define SENTINEL_PROBE_H

/* Prints "full", "full, slower" or "none: REASON"; 0 where calls can be held. */
int probe(void);

#endif
