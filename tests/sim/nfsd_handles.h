/*
 * nfsd_handles: which handles there are, and what they lead to. Only nfsd*.c include this.
 *
 * A handle's last octets hold its number, those before them a check of it, and all before is the same in every handle of
 * the server: so whoever looks at the beginning only mixes them up.
 */
#ifndef SIM_NFSD_HANDLES_H
#define SIM_NFSD_HANDLES_H

#include "sim/draw.h"
#include "sim/fs.h"
#include "xdr/bytes.h"

struct nfsd_handle; /* one that was made */

typedef void nfsd_handle_told(void *context, struct bytes handle, fs_node node);

struct nfsd_handles {
    uint64_t fsid;
    uint32_t len;
    bool reuse;
    uint8_t prefix[NFS3_FH_MAX];
    nfsd_handle_told *told; /* of each one that is made or leads elsewhere */
    void *context;
    struct nfsd_handle *made; /* by number, from 1 */
    uint32_t count, room;
    uint32_t *first; /* by node, which of them leads there; [0]: of the stale ones */
    uint32_t first_room;
};

void handles_init(struct nfsd_handles *handles, uint64_t fsid, uint32_t len, bool reuse);
void handles_free(struct nfsd_handles *handles);
/* The node's handle number `alias`, made now if need be. */
struct bytes handles_of(struct nfsd_handles *handles, fs_node node, uint32_t alias, uint8_t *room);
/* Where it leads: NFS3_OK, STALE or BADHANDLE. */
enum nfs3_status handles_node(const struct nfsd_handles *handles, struct bytes handle,
                              fs_node *node);
/* All handles of the node are stale. */
void handles_gone(struct nfsd_handles *handles, fs_node node);
void handles_confuse(struct nfsd_handles *handles, const struct fs *fs, struct draw *draw);

#endif
