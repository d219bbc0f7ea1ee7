/* One call at a time is judged and made. Nothing tells a call that blocks from another before the kernel is asked, so none
 * gives its turn away by itself: a watcher does it where one lasts, as Go's runtime does with its processors (sysmon). */
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "serve.h"
#include "turn.h"

/* A call that blocks has lasted for one to two looks. Without calls for so many looks none is taken until the next. */
enum { LOOK_MS = 20, IDLE_LOOKS = 50 };

static sem_t turn, call_begins;
static _Atomic uint64_t begun;    /* calls that may block, ever */
static _Atomic uint64_t blocking; /* the one of whose turn it is; 0: none */
static _Thread_local uint64_t own;
static atomic_bool watcher_sleeps;
static atomic_uint given_away; /* calls that go on without their turn */

void take_turn(void)
{
    while (sem_wait(&turn))
        ; /* a signal */
}

void end_turn(void)
{
    sem_post(&turn);
}

void begin_blocking(void)
{
    atomic_store(&blocking, own = ++begun);
    if (atomic_load(&watcher_sleeps) && atomic_exchange(&watcher_sleeps, false))
        sem_post(&call_begins);
}

void end_blocking(void)
{
    uint64_t running = own;
    int why = errno;
    if (!atomic_compare_exchange_strong(&blocking, &running, 0)) {
        take_turn();
        atomic_fetch_sub(&given_away, 1);
    }
    errno = why;
}

bool others_run(void)
{
    return atomic_load(&given_away) > 0;
}

/* It takes the turn again at its end: it is not the one that blocks any more. */
static void give_away(uint64_t call)
{
    if (!atomic_compare_exchange_strong(&blocking, &call, 0))
        return;
    atomic_fetch_add(&given_away, 1);
    keep_serving();
    end_turn();
}

static void sleep_until_a_call(void)
{
    atomic_store(&watcher_sleeps, true);
    if (atomic_load(&blocking) && atomic_exchange(&watcher_sleeps, false))
        return; /* it began before that could be seen */
    while (sem_wait(&call_begins))
        ;
}

static void *watch(void *unused)
{
    uint64_t last = 0;
    for (int idle = 0;; poll(NULL, 0, LOOK_MS)) {
        uint64_t call = atomic_load(&begun);
        bool same = call == last;
        if (same && call && call == atomic_load(&blocking))
            give_away(call);
        idle = same ? idle + 1 : 0;
        last = call;
        if (idle < IDLE_LOOKS)
            continue;
        sleep_until_a_call();
        idle = 0;
    }
    return unused;
}

bool watch_turns(void)
{
    pthread_t thread;
    return sem_init(&turn, 0, 1) == 0 && sem_init(&call_begins, 0, 0) == 0 &&
           pthread_create(&thread, NULL, watch, NULL) == 0 && pthread_detach(thread) == 0;
}
