/*
 * judge_hit: attributes, names and permissions, one after the other; the first that may not be said ends the run.
 */
#include "sim/judge_hit.h"

#include <assert.h>

#include "sim/crowd.h"
#include "sim/judge.h"
#include "sim/story.h"

/* What is settling is asked again after one second; the cache counts in ms. */
#define SETTLE_AGE (PLAN_SEC + PLAN_MSEC)

static uint64_t min(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static struct claim claim_at(const struct run *run, const struct call_made *call, uint64_t age)
{
    return (struct claim){
        .arrived = call->arrived, .now = run->now, .age = age, .settle_age = SETTLE_AGE};
}

/* Of two things that are wrong with one reading of an answer: the first in the order of the clauses, as in a register's history.
 * C3: it is no reading at all. */
static enum clause both(enum clause a, enum clause b)
{
    if (a == CLAUSE_NONE || b == C3)
        return b;
    return b == CLAUSE_NONE || a == C3 || a < b ? a : b;
}

/* Of two readings of which neither may be said: the one that is wrong by less, which is the last in that order. */
static enum clause either(enum clause a, enum clause b)
{
    return a == C3 || (b != C3 && b > a) ? b : a;
}

/* ---- evidence ---- */

struct wanted {
    enum evidence_kind kind;
    uint32_t key, asked;
    uint64_t value;
};

static bool proves(const struct evidence *evidence, const struct wanted *wanted)
{
    switch (wanted->kind) {
    case EVIDENCE_ATTR:
        return evidence->kind == EVIDENCE_ATTR && evidence->value == wanted->value;
    case EVIDENCE_NAME:
        return evidence->kind == EVIDENCE_NAME && evidence->key == wanted->key &&
               evidence->value == wanted->value;
    case EVIDENCE_ACCESS:
        return evidence->kind == EVIDENCE_ACCESS && evidence->key == wanted->key &&
               (evidence->asked & wanted->asked) == wanted->asked &&
               (evidence->value & wanted->asked) == wanted->value;
    case EVIDENCE_SEARCH:
        return evidence->key == wanted->key &&
               (evidence->kind == EVIDENCE_SEARCH ||
                (evidence->kind == EVIDENCE_ACCESS && (evidence->value & NFS3_ACCESS_LOOKUP)));
    }
    return false;
}

/*
 * Does some of the handle's evidence make the answer possible (CLAUSE_NONE), or what does the best of it lack? `reg` is what it
 * is about. C7 is not asked of permissions: a verdict that is kept although it overlapped with a mutation shows where the rights
 * are others than before it, as C1.
 */
static enum clause evidence_lacks(const struct run *run, const struct call_made *call,
                                  uint32_t handle, const struct wanted *wanted,
                                  const struct reg *reg)
{
    const struct handle *of = &run->ledger.handle[handle];
    uint64_t doubt = ledger_doubt_before(&run->ledger, call->arrived);
    bool permission = wanted->kind == EVIDENCE_ACCESS || wanted->kind == EVIDENCE_SEARCH;
    enum clause lacks = permission ? C4 : C3;
    for (unsigned i = of->count; i-- > 0;) {
        const struct evidence *evidence = &of->evidence[i];
        if (!proves(evidence, wanted))
            continue;
        if (evidence->received <= doubt)
            lacks = lacks == C7 ? C7 : C8;
        else if (reg_overlaps(reg, evidence->sent, evidence->received, evidence->call))
            lacks = C7;
        else
            return CLAUSE_NONE;
    }
    return lacks;
}

/* ---- attributes ---- */

static void breach_attr(struct run *run, const struct call_made *call, enum clause clause,
                        const struct fact *fact, const struct reg *reg, uint32_t version)
{
    uint64_t since =
        reg != NULL && version + 1 < reg->versions ? reg->version[version + 1].time : run->now;
    run_breach(run, clause, call->number,
               "%s from the cache: attributes of %s: %s; the server changed them %.6f s before",
               story_call(run, &call->read), story_handle(run, fact->handle),
               story_fattr(fact->fattr), (double)(run->now - since) / 1e9);
}

static void check_attr(struct run *run, const struct call_made *call, const struct fact *fact)
{
    struct claim claim = claim_at(run, call, run->age_max);
    uint64_t value = digest_fattr(fact->fattr);
    struct reg *handle = &run->ledger.handle[fact->handle].node;
    struct wanted wanted = {.kind = EVIDENCE_ATTR, .value = digest(fact->fattr, NFS3_FATTR_LEN)};
    enum clause clause = C3;
    const struct reg *about = NULL;
    uint32_t version = 0;
    claim.is = version_is_value;
    /* The oldest that it can be: what is shown is not more than that. */
    for (uint32_t i = 0; i < handle->versions; i++) {
        uint64_t node = handle->version[i].value;
        if (node == 0)
            continue;
        claim.what = &node;
        struct finding leads = reg_check(handle, &claim);
        struct reg *reg = ledger_node(&run->ledger, (fs_node)node);
        claim.what = &value;
        struct finding found = reg_check(reg, &claim);
        enum clause here = both(found.clause, leads.clause);
        if (here == CLAUSE_NONE)
            here = evidence_lacks(run, call, fact->handle, &wanted, reg);
        if (here == CLAUSE_NONE) {
            reg_raise(reg, run->ledger.moment, found.low, C2);
            reg_raise(handle, run->ledger.moment, leads.low, C2);
            return;
        }
        if (either(clause, here) != clause) {
            clause = here;
            about = reg;
            version = found.high;
        }
    }
    breach_attr(run, call, clause, fact, about, version);
}

/* ---- names ---- */

/* Does the name of that directory lead to that node, and may that be said? */
static enum clause name_leads(struct run *run, const struct call_made *call,
                              const struct fact *fact, uint64_t dir, uint64_t child,
                              struct claim *claim)
{
    struct reg *dir_handle = &run->ledger.handle[fact->handle].node;
    struct wanted wanted = {
        .kind = EVIDENCE_NAME, .key = fact->name, .value = fact->absent ? 0 : fact->child + 1};
    claim->what = &dir;
    enum clause clause = reg_check(dir_handle, claim).clause;
    if (!fact->absent) {
        claim->what = &child;
        clause = both(clause, reg_check(&run->ledger.handle[fact->child].node, claim).clause);
    }
    struct reg *reg = ledger_name(&run->ledger, (fs_node)dir, fact->name);
    claim->what = &child;
    struct finding found = reg_check(reg, claim);
    clause = both(clause, found.clause);
    if (clause == CLAUSE_NONE)
        clause = evidence_lacks(run, call, fact->handle, &wanted, reg);
    if (clause == CLAUSE_NONE && judge_names_shared(run))
        reg_raise(reg, run->ledger.moment, found.low, C2);
    return clause;
}

static void check_name(struct run *run, const struct call_made *call, const struct fact *fact)
{
    uint64_t age = fact->absent ? min(run->negative_age, run->age_max) : run->age_max;
    struct claim claim = claim_at(run, call, age);
    enum clause clause = C3;
    claim.is = version_is_value;
    if (!fact->absent && fact->child == LEDGER_NO_HANDLE) {
        run_breach(run, C3, call->number, "%s from the cache: a handle that the server never gave",
                   story_call(run, &call->read));
        return;
    }
    /* Registers may move when a new one is made: by number, not by pointer. */
    for (uint32_t i = 0; i < run->ledger.handle[fact->handle].node.versions; i++) {
        uint64_t dir = run->ledger.handle[fact->handle].node.version[i].value;
        uint32_t children = fact->absent ? 1 : run->ledger.handle[fact->child].node.versions;
        for (uint32_t j = 0; dir != 0 && j < children; j++) {
            uint64_t child =
                fact->absent ? 0 : run->ledger.handle[fact->child].node.version[j].value;
            if (child == 0 && !fact->absent)
                continue;
            enum clause here = name_leads(run, call, fact, dir, child, &claim);
            if (here == CLAUSE_NONE)
                return;
            clause = either(clause, here);
        }
    }
    run_breach(run, clause, call->number, "%s from the cache: %s", story_call(run, &call->read),
               fact->absent ? "NOENT" : story_handle(run, fact->child));
}

/* ---- permissions ---- */

struct permission {
    const struct fs_who *who;
    uint32_t asked, granted;
};

static bool grants(const struct version *version, const void *what)
{
    const struct permission *permission = what;
    return version->value != 0 && (fs_access(&version->rights, permission->who) &
                                   permission->asked) == permission->granted;
}

/* Did the server refuse this one anything some time in the last `age`, all of the time? */
static void grudged(const struct run *run, uint32_t uid, uint64_t age, bool *some, bool *all)
{
    uint64_t from = run->now > age ? run->now - age : 0;
    *some = *all = false;
    for (unsigned i = 0; i < run->grudges; i++) {
        const struct grudge *grudge = &run->grudge[i];
        if (grudge->uid != uid || grudge->until <= from)
            continue;
        *some = true;
        *all = *all || (grudge->from <= from && grudge->until > run->now);
    }
}

static enum clause permission_allows(struct run *run, const struct call_made *call,
                                     const struct fact *fact, const struct permission *permission)
{
    struct claim leads = claim_at(run, call, run->age_max);
    struct claim allows = claim_at(run, call, run->access_age);
    struct reg *handle = &run->ledger.handle[fact->handle].node;
    enum clause clause = C3;
    bool some, all;
    leads.is = version_is_value;
    allows.is = grants;
    allows.what = permission;
    grudged(run, permission->who->uid, run->access_age, &some, &all);
    if (permission->granted == 0 && some)
        return CLAUSE_NONE;
    if (permission->granted != 0 && all)
        return C5;
    for (uint32_t i = handle->versions; i-- > 0;) {
        uint64_t node = handle->version[i].value;
        if (node == 0)
            continue;
        leads.what = &node;
        enum clause here = reg_check(handle, &leads).clause;
        here = both(here, reg_check(ledger_node(&run->ledger, (fs_node)node), &allows).clause);
        if (here == CLAUSE_NONE)
            return CLAUSE_NONE;
        clause = either(clause, here);
    }
    return clause;
}

static void check_permission(struct run *run, const struct call_made *call, const struct fact *fact)
{
    const struct fs_who *who = crowd_who(call->who);
    struct permission permission = {who, NFS3_ACCESS_LOOKUP, NFS3_ACCESS_LOOKUP};
    struct wanted wanted = {.kind = EVIDENCE_SEARCH, .key = call->who};
    if (fact->kind == FACT_ACCESS) {
        permission = (struct permission){who, fact->asked, fact->granted};
        wanted = (struct wanted){.kind = EVIDENCE_ACCESS,
                                 .key = call->who,
                                 .asked = fact->asked,
                                 .value = fact->granted};
    }
    static const struct reg none;
    enum clause clause = permission_allows(run, call, fact, &permission);
    if (clause == CLAUSE_NONE)
        clause = evidence_lacks(run, call, fact->handle, &wanted, &none);
    if (clause != CLAUSE_NONE)
        run_breach(run, clause, call->number, "%s of uid %u from the cache: granted 0x%x of 0x%x",
                   story_call(run, &call->read), who->uid, permission.granted, permission.asked);
}

/* ---- the whole answer ---- */

static bool may_be_hit(const struct call_made *call, uint32_t status)
{
    uint32_t procedure = call->read.program + call->read.procedure;
    if (procedure == NFS3_LOOKUP && status == NFS3ERR_NOENT)
        return true;
    return status == NFS3_OK &&
           (procedure == NFS3_GETATTR || procedure == NFS3_LOOKUP || procedure == NFS3_ACCESS);
}

void judge_hit(struct run *run, struct call_made *call, struct bytes reply)
{
    struct facts facts;
    run->hits++;
    facts_of(&facts, &run->ledger, &call->read, reply);
    if (!facts.decoded || !may_be_hit(call, facts.status)) {
        run_breach(run, C6, call->number, "%s from the cache: status %u",
                   story_call(run, &call->read), facts.status);
        return;
    }
    for (unsigned i = 0; i < facts.count && run->breach.clause == CLAUSE_NONE; i++) {
        const struct fact *fact = &facts.fact[i];
        assert(fact->handle != LEDGER_NO_HANDLE);
        if (fact->kind == FACT_ATTR)
            check_attr(run, call, fact);
        else if (fact->kind == FACT_NAME)
            check_name(run, call, fact);
        else if (fact->kind == FACT_ACCESS || fact->kind == FACT_SEARCH)
            check_permission(run, call, fact);
    }
}
