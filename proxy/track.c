/*
 * track: what a mutation may change, and what has to be found out about it.
 *
 * A directory may have several handles, and its names are ordered by which file it is: where its
 * (fsid, fileid) is not known, the server is asked (GETATTR) before the call takes its turn.
 *
 * The object behind a name is taken from the name cache; where it does not know, the server is
 * asked (LOOKUP with the caller's credential) before REMOVE, RMDIR and RENAME, and after a CREATE
 * that did not say what it opened. What these three may take away is asked for its attributes
 * before, where nobody knows which file it is: afterwards its handle may lead nowhere. Any other
 * handle whose (fsid, fileid) is not known is asked when its mutation is about to end. So the same
 * file under another handle is not left stale.
 *
 * An answer that leaves it open puts the whole server in doubt when the mutation ends, with two exceptions: there is
 * nothing, or nothing that this caller may see, and the mutation fails too; the RPC layer turned the question away, and turns
 * the mutation away too. So who may not see a thing can't empty the cache by trying to change it.
 */
#include "proxy/track.h"

#include <assert.h>

#include "proxy/harvest.h"

static uint64_t now_of(const struct request *request)
{
    return request->service->engine->now;
}

static bool exclusive(const struct request *request)
{
    return request->service->settings->coherence == SETTINGS_EXCLUSIVE;
}

static const uint8_t dot_dot[] = {'.', '.'};

void track_init(struct track *track, const struct request *request, struct call *call,
                void (*granted)(struct order_ticket *ticket))
{
    const struct nfs3_args *args = &request->args;
    unsigned changes = request->procedure->changes;
    struct cache_server *server = request->cache;

    memset(track, 0, sizeof(*track));
    track->call = call;
    cache_mutation_init(&track->mutation, server);
    if (exclusive(request))
        cache_mutation_exclusive(&track->mutation);
    order_ticket_init(&track->ticket, request->service->engine->order, granted);
    track->object = cache_mutation_add_object(&track->mutation, args->object);
    if (changes & CHANGES_OBJECT2)
        track->object2 = cache_mutation_add_object(&track->mutation, args->object2);
    if (changes & CHANGES_NAME)
        cache_mutation_add_name(&track->mutation, args->object, args->name);
    if (changes & CHANGES_NAME2)
        cache_mutation_add_name(&track->mutation, args->object2, args->name2);
}

void track_order(struct track *track, const struct request *request)
{
    const struct nfs3_args *args = &request->args;
    unsigned changes = request->procedure->changes;
    uint32_t scope = cache_server_number(request->cache);
    if (changes & CHANGES_NAME)
        order_ticket_add(&track->ticket, scope,
                         cache_mutation_file(&track->mutation, track->object), args->name);
    if (changes & CHANGES_NAME2)
        order_ticket_add(&track->ticket, scope,
                         cache_mutation_file(&track->mutation, track->object2), args->name2);
    track->ordered = true;
}

/* ---- what is behind a name ---- */

static void behind_is(struct track *track, struct track_behind *behind, struct bytes handle)
{
    behind->state = BEHIND_OBJECT;
    behind->object = cache_mutation_add_object(&track->mutation, handle);
}

/*
 * From the cache. An object whose identity is not known is asked for all the same. In `shared` the name may lead
 * elsewhere since it was cached: what the cache thinks is tracked as well, but does not spare the question.
 */
static void behind_resolve(struct track *track, const struct request *request,
                           struct track_behind *behind, struct bytes dir, struct bytes name)
{
    struct cache_reader reader = request_reader(request);
    struct cache_found found;
    behind->state = BEHIND_OPEN;
    switch (cache_resolve(&reader, dir, name, &found)) {
    case CACHE_LOOKUP_FOUND:
        behind_is(track, behind, (struct bytes){found.handle, found.handle_len});
        if (!exclusive(request) || !cache_mutation_identified(&track->mutation, behind->object))
            behind->state = BEHIND_OPEN;
        break;
    case CACHE_LOOKUP_ABSENT:
        if (exclusive(request))
            behind->state = BEHIND_ABSENT;
        break;
    case CACHE_LOOKUP_MISS:
        break;
    }
}

void track_resolve(struct track *track, const struct request *request)
{
    const struct nfs3_args *args = &request->args;
    unsigned changes = request->procedure->changes;
    track->doubts = cache_doubts(request->cache);
    if (changes & (CHANGES_BEHIND | CHANGES_EXISTING))
        behind_resolve(track, request, &track->behind, args->object, args->name);
    if (changes & CHANGES_BEHIND2)
        behind_resolve(track, request, &track->behind2, args->object2, args->name2);
}

