/*
 * answer: GETATTR, LOOKUP and ACCESS results (RFC 1813 3.3.1, 3.3.3, 3.3.4), attributes byte for
 * byte as the server sent them.
 */
#include "proxy/answer.h"

#include "proxy/request.h"

bool answer_getattr(const struct request *request, struct writer *w)
{
    struct cache_reader reader = request_reader(request);
    uint8_t fattr[NFS3_FATTR_LEN];
    if (!cache_getattr(&reader, request->args.object, fattr))
        return false;
    writer_u32(w, NFS3_OK);
    writer_raw(w, fattr, NFS3_FATTR_LEN);
    return true;
}

bool answer_lookup(const struct request *request, struct writer *w)
{
    struct cache_reader reader = request_reader(request);
    struct cache_found found;
    switch (cache_lookup(&reader, request->args.object, request->args.name, &found)) {
    case CACHE_LOOKUP_FOUND:
        writer_u32(w, NFS3_OK);
        writer_opaque(w, (struct bytes){found.handle, found.handle_len});
        nfs3_put_post_op_attr(w, found.object);
        nfs3_put_post_op_attr(w, found.dir);
        return true;
    case CACHE_LOOKUP_ABSENT:
        writer_u32(w, NFS3ERR_NOENT);
        nfs3_put_post_op_attr(w, found.dir);
        return true;
    case CACHE_LOOKUP_MISS:
        break;
    }
    return false;
}

bool answer_access(const struct request *request, struct writer *w)
{
    struct cache_reader reader = request_reader(request);
    uint8_t fattr[NFS3_FATTR_LEN];
    uint32_t granted;
    if (!cache_access(&reader, request->args.object, request->args.access, &granted, fattr))
        return false;
    writer_u32(w, NFS3_OK);
    nfs3_put_post_op_attr(w, fattr);
    writer_u32(w, granted);
    return true;
}
