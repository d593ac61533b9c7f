/*
 * READDIR and READDIRPLUS. Cookies are fs' own and outlive other entries' removal; whether the cookie verifier changes with
 * the directory is an option.
 */
#include "sim/nfsd_procedure.h"

#define PAGE_MAX      (NFSD_REPLY_MAX - 64) /* what is before the results fits into the rest */
#define PAGE_FRAME    (4 + NFS3_FATTR_LEN + NFS3_VERF_LEN + 4 + 4) /* all of a page but its entries */
#define ENTRY_FRAME   (4 + 8 + 4 + 8) /* follows, fileid, length of the name, cookie */
#define ENTRY_INFO    (8 + 4 + 8)     /* of that, what dircount counts */
#define ENTRY_FOLLOWS (4 + 4)         /* do attributes, does the handle */

struct page {
    uint64_t cookie; /* of the last entry that was taken */
    uint32_t left;   /* octets */
    uint32_t dir_left;
    bool plus;
};

struct page_entry {
    const char *name;
    fs_node node;
    uint64_t cookie;
    uint32_t padded; /* octets of the name */
};

static bool entry_next(const struct nfsd_call *x, const struct page *page, struct page_entry *entry)
{
    entry->cookie = page->cookie;
    if (!fs_entry_after(x->nfsd->fs, x->object, &entry->cookie, &entry->name, &entry->node))
        return false;
    entry->padded = ((uint32_t)strlen(entry->name) + 3) / 4 * 4;
    return true;
}

/* The most octets that it may take. */
static uint32_t entry_len(const struct nfsd_call *x, const struct page *page,
                          const struct page_entry *entry)
{
    uint32_t len = ENTRY_FRAME + entry->padded;
    if (page->plus)
        len += ENTRY_FOLLOWS + NFS3_FATTR_LEN + 4 + (x->nfsd->options.handle_len + 3) / 4 * 4;
    return len;
}

static struct page page_begin(const struct nfsd_call *x, bool plus)
{
    uint32_t count = x->args.count < PAGE_MAX ? x->args.count : PAGE_MAX;
    return (struct page){.cookie = x->args.cookie,
                         .left = count > PAGE_FRAME ? count - PAGE_FRAME : 0,
                         .dir_left = x->args.dircount,
                         .plus = plus};
}

static uint64_t cookie_verifier(const struct nfsd_call *x)
{
    return x->nfsd->options.changing_cookieverf ? x->before.mtime : 0;
}

static enum nfs3_status run(struct nfsd_call *x, bool plus)
{
    enum nfs3_status status = fs_readdir_permitted(x->nfsd->fs, &x->who, x->object);
    if (status != NFS3_OK)
        return status;
    if (x->args.cookie != 0 && bytes_load_u64(x->args.verf) != cookie_verifier(x))
        return NFS3ERR_BAD_COOKIE;
    struct page page = page_begin(x, plus);
    struct page_entry entry;
    if (x->args.count < PAGE_FRAME ||
        (entry_next(x, &page, &entry) && entry_len(x, &page, &entry) > page.left))
        return NFS3ERR_TOOSMALL;
    return NFS3_OK;
}

static void put_entry(struct nfsd_call *x, const struct page *page, const struct page_entry *entry)
{
    struct fs_attr attr;
    bool there = fs_attr(x->nfsd->fs, entry->node, &attr);
    assert(there);
    put_u32(&x->put, 1);
    put_u64(&x->put, attr.fileid);
    put_opaque(&x->put, entry->name, (uint32_t)strlen(entry->name));
    put_u64(&x->put, entry->cookie);
    if (!page->plus)
        return;
    nfsd_put_post_op(x, entry->node);
    nfsd_put_post_op_handle(x, entry->node);
}

/* At least one entry, whatever dircount says. */
static void put(struct nfsd_call *x, bool plus)
{
    struct page page = page_begin(x, plus);
    struct page_entry entry;
    bool more;
    put_u64(&x->put, cookie_verifier(x));
    while ((more = entry_next(x, &page, &entry))) {
        uint32_t info = ENTRY_INFO + entry.padded;
        bool first = page.cookie == x->args.cookie;
        if (entry_len(x, &page, &entry) > page.left || (!first && info > page.dir_left))
            break;
        const uint8_t *start = x->put.at;
        put_entry(x, &page, &entry);
        page.left -= (uint32_t)(x->put.at - start);
        page.dir_left -= info < page.dir_left ? info : page.dir_left;
        page.cookie = entry.cookie;
    }
    put_u32(&x->put, 0);
    put_u32(&x->put, !more); /* eof */
}

enum nfs3_status nfsd_run_readdir(struct nfsd_call *x)
{
    return run(x, false);
}

enum nfs3_status nfsd_run_readdirplus(struct nfsd_call *x)
{
    return run(x, true);
}

void nfsd_put_readdir(struct nfsd_call *x)
{
    put(x, false);
}

void nfsd_put_readdirplus(struct nfsd_call *x)
{
    put(x, true);
}
