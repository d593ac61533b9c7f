#include "stage_world.h"

const struct world_place world_place[WORLD_NAMES] = {
    [NAME_DF] = {FILE_D, "f"}, [NAME_DS] = {FILE_D, "s"}, [NAME_DX] = {FILE_D, "x"},
    [NAME_DN] = {FILE_D, "n"}, [NAME_EG] = {FILE_E, "g"}, [NAME_EX] = {FILE_E, "x"},
    [NAME_EM] = {FILE_E, "m"}, [NAME_SC] = {FILE_S, "c"}, [NAME_SUP] = {FILE_S, ".."},
};

const char *const world_file_name[WORLD_FILES] = {"D", "E", "S", "F", "F2", "G", "X", "C", "N"};

void world_init(struct world *world)
{
    static const enum world_file first[WORLD_NAMES] = {
        [NAME_DF] = FILE_F,  [NAME_DS] = FILE_S, [NAME_DX] = FILE_X,
        [NAME_DN] = NOTHING, [NAME_EG] = FILE_G, [NAME_EX] = FILE_X,
        [NAME_EM] = NOTHING, [NAME_SC] = FILE_C, [NAME_SUP] = FILE_D,
    };
    memset(world, 0, sizeof(*world));
    for (unsigned i = 0; i < WORLD_FILES; i++)
        world->file[i] = file_make(world_file_name[i], i <= FILE_S ? NF3DIR : NF3REG, 100 + i);
    world->file[FILE_F2].attr = world->file[FILE_F].attr;
    memcpy(world->child, first, sizeof first);
    world->gone[FILE_N] = true;
}

static enum world_file find(const struct world *world, struct bytes handle)
{
    for (unsigned i = 0; i < WORLD_FILES; i++) {
        if (bytes_equal(file_handle(&world->file[i]), handle))
            return (enum world_file)i;
    }
    fail_msg("a handle of nobody's");
    return NOTHING;
}

static enum world_file look_up(const struct world *world, enum world_file dir, struct bytes text)
{
    for (unsigned i = 0; i < WORLD_NAMES; i++) {
        if (world_place[i].dir == dir && bytes_equal(wire_text(world_place[i].text), text))
            return world->child[i];
    }
    return NOTHING;
}

static struct body answer_lookup(const struct world *world, enum world_file dir, struct bytes text)
{
    enum world_file child = look_up(world, dir, text);
    const struct attr *attr = &world->file[dir].attr;
    if (child == NOTHING)
        return res_post_op(NFS3ERR_NOENT, attr);
    return res_lookup(&world->file[child], &world->file[child].attr, attr);
}

/* Another one for everybody, and for every state of the file; but all may search. */
static uint32_t granted(const struct attr *attr, uint32_t uid)
{
    return ((uint32_t)(attr->ctime >> 32) ^ uid) | NFS3_ACCESS_LOOKUP;
}

struct body world_answer(const struct world *world, uint32_t uid, unsigned procedure,
                         struct bytes args)
{
    struct cursor c = cursor_over(args.data, args.len);
    enum world_file file = find(world, nfs3_handle(&c));
    const struct attr *attr = &world->file[file].attr;
    switch (procedure) {
    case NFS3_GETATTR:
        return world->gone[file] ? res_status(NFS3ERR_STALE) : res_getattr(attr);
    case NFS3_ACCESS:
        return world->gone[file] ? res_post_op(NFS3ERR_STALE, NULL)
                                 : res_access(attr, granted(attr, uid) & cursor_u32(&c));
    case NFS3_LOOKUP:
        return world->gone[file] ? res_post_op(NFS3ERR_STALE, NULL)
                                 : answer_lookup(world, file, cursor_opaque(&c, NFS3_STRING_MAX));
    default:
        fail_msg("procedure %u is not one that is probed", procedure);
        return res_status(NFS3ERR_NOTSUPP);
    }
}

struct body world_getattr_args(const struct world *world, enum world_file file)
{
    return args_handle(&world->file[file]);
}

struct body world_access_args(const struct world *world, enum world_file file)
{
    return args_access(&world->file[file], 0x3f);
}

struct body world_lookup_args(const struct world *world, enum world_name name)
{
    return args_dirop(&world->file[world_place[name].dir], world_place[name].text);
}
