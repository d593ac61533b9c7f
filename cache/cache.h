/*
 * cache: the metadata that all clients share, and the fences that keep it coherent.
 *
 * cache/ is a pure data structure: no I/O, no clock, no randomness of its own (`now` and the hash secret are
 * parameters). It knows handles, names, attributes and credentials, and no procedure numbers.
 *
 * What is kept
 *   object    a handle: one fattr3 as the server sent it, and the verdicts that credentials got for it
 *   name      (directory handle, name) -> the object behind it, or "absent"
 *   verdict   (object, credential) -> the ACCESS bits asked of the server, and granted by it
 *   identity  (fsid, fileid) -> the objects that are the same file under different handles
 *
 * The fences and the event clock (one per server)
 *   Every reply that shows a state, and every call that may change one, is placed on one line by `cache_tick`. A
 *   fence {stamp, inflight} stands for a handle, an identity or a (directory, name). The rules:
 *   - a mutation begins before its first octet is sent: inflight += 1, stamp = tick, the cached value is gone;
 *   - it ends when its reply has been handled and before that is sent to the client: its own attributes are kept only
 *     if it was alone (inflight == 1 and the stamp is still its own); then inflight -= 1, stamp = tick;
 *   - any other reply fills only where inflight == 0 and stamp <= the tick at which its call was sent;
 *   - of two fills whose windows [sent, received] overlap and that differ, neither is kept, and nothing is that was
 *     sent before both had come;
 *   - what is refused, and what is evicted, was shown to somebody: the fence remembers what it said and when. Of what
 *     was sent before then only the same state may be kept.
 *   Fences are never evicted. Two keys on one fence cost a missed fill and nothing else.
 *
 * Threads: every function may be called from any thread at any time, except cache_create and cache_destroy. No
 * function calls back, blocks on I/O, or holds a lock when it returns.
 *
 * Memory: `memory` is a hard ceiling for all that is cached (objects, names, verdicts, credentials, their hash
 * tables). The fences' fixed table comes on top.
 */
#ifndef CACHE_CACHE_H
#define CACHE_CACHE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "xdr/bytes.h"
#include "xdr/nfs3.h"

#define CACHE_SECRET_LEN    192u /* octets of secret for the keyed hash */
#define CACHE_NAME_MAX      255u /* a longer name is never kept */
#define CACHE_NSEC_PER_MSEC 1000000ull
#define CACHE_NSEC_PER_SEC  1000000000ull

/* A point on a server's event clock; 0 is before everything. */
typedef uint64_t cache_stamp;

struct cache;
struct cache_server;

struct cache_options {
    uint64_t memory;       /* octets; 0: nothing is cached, fences still work */
    const uint8_t *secret; /* CACHE_SECRET_LEN octets, copied */
    unsigned fences;       /* a power of two; 0: the default, 65536 */
};

/* NULL with errno ENOMEM. */
struct cache *cache_create(const struct cache_options *options);
void cache_destroy(struct cache *cache);

/*
 * The server of that name ("host:port"), made if it is new: services with the same server share it.
 * Lives as long as the cache. NULL with errno ENOMEM, or ENOSPC when there are 65535.
 */
struct cache_server *cache_server_get(struct cache *cache, const char *name);

/* Its number among the servers of the cache, from 0. */
uint32_t cache_server_number(const struct cache_server *server);

/* False where nothing is ever kept (memory 0): nothing has to be known for the sake of what is kept, either. */
bool cache_keeps(const struct cache_server *server);

/* Advances the event clock, and returns its new value. Called at each forwarded call and at each
 * reply. */
cache_stamp cache_tick(struct cache_server *server);

/*
 * Doubt (contract C8: after a start, and after a connection to the server was lost): everything
 * kept so far is asked again before it is served again, and what is filled until `until` (monotonic
 * ns) is aged as in `shared` for good.
 */
void cache_doubt(struct cache_server *server, uint64_t until);
/* A mutation that ends now (monotonic ns) changed what nobody knows: all is asked again, and settles. */
void cache_doubt_change(struct cache_server *server, uint64_t now);
/* How often there was doubt, or a handle turned out to be another file: mutations that were under way then may have met
 * something else than was thought. */
