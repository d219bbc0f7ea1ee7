/* Names and what a file is: performed on the folder that was resolved, or on a descriptor that stands for the file. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "held_calls.h"
#include "other_process.h"
#include "system_calls.h"
#include "turn.h"

static enum word word_on_replaced(const struct place *place, unsigned flags)
{
    bool stays = flags & (RENAME_EXCHANGE | RENAME_NOREPLACE);
    enum word word = stricter(word_on_contents(place), word_on(place));
    return stays ? word : stricter(word, word_on_loss(place, -1, true));
}

void held_rename(struct call *call, int from, uint64_t old, int to, uint64_t new, unsigned flags)
{
    struct place a, b = {.folder = -1};
    char x[NAME_MAX + 2], y[NAME_MAX + 2];
    if (!find(call, from, old, KEEP, &a))
        return;
    const char *onto = flags & RENAME_EXCHANGE ? "move" : "replace"; /* exchanged, both are moved */
    if (find(call, to, new, KEEP, &b) && may(call, stricter(word_on_contents(&a), word_on(&a)), "move", &a) &&
        may(call, word_on_replaced(&b, flags), onto, &b) && !judges_itself(call))
        answer_result(call, (int)BLOCKING(syscall(__NR_renameat2, a.folder, spelled(&a, x), b.folder, spelled(&b, y), flags)));
    if ((a.exists && S_ISDIR(a.status.st_mode)) || (b.folder >= 0 && b.exists && S_ISDIR(b.status.st_mode)))
        forget_folder_names();
    release(&a);
    release(&b);
}

void held_unlink(struct call *call, int dirfd, uint64_t path, int flags)
{
    struct place place;
    char name[NAME_MAX + 2];
    bool folder = flags & AT_REMOVEDIR;
    /* Its name counts: another name of the same file is no loss. */
    if (!find(call, dirfd, path, UNSEEN, &place))
        return;
    if ((folder || may(call, stricter(word_on(&place), word_on_loss(&place, -1, true)), "delete", &place)) &&
        !judges_itself(call))
        answer_result(call, BLOCKING(unlinkat(place.folder, spelled(&place, name), flags)));
    if (folder)
        forget_folder_names(); /* its inode may be another folder's in a moment */
    release(&place);
}

void held_symlink(struct call *call, uint64_t target, int dirfd, uint64_t path)
{
    struct place place;
    char text[PATH_MAX], name[NAME_MAX + 2];
    if (!read_text(call, target, text, sizeof text) || !find(call, dirfd, path, KEEP, &place))
        return;
    if (may(call, word_on(&place), "link", &place) && !judges_itself(call))
        answer_result(call, BLOCKING(symlinkat(text, place.folder, spelled(&place, name))));
    release(&place);
}

void held_mknod(struct call *call, int dirfd, uint64_t path, mode_t mode, dev_t device)
{
    struct place place;
    char name[NAME_MAX + 2];
    mode_t mask;
    if (!find(call, dirfd, path, KEEP, &place))
        return;
    if (may(call, word_on(&place), "make", &place) && !judges_itself(call) && read_umask(call->task, &mask)) {
        mode_t before = umask(mask);
        answer_result(call, BLOCKING(mknodat(place.folder, spelled(&place, name), mode, device)));
        umask(before);
    }
    release(&place);
}

static int open_place(const struct place *place, bool follow)
{
    char name[NAME_MAX + 2];
    bool magic = place->exists && S_ISLNK(place->status.st_mode) && follow;
    return BLOCKING(openat(place->folder, spelled(place, name), O_PATH | O_CLOEXEC | (magic ? 0 : O_NOFOLLOW)));
}

static int open_descriptor(const struct call *call, int dirfd)
{
    char link[32];
    snprintf(link, sizeof link, dirfd == AT_FDCWD ? "cwd" : "fd/%d", dirfd);
    int process = task_dir(call->task);
    return BLOCKING(openat(process, link, O_PATH | O_CLOEXEC));
}

/* Opens what a path leads to. A link of /proc leads to what no text names: only then is the kernel asked for the name. */
static int open_path(struct call *call, int dirfd, const char *path, bool follow, struct place *place)
{
    int why = resolve(call, dirfd, path, follow ? FOLLOW : FOLLOW_WITH_SLASH, place);
    bool magic = !why && place->exists && S_ISLNK(place->status.st_mode) && follow;
    int fd = why ? -1 : open_place(place, follow);
    why = why || fd >= 0 ? why : errno;
    release(place);
    if (fd >= 0 && magic)
        name_descriptor(fd, place->real);
    errno = why;
    return fd;
}

