/*
 * Mixed ways that proxies and caches have gone wrong in the field, as far as a real server that can't be told to hold
 * or to twist a reply lets them be made. Some change things straight at the server, behind the proxy's
 * back; what a reply then shows must be believed at once.
 */
#include "e2e/mutations.h"

#include "e2e/nfs_reply.h"

#include <stdio.h>
#include <string.h>

/* The file's second name was made and is removed without the proxy ever having looked it up. */
static void link_behind(struct stage *s)
{
    struct nfs_handle f = stage_file(s, &s->dir, "f");
    watch_object(&s->watch, "f", &f);
    watch_name(&s->watch, &s->dir, "f");
    check_ok(nfs_call_link(&s->direct, &f, &s->dir, "g", &s->r), &s->r, "LINK behind");
    check_ok(nfs_call_getattr(&s->direct, &f, &s->r), &s->r, "GETATTR");
    check(s->r.object.value.nlink == 2, "nlink %u", s->r.object.value.nlink);
    stage_warm(s);
    stage_changed(s, nfs_call_remove(&s->a, &s->dir, "g", &s->r), NFS3_OK, "REMOVE of it");
    check_ok(nfs_call_getattr(&s->b, &f, &s->r), &s->r, "GETATTR");
    check(s->r.object.value.nlink == 1, "nlink %u", s->r.object.value.nlink);
}

static void exist_ends_absence(struct stage *s)
{
    watch_object(&s->watch, "the folder", &s->dir);
    watch_name(&s->watch, &s->dir, "d");
    stage_warm(s);
    check_ok(nfs_call_mkdir(&s->direct, &s->dir, "d", NULL, &s->r), &s->r, "MKDIR behind");
    stage_changed(s, nfs_call_mkdir(&s->a, &s->dir, "d", NULL, &s->r), NFS3ERR_EXIST, "MKDIR");
    check_ok(nfs_call_lookup(&s->b, &s->dir, "d", &s->r), &s->r, "LOOKUP");
}

static void guard_tells_of_change(struct stage *s)
{
    struct nfs_handle f = stage_file(s, &s->dir, "f");
    sattr3 mode = set_mode(0600), other = set_mode(0666);
    watch_object(&s->watch, "f", &f);
    watch_name(&s->watch, &s->dir, "f");
    stage_warm(s);
    check_ok(nfs_call_getattr(&s->a, &f, &s->r), &s->r, "GETATTR");
    nfstime3 known = s->r.object.value.ctime;
    /* Until the next second: Linux compares no more of a guard. */
    for (unsigned i = 0; i < 100000 && s->r.object.value.ctime.seconds == known.seconds; i++) {
        check_ok(nfs_call_setattr(&s->direct, &f, &mode, NULL, &s->r), &s->r, "SETATTR behind");
        check_ok(nfs_call_getattr(&s->direct, &f, &s->r), &s->r, "GETATTR");
    }
    check(s->r.object.value.ctime.seconds != known.seconds, "the server's clock stands still");
    stage_changed(s, nfs_call_setattr(&s->a, &f, &other, &known, &s->r), NFS3ERR_NOT_SYNC,
                  "the ctime of before as guard");
    check_ok(nfs_call_getattr(&s->b, &f, &s->r), &s->r, "GETATTR");
    nfstime3 now = s->r.object.value.ctime;
    stage_changed(s, nfs_call_setattr(&s->a, &f, &other, &now, &s->r), NFS3_OK,
                  "the ctime of now as guard");
}

/* The inode's number is used again at once; the handle of before must not become the new file's. */
static void number_used_again(struct stage *s)
{
    struct nfs_handle f = stage_file(s, &s->dir, "f");
    watch_object(&s->watch, "the removed f", &f);
    watch_name(&s->watch, &s->dir, "f");
    watch_name(&s->watch, &s->dir, "g");
    stage_warm(s);
    check_ok(nfs_call_remove(&s->a, &s->dir, "f", &s->r), &s->r, "REMOVE");
    struct nfs_handle g = stage_file(s, &s->dir, "g");
    watch_object(&s->watch, "g", &g);
    stage_changed(s, 0, NFS3_OK, "a new file");
    int err = nfs_call_getattr(&s->b, &f, &s->r);
    check(err == 0 && s->r.status == NFS3ERR_STALE, "GETATTR of the removed file: %s",
          nfsstat3_to_str(s->r.status));
    sattr3 mode = set_mode(0600);
    err = nfs_call_setattr(&s->b, &f, &mode, NULL, &s->r);
    check(err == 0 && s->r.status == NFS3ERR_STALE, "SETATTR of the removed file: %s",
          nfsstat3_to_str(s->r.status));
}

