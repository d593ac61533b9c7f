/*
 * The server as a whole: RPC, the programs, and what happens to servers.
 */
#include "sim/nfsd.h"

#include "sim/memory.h"
#include "sim/nfsd_procedure.h"
#include "xdr/mount3.h"
#include "xdr/rpc.h"

#include <stdlib.h>

#define NOBODY        65534u
#define RESTART_LOSES 0x6c6f7365u /* what a restart decides by draw_of */

/* ---- creation ---- */

static void on_node(void *context, fs_node node)
{
    struct nfsd *nfsd = context;
    struct fs_attr attr;
    if (!fs_attr(nfsd->fs, node, &attr))
        handles_gone(&nfsd->handles, node);
    nfsd->watch.fs.node(nfsd->watch.fs.context, node);
}

static void on_name(void *context, fs_node dir, const char *name)
{
    const struct nfsd *nfsd = context;
    nfsd->watch.fs.name(nfsd->watch.fs.context, dir, name);
}

struct nfsd *nfsd_create(const struct nfsd_options *options, const struct nfsd_watch *watch)
{
    assert(options->aliases >= 1 && options->aliases <= NFSD_ALIASES_MAX);
    struct nfsd *nfsd = memory_get(sizeof *nfsd);
    *nfsd = (struct nfsd){
        .options = *options, .watch = *watch, .boot = options->boot, .grudge = UINT32_MAX};
    struct fs_watch own = {.context = nfsd, .node = on_node, .name = on_name};
    nfsd->fs = fs_create(&options->fs, &own);
    handles_init(&nfsd->handles, options->fs.fsid, options->handle_len, options->reuse_handles);
    nfsd->handles.told = watch->handle;
    nfsd->handles.context = watch->fs.context;
    return nfsd;
}

void nfsd_destroy(struct nfsd *nfsd)
{
    again_forget(&nfsd->again);
    handles_free(&nfsd->handles);
    fs_destroy(nfsd->fs);
    free(nfsd);
}

struct fs *nfsd_fs(struct nfsd *nfsd)
{
    return nfsd->fs;
}

struct bytes nfsd_handle(struct nfsd *nfsd, fs_node node, struct draw *draw, uint8_t *room)
{
    uint32_t alias = (uint32_t)draw_below(draw, nfsd->options.aliases);
    struct fs_attr attr;
    if (!fs_attr(nfsd->fs, node, &attr))
        return (struct bytes){room, 0};
    return handles_of(&nfsd->handles, node, alias, room);
}

fs_node nfsd_node(const struct nfsd *nfsd, struct bytes handle)
{
    fs_node node;
    handles_node(&nfsd->handles, handle, &node);
    return node;
}

bool nfsd_fattr(const struct nfsd *nfsd, fs_node node, uint8_t fattr[NFS3_FATTR_LEN])
{
    struct fs_attr attr;
    if (!fs_attr(nfsd->fs, node, &attr))
        return false;
    struct put put = {.at = fattr, .end = fattr + NFS3_FATTR_LEN};
    nfsd_put_fattr(&put, &attr);
    return true;
}

/* ---- RPC ---- */

static void put_reply(struct put *put, uint32_t xid, enum rpc_reply_stat stat)
{
    put_u32(put, xid);
    put_u32(put, RPC_REPLY);
    put_u32(put, stat);
}

static void put_accepted(struct put *put, uint32_t xid, enum rpc_accept_stat stat)
{
    put_reply(put, xid, RPC_MSG_ACCEPTED);
    put_u32(put, RPC_AUTH_NONE);
    put_u32(put, 0);
    put_u32(put, stat);
}

static void put_versions(struct put *put, uint32_t version)
{
    put_u32(put, version); /* the lowest */
    put_u32(put, version); /* the highest */
}

static void put_denied(struct put *put, uint32_t xid, enum rpc_auth_stat stat)
{
    put_reply(put, xid, RPC_MSG_DENIED);
    put_u32(put, RPC_AUTH_ERROR);
    put_u32(put, stat);
}

