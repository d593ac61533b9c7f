/*
 * name: (directory, name) -> the object behind it, or nothing.
 *
 * A name holds fast to nothing. It is about one generation of one directory's names, and about one
 * birth of one object; when either has gone the name is dead, wherever it stands, and it is evicted
 * or replaced in its time. So dropping an object takes all names to it along, and dropping all
 * names of a directory costs one new number.
 */
#ifndef CACHE_NAME_H
#define CACHE_NAME_H

#include "cache/object.h"

/* 39 octets and the text. */
struct name {
    uint32_t hash_link;   /*  0 next in its bucket */
    uint32_t hash;        /*  4 */
    uint32_t dir;         /*  8 index of the directory's object */
    uint32_t generation;  /* 12 of its names; no other object of that shard has had this number */
    uint32_t child;       /* 16 index of the object behind it; 0: nothing is */
    uint32_t child_birth; /* 20 */
    uint16_t server;      /* 24 */
    uint8_t len;          /* 26 0: the slot is not in use */
    uint8_t flags;        /* 27 NAME_*, THING_* */
    uint8_t received[6];  /* 28 stamp */
    uint8_t fetched[5];   /* 34 ms */
    uint8_t text[];       /* 39 */
};

_Static_assert(offsetof(struct name, text) == 39, "no padding");
_Static_assert(offsetof(struct name, len) == offsetof(struct thing, len), "a thing");
_Static_assert(offsetof(struct name, flags) == offsetof(struct thing, flags), "a thing");

#define NAME_DOUBTFUL 0x01u
#define NAME_MATCHED  0x02u /* see struct fresh_name */

/* A generation of a directory's names; what a name is about. */
struct name_dir {
    uint32_t index;
    uint32_t generation;
};

/* An object that a name leads to; index 0: nothing; NAME_UNKNOWN: one that is not kept, so that no
 * name that is kept leads to it. */
#define NAME_UNKNOWN UINT32_MAX

struct name_child {
    uint32_t index;
    uint32_t birth;
};

static inline struct name *name_at(const struct cache *cache, uint32_t index)
{
    return arena_at(&cache->arena, index);
}

static inline struct name_child name_child(const struct name *name)
{
    return (struct name_child){name->child, name->child_birth};
}

static inline struct fresh_name name_state(const struct name *name)
{
    return (struct fresh_name){
        .fetched = packed_get40(name->fetched),
        .doubtful = name->flags & NAME_DOUBTFUL,
        .negative = name->child == 0,
        .matched = name->flags & NAME_MATCHED,
    };
}

/* What a name leads to, as a fence remembers it. */
static inline uint64_t name_child_state(struct name_child child)
{
    return (uint64_t)child.index << 32 | child.birth;
}

uint32_t name_hash(const struct cache_server *server, struct bytes dir, struct bytes name);

/* In what follows the name's shard is held. */

/* 0 when it is not kept. */
uint32_t name_find(const struct cache_server *server, uint32_t hash, struct name_dir dir,
                   struct bytes text);
/* Takes away whatever is kept under that hash and text, but for the index `keep`; the fence keeps
 * older replies away. (A name of another directory may be among it: that costs a hit.) */
void name_drop(struct cache_server *server, uint32_t hash, struct bytes text, uint32_t keep);
/* The same for all that is kept under the hash. */
void name_drop_hash(struct cache_server *server, uint32_t hash);
void name_remove(struct cache_server *server, uint32_t index);

struct name_news {
    struct name_dir dir;
    struct name_child child;
    cache_stamp received;
    uint64_t asked; /* monotonic ns */
    bool matched;
};

/* Keeps it: in place of `index` or, where that is 0, in a new slot. False where there is no room. */
bool name_store(struct cache_server *server, uint32_t index, uint32_t hash, struct bytes text,
                const struct name_news *news);

table_hash name_table_hash;

#endif
