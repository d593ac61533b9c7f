/*
 * nfs_reply: takes a reply over from libnfs, and compares what replies hold.
 */
#ifndef E2E_NFS_REPLY_H
#define E2E_NFS_REPLY_H

#include "e2e/nfs_client.h"

/* `data`: the result of call->procedure. 0, or -EPROTO when it holds what no reply may. */
int nfs_reply_take(struct nfs_call *call, const void *data);

bool nfs_handle_same(const struct nfs_handle *a, const struct nfs_handle *b);
/* Both absent, or the same to the octet. */
bool nfs_attr_same(const struct nfs_attr *a, const struct nfs_attr *b);
/* What differs, for people. */
void nfs_attr_print(const struct nfs_attr *attr, char *text, size_t size);

#endif
