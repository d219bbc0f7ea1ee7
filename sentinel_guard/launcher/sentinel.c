/* The launcher: one program, five faces. It knows nothing; it asks the guard and obeys (docs/protocol.md).
 *
 * 1. Nothing runs unguarded: where the guard cannot be asked, the launcher says so and ends.
 * 2. What the program was given (arguments, environment, descriptors, signals, umask) reaches it unchanged, unless the
 *    guard's answer says otherwise.
 * 3. Bytes are bytes: no argument, path or variable needs to be text.
 */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ask.h"
#include "base.h"
#include "githook.h"
#include "guard.h"
#include "hook.h"
#include "obey.h"
#include "signals.h"
#include "wire.h"

#ifndef SENTINEL_VERSION
#error "compile with -DSENTINEL_VERSION=\"...\" (hatch_build.py does)"
#endif

/* How long a hook waits for a guard that it could do without. */
enum { ALONE_MS = 2000 };

extern char **environ;

struct face {
    const char *name;
    int refused;         /* exit code */
    const char *subject; /* of a refusal; NULL: the program was not run */
    const char *renew;   /* what gives the settings anew */
};

#define SESSION "Start the session again with 'sentinel-guard run'."
static const struct face shell = {"shell", EXIT_REFUSED, NULL, SESSION};
static const struct face shim = {"shim", EXIT_REFUSED, NULL, SESSION};
static const struct face hook = {"hook", EXIT_HOOK_REFUSED, "the agent's call was not run", SESSION};
static const struct face githook = {"githook", EXIT_VERDICT_REFUSED, "git does not go on",
                                    "Run 'sentinel-guard install' in the repository again."};
static const struct face line = {"line", EXIT_VERDICT_REFUSED, "the line was not run", SESSION};

static bool is_one_of(const char *name, const char *const names[])
{
    for (; *names; names++)
        if (strcmp(name, *names) == 0)
            return true;
    return false;
}

static const struct face *face_of(const char *name)
{
    static const char *const shells[] = {"bash", "sh", "zsh", "dash", "ksh", "fish", NULL};
    if (is_one_of(name, shells))
        return &shell;
    if (strcmp(name, "sentinel-githook") == 0)
        return &githook;
    if (strcmp(name, "sentinel-line") == 0)
        return &line;
    return strcmp(name, "sentinel-hook") == 0 ? &hook : &shim;
}

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    path = slash ? slash + 1 : path;
    return path + (*path == '-'); /* a login shell */
}

/* A caller may give any argv[0]; the name of our own file cannot be made up. Only under the name that the launcher is
 * installed by does argv[0] decide (symbolic links, tests). */
static const char *true_name(const struct guard *guard, const char *called)
{
    return strcmp(guard->name, "sentinel-launcher") == 0 ? base_name(called) : guard->name;
}

/* What was called by the path of a shim is known to itself, and names itself in its messages, by the plain name. */
static void hide_path(char **argv)
{
    struct stat self, called;
    if (strchr(argv[0], '/') && stat("/proc/self/exe", &self) == 0 && lstat(argv[0], &called) == 0 &&
        self.st_ino == called.st_ino && self.st_dev == called.st_dev)
        argv[0] = strrchr(argv[0], '/') + 1;
}

/* A bash that became its shim has left the text of -c in its variable (host/shims.py): it is a word of ours again, and no
 * variable of what runs. */
static char **take_text(char **argv)
{
    static char *words[4];
    char *text = getenv("BASH_EXECUTION_STRING");
    if (!argv[0] || !argv[1] || argv[2] || strcmp(argv[1], "-c") != 0 || !text)
        return argv;
    memcpy(words, argv, 2 * sizeof *words);
    words[2] = text;
    unsetenv("BASH_EXECUTION_STRING");
    return words;
}

static void put_text(struct bytes *out, char tag, const char *text)
{
    put_chunk(out, tag, text, strlen(text));
}

static void put_arguments(struct bytes *out, char **argv, const char *name)
{
    put_text(out, 'A', strcmp(base_name(argv[0]), name) == 0 ? argv[0] : name);
    for (char **a = argv + 1; *a; a++)
        put_text(out, 'A', *a);
}

static void put_directory(struct bytes *out)
{
    char *directory = getcwd(NULL, 0);
    put_text(out, 'D', directory && *directory == '/' ? directory : "");
    free(directory);
}

