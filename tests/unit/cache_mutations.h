/*
 * cache_mutations: a mutation's way through the cache, said in short.
 */
#ifndef UNIT_CACHE_MUTATIONS_H
#define UNIT_CACHE_MUTATIONS_H

#include "cache_fixture.h"

#include "xdr/rpc.h"

static inline void begin(struct fixture *fx, struct cache_mutation *m, const char *object)
{
    cache_mutation_init(m, fx->server);
    cache_mutation_add_object(m, text(object));
    cache_mutation_begin(m, fx->now);
}

static inline void begin_name(struct fixture *fx, struct cache_mutation *m, const char *dir,
                              const char *name)
{
    cache_mutation_init(m, fx->server);
    cache_mutation_add_object(m, text(dir));
    cache_mutation_add_name(m, text(dir), text(name));
    cache_mutation_begin(m, fx->now);
}

static inline void result(struct fixture *fx, struct cache_mutation *m, unsigned object,
                          const struct file *before, const struct file *after)
{
    uint8_t wcc[NFS3_WCC_ATTR_LEN], fattr[NFS3_FATTR_LEN];
    if (before)
        file_wcc(before, wcc);
    if (after)
        file_fattr(after, fattr);
    cache_mutation_result(m, object, (struct nfs3_wcc){before ? wcc : NULL, after ? fattr : NULL},
                          RPC_AUTH_SYS, fx->now);
}

static inline void end(struct fixture *fx, struct cache_mutation *m)
{
    tick(fx);
    cache_mutation_end(m, fx->now);
}

#endif
