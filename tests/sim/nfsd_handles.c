/*
 * nfsd_handles: handles in an array by number; those of one node, and the stale ones, are chained.
 */
#include "sim/nfsd_handles.h"

#include "sim/memory.h"

#include <assert.h>
#include <stdlib.h>

#define NUMBER_LEN    4u
#define CHECK_LEN     4u
#define ALIAS_NONE    UINT32_MAX /* it was another node's */
#define ROOM_AT_FIRST 64u

struct nfsd_handle {
    fs_node node; /* 0: stale */
    uint32_t alias;
    uint32_t next, previous; /* of those that lead to the same node */
};

void handles_init(struct nfsd_handles *handles, uint64_t fsid, uint32_t len, bool reuse)
{
    assert(len >= 16 && len <= NFS3_FH_MAX);
    *handles = (struct nfsd_handles){.fsid = fsid, .len = len, .reuse = reuse};
    for (uint32_t i = 0; i < NFS3_FH_MAX; i += 8)
        bytes_store_u64(handles->prefix + i, draw_mix(fsid + i + 1));
}

void handles_free(struct nfsd_handles *handles)
{
    free(handles->made);
    free(handles->first);
}

/* ---- octets ---- */

static uint32_t check_of(const struct nfsd_handles *handles, uint32_t number)
{
    return (uint32_t)draw_mix(handles->fsid ^ (uint64_t)number << 32);
}

static struct bytes octets_of(const struct nfsd_handles *handles, uint32_t number, uint8_t *room)
{
    uint32_t prefix = handles->len - CHECK_LEN - NUMBER_LEN;
    memcpy(room, handles->prefix, prefix);
    bytes_store_u32(room + prefix, check_of(handles, number));
    bytes_store_u32(room + prefix + CHECK_LEN, number);
    return (struct bytes){room, handles->len};
}

enum nfs3_status handles_node(const struct nfsd_handles *handles, struct bytes handle,
                              fs_node *node)
{
    *node = 0;
    if (handle.len != handles->len)
        return NFS3ERR_BADHANDLE;
    uint32_t prefix = handles->len - CHECK_LEN - NUMBER_LEN;
    uint32_t number = bytes_load_u32(handle.data + prefix + CHECK_LEN);
    if (number == 0 || number > handles->count ||
        bytes_load_u32(handle.data + prefix) != check_of(handles, number) ||
        memcmp(handle.data, handles->prefix, prefix) != 0)
        return NFS3ERR_BADHANDLE;
    *node = handles->made[number].node;
    return *node ? NFS3_OK : NFS3ERR_STALE;
}

/* ---- where they lead ---- */

static uint32_t *first_of(struct nfsd_handles *handles, fs_node node)
{
    if (node >= handles->first_room) {
        uint32_t room = handles->first_room ? handles->first_room : ROOM_AT_FIRST;
        while (room <= node)
            room *= 2;
        handles->first = memory_resize(handles->first, room * sizeof *handles->first);
        memset(handles->first + handles->first_room, 0,
               (room - handles->first_room) * sizeof *handles->first);
        handles->first_room = room;
    }
    return &handles->first[node];
}

static void leave(struct nfsd_handles *handles, uint32_t number)
{
    const struct nfsd_handle *handle = &handles->made[number];
    if (handle->previous)
        handles->made[handle->previous].next = handle->next;
    else
        *first_of(handles, handle->node) = handle->next;
    if (handle->next)
        handles->made[handle->next].previous = handle->previous;
}

static void join(struct nfsd_handles *handles, uint32_t number, fs_node node, uint32_t alias)
{
    uint32_t *first = first_of(handles, node);
    handles->made[number] = (struct nfsd_handle){.node = node, .alias = alias, .next = *first};
    if (*first)
        handles->made[*first].previous = number;
    *first = number;
    uint8_t room[NFS3_FH_MAX];
    handles->told(handles->context, octets_of(handles, number, room), node);
}

static uint32_t new_number(struct nfsd_handles *handles)
{
    uint32_t stale = *first_of(handles, 0);
    if (handles->reuse && stale) {
        leave(handles, stale);
        return stale;
    }
    if (handles->count + 1 >= handles->room) {
        handles->room = handles->room ? 2 * handles->room : ROOM_AT_FIRST;
        handles->made = memory_resize(handles->made, handles->room * sizeof *handles->made);
    }
    return ++handles->count;
}

struct bytes handles_of(struct nfsd_handles *handles, fs_node node, uint32_t alias, uint8_t *room)
{
    uint32_t number = *first_of(handles, node);
    while (number && handles->made[number].alias != alias)
        number = handles->made[number].next;
    if (!number) {
        number = new_number(handles);
        join(handles, number, node, alias);
    }
    return octets_of(handles, number, room);
}

void handles_gone(struct nfsd_handles *handles, fs_node node)
{
    for (uint32_t number; (number = *first_of(handles, node)) != 0;) {
        leave(handles, number);
        join(handles, number, 0, ALIAS_NONE);
    }
}

/* ---- confusion ---- */

static uint32_t any_stale(struct nfsd_handles *handles, struct draw *draw)
{
    uint32_t count = 0;
    for (uint32_t n = *first_of(handles, 0); n; n = handles->made[n].next)
        count++;
    if (count == 0)
        return 0;
    uint32_t number = *first_of(handles, 0);
    for (uint64_t skip = draw_below(draw, count); skip > 0; skip--)
        number = handles->made[number].next;
    return number;
}

/* Not the root's: nothing would be left to begin at. */
static uint32_t any_live(const struct nfsd_handles *handles, struct draw *draw)
{
    if (handles->count == 0)
        return 0;
    uint32_t from = (uint32_t)draw_below(draw, handles->count);
    for (uint32_t i = 0; i < handles->count; i++) {
        uint32_t number = 1 + (from + i) % handles->count;
        if (handles->made[number].node > FS_ROOT)
            return number;
    }
    return 0;
}

static fs_node another_node(const struct fs *fs, fs_node but, struct draw *draw)
{
    fs_node last = fs_last(fs), from = (fs_node)draw_below(draw, last);
    for (fs_node i = 0; i < last; i++) {
        fs_node node = 1 + (from + i) % last;
        struct fs_attr attr;
        if (node != but && fs_attr(fs, node, &attr))
            return node;
    }
    return 0;
}

void handles_confuse(struct nfsd_handles *handles, const struct fs *fs, struct draw *draw)
{
    uint32_t number = any_stale(handles, draw);
    if (!number)
        number = any_live(handles, draw);
    if (!number)
        return;
    fs_node node = another_node(fs, handles->made[number].node, draw);
    if (!node)
        return;
    leave(handles, number);
    join(handles, number, node, ALIAS_NONE);
}
