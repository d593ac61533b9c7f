/*
 * files: what vm-files checks, one case after the other, in a folder that is the working directory. A case leaves behind what
 * it made, so that it can be compared with what the server has.
 */
#ifndef VM_FILES_H
#define VM_FILES_H

#include "vm/file_ops.h"

struct file_case {
    const char *name; /* also the name of its folder */
    const char *what;
    void (*run)(void);
};

/* Each ends with an entry without a name. */
extern const struct file_case data_cases[], name_cases[], tree_cases[], user_cases[];

#endif
