/*
 * attributes: what becomes of attributes that a reply brought.
 */
#ifndef CACHE_ATTRIBUTES_H
#define CACHE_ATTRIBUTES_H

#include "cache/object.h"
#include "cache/span.h"

struct attributes {
    struct cache_server *server;
    struct bytes handle;
    uint32_t hash; /* of the handle */
    const uint8_t *fattr;
    struct identity identity;
    uint64_t state; /* key_fattr of them */
    cache_stamp sent, received;
    uint64_t asked; /* when, in monotonic ns */
    uint8_t flavor; /* OBJECT_NONE, OBJECT_SYS or 0 */
    bool exclusive; /* as in struct cache_filler */
};

struct attributes attributes_make(struct cache_server *server, struct bytes handle,
                                  const uint8_t *fattr);

/* The fences let a reply of a call that changes nothing be kept. All locks of a span are held. */
bool attributes_admitted(const struct attributes *news);
/* They were shown and are not kept. Likewise. */
void attributes_show(const struct attributes *news);
/* Nothing that was sent before `received` may be kept for the handle or the file. Likewise. */
void attributes_raise(const struct attributes *news, cache_stamp received);

/*
 * Locks, and finds the object (0: none) of the handle. An object that is now another file has been
 * dropped. `*spare` is a slot for a new one where there is none, and there is room; what is left of
 * it goes to attributes_close.
 */
uint32_t attributes_open(struct span *span, const struct attributes *news, uint32_t *spare);
void attributes_close(struct span *span, const struct attributes *news, uint32_t spare);

/*
 * Keeps them: in the object `index` or, where that is 0, in a new one made of `*spare`. Notices
 * what was changed behind the proxy's back. False where there is no room.
 */
bool attributes_store(const struct attributes *news, uint32_t index, uint32_t *spare);

/* The object was changed behind the proxy's back: its verdicts go and, of a directory, all its names. Its shard is held. */
void attributes_outside(struct cache_server *server, struct object *object, uint32_t hash);

#endif