struct owner {
    uid_t uid;
    gid_t gid;
};

/* Whether a file belongs to them already and would lose no right of its own (chown clears the setuid bits): SQLite, run
 * by root, does so to each journal that it opens, to read as well. */
static bool has_owner(const struct stat *status, const struct owner *wanted)
{
    return wanted && (wanted->uid == (uid_t)-1 || wanted->uid == status->st_uid) &&
           (wanted->gid == (gid_t)-1 || wanted->gid == status->st_gid) && !(status->st_mode & (S_ISUID | S_ISGID));
}

/* The file that is meant, as a descriptor that stands for it and was judged; -1: the call was answered. `flags` are those
 * of the *at calls; `path` 0 means the program's descriptor; `owner`: who is to have it, or NULL. */
static int open_judged_for(struct call *call, int dirfd, uint64_t path, int flags, const char *what, bool loses,
                           const struct owner *owner)
{
    struct place meant = {.folder = -1};
    char text[PATH_MAX] = "";
    if (path && !read_text(call, path, text, sizeof text))
        return -1;
    bool named = path && (*text || !(flags & AT_EMPTY_PATH));
    int fd = named ? open_path(call, dirfd, text, !(flags & AT_SYMLINK_NOFOLLOW), &meant) : open_descriptor(call, dirfd);
    if (fd < 0) {
        answer_error(call, named ? errno : EBADF);
        return -1;
    }
    if (!named)
        name_descriptor(fd, meant.real);
    meant.exists = BLOCKING(fstat(fd, &meant.status)) == 0;
    if (meant.exists && opens_other_process(call->task, fd, &meant.status, -1))
        answer_error(call, EACCES);
    else if (has_owner(&meant.status, owner) && meant.exists)
        return fd;
    else if (may(call, stricter(word_on(&meant), loses ? word_on_loss(&meant, fd, false) : PASS), what, &meant) &&
             !judges_itself(call))
        return fd;
    close(fd);
    return -1;
}

static int open_judged(struct call *call, int dirfd, uint64_t path, int flags, const char *what, bool loses)
{
    return open_judged_for(call, dirfd, path, flags, what, loses, NULL);
}

static const char *link_to(int fd, char room[32])
{
    snprintf(room, 32, "/proc/self/fd/%d", fd);
    return room;
}

void held_chmod(struct call *call, int dirfd, uint64_t path, mode_t mode, int flags)
{
    char link[32];
    int fd = open_judged(call, dirfd, path, flags, "chmod", false);
    if (fd < 0)
        return;
    int result = (int)BLOCKING(syscall(__NR_fchmodat2, fd, "", mode, AT_EMPTY_PATH));
    if (result < 0 && errno == ENOSYS) /* before Linux 6.6 */
        result = BLOCKING(chmod(link_to(fd, link), mode));
    answer_result(call, result);
    close(fd);
}

void held_chown(struct call *call, int dirfd, uint64_t path, uid_t uid, gid_t gid, int flags)
{
    struct owner owner = {uid, gid};
    int fd = open_judged_for(call, dirfd, path, flags, "chown", false, &owner);
    if (fd < 0)
        return;
    answer_result(call, BLOCKING(fchownat(fd, "", uid, gid, AT_EMPTY_PATH)));
    close(fd);
}

void held_link(struct call *call, int from, uint64_t old, int to, uint64_t new, int flags)
{
    struct place place = {.folder = -1};
    char link[32], name[NAME_MAX + 2];
    int follow = flags & AT_SYMLINK_FOLLOW ? 0 : AT_SYMLINK_NOFOLLOW;
    int fd = open_judged(call, from, old, follow | (flags & AT_EMPTY_PATH), "link", false);
    if (fd < 0)
        return;
    if (find(call, to, new, KEEP, &place) && may(call, word_on(&place), "link", &place))
        answer_result(call, BLOCKING(linkat(AT_FDCWD, link_to(fd, link), place.folder, spelled(&place, name), AT_SYMLINK_FOLLOW)));
    release(&place);
    close(fd);
}

void held_truncate(struct call *call, uint64_t path, off_t size)
{
    char link[32];
    int fd = open_judged(call, AT_FDCWD, path, 0, "truncate", true);
    if (fd < 0)
        return;
    answer_result(call, BLOCKING(truncate(link_to(fd, link), size)));
    close(fd);
}

/* It goes on: a race reaches another file's attributes, never its content. */
void held_attribute(struct call *call, int dirfd, uint64_t path, int flags)
{
    int fd = open_judged(call, dirfd, path, flags, "attribute", false);
    if (fd < 0)
        return;
    close(fd);
    answer_continue(call);
}
