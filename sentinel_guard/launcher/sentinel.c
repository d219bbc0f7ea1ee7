/* The launcher: one program, three faces. It knows nothing; it asks the guard and obeys (docs/protocol.md).
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
#include <unistd.h>

#include "ask.h"
#include "base.h"
#include "guard.h"
#include "obey.h"
#include "signals.h"
#include "wire.h"

#ifndef SENTINEL_VERSION
#error "compile with -DSENTINEL_VERSION=\"...\" (hatch_build.py does)"
#endif

extern char **environ;

static bool is_one_of(const char *name, const char *const names[])
{
    for (; *names; names++)
        if (strcmp(name, *names) == 0)
            return true;
    return false;
}

static const char *face_of(const char *name)
{
    static const char *const shells[] = {"bash", "sh", "zsh", "dash", "ksh", "fish", NULL};
    if (is_one_of(name, shells))
        return "shell";
    return strcmp(name, "sentinel-hook") == 0 ? "hook" : "shim";
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
        "PATH", "HOME", "SENTINEL_CALL", "GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "BASH_ENV", "ENV",
        "LD_PRELOAD", "IFS", "GIT_CONFIG_COUNT", "GIT_CONFIG_PARAMETERS", "GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM",
        "GIT_SSH_COMMAND", "GIT_EXTERNAL_DIFF", "GIT_EDITOR", "GIT_PAGER", NULL};
    for (char **v = environ; *v; v++) {
        char name[32] = "";
        size_t length = strcspn(*v, "=");
        if (length < sizeof name && (*v)[length] == '=' && is_one_of(memcpy(name, *v, length), names))
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

static void put_input(struct bytes *out)
{
    size_t size = 0, room = 1 << 16, n;
    char *input = grow(NULL, room);
    while ((n = read_input(input + size, room - size))) {
        size += n;
        if (size > MAX_CHUNK)
            refuse("what the agent sent is over %d MiB. Do it in smaller steps.", MAX_CHUNK >> 20);
        if (size == room)
            input = grow(input, room *= 2);
    }
    put_chunk(out, 'I', input, size);
    free(input);
}

static void put_request(struct bytes *out, const char *face, char **argv, const char *name)
{
    put_text(out, 'V', "1 " SENTINEL_VERSION);
    put_text(out, 'F', face);
    put_arguments(out, argv, name);
    put_directory(out);
    put_environment(out);
    put_terminals(out);
    if (strcmp(face, "hook") == 0)
        put_input(out);
    put_end(out);
}

int main(int argc, char **argv)
{
    static struct guard guard;
    static char subject[300];
    static char *nameless[] = {"", NULL};
    struct errand errand = {.guard = &guard, .argv = argc ? argv : nameless};
    fill_standard_descriptors();
    take_signals();
    find_self(&guard);
    const char *name = true_name(&guard, errand.argv[0]);
    const char *face = face_of(name);
    bool hook = strcmp(face, "hook") == 0;
    snprintf(subject, sizeof subject, hook ? "the agent's call was not run" : "%.255s was not run", name);
    refuse_as(subject, hook ? EXIT_HOOK_REFUSED : EXIT_REFUSED);
    find_guard(&guard);
    put_request(&errand.request, face, errand.argv, name);
    run_errand(&errand);
}
