#include "daemon_link.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

#include "../launcher/base.h"
#include "../launcher/hmac.h"
#include "../launcher/wire.h"
#include "broker.h"
#include "rules.h"
#include "turn.h"

/* What the daemon said last of its log, for the daemon that comes after it. */
static struct bytes newest_entry;

enum { NONCE = 16, ANSWER_MS = 10000, FIRST_RETRY_MS = 100, LAST_RETRY_MS = 5000, YES = 0 };

static const struct daemon_address *daemon_at;

struct link {
    int fd;
    bool proved;
    struct bytes request;
    struct reader reader;
};

void find_daemon(const struct daemon_address *address)
{
    daemon_at = address;
}

static void put_text(struct bytes *out, char tag, const char *text)
{
    put_chunk(out, tag, text, strlen(text));
}

static bool put_head(struct bytes *out, const char *what)
{
    char nonce[NONCE];
    struct bytes challenge = {0};
    if (getrandom(nonce, sizeof nonce, 0) != sizeof nonce)
        return false;
    put_text(out, 'V', "1 " SENTINEL_VERSION);
    put_text(out, 'F', "kernel");
    put(&challenge, nonce, sizeof nonce);
    put(&challenge, daemon_at->session, strlen(daemon_at->session));
    put_chunk(out, 'N', challenge.at, challenge.size);
    free(challenge.at);
    put_text(out, 'C', what);
    return true;
}

static int connect_daemon(void)
{
    struct sockaddr_un at = {.sun_family = AF_UNIX};
    if (strlen(daemon_at->socket) >= sizeof at.sun_path)
        return -1;
    strcpy(at.sun_path, daemon_at->socket);
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd >= 0 && connect(fd, (struct sockaddr *)&at, sizeof at) == 0)
        return fd;
    if (fd >= 0)
        close(fd);
    return -1;
}

static bool send_request(struct link *link)
{
    put_end(&link->request);
    link->fd = connect_daemon();
    return link->fd >= 0 && send_message(link->fd, &link->request, ANSWER_MS) == WIRE_MESSAGE;
}

static void end_link(struct link *link)
{
    if (link->fd >= 0)
        close(link->fd);
    free(link->request.at);
    free(link->reader.buffer.at);
    free(link->reader.message.chunks);
}

/* The next message of a daemon that has proved to know the session's secret. */
static bool hear(struct link *link, int milliseconds)
{
    unsigned char wanted[DIGEST];
    if (read_message(link->fd, &link->reader, milliseconds) != WIRE_MESSAGE)
        return false;
    const struct message *m = &link->reader.message;
    for (size_t i = 0; !link->proved && i < m->count; i++) {
        if (m->chunks[i].tag != 'K' || m->chunks[i].size != DIGEST)
            continue;
        hmac(daemon_at->secret, strlen(daemon_at->secret), link->request.at, link->request.size, wanted);
        link->proved = memcmp(wanted, m->chunks[i].body, DIGEST) == 0;
    }
    return link->proved;
}

/* To the task's own standard error (its open file, so that the next line of the task comes behind it), only where that
 * takes it at once. */
static void say(const struct task *task, const struct chunk *words)
{
    int process = (int)syscall(SYS_pidfd_open, task->tgid, 0);
    int fd = process < 0 ? -1 : (int)syscall(SYS_pidfd_getfd, process, STDERR_FILENO, 0);
    size_t size = words->size - 1 < PIPE_BUF ? words->size - 1 : PIPE_BUF;
    if (fd >= 0 && poll(&(struct pollfd){.fd = fd, .events = POLLOUT}, 1, 0) == 1 && write(fd, words->body + 1, size) < 0)
        errno = 0;
    if (fd >= 0)
        close(fd);
    if (process >= 0)
        close(process);
}

