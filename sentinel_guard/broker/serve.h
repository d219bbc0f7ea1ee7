/* Serving the listener: workers that each take one held call at a time, under one lock. */
#ifndef SENTINEL_SERVE_H
#define SENTINEL_SERVE_H

#include <pthread.h>

/* Held by whoever judges and acts: nothing of the session is renamed in between. Also while rules are exchanged. */
extern pthread_mutex_t one_at_a_time;

/* Starts to serve. Refuses where no thread can be had. */
void serve(int listener);

#endif
