#include "e2e/watch.h"

#include "e2e/check.h"
#include "e2e/nfs_call.h"
#include "e2e/nfs_reply.h"
#include "e2e/stat_count.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define TEXT_MAX 320

static const struct nfs_client_who users[] = {
    {.uid = 0, .gid = 0},       /* root */
    {.uid = 1001, .gid = 1001}, /* the owner */
    {.uid = 2002, .gid = 2002}, /* anybody else */
    {.uid = 2002, .gid = 2002, .group_count = 2, .groups = {7, 1001}},
    {.uid = 2002, .gid = 2002, .group_count = 2, .groups = {7, 1002}},
    {.uid = 2002, .gid = 1001},
    {.none = true},
};
#define USERS (sizeof users / sizeof users[0])

/* A bit that was never asked for, all of them, and bits that are known by then. */
static const uint32_t masks[] = {0x01, 0x3f, 0x02};
#define MASKS (sizeof masks / sizeof masks[0])

/* Root, and one who needs the directory's permission to search. */
static const unsigned lookup_users[] = {0, 2};
#define LOOKUP_USERS (sizeof lookup_users / sizeof lookup_users[0])

void watch_nothing(struct watch *w)
{
    w->object_count = 0;
    w->name_count = 0;
}

void watch_object(struct watch *w, const char *label, const struct nfs_handle *handle)
{
    check_must(w->object_count < WATCH_OBJECTS_MAX, "too many objects are watched");
    w->objects[w->object_count].label = label;
    w->objects[w->object_count++].handle = *handle;
}

void watch_name(struct watch *w, const struct nfs_handle *dir, const char *name)
{
    check_must(w->name_count < WATCH_NAMES_MAX, "too many names are watched");
    w->names[w->name_count].dir = *dir;
    w->names[w->name_count++].name = name;
}

/* ---- all questions, one after the other ---- */

struct question {
    enum {
        GETATTR,
        ACCESS,
        LOOKUP
    } kind;
    unsigned index; /* of the object or the name */
    unsigned user, mask;
};

struct answer {
    int err;
    struct nfs_reply reply;
};

/* The next one; false after the last. All zero is before the first, which is a GETATTR. */
static bool question_next(const struct watch *w, struct question *q, bool *begun)
{
    if (!*begun) {
        *begun = true;
        *q = (struct question){.kind = GETATTR};
        return w->object_count > 0;
    }
    if (q->kind == GETATTR) {
        if (++q->index < w->object_count)
            return true;
        *q = (struct question){.kind = ACCESS};
        return true;
    }
    if (q->kind == ACCESS) {
        if (++q->mask < MASKS)
            return true;
        q->mask = 0;
        if (++q->user < USERS)
            return true;
        q->user = 0;
        if (++q->index < w->object_count)
            return true;
        *q = (struct question){.kind = LOOKUP};
        return w->name_count > 0;
    }
    if (++q->user < LOOKUP_USERS)
        return true;
    q->user = 0;
    return ++q->index < w->name_count;
}

static void ask(const struct watch *w, struct nfs_client *c, const struct question *q,
                struct answer *a)
{
    if (q->kind == GETATTR) {
        nfs_client_be(c, &users[0]);
        a->err = nfs_call_getattr(c, &w->objects[q->index].handle, &a->reply);
    } else if (q->kind == ACCESS) {
        nfs_client_be(c, &users[q->user]);
        a->err = nfs_call_access(c, &w->objects[q->index].handle, masks[q->mask], &a->reply);
    } else {
        nfs_client_be(c, &users[lookup_users[q->user]]);
        a->err = nfs_call_lookup(c, &w->names[q->index].dir, w->names[q->index].name, &a->reply);
    }
    nfs_client_be(c, &users[0]);
}

static void describe(const struct watch *w, const struct question *q, char *text, size_t size)
{
    if (q->kind == GETATTR)
        snprintf(text, size, "GETATTR %s", w->objects[q->index].label);
    else if (q->kind == ACCESS)
        snprintf(text, size, "ACCESS %s user %u mask %#x", w->objects[q->index].label, q->user,
                 masks[q->mask]);
    else
        snprintf(text, size, "LOOKUP %s user %u", w->names[q->index].name, lookup_users[q->user]);
}

