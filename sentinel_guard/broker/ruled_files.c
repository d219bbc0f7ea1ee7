#include "ruled_files.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "../launcher/base.h"
#include "program_loader.h"
#include "turn.h"

enum { OTHERS = 512 };

static const struct list none, *programs = &none;
static unsigned generation; /* of them */

void append(struct list *list, const void *item, size_t size)
{
    list->at = grow(list->at, (list->count + 1) * size);
    memcpy((char *)list->at + list->count++ * size, item, size);
}

const struct file *by_inode(const struct list *list, const struct stat *s)
{
    const struct file *files = list->at;
    for (size_t i = 0; i < list->count; i++)
        if (files[i].inode == s->st_ino && files[i].device == s->st_dev)
            return &files[i];
    return NULL;
}

void add_file(struct list *list, enum word word, const char *path)
{
    struct stat s;
    if (stat(path, &s) == 0)
        append(list, &(struct file){word, false, path, s.st_dev, s.st_ino, s.st_size}, sizeof(struct file));
}

void add_program(struct list *list, enum word word, const char *path)
{
    char loader[PATH_MAX];
    struct stat s;
    add_file(list, word, path);
    if (word == ASK && read_interpreter(path, loader) && stat(loader, &s) == 0 && !by_inode(list, &s))
        append(list, &(struct file){PASS, true, strdup(loader), s.st_dev, s.st_ino, s.st_size}, sizeof(struct file));
}

void drop_files(struct list *list)
{
    struct file *files = list->at;
    for (size_t i = 0; i < list->count; i++)
        if (files[i].loads)
            free((char *)files[i].path);
    free(files);
}

void use_programs(const struct list *fresh)
{
    programs = fresh;
    generation++;
}

bool is_same_program(const struct stat *a, const struct stat *b)
{
    const struct file *one = by_inode(programs, a), *other = by_inode(programs, b);
    return one && other && strcmp(strrchr(one->path, '/'), strrchr(other->path, '/')) == 0;
}

static bool has_content_of(const char *program, int file, off_t size)
{
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s", program);
    begin_blocking();
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    void *a = fd < 0 ? MAP_FAILED : mmap(NULL, (size_t)size, PROT_READ, MAP_PRIVATE, fd, 0);
    void *b = mmap(NULL, (size_t)size, PROT_READ, MAP_PRIVATE, file, 0);
    bool same = a != MAP_FAILED && b != MAP_FAILED && memcmp(a, b, (size_t)size) == 0;
    if (a != MAP_FAILED)
        munmap(a, (size_t)size);
    if (b != MAP_FAILED)
        munmap(b, (size_t)size);
    if (fd >= 0)
        close(fd);
    end_blocking();
    return same;
}

/* Files that were compared and are no copy, by what changes with their content. */
static struct other {
    dev_t device;
    ino_t inode;
    int64_t changed;
} others[OTHERS];

static struct other *other_slot(const struct stat *s)
{
    return &others[s->st_ino % OTHERS];
}

static int64_t changed_at(const struct stat *s)
{
    return s->st_ctim.tv_sec * INT64_C(1000000000) + s->st_ctim.tv_nsec;
}

/* The launcher is one by its inode alone. */
static bool is_copied(const struct file *program)
{
    return program->word == ASK || program->loads;
}

bool may_be_copy(const struct stat *s)
{
    const struct file *known = programs->at;
    for (size_t i = 0; i < programs->count; i++)
        if (is_copied(&known[i]) && known[i].size == s->st_size && s->st_size)
            return true;
    return false;
}

/* A copy is the same program. */
static const struct file *by_content(const struct stat *s, int file)
{
    const struct file *known = programs->at;
    struct other *other = other_slot(s);
    unsigned before = generation;
    if (other->inode == s->st_ino && other->device == s->st_dev && other->changed == changed_at(s))
        return NULL;
    for (size_t i = 0; i < programs->count; i++) {
        if (!is_copied(&known[i]) || known[i].size != s->st_size || !s->st_size)
            continue;
        bool same = has_content_of(known[i].path, file, s->st_size);
        if (generation != before) /* other rules came while a disk was slow */
            return by_content(s, file);
        if (same)
            return &known[i];
    }
    *other = (struct other){s->st_dev, s->st_ino, changed_at(s)};
    return NULL;
}

enum word word_on_program(const struct stat *status, int file, struct program *program)
{
    const struct file *known = by_inode(programs, status);
    known = !known && file >= 0 ? by_content(status, file) : known;
    program->is_known = known;
    program->is_loader = known && known->loads;
    program->is_launcher = known && known->word == PASS && !known->loads;
    snprintf(program->path, sizeof program->path, "%s", known ? known->path : "");
    return known ? known->word : PASS;
}
