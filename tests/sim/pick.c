/*
 * pick: some handles are used more than others, as the plan says.
 */
#include "sim/pick.h"

#include "sim/crowd.h"

#define BACK_MAX 30u /* calls */
#define TRIES    8u  /* for a handle of the type that is wanted */

static bool is_type(const struct run *run, uint32_t handle, enum nfs3_ftype type)
{
    fs_node node = ledger_handle_node(&run->ledger, handle);
    struct fs_attr attr;
    return node != 0 && fs_attr(nfsd_fs(run->nfsd), node, &attr) && attr.rights.type == type;
}

static bool has_led_to(const struct reg *handle, fs_node node)
{
    for (unsigned i = 0; i < handle->versions; i++) {
        if (handle->version[i].value == node)
            return true;
    }
    return false;
}

uint32_t pick_handle_of(const struct run *run, fs_node node, struct draw *draw)
{
    uint32_t found = LEDGER_NO_HANDLE;
    for (uint32_t i = 0; i < run->ledger.handles; i++) {
        if (has_led_to(&run->ledger.handle[i].node, node) &&
            (found == LEDGER_NO_HANDLE || draw_permille(draw, 500)))
            found = i;
    }
    return found;
}

uint32_t pick_any_handle(const struct run *run, struct draw *draw)
{
    uint32_t handles = run->ledger.handles;
    if (draw_permille(draw, run->plan->heat) && handles > run->plan->hot)
        return (uint32_t)draw_below(draw, run->plan->hot);
    return (uint32_t)draw_below(draw, handles);
}

uint32_t pick_handle(const struct run *run, enum nfs3_ftype type, struct draw *draw)
{
    uint32_t handle = pick_any_handle(run, draw);
    for (unsigned i = 0; i < TRIES && !is_type(run, handle, type); i++)
        handle = pick_any_handle(run, draw);
    return handle;
}

fs_node pick_node(const struct run *run, enum nfs3_ftype type, struct draw *draw)
{
    fs_node node = ledger_handle_node(&run->ledger, pick_handle(run, type, draw));
    return node != 0 ? node : FS_ROOT;
}

const char *pick_name(const struct run *run, struct draw *draw)
{
    return crowd_name((unsigned)draw_below(draw, run->plan->names));
}

const struct call_made *pick_earlier(const struct run *run, uint32_t number, struct draw *draw)
{
    uint32_t back = (uint32_t)draw_between(draw, 1, BACK_MAX);
    const struct call_made *call = number > back ? run->call[number - back] : NULL;
    return call != NULL && call->octets != NULL && call->read.program == 0 ? call : NULL;
}

bool pick_searchable(const struct run *run)
{
    return run->plan->nfsd.errors.fails_after > 0;
}