/* Obeys an answer. True: it decides; else `milliseconds` is how long to wait for the next. */
static bool obey(const struct task *task, const struct message *m, int *milliseconds, bool *yes)
{
    for (size_t i = 0; i < m->count; i++) {
        const struct chunk *c = &m->chunks[i];
        if (c->tag == 'P' && c->size > 1)
            say(task, c);
        else if (c->tag == 'H' && c->size == 4) {
            *milliseconds = number(c) && number(c) <= INT32_MAX ? (int)number(c) : -1;
            return false;
        } else if (c->tag == 'Z' && c->size == 4) {
            *yes = number(c) == YES;
            return true;
        } else if (c->tag != 'K')
            break;
    }
    *yes = false;
    return true;
}

/* Of the process: a thread of it has a start time of its own. */
static void put_process(struct bytes *out, const struct task *task)
{
    char text[1024], body[12], path[32];
    unsigned long long start = 0;
    snprintf(path, sizeof path, "/proc/%d/stat", task->tgid);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof text - 1);
    if (fd >= 0)
        close(fd);
    text[n > 0 ? n : 0] = 0;
    const char *behind = strrchr(text, ')');
    if (behind)
        sscanf(behind + 2, "%*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d %*d %*d %llu", &start);
    for (int i = 0; i < 4; i++)
        body[i] = (char)((uint32_t)task->tgid >> 8 * i);
    for (int i = 0; i < 8; i++)
        body[4 + i] = (char)(start >> 8 * i);
    put_chunk(out, 'W', body, sizeof body);
}

static bool put_question(struct bytes *out, const struct task *task, const char *what, const char *object,
                         char *const argv[])
{
    char folder[PATH_MAX];
    if (!put_head(out, what))
        return false;
    put_text(out, 'O', object);
    put_process(out, task);
    for (size_t i = 0; argv && argv[i]; i++)
        put_text(out, 'A', argv[i]);
    ssize_t n = argv ? readlinkat(task->dir, "cwd", folder, sizeof folder) : 0;
    if (n > 0)
        put_chunk(out, 'D', folder, (size_t)n);
    return true;
}

bool ask_daemon(struct call *call, const char *what, const char *object, char *const argv[])
{
    struct link link = {.fd = -1};
    int milliseconds = ANSWER_MS;
    bool yes = false, ready = know_task(call->task) && put_question(&link.request, call->task, what, object, argv);
    begin_wait();
    if (ready && send_request(&link))
        while (hear(&link, milliseconds) && !obey(call->task, &link.reader.message, &milliseconds, &yes))
            ;
    end_link(&link);
    take_turn();
    return yes;
}

static bool take_newest_entry(const struct message *m)
{
    const struct chunk *last = m->count ? &m->chunks[m->count - 1] : NULL;
    if (!last || last->tag != 'T')
        return false;
    newest_entry.size = 0;
    put(&newest_entry, last->body, last->size);
    return true;
}

/* True: the set was whole and is in force, or it was no set. */
static bool hear_rules(struct link *link, int milliseconds)
{
    if (!hear(link, milliseconds))
        return false;
    if (take_newest_entry(&link->reader.message))
        return true;
    return take_rules(&link->reader.message);
}

static bool begin_rules(struct link *link)
{
    *link = (struct link){.fd = -1};
    if (!put_head(&link->request, "rules"))
        return false;
    if (newest_entry.size)
        put_chunk(&link->request, 'T', newest_entry.at, newest_entry.size);
    return send_request(link) && hear_rules(link, ANSWER_MS);
}

/* The last set stays where the daemon is gone; what it asks about is refused then. */
static void *follow(void *begun)
{
    struct link *link = begun;
    for (int pause = FIRST_RETRY_MS;;) {
        while (hear_rules(link, -1))
            pause = FIRST_RETRY_MS;
        end_link(link);
        do {
            poll(NULL, 0, pause);
            pause = pause * 2 < LAST_RETRY_MS ? pause * 2 : LAST_RETRY_MS;
        } while (!begin_rules(link) && (end_link(link), true));
    }
    return NULL;
}

void follow_rules(void)
{
    static struct link link;
    pthread_t thread;
    if (!begin_rules(&link))
        refuse("the guard daemon gives the broker of held system calls no rules. See what it does with 'sentinel-guard "
               "status'.");
    if (pthread_create(&thread, NULL, follow, &link) || pthread_detach(thread))
        refuse("there is no thread left for the broker of held system calls. End some programs and try again.");
}
