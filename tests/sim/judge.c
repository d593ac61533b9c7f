/*
 * judge: forwarded replies must be octet for octet one of the server's; they say what nobody may be told less than
 * from then on. Answers of the proxy's own are taken apart, and each fact is checked (judge_hit.c).
 */
#include "sim/judge.h"

#include <string.h>

#include "sim/crowd.h"
#include "sim/judge_hit.h"
#include "sim/memory.h"

#define XID_LEN 4u

/* ---- what the server said ---- */

static uint32_t last_version(const struct reg *reg)
{
    return reg->versions > 0 ? reg->versions - 1 : 0;
}

static fs_node name_node(struct run *run, fs_node dir, uint32_t name)
{
    const struct reg *reg = ledger_name(&run->ledger, dir, name);
    return (fs_node)reg->version[reg->versions - 1].value;
}

/* The register that a fact is about, now. False where it is about permissions. */
static bool fact_ref(struct run *run, const struct fact *fact, struct ref *ref)
{
    fs_node node = ledger_handle_node(&run->ledger, fact->handle);
    switch (fact->kind) {
    case FACT_NAME:
        *ref = (struct ref){.kind = REF_NAME, .a = node, .b = fact->name};
        break;
    case FACT_GONE:
        *ref = (struct ref){.kind = REF_HANDLE, .a = fact->handle};
        break;
    case FACT_ATTR:
        *ref = (struct ref){.kind = REF_NODE,
                            .a = fact->by_name ? name_node(run, node, fact->name) : node};
        break;
    default:
        return false;
    }
    unsigned versions = run_reg(run, ref)->versions;
    ref->version = versions - 1;
    return versions > 0; /* "." and ".." without handles are not looked for */
}

void judge_executed(struct run *run, const struct sending *sending, struct execution *executed)
{
    struct facts facts;
    facts_of(&facts, &run->ledger, &sending->read, (struct bytes){executed->reply, executed->len});
    executed->shown = memory_get(facts.count * sizeof(struct ref));
    for (unsigned i = 0; i < facts.count; i++) {
        struct ref ref;
        if (fact_ref(run, &facts.fact[i], &ref))
            executed->shown[executed->shown_count++] = ref;
    }
}

static void add_evidence(struct run *run, const struct sending *sending, const struct fact *fact)
{
    struct evidence evidence = {.sent = sending->sent,
                                .received = run->ledger.moment,
                                .call = sending->call != NULL ? sending->call->number : 0};
    switch (fact->kind) {
    case FACT_ATTR:
        evidence.kind = EVIDENCE_ATTR;
        evidence.value = digest(fact->fattr, NFS3_FATTR_LEN);
        break;
    case FACT_NAME:
        evidence.kind = EVIDENCE_NAME;
        evidence.key = fact->name;
        evidence.value = fact->absent ? 0 : fact->child + 1;
        break;
    case FACT_ACCESS:
        evidence.kind = EVIDENCE_ACCESS;
        evidence.key = sending->who;
        evidence.asked = fact->asked;
        evidence.value = fact->granted;
        break;
    case FACT_SEARCH:
        evidence.kind = EVIDENCE_SEARCH;
        evidence.key = sending->who;
        break;
    case FACT_GONE:
        return;
    }
    ledger_add_evidence(&run->ledger, fact->handle, &evidence);
}

/* From now on what it did may be known. */
static void end_windows(struct run *run, const struct call_made *call)
{
    for (unsigned i = 0; i < call->effects; i++)
        reg_end(run_reg(run, &call->effect[i].ref), call->number, run->ledger.moment);
}

static void touch_node(struct run *run, const struct call_made *call, fs_node node)
{
    if (node != 0)
        reg_touch(ledger_node(&run->ledger, node), call->number, run->ledger.moment);
}

/* What the call names, and what is behind it there now. */
static void touch(struct run *run, const struct call_made *call, struct bytes handle,
                  struct bytes name)
{
    uint32_t number = handle.len > 0 ? ledger_handle(&run->ledger, handle) : LEDGER_NO_HANDLE;
    fs_node node = number != LEDGER_NO_HANDLE ? ledger_handle_node(&run->ledger, number) : 0;
    touch_node(run, call, node);
    if (node != 0 && name.len > 0 && name.len <= FS_NAME_MAX)
        touch_node(run, call, name_node(run, node, ledger_text_bytes(&run->ledger, name)));
}