/* Errors of a LOOKUP after which the same caller's mutation can't have met an object there either. */
static bool nothing_there(uint32_t status)
{
    switch (status) {
    case NFS3ERR_NOENT:
    case NFS3ERR_ACCES:
    case NFS3ERR_PERM:
    case NFS3ERR_NOTDIR:
    case NFS3ERR_NAMETOOLONG:
    case NFS3ERR_INVAL:
    case NFS3ERR_STALE:
    case NFS3ERR_BADHANDLE:
        return true;
    default:
        return false;
    }
}

/* The RPC layer turned the call away before anything was executed. */
static bool turned_away(const struct reply *reply)
{
    bool broke = reply->rpc.stat == RPC_MSG_ACCEPTED && reply->rpc.accepted == RPC_SYSTEM_ERR;
    return reply->readable && !reply->executed && !broke;
}

/* What a CREATE met: `handle` leads to it, `fattr` is NULL where the server did not say. */
static void found(struct track *track, const struct request *request, struct bytes handle,
                  const uint8_t *fattr)
{
    bool known = cache_mutation_found(&track->mutation, handle, fattr,
                                      request->credential.identity.flavor, now_of(request));
    bool existed =
        (request->procedure->changes & CHANGES_EXISTING) && track->behind.state != BEHIND_ABSENT;
    if (known || !existed)
        return;
    memcpy(track->found, handle.data, handle.len);
    track->found_len = handle.len;
}

/* A question that the RPC layer turned away. What it turns away as well changes nothing. */
static void not_answered(struct track *track)
{
    if (track->begun)
        track->doubt = true;
    else
        track->unanswered = true;
}

/*
 * Nothing is there, or this caller is not let see it: then it is not let change it either. A server may think better of
 * that between the two calls, so this is not believed when the mutation succeeds (track_reply). NOENT of the name that a
 * RENAME moves to, or after a CREATE, is what a success is about.
 */
static void not_seen(struct track *track, const struct track_behind *behind,
                     const struct reply *reply)
{
    bool absent = reply->decoded && reply->res.status == NFS3ERR_NOENT;
    if (turned_away(reply))
        not_answered(track);
    else if (!reply->decoded || !nothing_there(reply->res.status))
        track->doubt = true;
    else if (track->begun)
        track->doubt |= track->succeeded && !absent;
    else
        track->unseen |= behind == &track->behind || !absent;
}

static void behind_answer(struct track *track, const struct request *request,
                          struct track_behind *behind, const struct reply *reply)
{
    bool is_there = reply->decoded && reply->res.status == NFS3_OK;
    if (is_there && track->begun)
        found(track, request, reply->res.handle, reply->res.object);
    behind->state = BEHIND_ABSENT;
    if (is_there && !track->begun) {
        behind_is(track, behind, reply->res.handle);
        if (reply->res.object != NULL)
            cache_mutation_identify(&track->mutation, behind->object, reply->res.object);
    }
    if (!is_there)
        not_seen(track, behind, reply);
}

/* ---- questions ---- */

static struct track_question behind_question(struct track *track, const struct request *request)
{
    const struct nfs3_args *args = &request->args;
    bool before = request->procedure->changes & CHANGES_BEHIND;
    if (track->behind.state == BEHIND_OPEN && (before || track->begun))
        return (struct track_question){
            .kind = TRACK_ASK_BEHIND, .handle = args->object, .name = args->name};
    if (track->behind2.state == BEHIND_OPEN)
        return (struct track_question){
            .kind = TRACK_ASK_BEHIND2, .handle = args->object2, .name = args->name2};
    return (struct track_question){.kind = TRACK_NOTHING};
}

static struct track_question identity_question(struct track *track, unsigned object)
{
    const struct cache_mutation_object *of = &track->mutation.object[object];
    if ((track->asked_objects & 1u << object) ||
        cache_mutation_identified(&track->mutation, object))
        return (struct track_question){.kind = TRACK_NOTHING};
    track->asked_objects |= 1u << object;
    return (struct track_question){
        .kind = TRACK_ASK_IDENTITY, .handle = {of->handle, of->handle_len}, .object = object};
}

/* Which file a directory is, whose names are to be ordered. */
static struct track_question directory_question(struct track *track, const struct request *request)
{
    unsigned changes = request->procedure->changes;
    struct track_question question = {.kind = TRACK_NOTHING};
    if (changes & CHANGES_NAME)
        question = identity_question(track, track->object);
    if ((changes & CHANGES_NAME2) && question.kind == TRACK_NOTHING)
        question = identity_question(track, track->object2);
    return question;
}

