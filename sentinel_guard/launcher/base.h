/* What every file of the launcher needs: a refusal with words, memory that is there, a clock. */
#ifndef SENTINEL_BASE_H
#define SENTINEL_BASE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    EXIT_REFUSED = 126,
    /* The only exit code that agents read as "do not go on"; any other lets their tool run. */
    EXIT_HOOK_REFUSED = 2,
    EXIT_VERDICT_REFUSED = 1,
};

/* Names what a refusal is about ("git was not run"), and its exit code. */
void refuse_as(const char *subject, int code);

/* The form in which a refusal is printed on standard output, with exit code 0: the words stand where `@words@` does,
 * in a JSON string. An empty form: nothing is printed. */
void refuse_in_form(const char *form);

/* What is tried before a refusal; where it returns, the refusal stands. */
void rather_than_refuse(void (*way_out)(void));

/* Says one line, "403 SENTINEL BLOCKED: subject: words", on standard error and ends. */
_Noreturn void refuse(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* realloc that refuses where there is no memory. */
void *grow(void *memory, size_t size);

/* Milliseconds of a clock that only goes forward. */
int64_t now_ms(void);

/* Writes everything, also to a descriptor that does not block. False where nobody reads. */
bool write_all(int fd, const void *data, size_t size);

/* Closes every descriptor from `lowest` on. */
void close_from(int lowest);

/* 0, 1 and 2 that were closed become /dev/null until exec, so that no socket of ours takes their number. */
void fill_standard_descriptors(void);

#endif
