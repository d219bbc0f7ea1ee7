/* Serving the listener: workers that take the held calls, each in its turn. */
#ifndef SENTINEL_SERVE_H
#define SENTINEL_SERVE_H

/* Starts to serve. Refuses where no thread can be had. */
void serve(int listener);

/* Whoever gives its turn away leaves a worker that takes calls; without a thread for it they wait, and nothing is free. */
void keep_serving(void);

#endif
