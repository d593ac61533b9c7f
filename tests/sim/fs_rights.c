/*
 * fs_rights: owner, the named user of the access list, group, others: the first of these that somebody is decides.
 */
#include "sim/fs_rights.h"

bool rights_in_group(const struct fs_who *who, uint32_t gid)
{
    if (who->gid == gid)
        return true;
    for (uint32_t i = 0; i < who->group_count; i++)
        if (who->groups[i] == gid)
            return true;
    return false;
}

bool rights_owns(const struct fs_rights *rights, const struct fs_who *who)
{
    return who->uid == 0 || who->uid == rights->uid;
}

/* The first class that fits decides, also where a later one would grant more. */
static uint32_t granted(const struct fs_rights *rights, const struct fs_who *who)
{
    if (who->uid == 0)
        return RIGHT_READ | RIGHT_WRITE | RIGHT_EXECUTE;
    if (who->uid == rights->uid)
        return rights->mode >> 6 & 7;
    if (rights->has_named && who->uid == rights->named_uid)
        return rights->named_mode & 7;
    if (rights_in_group(who, rights->gid))
        return rights->mode >> 3 & 7;
    return rights->mode & 7;
}

bool rights_grant(const struct fs_rights *rights, const struct fs_who *who, uint32_t bits)
{
    return (granted(rights, who) & bits) == bits;
}

bool rights_grant_io(const struct fs_rights *rights, const struct fs_who *who, uint32_t bits)
{
    return rights_owns(rights, who) || rights_grant(rights, who, bits);
}

bool fs_same_rights(const struct fs_rights *a, const struct fs_rights *b)
{
    return a->type == b->type && a->mode == b->mode && a->uid == b->uid && a->gid == b->gid &&
           a->has_named == b->has_named && a->named_uid == b->named_uid &&
           a->named_mode == b->named_mode;
}

uint32_t fs_access(const struct fs_rights *rights, const struct fs_who *who)
{
    uint32_t bits = granted(rights, who), access = 0;
    if (bits & RIGHT_READ)
        access |= NFS3_ACCESS_READ;
    if (rights->type == NF3DIR) {
        if (bits & RIGHT_EXECUTE)
            access |= NFS3_ACCESS_LOOKUP;
        if ((bits & RIGHT_WRITE) && (bits & RIGHT_EXECUTE))
            access |= NFS3_ACCESS_MODIFY | NFS3_ACCESS_EXTEND | NFS3_ACCESS_DELETE;
        return access;
    }
    if (bits & RIGHT_WRITE)
        access |= NFS3_ACCESS_MODIFY | NFS3_ACCESS_EXTEND;
    if (bits & RIGHT_EXECUTE)
        access |= NFS3_ACCESS_EXECUTE;
    return access;
}
