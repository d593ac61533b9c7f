/*
 * outside: by root, so that nothing is refused. Names that were looked up shortly before are changed rather than others: they
 * are what somebody may have in cache.
 */
#include "sim/outside.h"

#include "sim/crowd.h"
#include "sim/pick.h"
#include "sim/site.h"

static void change_attributes(struct run *run, struct draw *draw)
{
    static const struct fs_who root = {.uid = 0};
    struct fs *fs = nfsd_fs(run->nfsd);
    fs_node node = pick_node(run, NF3REG, draw);
    struct fs_set set = {.mode = draw_permille(draw, 500)};
    set.mode_value = draw_permille(draw, 500) && !pick_searchable(run) ? 0600 : 0777;
    set.size = !set.mode;
    set.size_value = draw_below(draw, PICK_SIZE_MAX);
    if (draw_permille(draw, 150))
        fs_setacl(fs, &root, node, true, 2000, (uint32_t)draw_below(draw, 8) | pick_searchable(run),
                  site_now(run));
    else if (draw_permille(draw, 400))
        fs_write(fs, &root, node, draw_below(draw, PICK_SIZE_MAX), 10, true, site_now(run));
    else
        fs_setattr(fs, &root, node, &set, NULL, site_now(run));
}

/* What may happen to one name, time after time. */
enum flip {
    CREATE_IT,
    REMOVE_IT,
    LINK_IT,
    MAKE_IT,
    RMDIR_IT,
    RENAME_IT
};

/* Of a LOOKUP shortly before that call: what somebody may have in cache. */
static bool looked_up(const struct run *run, uint32_t number, struct draw *draw, fs_node *dir,
                      const char **name)
{
    const struct call_made *call = pick_earlier(run, number, draw);
    if (call == NULL || call->read.procedure != NFS3_LOOKUP)
        return false;
    uint32_t handle = ledger_handle(&run->ledger, call->read.args.object);
    *dir = ledger_handle_node(&run->ledger, handle);
    for (unsigned i = 0; i < run->plan->names && *dir != 0; i++) {
        *name = crowd_name(i);
        if (bytes_equal(call->read.args.name, (struct bytes){(const uint8_t *)*name, 1}))
            return true;
    }
    return false;
}

static void change_name(struct run *run, uint32_t number, struct draw *draw, enum flip flip)
{
    static const struct fs_who root = {.uid = 0};
    static const struct fs_set set = {.mode = true, .mode_value = 0755};
    struct fs *fs = nfsd_fs(run->nfsd);
    fs_node dir = pick_node(run, NF3DIR, draw), dir2 = pick_node(run, NF3DIR, draw), made;
    const char *name = pick_name(run, draw), *name2 = pick_name(run, draw);
    uint64_t now = site_now(run);
    for (unsigned i = 0; i < 3 && !looked_up(run, number, draw, &dir, &name); i++)
        ;
    switch (flip) {
    case CREATE_IT:
        fs_create_file(fs, &root, dir, name, NFS3_GUARDED, &set, (const uint8_t *)"outsider", now,
                       &made);
        break;
    case REMOVE_IT:
        fs_remove(fs, &root, dir, name, now);
        break;
    case LINK_IT:
        fs_link(fs, &root, pick_node(run, NF3REG, draw), dir, name, now);
        break;
    case MAKE_IT:
        fs_make(fs, &root, dir, name, NF3DIR, &set, 0, now, &made);
        break;
    case RMDIR_IT:
        fs_rmdir(fs, &root, dir, name, now);
        break;
    case RENAME_IT:
        fs_rename(fs, &root, dir2, name2, dir, name, now);
        break;
    }
}

static void change_names(struct run *run, uint32_t number, struct draw *draw, unsigned time)
{
    static const enum flip flips[] = {CREATE_IT, REMOVE_IT, RENAME_IT, REMOVE_IT, LINK_IT,
                                      REMOVE_IT, MAKE_IT,   RMDIR_IT,  LINK_IT,   RENAME_IT};
    const unsigned count = sizeof(flips) / sizeof(flips[0]);
    unsigned first = (unsigned)draw_below(draw, count);
    change_name(run, number, draw, flips[(first + time) % count]);
}

void outside_change(struct run *run, uint32_t number, unsigned time)
{
    struct draw draw = run_draw(run, DECIDE_OUTSIDE, number, 0);
    site_begin_outside(run);
    if (draw_permille(&draw, 500))
        change_attributes(run, &draw);
    else
        change_names(run, number, &draw, time);
    site_end_outside(run);
}
