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
    for (unsigned i = 0; i < call->changes; i++)
        reg_end(run_reg(run, &call->change[i].ref), call->number, run->ledger.moment);
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

/* A mutation's reply: what it did is known from now on. */
static void raise_changes(struct run *run, struct call_made *call)
{
    for (unsigned i = 0; i < call->changes; i++) {
        const struct change *change = &call->change[i];
        if (change->tracked)
            reg_raise(run_reg(run, &change->ref), run->ledger.moment, change->ref.version, C1);
    }
}

/* A directory's attributes show that its names are others than before (C5: at once when any reply shows it). */
static void raise_names(struct run *run, fs_node dir, uint64_t op)
{
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
static void raise_shown(struct run *run, const struct execution *executed)
{
    for (unsigned i = 0; i < executed->shown_count; i++) {
        struct reg *reg = run_reg(run, &executed->shown[i]);
        uint32_t version = executed->shown[i].version;
        while (version > 0 && reg->version[version - 1].value == reg->version[version].value)
            version--;
        uint64_t op = reg->version[version].op;
        if (reg_raise(reg, run->ledger.moment, version, C2) && executed->shown[i].kind == REF_NODE)
            raise_names(run, executed->shown[i].a, op);
    }
}

static bool same_but_xid(struct bytes a, const struct execution *b)
{
    return a.len == b->len && a.len >= XID_LEN &&
           memcmp(a.data + XID_LEN, b->reply + XID_LEN, a.len - XID_LEN) == 0;
}

static const struct execution *find_execution(const struct call_made *call, struct bytes reply)
{
    for (const struct sending *s = call->sendings; s != NULL; s = s->next_of_call) {
        for (unsigned i = s->executions; i-- > 0;) {
            if (s->execution[i].received && same_but_xid(reply, &s->execution[i]))
                return &s->execution[i];
        }
    }
    return NULL;
}

static void told_forwarded(struct run *run, struct call_made *call, struct bytes reply)
{
    const struct execution *found = find_execution(call, reply);
    run->forwarded++;
    if (found == NULL) {
        run_breach(run, C3, call->number, "a forwarded reply is none that the server sent");
        return;
    }
    raise_changes(run, call);
    raise_shown(run, found);
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