/* wcc_data is the server's, also where the proxy knows better what was before. */
static void wcc_is_the_servers(struct stage *s)
{
    struct nfs_reply before;
    stage_file(s, &s->dir, "z");
    watch_object(&s->watch, "the folder", &s->dir);
    watch_name(&s->watch, &s->dir, "x");
    watch_name(&s->watch, &s->dir, "y");
    watch_name(&s->watch, &s->dir, "z");
    stage_warm(s);
    check_ok(nfs_call_create(&s->direct, &s->dir, "x", GUARDED, NULL, NULL, &s->r), &s->r,
             "CREATE behind");
    check_ok(nfs_call_getattr(&s->direct, &s->dir, &before), &before, "GETATTR");
    int err = nfs_call_create(&s->a, &s->dir, "y", GUARDED, NULL, NULL, &s->r);
    if (s->r.wcc.before_present) {
        const fattr3 *was = &before.object.value;
        check(memcmp(&s->r.wcc.before.ctime, &was->ctime, sizeof was->ctime) == 0,
              "wcc_data.before is not what the server had");
        check(s->r.wcc.before.size == was->size, "wcc_data.before has another size");
    }
    struct nfs_attr after = s->r.wcc.after;
    check_ok(nfs_call_getattr(&s->direct, &s->dir, &before), &before, "GETATTR");
    check(!after.present || nfs_attr_same(&after, &before.object),
          "wcc_data.after is not what the server has");
    stage_changed(s, err, NFS3_OK, "CREATE");
    stage_changed(s, nfs_call_remove(&s->a, &s->dir, "z", &s->r), NFS3_OK, "REMOVE");
}

struct listing {
    struct stage *stage;
    unsigned entries;
    bool plus;
};

/* Each entry must be what the server says of that name. */
static void listed(void *context, const struct nfs_entry *entry)
{
    struct listing *listing = context;
    struct nfs_reply r;
    if (strcmp(entry->name, ".") == 0 || strcmp(entry->name, "..") == 0)
        return;
    listing->entries++;
    struct nfs_client *direct = &listing->stage->direct;
    check_ok(nfs_call_lookup(direct, &listing->stage->dir, entry->name, &r), &r, entry->name);
    check(entry->fileid == r.object.value.fileid, "%s: another fileid", entry->name);
    if (!listing->plus)
        return;
    check(entry->has_handle && nfs_handle_same(&entry->handle, &r.handle), "%s: another handle",
          entry->name);
    check(nfs_attr_same(&entry->attr, &r.object), "%s: other attributes", entry->name);
}

static void list(struct stage *s, unsigned want)
{
    struct listing plus = {.stage = s, .plus = true}, plain = {.stage = s};
    check_ok(nfs_call_readdirplus(&s->b, &s->dir, 2048, listed, &plus, &s->r), &s->r,
             "READDIRPLUS");
    check_ok(nfs_call_readdir(&s->c, &s->dir, 1024, listed, &plain, &s->r), &s->r, "READDIR");
    check(plus.entries == want && plain.entries == want, "listed %u and %u, not %u", plus.entries,
          plain.entries, want);
}

/* Directories are never answered from cache; what their pages bring into it must be right. */
static void listings(struct stage *s)
{
    char name[32];
    for (unsigned i = 0; i < 60; i++) {
        snprintf(name, sizeof name, "a name of some length %u", i);
        stage_file(s, &s->dir, name);
    }
    list(s, 60);
    check_ok(nfs_call_remove(&s->a, &s->dir, "a name of some length 7", &s->r), &s->r, "REMOVE");
    check_ok(nfs_call_rename(&s->a, &s->dir, "a name of some length 8", &s->dir, "new", &s->r),
             &s->r, "RENAME");
    list(s, 59);
    watch_name(&s->watch, &s->dir, "a name of some length 7");
    watch_name(&s->watch, &s->dir, "a name of some length 8");
    watch_name(&s->watch, &s->dir, "a name of some length 9");
    watch_name(&s->watch, &s->dir, "new");
    stage_changed(s, 0, NFS3_OK, "after the listings");
}

const struct mutation_case mutations_field[] = {
    {"a link made behind the proxy is removed", link_behind},
    {"EXIST ends a remembered absence", exist_ends_absence},
    {"a guard tells of a change behind the proxy", guard_tells_of_change},
    {"a fileid is used again", number_used_again},
    {"wcc_data is the server's own", wcc_is_the_servers},
    {"READDIR and READDIRPLUS", listings},
    {NULL, NULL},
};
