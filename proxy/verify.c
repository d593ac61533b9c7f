/*
 * verify: whose turn it is, the server's reply compared, and what follows from it.
 */
#include "proxy/verify.h"

#include <assert.h>
#include <stdlib.h>

#include "cache/fattr.h"
#include "proxy/reply.h"
#include "proxy/violation.h"

struct verification {
    struct upstream_call sent;
    struct request request; /* of its own copy of the record */
    struct verify_before before;
    uint64_t served_at; /* ns */
    bool exclusive;
    uint32_t results_len;
    uint8_t room[]; /* the results that were served, a header, the record */
};

/* What may differ: a part of struct cache_basis each. */
enum verify_part {
    PART_OBJECT = 1 << 0,
    PART_DIR = 1 << 1,
    PART_NAME = 1 << 2,
    PART_VERDICT = 1 << 3,
};

static struct verify *state_of(const struct request *request)
{
    return &request->service->verify;
}

static struct verify_counters *counters_of(const struct request *request)
{
    return &request->service->counters.verify[request->procedure - request->program->procedures];
}

static bool is_lookup(const struct request *request)
{
    return request->args.name.len > 0;
}

/* ---- before the client has its answer ---- */

void verify_look(const struct request *request, struct verify_before *before)
{
    const struct verify *verify = state_of(request);
    const struct nfs3_args *args = &request->args;
    before->turn = verify->owed + verify->share >= VERIFY_UNIT;
    if (!before->turn)
        return;
    struct cache_reader reader = request_reader(request);
    before->clock = cache_clock(request->cache);
    if (is_lookup(request))
        cache_basis_name(&reader, args->object, args->name, &before->basis);
    else
        cache_basis_object(&reader, args->object, args->access, &before->basis);
}

static struct verification *create(const struct request *request,
                                   const struct verify_before *before, struct bytes results)
{
    struct rpc_reply refusal;
    uint32_t head = request->credential.squashed ? REQUEST_HEAD_MAX : 0;
    uint32_t len = request->record.len;
    struct verification *v = calloc(1, sizeof(*v) + results.len + head + len);
    if (v == NULL)
        return NULL;
    v->before = *before;
    v->served_at = request->service->engine->now;
    v->exclusive = request->service->ages.exclusive;
    v->results_len = results.len;
    memcpy(v->room, results.data, results.len);
    uint8_t *record = v->room + results.len + head;
    memcpy(record, request->record.data, len);
    enum request_verdict verdict =
        request_read(&v->request, request->service, (struct bytes){record, len}, &refusal);
    assert(verdict == REQUEST_OK);
    request_compose(&v->request, record, v->room + results.len, &v->sent);
    return v;
}

static void verify_replied(struct upstream_call *sent, struct record *record);

static void verify_free(struct verification *v)
{
    state_of(&v->request)->inflight--;
    v->request.service->engine->calls--;
    free(v);
}

static void verify_release(struct upstream_call *sent)
{
    verify_free(container_of(sent, struct verification, sent));
}

struct verification *verify_take(const struct request *request, const struct verify_before *before,
                                 struct bytes results)
{
    struct verify *verify = state_of(request);
    verify->owed += verify->share;
    if (!before->turn)
        return NULL;
    verify->owed -= VERIFY_UNIT;
    struct verification *v = NULL;
    if (verify->inflight < VERIFY_INFLIGHT_MAX && request->record.len <= VERIFY_RECORD_MAX)
        v = create(request, before, results);
    if (v == NULL) {
        counter_add(&counters_of(request)->skipped, 1);
        return NULL;
    }
    v->sent.replied = verify_replied;
    v->sent.release = verify_release;
    verify->inflight++;
    request->service->engine->calls++;
    return v;
}

void verify_send(struct verification *v)
{
    const struct request *request = &v->request;
    if (service_submit(request->service, request->program, request->cache, &v->sent) == 0)
        return;
    counter_add(&counters_of(request)->skipped, 1);
    verify_free(v);
}

/* ---- the comparison ---- */

/* All that the answer stood on is as it was, as far as the proxy's own clients go. */
static bool clean(const struct verification *v, const struct nfs3_res *served)
{
    const struct cache_server *server = v->request.cache;
    const struct nfs3_args *args = &v->request.args;
    cache_stamp since = v->before.clock;
    if (!is_lookup(&v->request))
        return cache_clean_since(server, args->object, served->object, since);
    return cache_clean_since(server, args->object, served->dir, since) &&
           cache_name_clean_since(server, args->object, args->name, since) &&
           (served->handle.len == 0 ||
            cache_clean_since(server, served->handle, served->object, since));
}

static bool attributes_differ(const uint8_t *served, const uint8_t *told)
{
    return served != NULL && told != NULL && !fattr_equal(served, told);
}

/* Another status than was served. False where it says nothing of the object. */
static bool status_differs(const struct request *request, const struct nfs3_res *told,
                           unsigned *parts)
{
    bool lookup = is_lookup(request);
    switch (told->status) {
    case NFS3_OK:
    case NFS3ERR_NOENT:
        *parts |= lookup ? PART_NAME : PART_OBJECT;
        return true;
    case NFS3ERR_STALE:
    case NFS3ERR_BADHANDLE:
        *parts |= lookup ? PART_DIR : PART_OBJECT;
        return true;
    case NFS3ERR_NOTDIR:
        *parts |= PART_DIR;
        return lookup;
    case NFS3ERR_ACCES:
        *parts |= PART_VERDICT;
        return lookup;
    default:
        return false;
    }
}

