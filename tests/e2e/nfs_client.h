/*
 * nfs_client: an NFSv3 client of the tests: libnfs below, calls that the test waits for above.
 *
 * One client is one connection. A process may have any number of them, each with its own target:
 * through the proxy, or straight to the server. The caller says who it is before each call
 * (nfs_client_be), so one client can speak for many users.
 *
 * A call is made (nfs_call.h has one function per procedure) and its reply waited for; or it is sent
 * (nfs_client_send) and waited for later, among others (nfs_client_wait, nfs_client_poll).
 *
 * A lost connection is an error, or, with `patience`, what it is to a hard mount: the client connects
 * again until it succeeds, and sends what has no reply once more, octet for octet with the same xid.
 * `struct nfs_call` counts that (`sent`), so that a test can tell the one ambiguity NFSv3 has: a call
 * that was executed, whose reply was lost, and that then comes back with EXIST or NOENT. libnfs's own
 * autoreconnect is not used: it takes the rest of a reply that was cut off for the next one's start.
 */
#ifndef E2E_NFS_CLIENT_H
#define E2E_NFS_CLIENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <nfsc/libnfs.h>
#include <nfsc/libnfs-raw.h>
#include <nfsc/libnfs-raw-nfs.h>

#define NFS_CLIENT_GROUPS_MAX 16u
#define NFS_CLIENT_HANDLE_MAX 64u
#define NFS_CLIENT_FATTR_LEN  84u
#define NFS_CLIENT_TEXT_MAX   1024u
#define NFS_CLIENT_WAIT_S     60.0 /* a reply that takes longer is an error, with patience too */

struct nfs_client_target {
    const char *host;
    int port;
    int mount_port;
    const char *path; /* of the export */
    double patience;  /* seconds without a connection; 0: losing it is an error */
};

struct nfs_client_who {
    bool none; /* AUTH_NONE: the rest is ignored */
    uint32_t uid, gid;
    uint32_t group_count;
    uint32_t groups[NFS_CLIENT_GROUPS_MAX];
};

struct nfs_handle {
    uint32_t len;
    uint8_t octets[NFS_CLIENT_HANDLE_MAX];
};

/* Attributes, if there were any; `octets` is the fattr3 as it was on the wire. */
struct nfs_attr {
    bool present;
    fattr3 value;
    uint8_t octets[NFS_CLIENT_FATTR_LEN];
};

struct nfs_wcc {
    bool before_present;
    wcc_attr before;
    struct nfs_attr after;
};

/* What a reply can hold. What its procedure does not have is all zero. */
struct nfs_reply {
    nfsstat3 status;
    char why[128]; /* when there was no reply, or an RPC error: the reason */
    unsigned sent; /* how often the call was */
    struct nfs_attr object;
    struct nfs_wcc wcc;        /* of the object; CREATE and the like, RENAME: of the directory */
    struct nfs_wcc wcc2;       /* LINK, RENAME: of the second directory */
    struct nfs_attr directory; /* LOOKUP, READDIR, READDIRPLUS */
    bool has_handle;
    struct nfs_handle handle;
    uint32_t access;
    uint32_t count;
    bool eof;
    stable_how committed;
    uint8_t verifier[8];
    char text[NFS_CLIENT_TEXT_MAX + 1]; /* READLINK */
    FSINFO3resok fsinfo;
    FSSTAT3resok fsstat;
    PATHCONF3resok pathconf;
    uint32_t acl_count;
    nfsacl_ace acl[16];
};

struct nfs_entry {
    uint64_t fileid, cookie;
    const char *name;
    struct nfs_attr attr; /* READDIRPLUS */
    bool has_handle;
    struct nfs_handle handle;
};

struct nfs_client;

/* One call. Its arguments point into memory of the caller's that must last until it is done. */
struct nfs_call {
    uint32_t procedure; /* of NFS, or with `acl` of NFSACL */
    bool acl;
    union {
        GETATTR3args getattr;
        SETATTR3args setattr;
        LOOKUP3args lookup;
        ACCESS3args access;
        READLINK3args readlink;
        READ3args read;
        WRITE3args write;
        CREATE3args create;
        MKDIR3args mkdir;
        SYMLINK3args symlink;
        MKNOD3args mknod;
        REMOVE3args remove;
        RMDIR3args rmdir;
        RENAME3args rename;
        LINK3args link;
        READDIR3args readdir;
        READDIRPLUS3args readdirplus;
        FSSTAT3args fsstat;
        FSINFO3args fsinfo;
        PATHCONF3args pathconf;
        COMMIT3args commit;
        GETACL3args getacl;
        SETACL3args setacl;
    } args;
    void *data; /* READ: room for what is asked for */
    void (*entry)(void *context, const struct nfs_entry *entry); /* READDIR, READDIRPLUS */
    void *context;

    /* the rest is nfs_client's */
    struct nfs_client *client;
    struct nfs_call *next;
    struct nfs_client_who who;
    uint32_t xid;
    unsigned sent; /* how often */
    bool done;
    int error; /* once done: 0, or why there is no reply: -EPROTO (an RPC error), -EIO, -ETIMEDOUT */
    struct nfs_reply reply; /* once done */
};

struct nfs_client {
    struct nfs_client_target target;
    struct rpc_context *rpc;
    struct nfs_handle root;
    struct nfs_client_who who;
    uint32_t next_xid;
    struct nfs_call *calls; /* without a reply, the oldest first */
    bool connected;
    bool handing_over; /* libnfs cancels calls that will be sent again */
    unsigned losses;   /* of the connection */
    double lost_at;    /* when it was lost, while it is not back */
};

/* Connects and mounts. 0, or a negative errno that is told on stderr. */
int nfs_client_start(struct nfs_client *c, const struct nfs_client_target *target);
void nfs_client_stop(struct nfs_client *c);

void nfs_client_be(struct nfs_client *c, const struct nfs_client_who *who);
/* As AUTH_SYS with these ids and no more groups. */
void nfs_client_be_user(struct nfs_client *c, uint32_t uid, uint32_t gid);
/* The xid of the next call; each further one has the next higher one. */
void nfs_client_set_xid(struct nfs_client *c, uint32_t xid);

void nfs_client_send(struct nfs_client *c, struct nfs_call *call);
/* Until the call is done; returns its error. */
int nfs_client_wait(struct nfs_client *c, struct nfs_call *call);
/* Waits at most `ms` for something to happen on one of the clients, and handles what did. */
void nfs_client_poll(struct nfs_client *const *clients, unsigned count, int ms);

double nfs_client_now(void); /* seconds, monotonic */

#endif
