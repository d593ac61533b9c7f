/*
 * object: what is kept for a handle.
 *
 * The attributes of an object are always there, as they were last known; `OBJECT_VALID` says
 * whether they may be served. A mutation, or replies that contradict each other, take that away and
 * leave the object standing: so it is still known which file it is, what it looked like before (a
 * change behind the proxy's back shows), and its names live on.
 */
#ifndef CACHE_OBJECT_H
#define CACHE_OBJECT_H

#include "cache/fresh.h"
#include "cache/identity.h"
#include "cache/packed.h"

/* 128 octets and the handle. */
struct object {
    uint32_t hash_link;            /*   0 next in the bucket of its handle */
    uint32_t identity_link;        /*   4 next in the bucket of its identity */
    uint32_t verdicts;             /*   8 first verdict */
    uint32_t birth;                /*  12 no other object of the shard has had this number */
    uint32_t names;                /*  16 generation of its names; a number like `birth` */
    uint32_t unchanged;            /*  20 ms from the first sight of this state to the last */
    uint16_t server;               /*  24 */
    uint8_t handle_len;            /*  26 0: the slot is not in use */
    uint8_t flags;                 /*  27 OBJECT_*, THING_* */
    uint8_t received[6];           /*  28 stamp of the reply that said so last */
    uint8_t fetched[5];            /*  34 ms; when that was */
    uint8_t mutated[5];            /*  39 ms; end of the last tracked mutation, 0: never */
    uint8_t fattr[NFS3_FATTR_LEN]; /* 44 */
    uint8_t handle[];              /* 128 */
};

_Static_assert(sizeof(struct object) == 128, "no padding");
_Static_assert(offsetof(struct object, handle_len) == offsetof(struct thing, len), "a thing");
_Static_assert(offsetof(struct object, flags) == offsetof(struct thing, flags), "a thing");

#define OBJECT_VALID    0x01u /* the attributes may be served */
#define OBJECT_TOUCHED  0x02u /* a tracked mutation came after them */
#define OBJECT_DOUBTFUL 0x04u /* filled in doubt, or of a file without a name */
#define OBJECT_NONE     0x08u /* the server told them to an AUTH_NONE caller */
#define OBJECT_SYS      0x10u /* … to an AUTH_SYS caller */
#define OBJECT_FLAVORS  (OBJECT_NONE | OBJECT_SYS)

static inline struct object *object_at(const struct cache *cache, uint32_t index)
{
    return arena_at(&cache->arena, index);
}

static inline struct bytes object_handle(const struct object *object)
{
    return (struct bytes){object->handle, object->handle_len};
}

static inline cache_stamp object_received(const struct object *object)
{
    return packed_get48(object->received);
}

/* The flag of a caller's flavor; 0 for one that nothing is kept for. */
uint8_t object_flavor(uint32_t flavor);
struct fresh_state object_state(const struct object *object);

/* In all that follows the object's shard is held. */

/* 0 when the handle is not kept. */
uint32_t object_find(const struct cache_server *server, uint32_t hash, struct bytes handle);
/* The object of that birth is still there. */
bool object_is(const struct cache *cache, uint32_t index, uint32_t birth);

/* Its attributes may be served: valid, and not older than the last doubt. */
static inline bool object_valid(const struct cache_server *server, const struct object *object)
{
    return (object->flags & OBJECT_VALID) && object_received(object) >= server_valid_from(server);
}

/* What a new object is made of. The slot is from evict_alloc, of object_size octets. */
size_t object_size(struct bytes handle);
void object_insert(struct cache_server *server, uint32_t index, uint32_t hash, struct bytes handle);
/* It goes, and with it its verdicts and all names in it and to it. Takes the stripe's lock. */
void object_drop(struct cache_server *server, uint32_t index, uint32_t hash);

/* The attributes are not served any more; the fence keeps what is older than them away. */
void object_invalidate(struct cache_server *server, struct object *object, uint32_t hash);
/* A tracked mutation: not served any more, and no verdicts. */
void object_touch(struct cache_server *server, struct object *object, uint32_t hash);
/* Begins a new generation of names: all those in this directory go. */
void object_drop_names(struct cache_server *server, struct object *object, uint32_t hash);
void object_drop_verdicts(struct cache_server *server, struct object *object, uint32_t hash);

uint32_t object_hash(const struct cache_server *server, struct bytes handle);

/* For the tables. */
table_hash object_table_hash;
table_hash object_table_identity;

#endif
