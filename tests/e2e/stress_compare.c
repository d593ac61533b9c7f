/*
 * stress_compare: directory by directory and name by name, through the proxy and straight at the server.
 */
#include "e2e/check.h"
#include "e2e/nfs_call.h"
#include "e2e/nfs_reply.h"
#include "e2e/stress.h"

#include <stdio.h>
#include <string.h>

#define ENTRIES_MAX 512u
#define TEXT_MAX    256u
#define ATIME_AT    60u /* in a fattr3; may lag */
#define ATIME_LEN   8u

struct listing {
    unsigned count;
    char name[ENTRIES_MAX][16];
    uint64_t fileid[ENTRIES_MAX];
};

static void add_entry(void *context, const struct nfs_entry *entry)
{
    struct listing *listing = context;
    check_must(listing->count < ENTRIES_MAX, "too many entries");
    snprintf(listing->name[listing->count], sizeof listing->name[0], "%s", entry->name);
    listing->fileid[listing->count++] = entry->fileid;
}

static void list(struct nfs_client *c, const struct nfs_handle *dir, struct listing *listing)
{
    struct nfs_reply r;
    listing->count = 0;
    check_ok(nfs_call_readdirplus(c, dir, 32768, add_entry, listing, &r), &r, "READDIRPLUS");
}

static void compare_attributes(struct nfs_client *tested, struct nfs_client *direct,
                               const struct nfs_handle *handle, const char *name)
{
    struct nfs_reply a, b;
    char was[TEXT_MAX], is[TEXT_MAX];
    check_ok(nfs_call_getattr(direct, handle, &b), &b, "GETATTR at the server");
    check_ok(nfs_call_getattr(tested, handle, &a), &a, "GETATTR");
    nfs_attr_print(&a.object, was, sizeof was);
    nfs_attr_print(&b.object, is, sizeof is);
    memset(a.object.octets + ATIME_AT, 0, ATIME_LEN);
    memset(b.object.octets + ATIME_AT, 0, ATIME_LEN);
    check(nfs_attr_same(&a.object, &b.object), "%s: %s, not %s", name, was, is);
}

static void compare_access(struct nfs_client *tested, struct nfs_client *direct,
                           const struct nfs_handle *handle, const char *name)
{
    static const uint32_t users[] = {0, STRESS_STRANGER};
    for (unsigned i = 0; i < 2; i++) {
        struct nfs_reply a, b;
        nfs_client_be_user(tested, users[i], users[i]);
        nfs_client_be_user(direct, users[i], users[i]);
        check_ok(nfs_call_access(tested, handle, 0x3f, &a), &a, "ACCESS");
        check_ok(nfs_call_access(direct, handle, 0x3f, &b), &b, "ACCESS at the server");
        check(a.access == b.access, "%s: user %u: access %x, not %x", name, users[i], a.access,
              b.access);
    }
    nfs_client_be_user(tested, 0, 0);
    nfs_client_be_user(direct, 0, 0);
}

static void compare_name(struct nfs_client *tested, struct nfs_client *direct,
                         const struct nfs_handle *dir, const char *name)
{
    struct nfs_reply a, b;
    int err = nfs_call_lookup(tested, dir, name, &a);
    check_must(err == 0, "LOOKUP: no reply");
    err = nfs_call_lookup(direct, dir, name, &b);
    check_must(err == 0, "LOOKUP at the server: no reply");
    check(a.status == b.status && nfs_handle_same(&a.handle, &b.handle),
          "%s: %s, not %s, or another object", name, nfsstat3_to_str(a.status),
          nfsstat3_to_str(b.status));
    if (b.status != NFS3_OK)
        return;
    compare_attributes(tested, direct, &b.handle, name);
    compare_access(tested, direct, &b.handle, name);
}

static void compare_listing(struct nfs_client *tested, struct nfs_client *direct,
                            const struct nfs_handle *dir)
{
    static struct listing a, b;
    list(tested, dir, &a);
    list(direct, dir, &b);
    check(a.count == b.count, "%u entries, not %u", a.count, b.count);
    for (unsigned i = 0; i < a.count && i < b.count; i++) {
        check(strcmp(a.name[i], b.name[i]) == 0 && a.fileid[i] == b.fileid[i],
              "entry %u: %s, not %s, or another file", i, a.name[i], b.name[i]);
        compare_name(tested, direct, dir, b.name[i]);
    }
}

void stress_compare(const struct stress *stress, struct nfs_client *tested,
                    struct nfs_client *direct)
{
    char name[16];
    for (unsigned d = 0; d < STRESS_DIRS; d++) {
        const struct nfs_handle *dir = &stress->dir[d];
        compare_attributes(tested, direct, dir, "directory");
        compare_listing(tested, direct, dir);
        for (unsigned i = 0; i < STRESS_SLOTS; i++) { /* also those that are not there */
            stress_slot_name(i, name);
            compare_name(tested, direct, dir, name);
            stress_link_name(i, name);
            compare_name(tested, direct, dir, name);
        }
    }
}
