/*
 * files: what vm-files checks, one case after the other, in a folder that is the working directory. A case leaves behind what
 * it made, so that it can be compared with what the server has.
 */
#ifndef VM_FILES_H
#define VM_FILES_H

#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

struct file_case {
    const char *name; /* also the name of its folder */
    const char *what;
    void (*run)(void);
};

/* Each ends with an entry without a name. */
extern const struct file_case data_cases[], name_cases[], tree_cases[], user_cases[];

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

#endif
