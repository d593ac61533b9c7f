/*
 * pick: of what there is in a run, what somebody calls or changes next: handles, nodes, names, and calls made before.
 */
#ifndef SIM_PICK_H
#define SIM_PICK_H

#include "sim/run.h"

#define PICK_SIZE_MAX 20000u /* of a file */

/* Numbers in the ledger. One of the node's, now or before; LEDGER_NO_HANDLE where none is known. */
uint32_t pick_handle_of(const struct run *run, fs_node node, struct draw *draw);
uint32_t pick_any_handle(const struct run *run, struct draw *draw);
/* Mostly of that type. */
uint32_t pick_handle(const struct run *run, enum nfs3_ftype type, struct draw *draw);
/* Mostly of that type, and there now. */
fs_node pick_node(const struct run *run, enum nfs3_ftype type, struct draw *draw);
const char *pick_name(const struct run *run, struct draw *draw);
/* A call of NFS shortly before that one; NULL where it was left out, or is of another program. */
const struct call_made *pick_earlier(const struct run *run, uint32_t number, struct draw *draw);

/*
 * Where the server says PERM of what it has done, everybody may search everywhere: who is rightly refused a look, and then
 * told that nothing was done where something was, can't be helped.
 */
bool pick_searchable(const struct run *run);

#endif
