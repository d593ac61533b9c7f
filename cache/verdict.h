/*
 * verdict: what the server granted to a credential on an object; or, that it let the credential
 * search the directory. Each is one answer of the server: they are never put together.
 */
#ifndef CACHE_VERDICT_H
#define CACHE_VERDICT_H

#include "cache/object.h"

/* An object keeps no more than this; the oldest goes. */
#define VERDICTS_MAX 64u

struct verdict {
    uint32_t next;       /*  0 the object's next verdict, newest first */
    uint32_t credential; /*  4 */
    uint8_t received[6]; /*  8 stamp */
    uint8_t fetched[5];  /* 14 ms */
    uint8_t asked;       /* 19 bits of the mask; 0 where `searched` */
    uint8_t granted;     /* 20 */
    uint8_t searched;    /* 21 a LOOKUP succeeded, or found no such name */
    uint8_t bare;        /* 22 its reply showed no attributes */
    uint8_t unused;      /* 23 */
};

_Static_assert(sizeof(struct verdict) == 24, "no padding");

/* In what follows the object's shard is held. */

/* A verdict that is fresh and answers for all bits of the mask. */
bool verdict_granted(const struct cache_reader *reader, const struct object *object, uint32_t mask,
                     uint32_t *granted);
/* The credential was let search the directory. */
bool verdict_searchable(const struct cache_reader *reader, const struct object *object);
/* When what these two answer with was given, in ms (`mask` 0: the second one); 0: there is none. */
uint64_t verdict_fetched(const struct cache_reader *reader, const struct object *object,
                         uint32_t mask);

struct verdict_answer {
    uint8_t asked, granted;
    bool searched;
    bool admitted; /* by the fences; if not, it only takes away what contradicts it */
};

/*
 * What a reply says. Where it isn't kept, the attributes in the same reply tell older verdicts from
 * newer ones; without these, the handle's fence is raised.
 */
void verdict_arrive(const struct cache_filler *filler, uint32_t object, uint32_t hash,
                    const struct verdict_answer *answer);

/* Removes the verdict at that link of an object's chain; the handle's fence keeps older ones away if
 * nothing else does. */
void verdict_remove(struct cache_server *server, uint32_t hash, uint32_t *link);

#endif
