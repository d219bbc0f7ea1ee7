#include "githook.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base.h"
#include "signals.h"

static const struct guard *guard;
static char **words;
static const struct bytes *input;

static bool is(char **argv, const char *hook)
{
    return argv[1] && strcmp(argv[1], hook) == 0;
}

/* Only before its locks become names can a transaction be stopped. */
bool githook_is_asked(char **argv)
{
    return !is(argv, "reference-transaction") || !argv[2] || strcmp(argv[2], "prepared") == 0;
}

bool githook_reads(char **argv)
{
    return !isatty(STDIN_FILENO) &&
           (is(argv, "pre-push") || is(argv, "reference-transaction") || is(argv, "post-rewrite"));
}

/* What was read is there to be read again. */
static bool give_input_back(void)
{
    int fd = memfd_create("git", MFD_CLOEXEC);
    return fd >= 0 && write_all(fd, input->at, input->size) && lseek(fd, 0, SEEK_SET) == 0 && dup2(fd, STDIN_FILENO) == 0;
}

static void stand_alone(void)
{
    char *start[] = {(char *)guard->python, "-I", "-m", "sentinel_guard", "hook"};
    size_t count = 0, n = sizeof start / sizeof *start;
    if (is(words, "reference-transaction"))
        _exit(0);
    if (!guard->python || *guard->python != '/' || (githook_reads(words) && !give_input_back()))
        return;
    while (words[count])
        count++;
    char **argv = grow(NULL, (n + count) * sizeof *argv);
    memcpy(argv, start, sizeof start);
    memcpy(argv + n, words + 1, count * sizeof *argv); /* and the NULL at the end */
    give_signals_back();
    execv(guard->python, argv);
}

void githook_may_stand_alone(const struct guard *g, char **argv, const struct bytes *sent)
{
    guard = g;
    words = argv;
    input = sent;
    rather_than_refuse(stand_alone);
}
