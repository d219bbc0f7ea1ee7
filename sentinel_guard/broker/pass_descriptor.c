#include "pass_descriptor.h"

#include <string.h>
#include <sys/socket.h>

union room {
    char bytes[CMSG_SPACE(sizeof(int))];
    struct cmsghdr aligned;
};

static struct msghdr message(struct iovec *bytes, union room *room)
{
    *room = (union room){0};
    return (struct msghdr){.msg_iov = bytes, .msg_iovlen = 1, .msg_control = room, .msg_controllen = sizeof *room};
}

bool send_descriptor(int socket, int fd, const void *data, size_t size)
{
    union room room;
    struct iovec bytes = {(void *)data, size};
    struct msghdr m = message(&bytes, &room);
    struct cmsghdr *head = CMSG_FIRSTHDR(&m);
    *head = (struct cmsghdr){.cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS, .cmsg_len = CMSG_LEN(sizeof fd)};
    memcpy(CMSG_DATA(head), &fd, sizeof fd);
    return sendmsg(socket, &m, MSG_NOSIGNAL) == (ssize_t)size;
}

int receive_descriptor(int socket, void *data, size_t size)
{
    union room room;
    int fd = -1;
    struct iovec bytes = {data, size};
    struct msghdr m = message(&bytes, &room);
    struct cmsghdr *head;
    if (recvmsg(socket, &m, MSG_CMSG_CLOEXEC) != (ssize_t)size || !(head = CMSG_FIRSTHDR(&m)) || head->cmsg_type != SCM_RIGHTS)
        return -1;
    memcpy(&fd, CMSG_DATA(head), sizeof fd);
    return fd;
}
