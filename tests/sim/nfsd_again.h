/*
 * nfsd_again: the duplicate request cache: replies to the last calls that changed something, given again to the same call.
 * Only nfsd*.c include this.
 */
#ifndef SIM_NFSD_AGAIN_H
#define SIM_NFSD_AGAIN_H

#include "xdr/bytes.h"

#define NFSD_AGAIN_MAX 256u

struct nfsd_again; /* NULL while nothing is remembered */

/* Of a call's octets, xid and procedure among them, and its connection. */
uint64_t again_key(uint64_t connection, struct bytes call);
/* Its reply; len 0: none. */
struct bytes again_find(const struct nfsd_again *again, uint64_t key);
void again_remember(struct nfsd_again **again, uint64_t key, struct bytes reply);
void again_forget(struct nfsd_again **again);

#endif
