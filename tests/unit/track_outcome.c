#include "track_outcome.h"

const char *const outcome_name[OUTCOMES] = {"success",
                                            "success without attributes",
                                            "success without handle",
                                            "success with nothing",
                                            "error with wcc",
                                            "error without",
                                            "EXIST",
                                            "SYSTEM_ERR",
                                            "AUTH_ERROR",
                                            "unreadable",
                                            "client left",
                                            "others asked",
                                            "others were answered later",
                                            "lost and resent"};

static bool succeeds(enum outcome outcome)
{
    return outcome <= SUCCESS_NOTHING || outcome >= UNREADABLE;
}

void outcome_change(struct world *world, const struct row *row)
{
    for (unsigned i = 0; i < WORLD_FILES; i++) {
        if (row->objects & 1u << i)
            file_write(&world->file[i]);
    }
}

void outcome_move(struct world *world, const struct row *row)
{
    for (unsigned i = 0; i < WORLD_FILES; i++) {
        if (row->stale & 1u << i)
            world->gone[i] = true;
    }
    enum world_file child = row->made;
    if (row->old != NO_NAME) {
        child = world->child[row->old];
        world->child[row->old] = NOTHING;
    }
    if (row->procedure == NFS3_LINK)
        child = FILE_F;
    if (row->new != NO_NAME)
        world->child[row->new] = child;
    if (row->moves && child == FILE_S)
        world->child[NAME_SUP] = row->object2;
    if (row->made != NOTHING)
        world->gone[row->made] = false;
}

void outcome_execute(struct world *world, const struct row *row, enum outcome outcome)
{
    outcome_change(world, row);
    if (succeeds(outcome))
        outcome_move(world, row);
}

struct says outcome_says(enum outcome outcome)
{
    switch (outcome) {
    case SUCCESS_BARE:
        return (struct says){NFS3_OK, false, true};
    case SUCCESS_NO_HANDLE:
        return (struct says){NFS3_OK, true, false};
    case SUCCESS_NOTHING:
        return (struct says){NFS3_OK, false, false};
    case ERROR_WCC:
        return (struct says){NFS3ERR_IO, true, false};
    case ERROR_BARE:
        return (struct says){NFS3ERR_PERM, false, false};
    case ERROR_EXIST:
        return (struct says){NFS3ERR_EXIST, true, false};
    default:
        return (struct says){NFS3_OK, true, true};
    }
}

static struct wcc wcc_of(const struct world *before, const struct world *after,
                         enum world_file file, struct says says)
{
    if (!says.attributes)
        return (struct wcc){NULL, NULL};
    return (struct wcc){&before->file[file].attr, &after->file[file].attr};
}

struct body outcome_results(const struct row *row, const struct world *before,
                            const struct world *after, struct says says)
{
    struct wcc wcc = wcc_of(before, after, row->object, says);
    struct wcc wcc2 = wcc_of(before, after, row->object2, says);
    switch (row->shape) {
    case SHAPE_WRITE:
        return says.status == NFS3_OK ? res_write(wcc, 6, "verifier") : res_wcc(says.status, wcc);
    case SHAPE_COMMIT:
        return says.status == NFS3_OK ? res_commit(wcc, "verifier") : res_wcc(says.status, wcc);
    case SHAPE_ACL:
        return res_post_op(says.status, wcc.after);
    case SHAPE_CREATE:
        if (says.status != NFS3_OK)
            break;
        return res_create(says.handle ? &after->file[row->made] : NULL,
                          says.attributes ? &after->file[row->made].attr : NULL, wcc);
    case SHAPE_RENAME:
        return res_rename(says.status, wcc, wcc2);
    case SHAPE_LINK:
        return res_link(says.status, wcc.after, wcc2);
    case SHAPE_WCC:
        break;
    }
    return res_wcc(says.status, wcc);
}
