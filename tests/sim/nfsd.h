/*
 * nfsd: the NFS server of the simulation: fs on the wire.
 *
 * A call's octets go in, a reply's come out; it is executed at once, all of it at one moment. Whoever drives it decides
 * when that is, and what becomes of the reply. The options make it any of the servers that are out there: attributes that
 * do not follow, several handles for one file, handles that are used again, errors after the work was done. Files have no
 * octets of their own: what is read, of a symbolic link too, is one letter over and over.
 *
 * Its encoders are its own, written from RFC 1813, and not those of xdr/; it decodes with xdr/.
 */
#ifndef SIM_NFSD_H
#define SIM_NFSD_H

#include "sim/draw.h"
#include "sim/fs.h"
#include "xdr/bytes.h"

#define NFSD_REPLY_MAX   16384u
#define NFSD_ALIASES_MAX 3u

struct nfsd;

/* Chances of errors, in a thousand, of the calls of NFS and NFSACL but NULL. */
struct nfsd_errors {
    /* JUKEBOX, with attributes, and nothing was done. */
    unsigned jukebox;
    /* Another error, without attributes, and nothing was done; never NOENT, EXIST or STALE. */
    unsigned fails_before;
    /* PERM or ACCES, without attributes, and nothing was done. */
    unsigned refuses;
    /* STALE, without attributes, though the handle is as good as ever, and nothing was done. */
    unsigned stale;
    /* A mutation (COMMIT too) is done, and PERM or IO is said, without attributes (K03). */
    unsigned fails_after;
    /* The server's own trouble: IO or SERVERFAULT without attributes, SYSTEM_ERR, or a reply that can't be read: and nothing was
     * done; and a mutation (COMMIT too) was done. */
    unsigned breaks_before, breaks_after;
    /* SYSTEM_ERR, or a denial (REJECTEDCRED, TOOWEAK), and nothing was done. */
    unsigned rpc_errors;
};

struct nfsd_options {
    struct fs_options fs;
    uint64_t boot;       /* the write verifier; another one after a restart */
    unsigned handle_len; /* 16 … 64 */
    unsigned aliases;    /* handles that one node may have: 1 … NFSD_ALIASES_MAX */
    bool reuse_handles;  /* a new node gets the handle of one that was removed, if there is one */
    bool remembers;      /* has a duplicate request cache, for the last calls that change things */
    bool shows_handles;  /* CREATE, MKDIR, … and READDIRPLUS say the handle, mostly */
    /* READDIR's cookie verifier is the directory's mtime: BAD_COOKIE once that has changed. */
    bool changing_cookieverf;

    /* ---- chances, in a thousand ---- */
    /* wcc_data.before does not follow; post-op attributes, or wcc_data.after, do not follow. */
    unsigned no_before, no_after;
    /* A creating call's reply has no handle; an entry of READDIRPLUS has none. */
    unsigned no_handle;
    struct nfsd_errors errors;
};

struct nfsd_watch {
    struct fs_watch fs;
    /* The handle leads to another node now; 0: to none, it is stale: told before fs.node of the node that is gone. Context
     * of `fs`. Its octets stand during the call only. */
    void (*handle)(void *context, struct bytes handle, fs_node node);
};

struct nfsd *nfsd_create(const struct nfsd_options *options, const struct nfsd_watch *watch);
void nfsd_destroy(struct nfsd *nfsd);
struct fs *nfsd_fs(struct nfsd *nfsd);

/*
 * A handle of the node: each time `draw` decides which of its aliases. The handle is made, and watch->handle told, when it
 * is first given out. `room` has NFS3_FH_MAX octets. Empty when the node is gone.
 */
struct bytes nfsd_handle(struct nfsd *nfsd, fs_node node, struct draw *draw, uint8_t *room);
/* 0: stale, or never given out. */
fs_node nfsd_node(const struct nfsd *nfsd, struct bytes handle);
/* The node's attributes as they go over the wire. False when it is gone. */
bool nfsd_fattr(const struct nfsd *nfsd, fs_node node, uint8_t fattr[NFS3_FATTR_LEN]);

struct nfsd_executed {
    uint8_t reply[NFSD_REPLY_MAX]; /* a whole reply, with the call's xid */
    uint32_t reply_len;            /* 0: what came was no call; the connection should be reset */
    bool again;                    /* from the duplicate request cache: nothing was executed now */
};

/*
 * Executes a call. `connection`: whose call it is, for the duplicate request cache: the same xid, procedure and octets on the
 * same connection number get the same reply again. `now` in ns since 1970.
 */
void nfsd_execute(struct nfsd *nfsd, uint64_t connection, struct bytes call, uint64_t now,
                  struct draw draw, struct nfsd_executed *executed);

/* Other chances than those of the options, from the next call on. */
void nfsd_set_errors(struct nfsd *nfsd, const struct nfsd_errors *errors);

/* Restarts: unstable data is lost of about half of the files, the write verifier changes, the duplicate request cache is
 * empty. */
void nfsd_restart(struct nfsd *nfsd, struct draw draw);
/* One of the handles of a file that is gone, or of any but the root if none is, leads to another node from now on (K18). The
 * node that it led to gets another one when it is asked for. */
void nfsd_confuse(struct nfsd *nfsd, struct draw draw);
/* For a while ACCESS grants this uid nothing and its LOOKUPs end with ACCES (K12); uid 0 too. UINT32_MAX: nobody. */
void nfsd_grudge(struct nfsd *nfsd, uint32_t uid);

#endif