static enum rpc_auth_stat who_asks(const struct rpc_call *call, struct fs_who *who)
{
    if (call->cred_flavor == RPC_AUTH_NONE) {
        *who = (struct fs_who){.uid = NOBODY, .gid = NOBODY};
        return RPC_AUTH_OK;
    }
    struct rpc_auth_sys sys;
    if (call->cred_flavor != RPC_AUTH_SYS)
        return RPC_AUTH_TOOWEAK;
    if (!rpc_auth_sys_decode(call->cred, &sys))
        return RPC_AUTH_BADCRED;
    who->uid = sys.uid;
    who->gid = sys.gid;
    who->group_count = sys.gid_count;
    memcpy(who->groups, sys.gids, sys.gid_count * sizeof sys.gids[0]);
    return RPC_AUTH_OK;
}

/* ---- programs ---- */

/* An RPC error by chance; false: none. */
static bool rpc_error(struct nfsd_call *x, uint32_t xid)
{
    bool fails = draw_permille(&x->draw, x->nfsd->options.errors.rpc_errors);
    uint64_t which = draw_below(&x->draw, 3);
    if (!fails)
        return false;
    if (which == 0)
        put_accepted(&x->put, xid, RPC_SYSTEM_ERR);
    else
        put_denied(&x->put, xid, which == 1 ? RPC_AUTH_REJECTEDCRED : RPC_AUTH_TOOWEAK);
    return true;
}

/* The reply of a server that is in trouble, whatever has been put so far. */
static void break_reply(struct nfsd_call *x, uint32_t xid, uint8_t *begin)
{
    static const enum nfs3_status statuses[] = {NFS3ERR_IO, NFS3ERR_SERVERFAULT, NFS3_OK};
    uint64_t which = draw_below(&x->draw, 5);
    x->put.at = begin;
    if (which == 3) {
        put_accepted(&x->put, xid, RPC_SYSTEM_ERR);
    } else if (which == 4) {
        put_reply(&x->put, xid, RPC_MSG_ACCEPTED); /* and no more */
    } else {
        put_accepted(&x->put, xid, RPC_SUCCESS);
        if (statuses[which] == NFS3_OK)
            put_u32(&x->put, NFS3_OK); /* likewise */
        else
            nfsd_bare_failure(x, statuses[which]);
    }
}

/* False: it is not to be remembered. */
static bool run_procedure(struct nfsd_call *x, const struct rpc_call *call, struct cursor *args)
{
    const struct nfsd_errors *errors = &x->nfsd->options.errors;
    const bool changes = x->procedure->changes;
    uint8_t *begin = x->put.at;
    if (rpc_error(x, call->xid))
        return false;
    if (!x->procedure->decode(args, &x->args)) {
        put_accepted(&x->put, call->xid, RPC_GARBAGE_ARGS);
        return false;
    }
    bool before = draw_permille(&x->draw, errors->breaks_before);
    bool after = draw_permille(&x->draw, errors->breaks_after) && changes;
    put_accepted(&x->put, call->xid, RPC_SUCCESS);
    if (!before)
        nfsd_results(x);
    if (before || after)
        break_reply(x, call->xid, begin);
    return changes && !before;
}

static void run_mount(struct nfsd_call *x, const struct rpc_call *call, struct cursor *args)
{
    struct bytes path;
    if (!mount3_path_args(args, &path)) {
        put_accepted(&x->put, call->xid, RPC_GARBAGE_ARGS);
        return;
    }
    put_accepted(&x->put, call->xid, RPC_SUCCESS);
    if (path.len != 1 || *path.data != '/') {
        put_u32(&x->put, MNT3ERR_NOENT);
        return;
    }
    put_u32(&x->put, MNT3_OK);
    nfsd_put_handle(x, FS_ROOT);
    put_u32(&x->put, 1);
    put_u32(&x->put, RPC_AUTH_SYS);
}

/* All of them in version 3. */
static bool serves(uint32_t program)
{
    return program == RPC_PROGRAM_NFS || program == RPC_PROGRAM_NFSACL ||
           program == RPC_PROGRAM_MOUNT;
}

