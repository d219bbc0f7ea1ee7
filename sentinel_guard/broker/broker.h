/* The broker: performs the held system calls of a session, or refuses them (docs/protocol.md, "The face `kernel`").
 *
 * 1. What is judged is what is used: a path is resolved once, to a folder that is held open and a name in it.
 * 2. What a call does is done here and given to the program (a descriptor, a result); its memory is read once. The few
 *    calls that go on by themselves stand in held_*.c, each with its reason.
 * 3. The broker lends no right: what the program could not do by itself is not done for it.
 * 4. What cannot be judged is refused.
 */
#ifndef SENTINEL_BROKER_H
#define SENTINEL_BROKER_H

#include <limits.h>
#include <linux/seccomp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/types.h>

/* --- the task that makes a call (task.c) --- */

struct task {
    unsigned holders;
    pid_t tid;
    int identity;  /* tells it from who has its number later; -1: nothing is believed of it at its next call */
    int dir;       /* /proc/TID once it was needed (task_dir), held open; else -1 */
    bool seen;     /* what it became by exec was looked at */
    bool known;    /* what follows was read (know_task): few calls need it */
    pid_t tgid;
    pid_t inner;   /* its number in its own pid namespace */
    mode_t umask;  /* asked for by read_umask */
    bool confined; /* a Landlock ruleset of its own must judge its calls, too; a seccomp filter does so before ours */
};

/* --- a held call (serve.c) --- */

struct call {
    const struct seccomp_notif *notification;
    struct task *task;
    bool elsewhere; /* it was made on another processor, while another call was served */
    bool answered;
};

void answer_error(struct call *call, int error);
void answer_value(struct call *call, long value);
void answer_continue(struct call *call);
/* Gives an open file to the program, in one step with the answer; closes it here. False where it did not arrive. */
bool answer_descriptor(struct call *call, int fd, bool close_on_exec);
/* Whether the program still waits: it may have been killed meanwhile. */
bool still_waits(const struct call *call);
/* From here until it takes its turn again other calls are served: a person is asked, or a pipe waits for its other end. */
void begin_wait(void);

/* What is known of a task; until it is let go it stays, also where another number comes into its place. */
struct task *hold_task(pid_t tid);
void let_go(struct task *task);
/* What is learnt of it from now on is known at its next call, too. */
void keep_task(struct task *task);
/* Descriptors that stand for tasks which have ended are closed. */
void forget_ended(void);
/* /proc/TID, held open: a number that is given anew is not the same task. -1 with errno where it has gone. To keep it
 * costs more than a call: most programs end without a held call but their own start. */
int task_dir(struct task *task);
/* Its program was looked at. False: it does not wait any more, and what was seen may be another's. */
bool remember_look(const struct call *call);
/* Whether it runs in the memory of one whose program was looked at, and so is that program (vfork, posix_spawn, a
 * thread), until it starts another one. */
bool shares_seen_image(const struct call *call);
/* The program that it is. False: it has gone. */
bool stat_image(struct task *task, struct stat *image);
/* Reads its numbers, umask and confinement. False: it has gone. */
bool know_task(struct task *task);
/* False: it has gone. */
bool read_umask(struct task *task, mode_t *umask);
/* Whether it wears a Landlock ruleset of its own; where it has gone, the worst is believed. */
bool is_confined(struct task *task);
/* It starts a program: what it becomes is to be looked at. A thread that does becomes its process's first; until then what
 * is seen of that one is the program before. False: there is nothing to know that by. */
bool expect_new_image(struct task *task);
void remember_umask(struct task *task, mode_t umask);
/* It puts on a Landlock ruleset. */
void remember_confinement(struct task *task);
/* False: the call was answered. */
bool read_text(struct call *call, uint64_t at, char *text, size_t room);
/* Of a page that is a file's it may block. */
size_t read_memory(pid_t tid, uint64_t at, void *to, size_t size);
/* Whether one process stands below another. All of the session stands below the broker. */
bool descends_from(pid_t pid, pid_t above);

/* --- where a path leads for a task (resolve_path.c) --- */

struct place {
    int folder;              /* O_PATH */
    char name[NAME_MAX + 1]; /* "." for the folder itself */
    char real[PATH_MAX];     /* as the kernel names it */
    bool exists;
    bool slash;              /* a slash stood behind the name: it must be a folder */
    bool elsewhere;          /* in a mount namespace of the session's, under a name that says nothing to the rules */
    struct stat status;      /* of the name itself */
};

/* What becomes of a link at the end of a path. UNSEEN: whether anything is there is not asked at all. */
enum last_link { UNSEEN, KEEP, FOLLOW_WITH_SLASH, FOLLOW };

/* What the kernel calls an open file. */
bool name_descriptor(int fd, char real[PATH_MAX]);
/* 0, or an error number; then nothing is held. */
int resolve(struct call *call, int dirfd, const char *path, enum last_link last, struct place *place);
void release(struct place *place);
/* What an absolute path leads to without a link on the way (O_PATH): the same for all of the session. -1 with errno; ELOOP
 * where it may be another thing for the task. */
int open_without_links(const char *path);
/* The name with its slash. */
const char *spelled(const struct place *place, char room[NAME_MAX + 2]);
/* Something in the session left the common root (chroot, a namespace): from now on it is asked at each call. */
void roots_may_differ(void);
/* A folder was renamed or removed: what the kernel called it may be wrong. */
void forget_folder_names(void);
/* Changes with each of these. */
unsigned era_of_folder_names(void);

/* --- what the daemon wants to be asked about (rules.c; of programs and other files, ruled_files.c) --- */

enum word { PASS, ASK };

enum word word_on(const struct place *place);
/* Of a file whose content goes: deleted, replaced, emptied. `file`: open, or -1; `only_a_name`: its other names would
 * keep the content. */
enum word word_on_loss(const struct place *place, int file, bool only_a_name);
enum word stricter(enum word a, enum word b);
/* The folder of a rule that has this inode, as the rule names it; NULL for none. */
const char *ruled_folder(const struct stat *status);
/* By its name. */
bool lies_in_ruled_folder(const char *path);
/* Whether a folder of a rule is on this device, but mounted elsewhere: it may have another name here. */
bool is_on_other_mount(dev_t device, uint64_t mount);
/* Of a folder that is moved or replaced: what lies in it. */
enum word word_on_contents(const struct place *place);
/* Whether a file has the size of a program that is asked about: only then need it be opened for `word_on_program`. */
bool may_be_copy(const struct stat *status);
/* What a file is: the program of a rule, by its path there. */
struct program {
    bool is_known, is_launcher;
    bool is_loader; /* it runs another that its arguments name */
    char path[PATH_MAX];
};
enum word word_on_program(const struct stat *status, int file, struct program *program);
/* Two files of one program that is asked about: git is installed twice. */
bool is_same_program(const struct stat *a, const struct stat *b);
/* By its path, or by another name of the same socket: then `path` becomes the one of the rule. */
enum word word_on_socket(const char **path, const struct stat *status);
/* Of connections to other machines, by their addresses. */
enum word word_on_machines(void);
bool is_restricted(const struct stat *status);

/* --- the daemon (daemon_link.c) --- */

/* What a call would do, as the wire says it. */
bool ask_daemon(struct call *call, const char *what, const char *object, char *const argv[]);

/* --- what a held call does (held_*.c) --- */

void handle(struct call *call);

#endif
