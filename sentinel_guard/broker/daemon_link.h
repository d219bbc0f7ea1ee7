/* The way to the daemon: questions, each on a connection of its own, and the one on which its rules come. */
#ifndef SENTINEL_DAEMON_LINK_H
#define SENTINEL_DAEMON_LINK_H

struct daemon_address {
    const char *socket, *session, *secret;
};

/* What is called first. All stays where it is. */
void find_daemon(const struct daemon_address *address);

/* Fetches the rules, and follows them in a thread of its own. Refuses where none come in time. */
void follow_rules(void);

#endif