uint64_t cache_doubts(const struct cache_server *server);
/* The doubt that one of these leaves at its end. It is not counted: what began after the first knew better. */
void cache_doubt_overtaken(struct cache_server *server, uint64_t now);

/* How fresh is fresh: each service's own. Times in nanoseconds. */
struct cache_ages {
    bool exclusive; /* no ages, but for verdicts, doubt, settling, and attributes with nlink 0 */
    uint64_t age_min;
    uint64_t age_max;
    uint64_t negative_age;
    uint64_t access_age;
    uint64_t settle;     /* an object mutated less than this ago … */
    uint64_t settle_age; /* … is served for at most this long before it is asked again */
};

/* Whose call it is: what a verdict belongs to. */
struct cache_credential {
    uint32_t flavor; /* AUTH_NONE or AUTH_SYS; nothing is kept for, nor served to, any other */
    uint32_t uid;
    uint32_t gid;
    uint32_t gid_count; /* at most 16 */
    const uint32_t *gids;
};

/* ---- hits ---- */

struct cache_reader {
    struct cache_server *server;
    const struct cache_ages *ages;
    const struct cache_credential *credential;
    uint64_t now;
};

/* Attributes of a handle that the server has told to a caller of the same flavor. */
bool cache_getattr(const struct cache_reader *reader, struct bytes handle,
                   uint8_t fattr[NFS3_FATTR_LEN]);

/* True when attributes are fresh and all bits of `mask` were asked of the server for this
 * credential: `*granted` is what it granted of them. */
bool cache_access(const struct cache_reader *reader, struct bytes handle, uint32_t mask,
                  uint32_t *granted, uint8_t fattr[NFS3_FATTR_LEN]);

enum cache_lookup {
    CACHE_LOOKUP_MISS,
    CACHE_LOOKUP_FOUND,
    CACHE_LOOKUP_ABSENT, /* the server said NFS3ERR_NOENT */
};

struct cache_found {
    uint8_t handle[NFS3_FH_MAX];
    uint32_t handle_len;
    uint8_t object[NFS3_FATTR_LEN];
    uint8_t dir[NFS3_FATTR_LEN]; /* also where ABSENT */
};

/* Served only where the credential was let search the directory, and all attributes that go with it
 * are fresh. */
enum cache_lookup cache_lookup(const struct cache_reader *reader, struct bytes dir,
                               struct bytes name, struct cache_found *found);

/*
 * The object behind a name, for a mutation that must know what it touches: like cache_lookup
 * without asking for a permission or for attributes. FOUND sets handle and handle_len only.
 */
enum cache_lookup cache_resolve(const struct cache_reader *reader, struct bytes dir,
                                struct bytes name, struct cache_found *found);

/* ---- what an answer stands on: for checking hits against the server ---- */

/* The event clock as it stands; it does not advance. Read before a hit is looked up, so that whatever comes in between
 * shows in the fences. */
cache_stamp cache_clock(const struct cache_server *server);

struct cache_part {
    uint64_t fetched; /* ns: when the server said so last */
    bool may_lag;     /* also in exclusive: filled in doubt, settling, or with nlink 0 */
};

/* What is not part of an answer, or not kept yet, is from `now` and may lag. */
struct cache_basis {
    struct cache_part object;  /* attributes of the handle; LOOKUP: of what was found */
    struct cache_part dir;     /* LOOKUP: attributes of the directory */
    struct cache_part name;    /* LOOKUP: what the name leads to */
    struct cache_part verdict; /* ACCESS: the bits; LOOKUP: the directory may be searched */
};

/* What a hit that is looked up next would stand on. `mask`: of ACCESS. */
void cache_basis_object(const struct cache_reader *reader, struct bytes handle, uint32_t mask,
                        struct cache_basis *basis);
void cache_basis_name(const struct cache_reader *reader, struct bytes dir, struct bytes name,
                      struct cache_basis *basis);

/*
 * Nothing that came through the proxy can have changed it since then: no mutation of it is in flight or has ended since,
 * under this handle, under another one of the same file, or one of which nobody knows yet what it touches; and nothing
 * came into doubt. `fattr` says which file it is.
 */
bool cache_clean_since(const struct cache_server *server, struct bytes handle, const uint8_t *fattr,
                       cache_stamp since);
/* The same for what a name leads to; the directory is asked for by itself. */
bool cache_name_clean_since(const struct cache_server *server, struct bytes dir, struct bytes name,
                            cache_stamp since);

