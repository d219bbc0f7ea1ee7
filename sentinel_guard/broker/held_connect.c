/* Connections: to sockets of this machine, and to other machines. They go on by themselves: the address could be exchanged
 * meanwhile, but performing it here would change whom the other side sees. */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

#include "held_calls.h"
#include "turn.h"

union address {
    struct sockaddr any;
    struct sockaddr_un local;
    struct sockaddr_in four;
    struct sockaddr_in6 six;
};

enum { ADDRESS_TEXT = INET6_ADDRSTRLEN + 8 };

struct block {
    uint32_t address, mask;
};

/* This machine, private networks, what is told to nobody or to many (RFC 6890). */
static bool is_near_four(uint32_t address)
{
    static const struct block near[] = {
        {0x00000000, 0xff000000}, {0x0a000000, 0xff000000}, {0x64400000, 0xffc00000}, {0x7f000000, 0xff000000},
        {0xa9fe0000, 0xffff0000}, {0xac100000, 0xfff00000}, {0xc0a80000, 0xffff0000}, {0xe0000000, 0xe0000000},
    };
    for (size_t i = 0; i < sizeof near / sizeof *near; i++)
        if ((address & near[i].mask) == near[i].address)
            return true;
    return false;
}

static bool is_near(const union address *to)
{
    const struct in6_addr *six = &to->six.sin6_addr;
    uint32_t last;
    if (to->any.sa_family == AF_INET)
        return is_near_four(ntohl(to->four.sin_addr.s_addr));
    memcpy(&last, six->s6_addr + 12, sizeof last);
    if (IN6_IS_ADDR_V4MAPPED(six))
        return is_near_four(ntohl(last));
    return IN6_IS_ADDR_UNSPECIFIED(six) || IN6_IS_ADDR_LOOPBACK(six) || IN6_IS_ADDR_LINKLOCAL(six) ||
           IN6_IS_ADDR_MULTICAST(six) || (six->s6_addr[0] & 0xfe) == 0xfc;
}

/* A resolver connects datagram sockets to learn which address of a host it would reach: nothing is sent. */
static bool is_stream(const struct call *call, int number)
{
    int kind = SOCK_STREAM;
    socklen_t size = sizeof kind;
    int process = know_task(call->task) ? (int)syscall(SYS_pidfd_open, call->task->tgid, 0) : -1;
    int fd = process < 0 ? -1 : (int)syscall(SYS_pidfd_getfd, process, number, 0);
    bool known = fd >= 0 && getsockopt(fd, SOL_SOCKET, SO_TYPE, &kind, &size) == 0;
    if (fd >= 0)
        close(fd);
    if (process >= 0)
        close(process);
    return !known || kind != SOCK_DGRAM;
}

/* Whether the daemon is asked, and as what. */
static enum word judge_machine(const struct call *call, int number, const union address *to, char object[ADDRESS_TEXT])
{
    char text[INET6_ADDRSTRLEN];
    bool six = to->any.sa_family == AF_INET6;
    if (word_on_machines() == PASS || is_near(to) || !is_stream(call, number))
        return PASS;
    inet_ntop(to->any.sa_family, six ? (const void *)&to->six.sin6_addr : &to->four.sin_addr, text, sizeof text);
    snprintf(object, ADDRESS_TEXT, six ? "[%s]:%u" : "%s:%u", text, ntohs(six ? to->six.sin6_port : to->four.sin_port));
    return ASK;
}

static void answer_word(struct call *call, enum word word, const char *what, const char *object)
{
    if (word == PASS || (ask_daemon(call, what, object, NULL) && still_waits(call)))
        answer_continue(call);
    else
        answer_error(call, EACCES);
}

static void connect_local(struct call *call, const struct sockaddr_un *to)
{
    char path[sizeof to->sun_path + 1] = "";
    struct place place = {.folder = -1};
    memcpy(path, to->sun_path, sizeof to->sun_path);
    if (!*path)
        *path = '@'; /* an abstract name */
    bool named = *path != '@' && resolve(call, AT_FDCWD, path, FOLLOW, &place) == 0;
    const char *object = named ? place.real : path;
    enum word word = word_on_socket(&object, named && place.exists ? &place.status : NULL);
    answer_word(call, word, "connect", object);
    release(&place);
}

void held_connect(struct call *call, int number, uint64_t address, size_t size)
{
    union address to;
    char object[ADDRESS_TEXT] = "";
    memset(&to, 0, sizeof to);
    size = size < sizeof to ? size : sizeof to;
    bool whole = BLOCKING(read_memory((pid_t)call->notification->pid, address, &to, size)) == size;
    if (whole && to.any.sa_family == AF_UNIX)
        connect_local(call, &to.local);
    else if (whole && (to.any.sa_family == AF_INET || to.any.sa_family == AF_INET6))
        answer_word(call, judge_machine(call, number, &to, object), "reach", object);
    else
        answer_continue(call);
}
