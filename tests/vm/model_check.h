/*
 * model_check: compares a folder with the model of what must be there. The working directory is the model's root. What is not
 * as it must be ends the process (hold).
 */
#ifndef VM_MODEL_CHECK_H
#define VM_MODEL_CHECK_H

#include "vm/model.h"

/* Attributes of what is there, with its contents on request; or that nothing is. */
void check_spot(struct model *m, struct spot at, bool contents);
void check_contents(const struct node *file, const char *path);
/* Its names. */
void check_folder(struct model *m, const struct node *folder);
void check_all(struct model *m);

#endif
