/* The files that rules name: which file is one of them, whatever its name (ruled_files.c). */
#ifndef SENTINEL_RULED_FILES_H
#define SENTINEL_RULED_FILES_H

#include "broker.h"

struct list {
    void *at;
    size_t count;
};

struct file {
    enum word word;
    bool loads; /* the loader of a program (its ELF interpreter), which can run it */
    const char *path; /* its own where it loads */
    dev_t device;
    ino_t inode;
    off_t size;
};

void append(struct list *list, const void *item, size_t size);
/* `path` must last as long as the list. What is not there is in no list: it is judged by its name. */
void add_file(struct list *files, enum word word, const char *path);
/* With its loader, where it is asked about. */
void add_program(struct list *programs, enum word word, const char *path);
void drop_files(struct list *files);
/* The file of the list that this is; NULL for none. */
const struct file *by_inode(const struct list *files, const struct stat *status);
/* From here on these are the programs that rules name (`word_on_program`, broker.h); they stay with the caller. */
void use_programs(const struct list *fresh);

#endif
