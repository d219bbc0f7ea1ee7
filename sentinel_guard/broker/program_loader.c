/* The loader that an ELF file names as its interpreter (elf(5), PT_INTERP): it can be run itself, and runs what its
 * arguments name. */
#include "program_loader.h"

#include <elf.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

static bool reads(int fd, void *to, size_t size, off_t at)
{
    return pread(fd, to, size, at) == (ssize_t)size;
}

static bool find_interpreter(int fd, char loader[PATH_MAX])
{
    Elf64_Ehdr head;
    Elf64_Phdr segment;
    if (!reads(fd, &head, sizeof head, 0) || memcmp(head.e_ident, ELFMAG, SELFMAG) != 0 ||
        head.e_ident[EI_CLASS] != ELFCLASS64 || head.e_phentsize != sizeof segment)
        return false;
    for (unsigned i = 0; i < head.e_phnum; i++) {
        if (!reads(fd, &segment, sizeof segment, (off_t)(head.e_phoff + i * sizeof segment)))
            return false;
        if (segment.p_type == PT_INTERP)
            return segment.p_filesz < PATH_MAX && reads(fd, loader, segment.p_filesz, (off_t)segment.p_offset) &&
                   memchr(loader, 0, segment.p_filesz);
    }
    return false;
}

bool read_interpreter(const char *program, char loader[PATH_MAX])
{
    int fd = open(program, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    bool found = fd >= 0 && find_interpreter(fd, loader);
    if (fd >= 0)
        close(fd);
    return found;
}