void judge_touches(struct run *run, const struct call_made *call)
{
    const struct nfs3_args *args = &call->read.args;
    if (!facts_mutates(&call->read))
        return;
    touch(run, call, args->object, args->name);
    touch(run, call, args->object2, args->name2);
}

static void end_touches(struct run *run, const struct call_made *call)
{
    for (unsigned i = 0; i < run->ledger.nodes; i++)
        reg_untouch(&run->ledger.node[i], call->number, run->ledger.moment);
}

void judge_received(struct run *run, const struct sending *sending, struct execution *executed)
{
    struct facts facts;
    ledger_tick(&run->ledger);
    executed->received = true;
    if (sending->call != NULL)
        end_windows(run, sending->call);
    facts_of(&facts, &run->ledger, &sending->read, (struct bytes){executed->reply, executed->len});
    for (unsigned i = 0; i < facts.count; i++) {
        if (!facts.fact[i].shown_only)
            add_evidence(run, sending, &facts.fact[i]);
    }
}

/* ---- what a client is told ---- */

static bool name_stolen(struct run *run, uint64_t since, struct bytes dir, struct bytes name)
{
    uint32_t handle = dir.len > 0 ? ledger_handle(&run->ledger, dir) : LEDGER_NO_HANDLE;
    if (handle == LEDGER_NO_HANDLE || name.len == 0 || name.len > FS_NAME_MAX)
        return false;
    const struct reg *reg = ledger_name(&run->ledger, ledger_handle_node(&run->ledger, handle),
                                        ledger_text_bytes(&run->ledger, name));
    for (unsigned i = reg->versions; i-- > 0;) {
        if (reg->version[i].cause == CAUSE_OUTSIDE && reg->version[i].moment > since)
            return true;
    }
    return false;
}

bool judge_stolen(struct run *run, const struct call_read *read, uint64_t since)
{
    const struct nfs3_args *args = &read->args;
    return name_stolen(run, since, args->object, args->name) ||
           name_stolen(run, since, args->object2, args->name2);
}

/* The moment at which the proxy could first ask what is behind the call's names. */
static uint64_t first_arrival(const struct call_made *call)
{
    uint64_t first = call->arrived;
    for (const struct sending *sending = call->sendings; sending != NULL;
         sending = sending->next_of_call)
        first = sending->arrived < first ? sending->arrived : first;
    return first;
}

/*
 * A mutation's reply: what it did is known from now on. After a CREATE the proxy may ask what it met: where somebody else changed
 * the name before the reply was told, that is something else. (Of other calls it asks before they are sent: execute.)
 */
static void raise_effects(struct run *run, struct call_made *call)
{
    const bool stolen =
        call->read.procedure == NFS3_CREATE && judge_stolen(run, &call->read, first_arrival(call));
    for (unsigned i = 0; i < call->effects; i++) {
        const struct effect *effect = &call->effect[i];
        struct reg *reg = run_reg(run, &effect->ref);
        /* That a handle is given out to a node is nothing that the call does to anybody. */
        bool given = effect->ref.kind == REF_HANDLE && reg->version[effect->ref.version].value != 0;
        if (stolen && !effect->named)
            reg->version[effect->ref.version].cause = CAUSE_OUTSIDE;
        else if (effect->tracked && !given)
            reg_raise(reg, run->ledger.moment, effect->ref.version, C1);
    }
}

/* When the proxy last learned of the node's attributes in a way that it could keep, before that moment; 0: never. */
static uint64_t last_known(struct run *run, fs_node node, uint64_t before)
{
    const struct reg *reg = ledger_node(&run->ledger, node);
    uint64_t found = 0;
    for (uint32_t i = 0; i < run->ledger.handles; i++) {
        const struct handle *handle = &run->ledger.handle[i];
        for (unsigned j = 0; j < handle->count && ledger_handle_node(&run->ledger, i) == node;
             j++) {
            const struct evidence *evidence = &handle->evidence[j];
            if (evidence->kind == EVIDENCE_ATTR && evidence->received < before &&
                evidence->received > found &&
                !reg_touched_during(reg, evidence->sent, evidence->received, evidence->call))
                found = evidence->received;
        }
    }
    return found;
}

/* Did anything else show the node while the mutation was in flight that came after that moment? Its own word is not kept then. */
static bool disturbed(struct run *run, fs_node node, uint64_t since)
{
    const struct reg *reg = ledger_node(&run->ledger, node);
    for (uint32_t i = 0; i < run->ledger.handles; i++) {
        const struct handle *handle = &run->ledger.handle[i];
        for (unsigned j = 0; j < handle->count && ledger_handle_node(&run->ledger, i) == node;
             j++) {
            const struct evidence *evidence = &handle->evidence[j];
            if (evidence->kind == EVIDENCE_ATTR && evidence->received > since &&
                reg_touched_during(reg, evidence->sent, evidence->received, evidence->call))
                return true;
        }
    }
    return false;
}

