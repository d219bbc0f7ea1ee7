#include "obey.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ask.h"
#include "base.h"
#include "hmac.h"
#include "signals.h"
#include "supervise.h"

#ifndef BUSY_MS
#define BUSY_MS 60000 /* as long as a daemon that starts is waited for */
#endif
#ifndef LOAD
#define LOAD "/proc/loadavg"
#endif
enum { LAST_SIGNAL = 64 };

static bool valid_variable(const struct chunk *c)
{
    return c->size && *c->body != '=' && !has_nul(c);
}

static bool valid_exit(const struct chunk *c)
{
    return c->size == 4 && number(c) != BY_SIGNAL && number(c) <= BY_SIGNAL + LAST_SIGNAL;
}

static bool valid(const struct chunk *c)
{
    switch (c->tag) {
    case 'P':
        return c->size && (*c->body == '1' || *c->body == '2');
    case 'E':
        return valid_variable(c);
    case 'A':
        return !has_nul(c);
    case 'X':
    case 'S':
        return *c->body == '/' && !has_nul(c);
    case 'H':
        return c->size == 4;
    case 'Q':
        return true;
    case 'F':
        return !c->size;
    case 'K':
        return c->size == DIGEST;
    case 'Z':
        return valid_exit(c);
    default:
        return false;
    }
}

static bool is_last(const struct chunk *c)
{
    return strchr("XSHQZ", c->tag) != NULL;
}

static bool is_verdict(const struct chunk *c)
{
    return strchr("PHQK", c->tag) || (c->tag == 'Z' && number(c) <= EXIT_VERDICT_REFUSED);
}

/* What a refusal without a form says, from its `403 SENTINEL BLOCKED: ` on. */
static const char *words_of(const struct message *answer)
{
    static const char opening[] = "403 SENTINEL BLOCKED: ";
    for (size_t i = 0; i < answer->count; i++)
        if (answer->chunks[i].tag == 'P') {
            const char *said = answer->chunks[i].body + 1;
            return strncmp(said, opening, sizeof opening - 1) == 0 ? said + sizeof opening - 1 : said;
        }
    return "the guard gave no reason.";
}

static bool is_refusal(const struct message *answer)
{
    for (size_t i = 0; i < answer->count; i++)
        if (answer->chunks[i].tag == 'Z')
            return number(&answer->chunks[i]) == EXIT_REFUSED;
    return false;
}

static void require_valid(const struct errand *e)
{
    const struct message *answer = &e->reader.message;
    bool last = false;
    for (size_t i = 0; i < answer->count; i++) {
        const struct chunk *c = &answer->chunks[i];
        if (!valid(c))
            refuse("the guard's answer '%c' is not understood. Stop the daemon and start it again with 'sentinel-guard "
                   "daemon start'; launcher and daemon must be of one version.",
                   c->tag);
        if (e->verdict && !is_verdict(c))
            refuse("the guard daemon does not judge it. Stop it with 'sentinel-guard daemon stop': it may be of another "
                   "version.");
        if (e->hook && !strchr("PHZK", c->tag))
            refuse("the guard daemon does not judge it. Stop it with 'sentinel-guard daemon stop': it may be of another "
                   "version.");
        last |= is_last(c);
    }
    if (e->hook && is_refusal(answer))
        refuse("%s", words_of(answer));
    if (!last)
        refuse("the guard's answer does not say what to do. Stop the daemon and start it again with 'sentinel-guard "
               "daemon start'.");
}

/* Compared without a hint of how much of it was right. */
static bool is_proof(const struct errand *e, const struct chunk *c)
{
    unsigned char wanted[DIGEST], differ = 0;
    const char *secret = e->guard->secret;
    hmac(secret, strlen(secret), e->request.at, e->request.size, wanted);
    for (size_t i = 0; i < DIGEST; i++)
        differ |= wanted[i] ^ (unsigned char)c->body[i];
    return !differ;
}

/* Words and a refusal let nothing run: the daemon may give them before it knows who asks. */
static bool only_refuses(const struct message *answer)
{
    for (size_t i = 0; i < answer->count; i++)
        if (answer->chunks[i].tag != 'P' && (answer->chunks[i].tag != 'Z' || number(&answer->chunks[i]) != EXIT_REFUSED))
            return false;
    return true;
}

static void require_proof(struct errand *e)
{
    const struct message *answer = &e->reader.message;
    if (!*e->guard->secret || only_refuses(answer))
        return;
    for (size_t i = 0; !e->proved && i < answer->count; i++)
        e->proved = answer->chunks[i].tag == 'K' && is_proof(e, &answer->chunks[i]);
    if (!e->proved)
        refuse("what answers at %s is not this user's guard daemon: it does not know the secret beside the launcher. The "
               "user ends it, then runs 'sentinel-guard daemon start'.",
               e->guard->socket);
}

