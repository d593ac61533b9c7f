/*
 * file_ops: what the programs for guests do with files. A failure ends the process (expect.h).
 */
#ifndef VM_FILE_OPS_H
#define VM_FILE_OPS_H

#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

/* The users of a guest. The first two are in the group as well. */
enum user {
    ALICE = 1000,
    BOB,
    CAROL,
};
#define PROJECT 2000

/* Octets that tell where they should be: another seed, other octets. */
void fill(uint8_t *to, size_t size, unsigned seed);
/* Makes a file, or writes over one, with `size` such octets. */
void make_file(const char *path, size_t size, unsigned seed);
/* The file has exactly these, when it is opened and read anew. */
void has_contents(const char *path, size_t size, unsigned seed);
struct stat stat_of(const char *path); /* not of what a symbolic link leads to */
int open_must(const char *path, int flags, mode_t mode);
void write_must(int fd, const void *data, size_t size, off_t offset);
/* The names in the folder, but for . and .., that begin with this. */
size_t count_names(const char *folder, const char *prefix);
/* The process, until it ends. */
void become(enum user user);

#endif
