/*
 * credential: who a call is from, and who it is passed on as.
 */
#ifndef PROXY_CREDENTIAL_H
#define PROXY_CREDENTIAL_H

#include "cache/cache.h"
#include "config/settings.h"
#include "xdr/rpc.h"

/* No flavor: whose call it is can't be read, so that nothing is kept for it, nor served to it. */
#define CREDENTIAL_OPAQUE UINT32_MAX

struct credential {
    struct cache_credential identity; /* as the server will see it; what verdicts are kept under */
    struct rpc_auth_sys sys;          /* where flavor is AUTH_SYS and it could be decoded */
    bool plain;    /* AUTH_NONE, or a well-formed AUTH_SYS: the cache may be used */
    bool squashed; /* differs from what the client sent: forward credential_encode's */
};

/*
 * Reads the credential of a call and applies the service's squash. RPC_AUTH_OK, or why the call is refused:
 *   AUTH_TOOWEAK  for RPCSEC_GSS: its checksum covers the xid, which forwarding changes;
 *   AUTH_BADCRED  for a credential that has to be squashed and can't be read.
 * An AUTH_SYS credential that can't be read, and any other flavor, is passed on as it came and
 * never uses the cache. `credential` keeps views into the call.
 */
enum rpc_auth_stat credential_read(struct credential *credential, const struct rpc_call *call,
                                   const struct settings_service *settings);

/* The body of the squashed credential: at most RPC_AUTH_BODY_MAX octets. */
struct bytes credential_encode(const struct credential *credential,
                               uint8_t body[RPC_AUTH_BODY_MAX]);

#endif