/* ---- fills: from the replies of calls that change nothing ---- */

struct cache_filler {
    struct cache_server *server;
    const struct cache_credential *credential;
    cache_stamp sent;     /* cache_tick when the call was forwarded */
    cache_stamp received; /* cache_tick when its reply came */
    uint64_t asked; /* monotonic ns when the call was forwarded: what it says is as old as that */
    bool exclusive; /* all writers come through the proxy */
    /* Verdicts and names: the object's, or the directory's, attributes in the same reply; or NULL. */
    const uint8_t *fattr;
};

/*
 * Attributes of a handle. Finds out what happened behind the proxy's back: when ctime, mtime, size,
 * nlink, mode or owner differ from what was last known and no mutation came in between, the object's
 * verdicts go and, for a directory, all its names. The names go as well where these are the first attributes after a
 * mutation that did not say what it left behind: what somebody else did in between could not be told from its own doing. Not
 * so in exclusive. When fileid, fsid or type differ, everything kept for the handle goes.
 */
void cache_fill_attributes(const struct cache_filler *filler, struct bytes handle,
                           const uint8_t *fattr);

/* Attributes that came without a handle (entries of READDIRPLUS), or are no answer to a GETATTR: what is kept of that file and
 * says otherwise goes; with its verdicts and names, as above. */
void cache_fill_shown(const struct cache_filler *filler, const uint8_t *fattr);

/* A verdict. Call after cache_fill_attributes of the same reply; kept only if the object's
 * attributes are. */
void cache_fill_verdict(const struct cache_filler *filler, struct bytes handle, uint32_t asked,
                        uint32_t granted);

/* A successful LOOKUP, or an entry of a READDIRPLUS page. `searched`: the reply proves that the
 * credential may search the directory (LOOKUP does, READDIRPLUS does not). Call after
 * cache_fill_attributes of both objects. */
void cache_fill_name(const struct cache_filler *filler, struct bytes dir, struct bytes name,
                     struct bytes handle, bool searched);
/* NFS3ERR_NOENT of a LOOKUP: it searched, too. */
void cache_fill_absent(const struct cache_filler *filler, struct bytes dir, struct bytes name);

/* NFS3ERR_STALE or BADHANDLE for this handle: it goes, and every name that leads to it. */
void cache_drop_handle(struct cache_server *server, struct bytes handle);
/* What is kept for a name goes. */
void cache_drop_name(struct cache_server *server, struct bytes dir, struct bytes name);

/* ---- mutations ---- */

/* RENAME: two directories; what the cache thinks is behind either name, and what the server says is. */
#define CACHE_MUTATION_OBJECTS 6u
#define CACHE_MUTATION_NAMES   3u /* RENAME: two names, and ".." of a moved directory */
#define CACHE_MUTATION_FENCES  (2 * CACHE_MUTATION_OBJECTS + CACHE_MUTATION_NAMES)

/* One thing that a mutation may change. */
struct cache_mutation_object {
    uint8_t handle[NFS3_FH_MAX];
    uint32_t handle_len;
    bool identified; /* fsid and fileid are known */
    bool told;       /* the caller said so */
    bool fenced;     /* the identity's fence is held since begin */
    bool had_before; /* `before` is what was last known, untouched by any other mutation */
    bool vouched;    /* it showed what it was before, as known, and what it is now, as kept */
    uint64_t fsid, fileid;
    uint8_t before[NFS3_WCC_ATTR_LEN];
};

/*
 * A mutation in flight. Lives in the caller's call from begin to end; nothing in it is the caller's
 * to touch. Between begin and end no lock is held. Every mutation that has begun must end exactly
 * once.
 */
struct cache_mutation {
    struct cache_server *server;
    bool exclusive;
    bool blind; /* it may touch what nobody knows of yet */
    unsigned objects, names, fences;
    cache_stamp sent; /* set by begin */
    uint64_t since;   /* likewise, monotonic ns */
    struct cache_mutation_object object[CACHE_MUTATION_OBJECTS];
    uint32_t name[CACHE_MUTATION_NAMES]; /* hashes */
    struct {
        bool identity;   /* of an identity; else of a handle or a name */
        uint32_t hash;   /* one of those that lead to it */
        uint32_t number; /* of the mutation at this fence */
    } fence[CACHE_MUTATION_FENCES];
};