/* Which file it is that may be gone afterwards, when nobody can be asked any more. */
static struct track_question vanishing_question(struct track *track, const struct request *request)
{
    const struct track_behind *const behind[] = {&track->behind, &track->behind2};
    struct track_question question = {.kind = TRACK_NOTHING};
    if (!(request->procedure->changes & CHANGES_BEHIND))
        return question;
    for (unsigned i = 0; i < 2 && question.kind == TRACK_NOTHING; i++) {
        if (behind[i]->state == BEHIND_OBJECT)
            question = identity_question(track, behind[i]->object);
    }
    return question;
}

static struct track_question end_question(struct track *track)
{
    struct track_question question = {.kind = TRACK_NOTHING};
    if (track->found_len > 0)
        return (struct track_question){.kind = TRACK_ASK_FOUND,
                                       .handle = {track->found, track->found_len}};
    for (unsigned i = 0; i < track->mutation.objects && question.kind == TRACK_NOTHING; i++)
        question = identity_question(track, i);
    return question;
}

struct track_question track_question(struct track *track, const struct request *request)
{
    if (!cache_keeps(request->cache))
        return (struct track_question){.kind = TRACK_NOTHING};
    if (!track->ordered)
        return directory_question(track, request);
    struct track_question question = behind_question(track, request);
    if (question.kind == TRACK_NOTHING)
        question = track->begun ? end_question(track) : vanishing_question(track, request);
    return question;
}

/*
 * GETATTR asks for no permission: no other error than these says that there is no such file. What was not there before the
 * mutation can't be what it changed. What was changed and is gone when it is asked for may be kept under other handles, as it
 * was before: whoever removed it need not have known them.
 */
static void not_identified(struct track *track, const struct reply *reply)
{
    bool gone = harvest_handle_gone(reply);
    if (turned_away(reply))
        not_answered(track);
    else if (gone && !track->begun)
        track->unseen = true;
    else
        track->doubt |= !gone || track->succeeded;
}

static void identity_answer(struct track *track, const struct track_question *question,
                            const struct reply *reply)
{
    if (reply->decoded && reply->res.status == NFS3_OK)
        cache_mutation_identify(&track->mutation, question->object, reply->res.object);
    else
        not_identified(track, reply);
}

static void found_answer(struct track *track, const struct request *request,
                         const struct track_question *question, const struct reply *reply)
{
    if (reply->decoded && reply->res.status == NFS3_OK)
        found(track, request, question->handle, reply->res.object);
    else
        not_identified(track, reply);
    track->found_len = 0;
}

void track_answer(struct track *track, const struct request *request,
                  const struct track_question *question, const struct reply *reply)
{
    switch (question->kind) {
    case TRACK_ASK_BEHIND:
        behind_answer(track, request, &track->behind, reply);
        break;
    case TRACK_ASK_BEHIND2:
        behind_answer(track, request, &track->behind2, reply);
        break;
    case TRACK_ASK_IDENTITY:
        identity_answer(track, question, reply);
        break;
    case TRACK_ASK_FOUND:
        found_answer(track, request, question, reply);
        break;
    case TRACK_NOTHING:
        break;
    }
}

/* ---- begin, results, end ---- */

/* A CREATE that may meet an object of which nobody knows so far. */
static bool may_truncate(const struct track *track, const struct request *request)
{
    return (request->procedure->changes & CHANGES_EXISTING) && track->behind.state == BEHIND_OPEN &&
           request->args.create_mode != NFS3_GUARDED;
}

cache_stamp track_begin(struct track *track, const struct request *request)
{
    if ((request->procedure->changes & CHANGES_PARENT) && track->behind.state == BEHIND_OBJECT) {
        const struct cache_mutation_object *moved = &track->mutation.object[track->behind.object];
        cache_mutation_add_name(&track->mutation, (struct bytes){moved->handle, moved->handle_len},
                                (struct bytes){dot_dot, sizeof(dot_dot)});
    }
    if (track->doubt || track->unseen || track->unanswered || may_truncate(track, request))
        cache_mutation_blind(&track->mutation);
    cache_mutation_begin(&track->mutation, now_of(request));
    track->begun = true;
    return track->mutation.sent;
}

/* Another write verifier than before: the server restarted, and may have lost what was not
 * committed. */
static void watch_write_verf(const struct request *request, const uint8_t *verf)
{
    struct service *service = request->service;
    if (service->cache != request->cache)
        return; /* a reload gave the service another server */
    if (service->write_verf_known && memcmp(service->write_verf, verf, NFS3_VERF_LEN) != 0)
        service_doubt(service);
    service->write_verf_known = true;
    memcpy(service->write_verf, verf, NFS3_VERF_LEN);
}

