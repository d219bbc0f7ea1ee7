/* A descriptor goes through a Unix socket (SCM_RIGHTS, unix(7)): containers refuse pidfd_getfd. */
#ifndef SENTINEL_PASS_DESCRIPTOR_H
#define SENTINEL_PASS_DESCRIPTOR_H

#include <stdbool.h>
#include <stddef.h>

/* With some bytes beside it. */
bool send_descriptor(int socket, int fd, const void *data, size_t size);
/* With close-on-exec; -1 where none came, or not so many bytes. */
int receive_descriptor(int socket, void *data, size_t size);

#endif