/* How to use it: init; add what it may change; begin; send; when the reply is there, results, late
 * finds; end. */
void cache_mutation_init(struct cache_mutation *mutation, struct cache_server *server);
/* All writers come through the proxy: a directory's names stay although a reply has no
 * wcc_data.before to compare. */
void cache_mutation_exclusive(struct cache_mutation *mutation);
/* It may change an object that none of these calls names. Until it has ended nothing of the server is clean
 * (cache_clean_since). An object whose identity is not known makes it so by itself. */
void cache_mutation_blind(struct cache_mutation *mutation);
/* Returns the object's number for cache_mutation_result. The same handle twice is one object. */
unsigned cache_mutation_add_object(struct cache_mutation *mutation, struct bytes handle);
/* The identity where the caller knows it from elsewhere (a LOOKUP that it asked). */
void cache_mutation_identify(struct cache_mutation *mutation, unsigned object,
                             const uint8_t *fattr);
void cache_mutation_add_name(struct cache_mutation *mutation, struct bytes dir, struct bytes name);
/* What tells the object's file from all others: its identity where that is known, else its handle. A view in `mutation`. */
struct bytes cache_mutation_file(const struct cache_mutation *mutation, unsigned object);

/* Raises all fences and drops what they stand for. Before the first octet is sent. */
void cache_mutation_begin(struct cache_mutation *mutation, uint64_t now);

/*
 * What the reply says of one object, between begin and end; `wcc.after` is kept only if the
 * mutation was alone. A `wcc.before` that differs from what was last known, while it was alone,
 * shows a change behind the proxy's back: for a directory all its names go. A NULL in `wcc` means
 * that the server did not say. `flavor`: the caller's.
 *
 * Where the reply does not say both, or one of them can't be compared or kept since the mutation was not alone, what somebody
 * else did meanwhile, or does next, could not be told from the mutation's own doing: then all names in a directory go. So they
 * do, at the end, where this is not called. Not so in exclusive.
 */
void cache_mutation_result(struct cache_mutation *mutation, unsigned object, struct nfs3_wcc wcc,
                           uint32_t flavor, uint64_t now);

/* False where the object's identity is still unknown: aliases of it, if there are any, can't be
 * dropped. The caller asks the server (GETATTR), and calls cache_mutation_identify, before it ends
 * the mutation. */
bool cache_mutation_identified(const struct cache_mutation *mutation, unsigned object);

/*
 * An object that only the reply, or a question after it, brought to light (CREATE over a file that nobody had looked
 * up). Everything kept for it goes, and so do fills under way. `fattr` (or NULL) may be kept under the rule for other
 * replies. False where it is not known which file the handle is: it may be kept under another handle. The caller asks
 * the server (GETATTR), and calls this again with what it said, before it ends the mutation.
 */
bool cache_mutation_found(struct cache_mutation *mutation, struct bytes handle,
                          const uint8_t *fattr, uint32_t flavor, uint64_t now);

/* The name now leads to that object (or, `handle` empty, to nothing): kept only if the mutation was
 * alone on it. After cache_mutation_result of the directory and the object. */
void cache_mutation_name_result(struct cache_mutation *mutation, struct bytes dir,
                                struct bytes name, struct bytes handle);

/* A directory was removed or replaced: all names in it go, whatever else is known. */
void cache_mutation_directory_gone(struct cache_mutation *mutation, unsigned object);

/* Before the reply is sent to the client; also when the reply never came and never will. */
void cache_mutation_end(struct cache_mutation *mutation, uint64_t now);

/* ---- operations ---- */

/* Drops all that is kept of one server, or of all (NULL). Fills under way are refused. Fences stay. */
void cache_flush(struct cache *cache, struct cache_server *server);

struct cache_usage {
    uint64_t objects, names, verdicts, credentials;
    uint64_t bytes;         /* of the ceiling, in use */
    uint64_t evictions;     /* since the start */
    uint64_t fence_rejects; /* fills refused by a fence, since the start */
    uint64_t overlaps;      /* fills dropped since they contradict each other */
    uint64_t outside;       /* changes behind the proxy's back that were noticed */
};

void cache_usage(struct cache *cache, struct cache_usage *usage);

#endif