bool judge_names_shared(const struct run *run)
{
    return run->plan->nfsd.aliases == 1 && run->confused_until == 0;
}

/*
 * A directory's attributes show that its names are others than before (C5: at once when any reply shows it). Unless mutations
 * of ours may have made the difference: then only one that was alone can tell, whose reply says what was before, in times
 * that are not coarse; it is asked for only of servers whose replies all do. Nor where a directory has several handles, each
 * with names of its own.
 */
static void raise_names(struct run *run, fs_node dir, uint64_t op, uint64_t sent)
{
    const struct nfsd_options *nfsd = &run->plan->nfsd;
    uint64_t since = last_known(run, dir, sent);
    unsigned touched = reg_touched(ledger_node(&run->ledger, dir), since);
    if (since == 0 || !judge_names_shared(run))
        return;
    bool tells = nfsd->no_before + nfsd->no_after + nfsd->errors.fails_after == 0 &&
                 nfsd->fs.granularity == 1;
    if (touched > 1 || (touched == 1 && (!tells || disturbed(run, dir, since))))
        return;
    for (unsigned i = 0; i < run->ledger.names; i++) {
        struct reg *reg = &run->ledger.name[i].reg;
        uint32_t version = last_version(reg);
        if (run->ledger.name[i].dir != dir)
            continue;
        while (version > 0 && reg->version[version].op > op)
            version--;
        reg_raise(reg, run->ledger.moment, version, C5);
    }
}

/* What the server said at that moment has been shown: it could as well be the first of several versions that look alike. */
static void raise_shown(struct run *run, const struct sending *sending,
                        const struct execution *executed)
{
    for (unsigned i = 0; i < executed->shown_count; i++) {
        struct reg *reg = run_reg(run, &executed->shown[i]);
        uint32_t version = executed->shown[i].version;
        uint32_t first = reg->floors > 0 ? reg->floor[reg->floors - 1].version : 0;
        while (first < version && reg->version[first].value != reg->version[version].value)
            first++;
        version = first;
        uint64_t op = reg->version[version].op;
        /* Names are known by the handle under which they were asked for: of another handle's nobody knows. */
        if (executed->shown[i].kind == REF_NAME && !judge_names_shared(run))
            continue;
        if (reg_raise(reg, run->ledger.moment, version, C2) && executed->shown[i].kind == REF_NODE)
            raise_names(run, executed->shown[i].a, op, sending->sent);
    }
}

static bool same_but_xid(struct bytes a, const struct execution *b)
{
    return a.len == b->len && a.len >= XID_LEN &&
           memcmp(a.data + XID_LEN, b->reply + XID_LEN, a.len - XID_LEN) == 0;
}

static const struct execution *find_execution(const struct sending *sending, struct bytes reply)
{
    for (unsigned i = sending->executions; i-- > 0;) {
        if (sending->execution[i].received && same_but_xid(reply, &sending->execution[i]))
            return &sending->execution[i];
    }
    return NULL;
}

static void told_forwarded(struct run *run, struct call_made *call, struct bytes reply)
{
    const struct execution *found = NULL;
    const struct sending *sending = call->sendings;
    run->forwarded++;
    while (sending != NULL && (found = find_execution(sending, reply)) == NULL)
        sending = sending->next_of_call;
    if (found == NULL) {
        run_breach(run, C3, call->number, "a forwarded reply is none that the server sent");
        return;
    }
    raise_effects(run, call);
    raise_shown(run, sending, found);
    if (facts_mutates(&call->read))
        end_touches(run, call);
}

void judge_told(struct run *run, struct call_made *call, struct bytes reply, bool local)
{
    ledger_tick(&run->ledger);
    if (++call->answers > 1)
        run_breach(run, CLAUSE_ONCE, call->number, "answered twice");
    if (local)
        judge_hit(run, call, reply);
    else
        told_forwarded(run, call, reply);
}

void judge_end(struct run *run)
{
    for (unsigned i = 1; i < run->calls; i++) {
        const struct call_made *call = run->call[i];
        if (call != NULL && call->waits)
            run_breach(run, CLAUSE_ONCE, call->number, "never answered");
    }
}