/* Other errors say that nothing was done. A client must not be able to bring on what this means: the server's own trouble only. */
static bool may_be_done(const struct reply *reply)
{
    return !reply->decoded || reply->res.status == NFS3_OK || reply->res.status == NFS3ERR_IO ||
           reply->res.status == NFS3ERR_SERVERFAULT;
}

static bool left_existing_alone(const struct reply *reply)
{
    return reply->decoded && reply->res.status == NFS3ERR_EXIST;
}

void track_reply(struct track *track, const struct request *request, const struct reply *reply)
{
    if (harvest_handle_gone(reply)) {
        /* Which of two handles the server means it does not say. */
        cache_drop_handle(request->cache, request->args.object);
        if (request->procedure->changes & CHANGES_OBJECT2)
            cache_drop_handle(request->cache, request->args.object2);
    }
    if (turned_away(reply) || harvest_handle_gone(reply)) {
        track->asked_objects = ~0u; /* nothing was changed: there is nothing to find out */
        track->behind.state = BEHIND_ABSENT;
        return;
    }
    if ((request->procedure->changes & CHANGES_EXISTING) && left_existing_alone(reply))
        track->behind.state = BEHIND_ABSENT;
    track->succeeded = may_be_done(reply);
    track->doubt |= track->unanswered || (track->unseen && track->succeeded);
    if (!reply->decoded)
        return;
    request->procedure->results(track, request, reply);
    if (reply->res.verf != NULL)
        watch_write_verf(request, reply->res.verf);
}

/*
 * Mutations of one name are sent one after the other where it is known which file its directory is. One of which that was not
 * known may have overtaken this one, and put something else behind the name. It left a doubt when it ended; what was asked
 * for since is from before this one.
 */
static bool overtaken(const struct track *track, const struct request *request)
{
    return (request->procedure->changes & (CHANGES_NAME | CHANGES_NAME2)) && track->succeeded &&
           cache_doubts(request->cache) != track->doubts;
}

void track_end(struct track *track, const struct request *request)
{
    cache_mutation_end(&track->mutation, now_of(request));
    track->begun = false;
    if (track->doubt)
        cache_doubt_change(request->cache, now_of(request));
    else if (overtaken(track, request))
        cache_doubt_overtaken(request->cache, now_of(request));
}

static void result(struct track *track, const struct request *request, unsigned object,
                   struct nfs3_wcc wcc)
{
    cache_mutation_result(&track->mutation, object, wcc, request->credential.identity.flavor,
                          now_of(request));
}

void track_wcc_results(struct track *track, const struct request *request,
                       const struct reply *reply)
{
    result(track, request, track->object, reply->res.wcc);
}

/* The attributes of an NFSACL reply are not kept, but may show that what is kept of another file is outdated, if the handle leads
 * elsewhere by now. */
void track_acl_results(struct track *track, const struct request *request,
                       const struct reply *reply)
{
    result(track, request, track->object, (struct nfs3_wcc){NULL, NULL});
    harvest_acl(request, reply);
}

void track_create_results(struct track *track, const struct request *request,
                          const struct reply *reply)
{
    const struct nfs3_res *res = &reply->res;
    result(track, request, track->object, res->wcc);
    if (res->handle.len == 0)
        return; /* an error, or a server that does not say */
    const struct cache_mutation_object *known = &track->mutation.object[track->behind.object];
    if (track->behind.state == BEHIND_OBJECT &&
        bytes_equal((struct bytes){known->handle, known->handle_len}, res->handle))
        result(track, request, track->behind.object, (struct nfs3_wcc){NULL, res->object});
    else
        found(track, request, res->handle, res->object);
    cache_mutation_name_result(&track->mutation, request->args.object, request->args.name,
                               res->handle);
    track->behind.state = BEHIND_ABSENT; /* nothing is left to ask */
}

void track_remove_results(struct track *track, const struct request *request,
                          const struct reply *reply)
{
    result(track, request, track->object, reply->res.wcc);
    /* Whatever the status: a server may fail after it has removed. */
    if (track->behind.state == BEHIND_OBJECT)
        cache_mutation_directory_gone(&track->mutation, track->behind.object);
}

void track_rename_results(struct track *track, const struct request *request,
                          const struct reply *reply)
{
    result(track, request, track->object, reply->res.wcc);
    result(track, request, track->object2, reply->res.wcc2);
    if (track->behind2.state == BEHIND_OBJECT)
        cache_mutation_directory_gone(&track->mutation, track->behind2.object);
}

void track_link_results(struct track *track, const struct request *request,
                        const struct reply *reply)
{
    result(track, request, track->object, (struct nfs3_wcc){NULL, reply->res.object});
    result(track, request, track->object2, reply->res.wcc);
}
