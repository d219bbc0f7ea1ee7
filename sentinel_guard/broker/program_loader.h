/* The loader that an ELF file names (program_loader.c). */
#ifndef SENTINEL_PROGRAM_LOADER_H
#define SENTINEL_PROGRAM_LOADER_H

#include <limits.h>
#include <stdbool.h>

/* False: it is static, or no ELF file of this machine's width. */
bool read_interpreter(const char *program, char loader[PATH_MAX]);

#endif
