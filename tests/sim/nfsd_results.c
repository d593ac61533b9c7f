/*
 * Results: their common order, and what they are made of. Which chance decides what is drawn before anything is done,
 * the same number of draws for every call.
 */
#include "sim/nfsd_procedure.h"

#define NANOSECONDS 1000000000u

/* ---- pieces ---- */

static void put_time(struct put *put, uint64_t time)
{
    put_u32(put, (uint32_t)(time / NANOSECONDS));
    put_u32(put, (uint32_t)(time % NANOSECONDS));
}

void nfsd_put_fattr(struct put *put, const struct fs_attr *attr)
{
    put_u32(put, attr->rights.type);
    put_u32(put, attr->rights.mode);
    put_u32(put, attr->nlink);
    put_u32(put, attr->rights.uid);
    put_u32(put, attr->rights.gid);
    put_u64(put, attr->size);
    put_u64(put, attr->used);
    put_u64(put, 0); /* rdev */
    put_u64(put, attr->fsid);
    put_u64(put, attr->fileid);
    put_time(put, attr->atime);
    put_time(put, attr->mtime);
    put_time(put, attr->ctime);
}

void nfsd_put_post_op(struct nfsd_call *x, fs_node node)
{
    struct fs_attr attr;
    bool left_out = draw_permille(&x->draw, x->nfsd->options.no_after);
    bool follows = !left_out && fs_attr(x->nfsd->fs, node, &attr);
    put_u32(&x->put, follows);
    if (follows)
        nfsd_put_fattr(&x->put, &attr);
}

static void put_wcc(struct nfsd_call *x, bool has_before, const struct fs_attr *before,
                    fs_node node)
{
    bool left_out = draw_permille(&x->draw, x->nfsd->options.no_before);
    bool follows = !left_out && has_before;
    put_u32(&x->put, follows);
    if (follows) {
        put_u64(&x->put, before->size);
        put_time(&x->put, before->mtime);
        put_time(&x->put, before->ctime);
    }
    nfsd_put_post_op(x, node);
}

void nfsd_put_handle(struct nfsd_call *x, fs_node node)
{
    uint8_t room[NFS3_FH_MAX];
    struct bytes handle = nfsd_handle(x->nfsd, node, &x->draw, room);
    put_opaque(&x->put, handle.data, handle.len);
}

void nfsd_put_post_op_handle(struct nfsd_call *x, fs_node node)
{
    const struct nfsd_options *options = &x->nfsd->options;
    bool left_out = draw_permille(&x->draw, options->no_handle);
    bool follows = options->shows_handles && !left_out;
    put_u32(&x->put, follows);
    if (follows)
        nfsd_put_handle(x, node);
}

/* ---- the whole ---- */

static void put_attributes(struct nfsd_call *x)
{
    switch (x->procedure->attributes) {
    case NFSD_NONE:
        return;
    case NFSD_OBJECT:
        nfsd_put_post_op(x, x->object);
        return;
    case NFSD_WCC:
        put_wcc(x, x->has_before, &x->before, x->object);
        return;
    case NFSD_OBJECT_WCC:
        nfsd_put_post_op(x, x->object);
        put_wcc(x, x->has_before2, &x->before2, x->object2);
        return;
    case NFSD_WCC_WCC:
        put_wcc(x, x->has_before, &x->before, x->object);
        put_wcc(x, x->has_before2, &x->before2, x->object2);
        return;
    }
}

void nfsd_bare_failure(struct nfsd_call *x, enum nfs3_status status)
{
    static const unsigned absent[] = {[NFSD_NONE] = 0,
                                      [NFSD_OBJECT] = 1,
                                      [NFSD_WCC] = 2,
                                      [NFSD_OBJECT_WCC] = 3,
                                      [NFSD_WCC_WCC] = 4};
    put_u32(&x->put, status);
    for (unsigned i = 0; i < absent[x->procedure->attributes]; i++)
        put_u32(&x->put, 0);
}

static enum nfs3_status find_objects(struct nfsd_call *x)
{
    const struct nfsd *nfsd = x->nfsd;
    enum nfs3_status status = handles_node(&nfsd->handles, x->args.object, &x->object), status2;
    x->has_before = fs_attr(nfsd->fs, x->object, &x->before);
    if (x->procedure->attributes < NFSD_OBJECT_WCC)
        return status;
    status2 = handles_node(&nfsd->handles, x->args.object2, &x->object2);
    x->has_before2 = fs_attr(nfsd->fs, x->object2, &x->before2);
    return status != NFS3_OK ? status : status2;
}

struct chances {
    bool jukebox, fails_before, fails_after;
    enum nfs3_status before, after;
};

/* None of those from which a client, or a cache, concludes what there is: NOENT, EXIST, STALE. */
static const enum nfs3_status FAILURES[] = {NFS3ERR_PERM,        NFS3ERR_IO,    NFS3ERR_ACCES,
                                            NFS3ERR_SERVERFAULT, NFS3ERR_DQUOT, NFS3ERR_ROFS};

static struct chances draw_chances(struct nfsd_call *x)
{
    const struct nfsd_errors *errors = &x->nfsd->options.errors;
    struct chances chances = {
        .jukebox = draw_permille(&x->draw, errors->jukebox),
        .fails_before = draw_permille(&x->draw, errors->fails_before),
        .fails_after = draw_permille(&x->draw, errors->fails_after) && x->procedure->changes,
        .before = FAILURES[draw_below(&x->draw, sizeof FAILURES / sizeof FAILURES[0])],
        .after = draw_below(&x->draw, 2) ? NFS3ERR_PERM : NFS3ERR_IO,
    };
    bool stale = draw_permille(&x->draw, errors->stale);
    bool refuses = draw_permille(&x->draw, errors->refuses);
    if (stale || refuses)
        chances.before = stale                     ? NFS3ERR_STALE
                         : draw_below(&x->draw, 2) ? NFS3ERR_PERM
                                                   : NFS3ERR_ACCES;
    chances.fails_before |= stale || refuses;
    return chances;
}

void nfsd_results(struct nfsd_call *x)
{
    const struct nfsd_procedure *procedure = x->procedure;
    struct chances chances = draw_chances(x);
    enum nfs3_status status = find_objects(x);
    if (chances.fails_before) {
        nfsd_bare_failure(x, chances.before);
        return;
    }
    if (chances.jukebox)
        status = NFS3ERR_JUKEBOX;
    if (status == NFS3_OK)
        status = procedure->run(x);
    if (status == NFS3_OK && chances.fails_after) {
        nfsd_bare_failure(x, chances.after);
        return;
    }
    put_u32(&x->put, status);
    if (status == NFS3_OK && procedure->front)
        procedure->front(x);
    put_attributes(x);
    if (status == NFS3_OK && procedure->tail)
        procedure->tail(x);
}
