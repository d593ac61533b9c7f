/*
 * rpc: call and reply headers of ONC RPC version 2 (RFC 5531).
 *
 * AUTH_NONE and AUTH_SYS credentials are decoded; every other flavor stays opaque, as it came.
 */
#ifndef XDR_RPC_H
#define XDR_RPC_H

#include "xdr/cursor.h"
#include "xdr/writer.h"

#define RPC_VERSION           2u
#define RPC_AUTH_BODY_MAX     400u /* RFC 5531 8.2 */
#define RPC_AUTH_SYS_GIDS_MAX 16u  /* RFC 5531 appendix A */
#define RPC_MACHINE_NAME_MAX  255u

#define RPC_PROGRAM_NFS    100003u
#define RPC_PROGRAM_MOUNT  100005u
#define RPC_PROGRAM_NFSACL 100227u

enum rpc_type {
    RPC_CALL = 0,
    RPC_REPLY = 1,
};

enum rpc_reply_stat {
    RPC_MSG_ACCEPTED = 0,
    RPC_MSG_DENIED = 1,
};

enum rpc_accept_stat {
    RPC_SUCCESS = 0,
    RPC_PROG_UNAVAIL = 1,
    RPC_PROG_MISMATCH = 2,
    RPC_PROC_UNAVAIL = 3,
    RPC_GARBAGE_ARGS = 4,
    RPC_SYSTEM_ERR = 5,
};

enum rpc_reject_stat {
    RPC_MISMATCH = 0,
    RPC_AUTH_ERROR = 1,
};

enum rpc_auth_stat {
    RPC_AUTH_OK = 0,
    RPC_AUTH_BADCRED = 1,
    RPC_AUTH_REJECTEDCRED = 2,
    RPC_AUTH_BADVERF = 3,
    RPC_AUTH_REJECTEDVERF = 4,
    RPC_AUTH_TOOWEAK = 5,
};

enum rpc_flavor {
    RPC_AUTH_NONE = 0,
    RPC_AUTH_SYS = 1,
    RPC_AUTH_SHORT = 2,
    RPC_AUTH_DH = 3,
    RPC_AUTH_GSS = 6,
};

struct rpc_auth_sys {
    uint32_t stamp;
    struct bytes machine;
    uint32_t uid;
    uint32_t gid;
    uint32_t gid_count;
    uint32_t gids[RPC_AUTH_SYS_GIDS_MAX];
};

struct rpc_call {
    uint32_t xid;
    uint32_t rpc_version;
    uint32_t program;
    uint32_t version;
    uint32_t procedure;
    uint32_t cred_flavor;
    struct bytes cred; /* the credential's body */
    uint32_t verf_flavor;
    struct bytes verf;
};

struct rpc_reply {
    uint32_t xid;
    enum rpc_reply_stat stat;
    enum rpc_accept_stat accepted; /* where stat is RPC_MSG_ACCEPTED */
    enum rpc_reject_stat rejected; /* where stat is RPC_MSG_DENIED */
    enum rpc_auth_stat auth;       /* where rejected is RPC_AUTH_ERROR */
    uint32_t low, high;            /* where PROG_MISMATCH or RPC_MISMATCH */
    uint32_t verf_flavor;
    struct bytes verf;
};

/*
 * The header of a call; the cursor stands at its arguments then. False when it is not a call or is
 * cut off. A call of another RPC version is decoded up to rpc_version, the rest is zero, and the
 * result is true: the caller answers RPC_MISMATCH.
 */
bool rpc_call_decode(struct cursor *c, struct rpc_call *call);
/* The header of a reply; the cursor stands at its results then. False when it is none or malformed.
   Whatever auth_stat a denial has is kept: RFC 5531 has more of them than are named above. */
bool rpc_reply_decode(struct cursor *c, struct rpc_reply *reply);
/* The body of AUTH_SYS credentials. False also with more than 16 gids, or octets after their end. */
bool rpc_auth_sys_decode(struct bytes body, struct rpc_auth_sys *sys);

void rpc_call_encode(struct writer *w, const struct rpc_call *call);
void rpc_auth_sys_encode(struct writer *w, const struct rpc_auth_sys *sys);
void rpc_reply_encode(struct writer *w, const struct rpc_reply *reply);

/* The xid of a record that holds at least its four octets. */
uint32_t rpc_xid(const uint8_t *record);
void rpc_xid_replace(uint8_t *record, uint32_t xid);

#endif
