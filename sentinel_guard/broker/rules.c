#include "rules.h"

#include <fcntl.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysmacros.h>
#include <time.h>
#include <unistd.h>

#include "../launcher/base.h"
#include "broker.h"
#include "match_names.h"
#include "ruled_files.h"
#include "turn.h"

enum { FIELDS = 4 };

/* A name below a folder, a folder, or a socket's path; texts point into `owned`. */
struct pattern {
    enum word word;
    const char *folder, *glob;
    size_t size; /* of the folder's text */
    dev_t device;
    ino_t inode;
    uint64_t mount;
};

struct rules {
    char *owned;
    struct list names, folders, sockets, losses; /* of struct pattern */
    struct list files, programs;                 /* of struct file */
    enum word machines;
};

static struct rules rules;
static bool any;
static struct timespec began; /* the session */

static void drop(struct rules *old)
{
    free(old->owned);
    free(old->names.at);
    free(old->folders.at);
    free(old->sockets.at);
    free(old->losses.at);
    drop_files(&old->files);
    drop_files(&old->programs);
}

static struct pattern find_pattern(enum word word, const char *text, const char *glob)
{
    struct pattern pattern = {.word = word, .folder = text, .glob = glob, .size = strlen(text)};
    struct statx s;
    if (*text != '/' || statx(AT_FDCWD, text, 0, STATX_INO | STATX_MNT_ID, &s))
        return pattern; /* it may come */
    pattern.device = makedev(s.stx_dev_major, s.stx_dev_minor);
    pattern.inode = s.stx_ino;
    pattern.mount = s.stx_mnt_id;
    return pattern;
}

/* KIND NUL WORD NUL TEXT [NUL TEXT]; what has no such kind is not understood. */
static bool add_rule(struct rules *to, char *body, size_t size)
{
    const char *field[FIELDS] = {body, "", "", ""};
    int count = 1;
    for (size_t i = 0; i < size && count < FIELDS; i++)
        if (!body[i])
            field[count++] = body + i + 1;
    enum word word = strcmp(field[1], "ask") == 0 ? ASK : PASS;
    if (count < 3 || (word == PASS && strcmp(field[1], "pass") != 0) || !*field[2])
        return false;
    if (strcmp(field[0], "machines") == 0) {
        to->machines = word;
        return strcmp(field[2], "*") == 0;
    }
    bool is_path = strcmp(field[0], "socket") != 0 && strcmp(field[0], "loss") != 0;
    if (is_path && *field[2] != '/')
        return false;
    struct pattern pattern = find_pattern(word, field[2], field[3]);
    if (strcmp(field[0], "name") == 0 && *field[3])
        append(&to->names, &pattern, sizeof pattern);
    else if (strcmp(field[0], "below") == 0)
        append(&to->folders, &pattern, sizeof pattern);
    else if (strcmp(field[0], "loss") == 0)
        append(&to->losses, &pattern, sizeof pattern);
    else if (strcmp(field[0], "socket") == 0)
        append(&to->sockets, &pattern, sizeof pattern);
    else if (strcmp(field[0], "file") == 0)
        add_file(&to->files, word, field[2]);
    else if (strcmp(field[0], "program") == 0)
        add_program(&to->programs, word, field[2]);
    else
        return false;
    return true;
}

bool take_rules(const struct message *message)
{
    struct rules fresh = {0};
    size_t total = 0;
    for (size_t i = 0; i < message->count; i++)
        total += message->chunks[i].size + 1;
    char *at = fresh.owned = grow(NULL, total + 1);
    for (size_t i = 0; i < message->count; i++) {
        const struct chunk *c = &message->chunks[i];
        memcpy(at, c->body, c->size);
        at[c->size] = 0;
        if (c->tag != 'K' && (c->tag != 'R' || !add_rule(&fresh, at, c->size))) {
            drop(&fresh);
            return false;
        }
        at += c->size + 1;
    }
    take_turn();
    drop(&rules);
    rules = fresh;
    use_programs(&rules.programs);
    if (!any)
        clock_gettime(CLOCK_REALTIME_COARSE, &began); /* the clock of file times */
    any = true;
    end_turn();
    return true;
}

static int depth_in(const struct pattern *pattern, const char *path, size_t length)
{
    return depth_below(path, length, pattern->folder, pattern->size);
}

static const struct list *const with_folders[] = {&rules.folders, &rules.names, &rules.losses};
enum { WITH_FOLDERS = sizeof with_folders / sizeof *with_folders };

const char *ruled_folder(const struct stat *status)
{
    for (size_t n = 0; n < WITH_FOLDERS; n++) {
        const struct pattern *patterns = with_folders[n]->at;
        for (size_t i = 0; i < with_folders[n]->count; i++)
            if (patterns[i].inode == status->st_ino && patterns[i].device == status->st_dev)
                return patterns[i].folder;
    }
    return NULL;
}

bool lies_in_ruled_folder(const char *path)
{
    size_t length = strlen(path);
    for (size_t n = 0; n < WITH_FOLDERS; n++) {
        const struct pattern *patterns = with_folders[n]->at;
        for (size_t i = 0; i < with_folders[n]->count; i++)
            if (*patterns[i].folder == '/' && depth_in(&patterns[i], path, length) >= 0)
                return true;
    }
    return false;
}