/* Whatever can be said of a call without looking at its procedure. */
static bool answer_header(struct nfsd_call *x, const struct rpc_call *call)
{
    if (call->rpc_version != RPC_VERSION) {
        put_reply(&x->put, call->xid, RPC_MSG_DENIED);
        put_u32(&x->put, RPC_MISMATCH);
        put_versions(&x->put, RPC_VERSION);
        return true;
    }
    if (!serves(call->program)) {
        put_accepted(&x->put, call->xid, RPC_PROG_UNAVAIL);
        return true;
    }
    if (call->version != NFS3_VERSION) {
        put_accepted(&x->put, call->xid, RPC_PROG_MISMATCH);
        put_versions(&x->put, NFS3_VERSION);
        return true;
    }
    if (call->procedure == 0) {
        put_accepted(&x->put, call->xid, RPC_SUCCESS);
        return true;
    }
    enum rpc_auth_stat auth = who_asks(call, &x->who);
    if (auth != RPC_AUTH_OK)
        put_denied(&x->put, call->xid, auth);
    return auth != RPC_AUTH_OK;
}

static const struct nfsd_procedure *procedure_of(const struct rpc_call *call)
{
    if (call->program == RPC_PROGRAM_NFS)
        return nfsd_nfs_procedure(call->procedure);
    return call->program == RPC_PROGRAM_NFSACL ? nfsd_acl_procedure(call->procedure) : NULL;
}

static void run_call(struct nfsd_call *x, const struct rpc_call *call, struct cursor *args,
                     uint64_t key, struct nfsd_executed *executed)
{
    struct nfsd *nfsd = x->nfsd;
    x->procedure = procedure_of(call);
    if (call->program == RPC_PROGRAM_MOUNT && call->procedure == MOUNT3_MNT) {
        run_mount(x, call, args);
        return;
    }
    if (!x->procedure) {
        put_accepted(&x->put, call->xid, RPC_PROC_UNAVAIL);
        return;
    }
    bool remembers = nfsd->options.remembers && x->procedure->changes;
    struct bytes before = remembers ? again_find(nfsd->again, key) : (struct bytes){0};
    if (before.len > 0) {
        memcpy(put_room(&x->put, before.len), before.data, before.len);
        executed->again = true;
        return;
    }
    if (run_procedure(x, call, args) && remembers)
        again_remember(&nfsd->again, key,
                       (struct bytes){executed->reply, (uint32_t)(x->put.at - executed->reply)});
}

void nfsd_execute(struct nfsd *nfsd, uint64_t connection, struct bytes call, uint64_t now,
                  struct draw draw, struct nfsd_executed *executed)
{
    executed->reply_len = 0;
    executed->again = false;
    struct cursor args = cursor_over(call.data, call.len);
    struct rpc_call header;
    if (!rpc_call_decode(&args, &header))
        return;
    struct nfsd_call x;
    x.nfsd = nfsd;
    x.now = now;
    x.draw = draw;
    x.put = (struct put){executed->reply, executed->reply + NFSD_REPLY_MAX};
    x.object = x.object2 = x.found = 0;
    x.has_before = x.has_before2 = false;
    x.count = 0;
    if (!answer_header(&x, &header))
        run_call(&x, &header, &args, nfsd->options.remembers ? again_key(connection, call) : 0,
                 executed);
    executed->reply_len = (uint32_t)(x.put.at - executed->reply);
}

void nfsd_set_errors(struct nfsd *nfsd, const struct nfsd_errors *errors)
{
    nfsd->options.errors = *errors;
}

/* ---- what happens to servers ---- */

static bool loses(void *context, fs_node node)
{
    const uint64_t *seed = context;
    struct draw draw = draw_of(*seed, RESTART_LOSES, node, 0);
    return draw_below(&draw, 2) == 0;
}

void nfsd_restart(struct nfsd *nfsd, struct draw draw)
{
    uint64_t boot, seed = draw_u64(&draw);
    while ((boot = draw_u64(&draw)) == nfsd->boot)
        ;
    nfsd->boot = boot;
    again_forget(&nfsd->again);
    fs_crash(nfsd->fs, loses, &seed);
}

void nfsd_confuse(struct nfsd *nfsd, struct draw draw)
{
    handles_confuse(&nfsd->handles, nfsd->fs, &draw);
}

void nfsd_grudge(struct nfsd *nfsd, uint32_t uid)
{
    nfsd->grudge = uid;
}
