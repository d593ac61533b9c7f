/*
 * watch: what clients see of some objects and names, compared with what the server says itself.
 *
 * Everything a client can be told from the cache is looked at: the attributes of each object, its
 * verdicts for several users and masks, and what each name leads to, for two users. Warmed, all of it is
 * in the cache; after a change, each answer must be the one that the server gives to a client that asks
 * it without a proxy in between.
 */
#ifndef E2E_WATCH_H
#define E2E_WATCH_H

#include "e2e/nfs_client.h"

#define WATCH_VIEWERS_MAX 2u
#define WATCH_OBJECTS_MAX 16u
#define WATCH_NAMES_MAX   24u

struct watch {
    struct nfs_client *viewers[WATCH_VIEWERS_MAX];
    unsigned viewer_count;
    struct nfs_client *direct;
    const char *stat; /* session.h; NULL: don't count hits */
    const char *service;
    bool lingers; /* session.h */
    struct {
        const char *label;
        struct nfs_handle handle;
    } objects[WATCH_OBJECTS_MAX];
    unsigned object_count;
    struct {
        struct nfs_handle dir;
        const char *name;
    } names[WATCH_NAMES_MAX];
    unsigned name_count;
};

/* Forgets objects and names. */
void watch_nothing(struct watch *w);
/* What `label` and `name` point to must last. */
void watch_object(struct watch *w, const char *label, const struct nfs_handle *handle);
void watch_name(struct watch *w, const struct nfs_handle *dir, const char *name);

/* Every viewer asks everything; the second time, all of it must come from the cache, errors other
 * than NOENT excepted (where hits are counted). */
void watch_warm(struct watch *w);
/* Checks every viewer's every answer. `when` goes into what a failure says. */
void watch_compare(struct watch *w, const char *when);

#endif