/* A name may stand there twice, and shells and libc disagree on which counts: the guard sees both. */
static void put_environment(struct bytes *out)
{
    static const char *const names[] = {
        "PATH", "HOME", "SENTINEL_CALL", "SENTINEL_SESSION", "BASH_ENV", "ENV", "LD_PRELOAD", "IFS", "GIT_DIR",
        "GIT_COMMON_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_OBJECT_DIRECTORY", "GIT_ALTERNATE_OBJECT_DIRECTORIES",
        "GIT_QUARANTINE_PATH", "GIT_PREFIX", "GIT_REFLOG_ACTION", "GIT_CONFIG_COUNT", "GIT_CONFIG_PARAMETERS",
        "GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM", "GIT_SSH_COMMAND", "GIT_EXTERNAL_DIFF", "GIT_EDITOR", "GIT_PAGER",
        NULL};
    for (char **v = environ; *v; v++) {
        char name[40] = "";
        size_t length = strcspn(*v, "=");
        bool named = length < sizeof name && (*v)[length] == '=' && is_one_of(memcpy(name, *v, length), names);
        if (named || strncmp(*v, "GITHEAD_", 8) == 0) /* the sides of a merge */
            put_text(out, 'E', *v);
    }
}

static void put_terminals(struct bytes *out)
{
    char seen[8] = "";
    size_t n = 0;
    for (int fd = 0; fd <= 2; fd++)
        if (isatty(fd))
            seen[n++] = (char)('0' + fd);
    int terminal = open_terminal();
    if (terminal >= 0) {
        seen[n++] = 't';
        close(terminal);
    }
    put_text(out, 'T', seen);
}

/* Bytes read, 0 at the end; an agent may have made its pipe non-blocking. */
static size_t read_input(char *at, size_t room)
{
    for (;;) {
        ssize_t n = read(STDIN_FILENO, at, room);
        if (n >= 0)
            return (size_t)n;
        if (errno == EAGAIN)
            poll(&(struct pollfd){.fd = STDIN_FILENO, .events = POLLIN}, 1, -1);
        else if (errno != EINTR)
            return 0;
    }
}

static void take_input(struct bytes *input, size_t most)
{
    size_t n;
    do {
        input->room = input->size + (1 << 16) + input->size;
        input->at = grow(input->at, input->room);
        n = read_input(input->at + input->size, input->room - input->size);
        input->size += n;
        if (input->size > most)
            refuse("what the agent sent is over %d MiB. Do it in smaller steps.", MAX_CHUNK >> 20);
    } while (n);
}

static void put_input(struct bytes *out, const struct bytes *input)
{
    size_t at = 0;
    do {
        size_t size = input->size - at < MAX_CHUNK ? input->size - at : MAX_CHUNK;
        put_chunk(out, 'I', input->at + at, size);
        at += size;
    } while (at < input->size);
}

/* What only who knows the session's secret can answer, and nobody has answered before. */
static void put_challenge(struct bytes *out, const struct guard *guard)
{
    struct bytes body = {0};
    char nonce[16];
    if (!*guard->secret)
        return;
    if (getrandom(nonce, sizeof nonce, 0) != sizeof nonce)
        refuse("the system gives no random numbers: %s.", strerror(errno));
    put(&body, nonce, sizeof nonce);
    put(&body, guard->session, strlen(guard->session));
    put_chunk(out, 'N', body.at, body.size);
    free(body.at);
}

static void put_request(struct bytes *out, const struct face *face, char **argv, const char *name)
{
    put_text(out, 'V', "1 " SENTINEL_VERSION);
    put_text(out, 'F', face->name);
    put_arguments(out, argv, name);
    put_directory(out);
    put_environment(out);
    put_terminals(out);
}

/* What git sends is read first: whoever judges in the guard's place needs it too. */
static void prepare_githook(struct errand *errand, struct guard *guard, struct bytes *input)
{
    const char *session = getenv("SENTINEL_SESSION");
    if (!githook_is_asked(errand->argv))
        _exit(0);
    if (githook_reads(errand->argv))
        take_input(input, SIZE_MAX);
    guard->starts = false;
    guard->needed = session && *session;
    if (guard->needed)
        return;
    errand->patience = ALONE_MS;
    githook_may_stand_alone(guard, errand->argv, input);
}

int main(int argc, char **argv)
{
    static struct guard guard = {.needed = true, .starts = true};
    static struct bytes input;
    static char subject[300];
    static char *nameless[] = {"", NULL};
    struct errand errand = {.guard = &guard, .argv = argc ? argv : nameless, .patience = FIRST_ANSWER_MS};
    fill_standard_descriptors();
    take_signals();
    find_self(&guard);
    const char *name = true_name(&guard, errand.argv[0]);
    const struct face *face = face_of(name);
    snprintf(subject, sizeof subject, "%.255s was not run", name);
    refuse_as(face->subject ? face->subject : subject, face->refused);
    guard.renew = face->renew;
    errand.verdict = face == &line || face == &githook;
    if (face == &githook)
        prepare_githook(&errand, &guard, &input);
    find_guard(&guard);
    if (face == &hook) {
        errand.hook = true;
        hook_refuses_in_form(&guard, errand.argv);
        take_input(&input, MAX_CHUNK);
    }
    hide_path(errand.argv);
    if (face == &shell)
        errand.argv = take_text(errand.argv);
    put_request(&errand.request, face, errand.argv, name);
    put_challenge(&errand.request, &guard);
    if (input.at)
        put_input(&errand.request, &input);
    put_end(&errand.request);
    run_errand(&errand);
}
