/* What the files held_*.c share. */
#ifndef SENTINEL_HELD_CALLS_H
#define SENTINEL_HELD_CALLS_H

#include "broker.h"

/* Whether a change goes on: asked of the daemon where the word is ASK. False: the call was answered. */
bool may(struct call *call, enum word word, const char *what, const struct place *place);

/* Resolves a path in the program's memory. False: the call was answered. */
bool find(struct call *call, int dirfd, uint64_t path, enum last_link last, struct place *place);

/* It wears a sandbox of its own: our rights are not its rights, so the kernel judges the call itself, too. True: it goes
 * on. Then its path could be exchanged in time, only by what confined itself on purpose. */
bool judges_itself(struct call *call);

/* Answers with what a system call of ours gave. */
void answer_result(struct call *call, int result);

void held_open(struct call *call, int dirfd, uint64_t path, int flags, mode_t mode);
void held_openat2(struct call *call);
void held_rename(struct call *call, int from, uint64_t old, int to, uint64_t new, unsigned flags);
void held_unlink(struct call *call, int dirfd, uint64_t path, int flags);
void held_link(struct call *call, int from, uint64_t old, int to, uint64_t new, int flags);
void held_symlink(struct call *call, uint64_t target, int dirfd, uint64_t path);
void held_mknod(struct call *call, int dirfd, uint64_t path, mode_t mode, dev_t device);
/* `path` 0: the descriptor itself. */
void held_chmod(struct call *call, int dirfd, uint64_t path, mode_t mode, int flags);
void held_chown(struct call *call, int dirfd, uint64_t path, uid_t uid, gid_t gid, int flags);
void held_truncate(struct call *call, uint64_t path, off_t size);
void held_attribute(struct call *call, int dirfd, uint64_t path, int flags);
void held_exec(struct call *call, int dirfd, uint64_t path, uint64_t argv, int flags);
void held_connect(struct call *call, int number, uint64_t address, size_t size);
void held_mount(struct call *call, uint64_t target, uint64_t type, uint64_t flags);
/* Whether what the task became by exec is what was agreed to. False: it was ended, or cannot be seen. */
bool check_image(struct call *call);

#endif