/* Who called waits no longer than until then. */
static int in_time(const struct errand *e, int milliseconds)
{
    int64_t left = e->guard->until - now_ms();
    if (!e->guard->until || (milliseconds >= 0 && milliseconds <= left))
        return milliseconds;
    return left > 0 ? (int)left : 0;
}

static void connect_again(struct errand *e)
{
    if (e->connection >= 0)
        close(e->connection);
    forget(&e->reader);
    e->proved = false;
    e->connection = connect_guard(e->guard);
    /* A daemon that refuses a request while it is sent has answered: so a failed send is no reason not to read. */
    if (send_message(e->connection, &e->request, in_time(e, e->patience)) == WIRE_LATE)
        refuse("the guard took no request within %d ms. See what it does with 'sentinel-guard status'.", e->patience);
}

/* Whether far more wants to run than there are processors: a daemon that is silent may be one that gets no turn. */
static bool is_machine_busy(void)
{
    char text[128];
    int fd = open(LOAD, O_RDONLY | O_CLOEXEC), running = 0;
    ssize_t size = fd < 0 ? 0 : read(fd, text, sizeof text - 1);
    if (fd >= 0)
        close(fd);
    text[size > 0 ? size : 0] = 0;
    return sscanf(text, "%*s %*s %*s %d", &running) == 1 && running > 2 * sysconf(_SC_NPROCESSORS_ONLN);
}

static void next_answer(struct errand *e, int milliseconds)
{
    int64_t asked = now_ms();
    for (;;) {
        milliseconds = in_time(e, milliseconds);
        switch (read_message(e->connection, &e->reader, milliseconds)) {
        case WIRE_MESSAGE:
            require_valid(e);
            require_proof(e);
            return;
        case WIRE_CLOSED:
            connect_again(e);
            milliseconds = e->patience;
            break;
        case WIRE_LATE:
            if (milliseconds > 0 && !e->reader.scanned && now_ms() - asked < BUSY_MS && is_machine_busy())
                break;
            refuse("the guard gave no answer within %d ms. See what it does with 'sentinel-guard status'.",
                   (int)(now_ms() - asked));
        case WIRE_GARBAGE:
            refuse("what the guard answers is not the protocol. Stop the daemon and start it again with "
                   "'sentinel-guard daemon start'.");
        }
    }
}

static void set_variable(char *text)
{
    char *equals = strchr(text, '=');
    if (!equals) {
        unsetenv(text);
        return;
    }
    *equals = 0;
    setenv(text, equals + 1, 1);
}

/* The arguments that the answer names, or our own. */
static char **arguments(const struct errand *e)
{
    const struct message *answer = &e->reader.message;
    char **argv = grow(NULL, (answer->count + 1) * sizeof *argv);
    size_t n = 0;
    for (size_t i = 0; i < answer->count; i++)
        if (answer->chunks[i].tag == 'A')
            argv[n++] = answer->chunks[i].body;
    argv[n] = NULL;
    return n ? argv : e->argv;
}

static _Noreturn void execute(const char *path, char **argv)
{
    give_signals_back();
    become(path, argv);
    refuse("%s cannot be started: %s.", path, strerror(errno));
}

/* Waits for a person as long as it takes; the guard's own clock ends a question that nobody answers. */
static int reply(const struct errand *e, const struct chunk *c)
{
    enum reply said = ask(c->body, c->size, e->connection);
    struct bytes message = {0};
    if (said != GUARD_SPOKE) {
        char letter = (char)said;
        put_chunk(&message, 'R', &letter, 1);
        put_end(&message);
        send_message(e->connection, &message, FIRST_ANSWER_MS);
        free(message.at);
    }
    return FIRST_ANSWER_MS;
}

static int hold(uint32_t milliseconds)
{
    return milliseconds == 0 || milliseconds > INT32_MAX ? -1 : (int)milliseconds;
}

/* Obeys up to the first verb that ends or waits; returns how long to wait for the next answer. */
static int obey(struct errand *e)
{
    for (size_t i = 0;; i++) {
        const struct chunk *c = &e->reader.message.chunks[i];
        switch (c->tag) {
        case 'K':
            break;
        case 'P':
            write_all(*c->body - '0', c->body + 1, c->size - 1);
            break;
        case 'E':
            set_variable(c->body);
            break;
        case 'F':
            e->ends_at_success = true;
            break;
        case 'X':
            execute(c->body, arguments(e));
        case 'S':
            watch_silence(NULL); /* from here on its answer changes nothing */
            supervise(e->connection, &e->reader, e->ends_at_success, c->body, arguments(e));
        case 'H':
            return hold(number(c));
        case 'Q':
            return reply(e, c);
        case 'Z':
            leave(number(c));
        }
    }
}

void run_errand(struct errand *e)
{
    int milliseconds = e->patience;
    e->connection = -1;
    watch_silence(require_running);
    connect_again(e);
    for (;;) {
        next_answer(e, milliseconds);
        milliseconds = obey(e);
    }
}