bool is_on_other_mount(dev_t device, uint64_t mount)
{
    for (size_t n = 0; n < WITH_FOLDERS; n++) {
        const struct pattern *patterns = with_folders[n]->at;
        for (size_t i = 0; i < with_folders[n]->count; i++)
            if (patterns[i].inode && patterns[i].device == device && patterns[i].mount != mount)
                return true;
    }
    return false;
}

/* The deepest folder decides, and of one folder's rules a `pass`. `anywhere`: the folder is not known. */
static enum word by_name(const char *path, bool anywhere)
{
    const struct pattern *names = rules.names.at;
    size_t length = strlen(path);
    enum word word = PASS;
    int deepest = -1;
    for (size_t i = 0; i < rules.names.count; i++) {
        int depth = anywhere ? 0 : depth_in(&names[i], path, length);
        bool decides = depth > deepest || (depth == deepest && names[i].word == PASS);
        if (depth >= 0 && decides && fits_on_the_way(names[i].glob, path + (depth > 1 ? depth : 0))) {
            deepest = depth;
            word = names[i].word;
        }
    }
    return word;
}

/* What the deepest folder in which the path lies says; `deepest`: its length, -1 for none. */
static enum word by_folder(const struct list *list, const char *path, int *deepest)
{
    const struct pattern *folders = list->at;
    size_t length = strlen(path);
    enum word word = PASS;
    *deepest = -1;
    for (size_t i = 0; i < list->count; i++) {
        int depth = depth_in(&folders[i], path, length);
        if (depth > *deepest) {
            *deepest = depth;
            word = folders[i].word;
        }
    }
    return word;
}

bool is_restricted(const struct stat *status)
{
    return by_inode(&rules.files, status) != NULL;
}

enum word stricter(enum word a, enum word b)
{
    return a > b ? a : b;
}

static bool is_in_ruled_loss(const char *path)
{
    const struct pattern *losses = rules.losses.at;
    int deepest;
    enum word word = by_folder(&rules.losses, path, &deepest); /* never by a name alone */
    for (size_t i = 0; word == ASK && i < rules.losses.count; i++)
        if (*losses[i].folder != '/' && fits_on_the_way(losses[i].folder, path + deepest))
            word = PASS;
    return word == ASK;
}

/* A file of before the session that has content; without a time of birth (an old file system) any is. */
static bool is_older_file(const struct place *place, int file, bool only_a_name)
{
    struct statx s;
    int folder = file < 0 ? place->folder : file;
    if (BLOCKING(statx(folder, file < 0 ? place->name : "", AT_SYMLINK_NOFOLLOW | AT_EMPTY_PATH,
                       STATX_BASIC_STATS | STATX_BTIME, &s)) ||
        !S_ISREG(s.stx_mode) || !s.stx_size || (only_a_name && s.stx_nlink > 1))
        return false;
    return !(s.stx_mask & STATX_BTIME) || s.stx_btime.tv_sec < began.tv_sec ||
           (s.stx_btime.tv_sec == began.tv_sec && s.stx_btime.tv_nsec < began.tv_nsec);
}

enum word word_on_loss(const struct place *place, int file, bool only_a_name)
{
    /* In a namespace of its own too, by the name there: mostly it is the same. */
    bool ruled = rules.losses.count && is_in_ruled_loss(place->real);
    return ruled && is_older_file(place, file, only_a_name) ? ASK : PASS;
}

enum word word_on(const struct place *place)
{
    int depth;
    enum word word = stricter(by_name(place->real, place->elsewhere), by_folder(&rules.folders, place->real, &depth));
    bool other_name = place->exists && !S_ISDIR(place->status.st_mode) && is_restricted(&place->status);
    return other_name ? ASK : word;
}

enum word word_on_contents(const struct place *place)
{
    const struct file *files = rules.files.at;
    const struct pattern *folders = rules.folders.at;
    size_t length = strlen(place->real);
    if (!place->exists || !S_ISDIR(place->status.st_mode))
        return PASS;
    for (size_t i = 0; i < rules.files.count; i++)
        if (depth_below(files[i].path, strlen(files[i].path), place->real, length) > 0)
            return ASK;
    for (size_t i = 0; i < rules.folders.count; i++)
        if (folders[i].word == ASK && depth_below(folders[i].folder, folders[i].size, place->real, length) > 0)
            return ASK;
    return PASS;
}

enum word word_on_socket(const char **path, const struct stat *status)
{
    const struct pattern *sockets = rules.sockets.at;
    for (size_t i = 0; i < rules.sockets.count; i++) {
        bool same = status && sockets[i].inode && sockets[i].inode == status->st_ino && sockets[i].device == status->st_dev;
        if (!same && fnmatch(sockets[i].folder, *path, 0) != 0)
            continue;
        if (same)
            *path = sockets[i].folder;
        return sockets[i].word;
    }
    return PASS;
}

enum word word_on_machines(void)
{
    return rules.machines;
}