/* `*parts`: what is not as it was served. False where the reply does not tell. */
static bool compare(const struct request *request, const struct nfs3_res *served,
                    const struct nfs3_res *told, unsigned *parts)
{
    *parts = 0;
    if (served->status != told->status && !status_differs(request, told, parts))
        return false;
    if (attributes_differ(served->dir, told->dir))
        *parts |= PART_DIR;
    if (served->status != told->status)
        return true;
    if (!bytes_equal(served->handle, told->handle))
        *parts |= PART_NAME;
    else if (attributes_differ(served->object, told->object))
        *parts |= PART_OBJECT;
    if (served->access != (told->access & request->args.access))
        *parts |= PART_VERDICT;
    return true;
}

/* ---- what follows ---- */

/* What was served goes. So does what is kept of the same files under other handles and is not what the server said. */
static void drop(const struct verification *v, const struct nfs3_res *served,
                 const struct nfs3_res *told, unsigned parts)
{
    const struct request *request = &v->request;
    const struct nfs3_args *args = &request->args;
    struct cache_filler filler = {.server = request->cache,
                                  .credential = &request->credential.identity,
                                  .sent = v->before.clock,
                                  .received = cache_tick(request->cache)};
    if (told->object != NULL)
        cache_fill_shown(&filler, told->object);
    if (told->dir != NULL)
        cache_fill_shown(&filler, told->dir);
    if (!is_lookup(request) || (parts & (PART_DIR | PART_VERDICT)))
        cache_drop_handle(request->cache, args->object);
    if (!is_lookup(request))
        return;
    if (parts & PART_OBJECT)
        cache_drop_handle(request->cache, served->handle);
    cache_drop_name(request->cache, args->object, args->name);
}

/* Whether all parts that differ may lag, and when the oldest of them was learned. */
static bool may_lag(const struct cache_basis *basis, unsigned parts, uint64_t *fetched)
{
    const struct cache_part *part[] = {&basis->object, &basis->dir, &basis->name, &basis->verdict};
    bool all = true;
    *fetched = UINT64_MAX;
    for (unsigned i = 0; i < sizeof(part) / sizeof(part[0]); i++) {
        if (!(parts & 1u << i))
            continue;
        all &= part[i]->may_lag;
        if (part[i]->fetched < *fetched)
            *fetched = part[i]->fetched;
    }
    return all;
}

static void count_age(struct counters *counters, uint64_t age)
{
    static const uint64_t below[VERIFY_AGES - 1] = {
        CACHE_NSEC_PER_SEC / 10,  CACHE_NSEC_PER_SEC,      3 * CACHE_NSEC_PER_SEC,
        10 * CACHE_NSEC_PER_SEC,  30 * CACHE_NSEC_PER_SEC, 60 * CACHE_NSEC_PER_SEC,
        300 * CACHE_NSEC_PER_SEC,
    };
    unsigned i = 0;
    while (i < VERIFY_AGES - 1 && age >= below[i])
        i++;
    counter_add(&counters->outdated_age[i], 1);
}

static void tell(const struct verification *v, const struct nfs3_res *served,
                 const struct nfs3_res *told)
{
    const struct request *request = &v->request;
    struct engine *engine = request->service->engine;
    if (engine->violated == NULL)
        return;
    engine->violated(engine, &(struct violation){.service = request->service->settings->name,
                                                 .procedure = request->procedure,
                                                 .args = &request->args,
                                                 .served = served,
                                                 .told = told});
}

static void judge(const struct verification *v, const struct nfs3_res *served,
                  const struct reply *reply)
{
    const struct request *request = &v->request;
    struct verify_counters *counters = counters_of(request);
    unsigned parts;
    uint64_t fetched;
    if (!reply->decoded || !clean(v, served) || !compare(request, served, &reply->res, &parts)) {
        counter_add(&counters->unclear, 1);
        return;
    }
    counter_add(&counters->verified, 1);
    if (parts == 0) {
        counter_add(&counters->equal, 1);
        return;
    }
    if (may_lag(&v->before.basis, parts, &fetched) || !v->exclusive) {
        counter_add(&counters->outdated, 1);
        count_age(&request->service->counters, v->served_at > fetched ? v->served_at - fetched : 0);
    } else {
        counter_add(&counters->violations, 1);
        tell(v, served, &reply->res);
    }
    drop(v, served, &reply->res, parts);
}

static void verify_replied(struct upstream_call *sent, struct record *record)
{
    const struct verification *v = container_of(sent, struct verification, sent);
    struct cursor c = cursor_over(v->room, v->results_len);
    struct nfs3_res served;
    struct reply reply;
    if (record == NULL)
        return; /* the service has gone */
    bool whole = v->request.procedure->res(&c, &served);
    assert(whole);
    reply_read(&reply, v->request.procedure, (struct bytes){record->data, record->len});
    judge(v, &served, &reply);
    if (record->owned)
        free(record->data);
}
