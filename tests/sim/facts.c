/*
 * facts: decoded with xdr/, whose decoders are held against other implementations by their own tests.
 */
#include "sim/facts.h"

#include <assert.h>

#include "proxy/procedure.h"
#include "xdr/rpc.h"

static const struct procedure *procedure_of(uint32_t program, uint32_t procedure)
{
    uint32_t number = program == FACTS_NFSACL ? RPC_PROGRAM_NFSACL : RPC_PROGRAM_NFS;
    const struct program *found = program_find(number);
    assert(found != NULL && procedure < found->procedure_count);
    return &found->procedures[procedure];
}

void facts_read_call(struct call_read *read, struct bytes call)
{
    struct cursor c = cursor_over(call.data, call.len);
    struct rpc_call rpc;
    bool whole = rpc_call_decode(&c, &rpc);
    assert(whole);
    *read = (struct call_read){.program = rpc.program == RPC_PROGRAM_NFSACL ? FACTS_NFSACL : 0,
                               .procedure = rpc.procedure};
    nfs3_args_decoder *decode = procedure_of(read->program, read->procedure)->args;
    if (decode != NULL)
        whole = decode(&c, &read->args);
    assert(whole);
}

bool facts_mutates(const struct call_read *read)
{
    return procedure_of(read->program, read->procedure)->changes != 0;
}

static struct fact *add(struct facts *facts, enum fact_kind kind, uint32_t handle)
{
    assert(facts->count < FACTS_MAX);
    struct fact *fact = &facts->fact[facts->count++];
    *fact = (struct fact){.kind = kind, .handle = handle, .child = LEDGER_NO_HANDLE};
    return fact;
}

static void add_attr(struct facts *facts, uint32_t handle, const uint8_t *fattr)
{
    if (fattr != NULL)
        add(facts, FACT_ATTR, handle)->fattr = fattr;
}

static void add_name(struct facts *facts, uint32_t dir, uint32_t name, uint32_t child, bool absent)
{
    struct fact *fact = add(facts, FACT_NAME, dir);
    fact->name = name;
    fact->child = child;
    fact->absent = absent;
}

static void of_lookup(struct facts *facts, struct ledger *ledger, const struct call_read *call,
                      const struct nfs3_res *res)
{
    uint32_t dir = ledger_handle(ledger, call->args.object);
    add_attr(facts, dir, res->dir);
    if (res->status != NFS3_OK && res->status != NFS3ERR_NOENT)
        return;
    uint32_t name = ledger_text_bytes(ledger, call->args.name);
    bool absent = res->status == NFS3ERR_NOENT;
    uint32_t child = absent ? LEDGER_NO_HANDLE : ledger_handle(ledger, res->handle);
    add_name(facts, dir, name, child, absent);
    if (!absent)
        add_attr(facts, child, res->object);
    add(facts, FACT_SEARCH, dir);
}

static void of_access(struct facts *facts, struct ledger *ledger, const struct call_read *call,
                      const struct nfs3_res *res)
{
    uint32_t handle = ledger_handle(ledger, call->args.object);
    add_attr(facts, handle, res->object);
    if (res->status != NFS3_OK)
        return;
    struct fact *fact = add(facts, FACT_ACCESS, handle);
    fact->asked = call->args.access;
    fact->granted = res->access;
}

static bool is_dot(struct bytes name)
{
    return name.len <= 2 && name.data[0] == '.' && name.data[name.len - 1] == '.';
}

static void of_readdirplus(struct facts *facts, struct ledger *ledger, const struct call_read *call,
                           const struct nfs3_res *res)
{
    uint32_t dir = ledger_handle(ledger, call->args.object);
    struct cursor entries = res->entries;
    struct nfs3_entry entry;
    add_attr(facts, dir, res->dir);
    while (res->status == NFS3_OK && nfs3_entry_next(&entries, &entry)) {
        bool named = entry.handle.len > 0;
        uint32_t child = named ? ledger_handle(ledger, entry.handle) : LEDGER_NO_HANDLE;
        uint32_t name = ledger_text_bytes(ledger, entry.name);
        if (named && !is_dot(entry.name))
            add_name(facts, dir, name, child, false);
        if (named)
            add_attr(facts, child, entry.attributes);
        if (named || entry.attributes == NULL)
            continue;
        struct fact *fact = add(facts, FACT_ATTR, dir);
        fact->name = name;
        fact->by_name = fact->shown_only = true;
        fact->fattr = entry.attributes;
    }
}