/* ---- comparing two answers ---- */

static void compare_attr(const struct nfs_attr *got, const struct nfs_attr *want, const char *when,
                         const char *question, const char *which)
{
    char got_text[TEXT_MAX], want_text[TEXT_MAX];
    if (nfs_attr_same(got, want))
        return;
    nfs_attr_print(got, got_text, sizeof got_text);
    nfs_attr_print(want, want_text, sizeof want_text);
    check(false, "%s: %s: %s is\n#   %s, but the server says\n#   %s", when, question, which,
          got_text, want_text);
}

/* There when the one was asked, and gone when the other was. */
static bool just_gone(const struct nfs_reply *got, const struct nfs_reply *want)
{
    return got->status == NFS3_OK && got->object.present && got->object.value.nlink == 0 &&
           want->status == NFS3ERR_STALE;
}

static void compare(const struct watch *watch, const struct answer *got, const struct answer *want,
                    const char *when, const char *question)
{
    const struct nfs_reply *g = &got->reply, *w = &want->reply;
    if (!check(got->err == want->err, "%s: %s: error %d (%s), but the server says %d (%s)", when,
               question, got->err, g->why, want->err, w->why) ||
        want->err != 0 || (watch->lingers && just_gone(g, w)))
        return;
    if (!check(g->status == w->status, "%s: %s: %s, but the server says %s", when, question,
               nfsstat3_to_str(g->status), nfsstat3_to_str(w->status)))
        return;
    compare_attr(&g->object, &w->object, when, question, "the object");
    compare_attr(&g->directory, &w->directory, when, question, "the directory");
    check(nfs_handle_same(&g->handle, &w->handle), "%s: %s: another handle", when, question);
    check(g->access == w->access, "%s: %s: %#x, but the server says %#x", when, question, g->access,
          w->access);
}

static void compare_viewer(struct watch *w, struct nfs_client *viewer, const char *when)
{
    struct question q = {.kind = GETATTR};
    struct answer got, want;
    char text[128];
    for (bool begun = false; question_next(w, &q, &begun);) {
        ask(w, viewer, &q, &got);
        ask(w, w->direct, &q, &want);
        describe(w, &q, text, sizeof text);
        compare(w, &got, &want, when, text);
    }
}

void watch_compare(struct watch *w, const char *when)
{
    for (unsigned i = 0; i < w->viewer_count; i++)
        compare_viewer(w, w->viewers[i], when);
}

/* ---- warming ---- */

/* Only success is remembered, and NOENT of a LOOKUP. */
static bool remembered(const struct question *q, const struct answer *a)
{
    if (a->err != 0)
        return false;
    return a->reply.status == NFS3_OK || (q->kind == LOOKUP && a->reply.status == NFS3ERR_NOENT);
}

/* Returns how many answers the cache may keep. */
static unsigned ask_all(struct watch *w, struct nfs_client *viewer)
{
    struct question q = {.kind = GETATTR};
    struct answer a;
    unsigned kept = 0;
    for (bool begun = false; question_next(w, &q, &begun);) {
        ask(w, viewer, &q, &a);
        kept += remembered(&q, &a);
    }
    return kept;
}

void watch_warm(struct watch *w)
{
    int64_t kept = 0;
    struct stat_count before = {.calls = 0};
    for (unsigned i = 0; i < w->viewer_count; i++)
        ask_all(w, w->viewers[i]);
    if (w->stat != NULL)
        before = stat_count_answerable(w->stat, w->service);
    for (unsigned i = 0; i < w->viewer_count; i++)
        kept += ask_all(w, w->viewers[i]);
    if (w->stat == NULL)
        return;
    int64_t hits = stat_count_answerable(w->stat, w->service).hits - before.hits;
    check(hits == kept, "warm: %" PRId64 " hits of %" PRId64 " that may be remembered", hits, kept);
}
