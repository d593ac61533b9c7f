/*
 * harvest: one function per kind of reply.
 *
 * Attributes are kept from failed replies too: they are the server's word all the same. Nothing is
 * kept from a reply that could not be decoded whole.
 */
#include "proxy/harvest.h"

struct cache_filler harvest_filler(const struct request *request, const struct reply *reply)
{
    return (struct cache_filler){
        .server = request->cache,
        .credential = &request->credential.identity,
        .sent = reply->sent,
        .received = reply->received,
        .asked = reply->asked,
        .exclusive = request->service->ages.exclusive,
    };
}

bool harvest_handle_gone(const struct reply *reply)
{
    return reply->decoded &&
           (reply->res.status == NFS3ERR_STALE || reply->res.status == NFS3ERR_BADHANDLE);
}

static void keep(const struct request *request, const struct reply *reply, const uint8_t *fattr)
{
    if (harvest_handle_gone(reply)) {
        cache_drop_handle(request->cache, request->args.object);
    } else if (fattr != NULL) {
        struct cache_filler filler = harvest_filler(request, reply);
        cache_fill_attributes(&filler, request->args.object, fattr);
    }
}

void harvest_object(const struct request *request, const struct reply *reply)
{
    keep(request, reply, reply->res.object);
}

void harvest_directory(const struct request *request, const struct reply *reply)
{
    keep(request, reply, reply->res.dir);
}

void harvest_lookup(const struct request *request, const struct reply *reply)
{
    const struct nfs3_res *res = &reply->res;
    struct bytes dir = request->args.object;
    struct cache_filler filler = harvest_filler(request, reply);
    filler.fattr = res->dir;
    keep(request, reply, res->dir);
    if (res->status == NFS3_OK) {
        if (res->object != NULL)
            cache_fill_attributes(&filler, res->handle, res->object);
        cache_fill_name(&filler, dir, request->args.name, res->handle, true);
    } else if (res->status == NFS3ERR_NOENT) {
        cache_fill_absent(&filler, dir, request->args.name);
    }
}

void harvest_access(const struct request *request, const struct reply *reply)
{
    keep(request, reply, reply->res.object);
    if (reply->res.status != NFS3_OK)
        return;
    struct cache_filler filler = harvest_filler(request, reply);
    filler.fattr = reply->res.object;
    cache_fill_verdict(&filler, request->args.object, request->args.access, reply->res.access);
}

/* "." and ".." are names of other directories' making; a LOOKUP is asked for them. */
static bool is_dot(struct bytes name)
{
    return (name.len == 1 && name.data[0] == '.') ||
           (name.len == 2 && name.data[0] == '.' && name.data[1] == '.');
}

void harvest_readdirplus(const struct request *request, const struct reply *reply)
{
    keep(request, reply, reply->res.dir);
    if (reply->res.status != NFS3_OK)
        return;
    struct cache_filler filler = harvest_filler(request, reply);
    filler.fattr = reply->res.dir;
    struct cursor entries = reply->res.entries;
    struct nfs3_entry entry;
    while (nfs3_entry_next(&entries, &entry)) {
        bool named = entry.handle.len > 0;
        if (entry.attributes != NULL && named)
            cache_fill_attributes(&filler, entry.handle, entry.attributes);
        else if (entry.attributes != NULL)
            cache_fill_shown(&filler, entry.attributes);
        if (named && !is_dot(entry.name))
            cache_fill_name(&filler, request->args.object, entry.name, entry.handle, false);
    }
}

/* Servers are careless with these attributes (nfs-ganesha 4.3 sends fsid 0): they may show that what is kept is outdated,
 * but are no answer to a GETATTR. */
void harvest_acl(const struct request *request, const struct reply *reply)
{
    if (harvest_handle_gone(reply)) {
        cache_drop_handle(request->cache, request->args.object);
    } else if (reply->res.object != NULL) {
        struct cache_filler filler = harvest_filler(request, reply);
        cache_fill_shown(&filler, reply->res.object);
    }
}
