#include "base.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#ifndef SYS_close_range
#define SYS_close_range 436
#endif

static const char *refused = "the program was not run";
static int refusal_code = EXIT_REFUSED;
static void (*otherwise)(void);
static const char *form;

void refuse_as(const char *subject, int code)
{
    refused = subject;
    refusal_code = code;
}

void refuse_in_form(const char *wanted)
{
    form = wanted;
}

void rather_than_refuse(void (*way_out)(void))
{
    otherwise = way_out;
}

static void try_otherwise(void)
{
    void (*way_out)(void) = otherwise;
    otherwise = NULL;
    if (way_out)
        way_out();
}

/* Bytes of the UTF-8 character that begins here; 0 where none does (RFC 3629, section 4). */
static size_t character(const unsigned char *at)
{
    size_t size = *at < 0x80 ? 1 : *at < 0xC2 ? 0 : *at < 0xE0 ? 2 : *at < 0xF0 ? 3 : *at < 0xF5 ? 4 : 0;
    for (size_t i = 1; i < size; i++)
        if ((at[i] & 0xC0) != 0x80)
            return 0;
    if ((*at == 0xE0 && at[1] < 0xA0) || (*at == 0xED && at[1] > 0x9F) || (*at == 0xF0 && at[1] < 0x90) ||
        (*at == 0xF4 && at[1] > 0x8F))
        return 0;
    return size;
}

/* C0, DEL and C1 (U+0080 to U+009F): ECMA-48. */
static bool is_control(const unsigned char *at)
{
    return *at < ' ' || *at == 127 || (*at == 0xC2 && at[1] < 0xA0);
}

/* A program's name may hold anything; a refusal stays one line that does nothing to a terminal. A byte that is no UTF-8
 * may be a control of a terminal that reads bytes. */
static void make_harmless(char *text)
{
    unsigned char *at = (unsigned char *)text;
    while (*at) {
        size_t size = character(at);
        if (size && !is_control(at)) {
            at += size;
            continue;
        }
        for (size_t i = 0; i < (size ? size : 1); i++)
            *at++ = '?';
    }
}

/* Within a JSON string. */
static void say_in_form(char *line)
{
    static const char place[] = "@words@";
    const char *at = strstr(form, place);
    for (char *c = line; *c; c++)
        *c = *c == '"' ? '\'' : *c == '\\' ? '/' : *c;
    write_all(STDOUT_FILENO, form, at ? (size_t)(at - form) : strlen(form));
    if (at) {
        write_all(STDOUT_FILENO, line, strlen(line));
        write_all(STDOUT_FILENO, at + sizeof place - 1, strlen(at + sizeof place - 1));
    }
    _exit(0);
}

void refuse(const char *format, ...)
{
    char words[2048], line[4608];
    va_list arguments;
    try_otherwise();
    va_start(arguments, format);
    vsnprintf(words, sizeof words, format, arguments);
    va_end(arguments);
    snprintf(line, sizeof line - 1, "403 SENTINEL BLOCKED: %.2000s: %s", refused, words);
    make_harmless(line);
    if (form)
        say_in_form(line);
    strcat(line, "\n");
    write_all(STDERR_FILENO, line, strlen(line));
    _exit(refusal_code);
}

void *grow(void *memory, size_t size)
{
    void *grown = realloc(memory, size);
    if (!grown)
        refuse("there is no memory left for the question to the guard. Free some and try again.");
    return grown;
}

int64_t now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

bool write_all(int fd, const void *data, size_t size)
{
    const char *at = data;
    while (size) {
        ssize_t n = write(fd, at, size);
        if (n >= 0) {
            at += n;
            size -= (size_t)n;
        } else if (errno == EAGAIN) {
            poll(&(struct pollfd){.fd = fd, .events = POLLOUT}, 1, -1);
        } else if (errno != EINTR) {
            return false;
        }
    }
    return true;
}

void close_from(int lowest)
{
    if (syscall(SYS_close_range, (unsigned)lowest, ~0U, 0U) == 0)
        return;
    /* Before Linux 5.9. */
    long most = sysconf(_SC_OPEN_MAX);
    for (int fd = lowest; fd < (most > 0 && most < 65536 ? (int)most : 65536); fd++)
        close(fd);
}

void fill_standard_descriptors(void)
{
    for (int fd = 0; fd <= 2; fd++)
        if (fcntl(fd, F_GETFD) < 0 && errno == EBADF && open("/dev/null", O_RDWR | O_CLOEXEC) < 0)
            refuse("standard descriptor %d is closed and /dev/null cannot be opened: %s.", fd, strerror(errno));
}