static void of_create(struct facts *facts, struct ledger *ledger, const struct call_read *call,
                      const struct nfs3_res *res)
{
    uint32_t dir = ledger_handle(ledger, call->args.object);
    add_attr(facts, dir, res->wcc.after);
    if (res->status != NFS3_OK || res->handle.len == 0)
        return;
    uint32_t child = ledger_handle(ledger, res->handle);
    add_name(facts, dir, ledger_text_bytes(ledger, call->args.name), child, false);
    add_attr(facts, child, res->object);
}

static void of_acl(struct facts *facts, struct ledger *ledger, const struct call_read *call,
                   const struct nfs3_res *res)
{
    add_attr(facts, ledger_handle(ledger, call->args.object), res->object);
    if (facts->count > 0)
        facts->fact[0].shown_only = true;
}

static void of_nfs(struct facts *facts, struct ledger *ledger, const struct call_read *call,
                   const struct nfs3_res *res)
{
    uint32_t object = ledger_handle(ledger, call->args.object);
    uint32_t object2 = ledger_handle(ledger, call->args.object2);
    switch (call->procedure) {
    case NFS3_LOOKUP:
        of_lookup(facts, ledger, call, res);
        break;
    case NFS3_ACCESS:
        of_access(facts, ledger, call, res);
        break;
    case NFS3_CREATE:
    case NFS3_MKDIR:
    case NFS3_SYMLINK:
    case NFS3_MKNOD:
        of_create(facts, ledger, call, res);
        break;
    case NFS3_READDIRPLUS:
        of_readdirplus(facts, ledger, call, res);
        break;
    case NFS3_LINK:
        add_attr(facts, object, res->object);
        add_attr(facts, object2, res->wcc.after);
        break;
    case NFS3_RENAME:
        add_attr(facts, object, res->wcc.after);
        add_attr(facts, object2, res->wcc2.after);
        break;
    default:
        add_attr(facts, object, res->object);
        add_attr(facts, object, res->dir);
        add_attr(facts, object, res->wcc.after);
        break;
    }
}

static void add_gone(struct facts *facts, const struct ledger *ledger, struct bytes handle)
{
    uint32_t number = ledger_handle(ledger, handle);
    if (number != LEDGER_NO_HANDLE)
        add(facts, FACT_GONE, number);
}

void facts_of(struct facts *facts, struct ledger *ledger, const struct call_read *call,
              struct bytes reply)
{
    struct cursor c = cursor_over(reply.data, reply.len);
    struct rpc_reply rpc;
    struct nfs3_res res = {.status = NFS3_OK};
    nfs3_res_decoder *decode = procedure_of(call->program, call->procedure)->res;
    facts->count = 0;
    facts->verf = NULL;
    facts->accepted =
        rpc_reply_decode(&c, &rpc) && rpc.stat == RPC_MSG_ACCEPTED && rpc.accepted == RPC_SUCCESS;
    facts->decoded = facts->accepted && decode != NULL && decode(&c, &res);
    facts->status = res.status;
    if (!facts->decoded)
        return;
    facts->verf = res.verf;
    if (call->program == FACTS_NFSACL)
        of_acl(facts, ledger, call, &res);
    else
        of_nfs(facts, ledger, call, &res);
    if (res.status == NFS3ERR_STALE || res.status == NFS3ERR_BADHANDLE) {
        add_gone(facts, ledger, call->args.object);
        if (call->args.object2.len > 0)
            add_gone(facts, ledger, call->args.object2);
    }
}
