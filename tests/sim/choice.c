/*
 * choice: a mix of all procedures, with much looking at what has just changed, and asking again what was asked before.
 */
#include "sim/choice.h"

#include <string.h>

#include "sim/pick.h"

#define DOTS 150u /* of a thousand LOOKUPs */

static bool is_read(uint32_t procedure)
{
    return procedure == NFS3_GETATTR || procedure == NFS3_LOOKUP || procedure == NFS3_ACCESS;
}

/* ---- handles and names ---- */

static struct bytes handle_octets(const struct run *run, uint32_t handle)
{
    const struct handle *of = &run->ledger.handle[handle];
    return (struct bytes){of->octets, of->len};
}

static void put_handle(const struct run *run, uint32_t handle, struct writer *w)
{
    writer_opaque(w, handle_octets(run, handle));
}

static void put_object(struct run *run, struct writer *w, struct draw *draw)
{
    put_handle(run, pick_any_handle(run, draw), w);
}

static void put_text(const char *text, struct writer *w)
{
    writer_opaque(w, (struct bytes){(const uint8_t *)text, (uint32_t)strlen(text)});
}

/* One of what changed last, a name rather than something else; NULL where nothing did. */
static const struct ref *recent(const struct run *run, struct draw *draw)
{
    unsigned count = run->recents < RUN_RECENT ? run->recents : RUN_RECENT;
    if (count == 0)
        return NULL;
    if (run->outsider.kind == REF_NAME && draw_permille(draw, 300))
        return &run->outsider;
    const struct ref *ref = &run->recent[draw_below(draw, count)].ref;
    for (unsigned i = 0; i < 4 && ref->kind != REF_NAME && draw_permille(draw, 500); i++)
        ref = &run->recent[draw_below(draw, count)].ref;
    return ref;
}

static bool put_recent_name(const struct run *run, const struct ref *ref, struct writer *w,
                            struct draw *draw)
{
    if (ref == NULL || ref->kind != REF_NAME || run->ledger.text[ref->b][0] == '.')
        return false;
    uint32_t handle = pick_handle_of(run, ref->a, draw);
    if (handle == LEDGER_NO_HANDLE)
        return false;
    put_handle(run, handle, w);
    put_text(run->ledger.text[ref->b], w);
    return true;
}

/* A name in a directory; `full`: mostly one that leads somewhere. */
static void put_dirop(const struct run *run, bool full, struct writer *w, struct draw *draw)
{
    if (draw_permille(draw, 250) && put_recent_name(run, recent(run, draw), w, draw))
        return;
    uint32_t dir = pick_handle(run, NF3DIR, draw);
    const char *name = pick_name(run, draw);
    fs_node node = ledger_handle_node(&run->ledger, dir);
    for (unsigned i = 0; i < 4 && node != 0; i++) {
        bool there = fs_behind(nfsd_fs(run->nfsd), node, name) != 0;
        if (there == full || draw_permille(draw, 200))
            break;
        name = pick_name(run, draw);
    }
    put_handle(run, dir, w);
    put_text(name, w);
}

static void put_lookup(struct run *run, struct writer *w, struct draw *draw)
{
    if (!draw_permille(draw, DOTS)) {
        put_dirop(run, draw_permille(draw, 700), w, draw);
        return;
    }
    put_handle(run, pick_handle(run, NF3DIR, draw), w);
    put_text("..", w);
}

/* ---- attributes to set ---- */

static void put_choice(struct writer *w, bool set, uint32_t value)
{
    writer_u32(w, set);
    if (set)
        writer_u32(w, value);
}

static void put_sattr(const struct run *run, struct writer *w, struct draw *draw, bool create)
{
    static const uint32_t modes[] = {0777, 0777, 0777, 0777, 0755, 0755, 0644, 0600, 0700, 0000};
    bool mode = create || draw_permille(draw, 600);
    uint32_t value = modes[draw_below(draw, sizeof(modes) / sizeof(modes[0]))];
    put_choice(w, mode, pick_searchable(run) ? value | 0111 : value);
    put_choice(w, draw_permille(draw, 60), draw_permille(draw, 500) ? 1000 : 2000);
    put_choice(w, draw_permille(draw, 60), draw_permille(draw, 500) ? 100 : 200);
    bool size = !mode || draw_permille(draw, create ? 500 : 250);
    writer_u32(w, size);
    if (size)
        writer_u64(w,
                   draw_permille(draw, create ? 900 : 500) ? 0 : draw_below(draw, PICK_SIZE_MAX));
    writer_u32(w, draw_permille(draw, 50)); /* atime: to the server's time */
    writer_u32(w, draw_permille(draw, 50));
}

/* ---- the arguments ---- */

static void put_setattr(struct run *run, struct writer *w, struct draw *draw)
{
    uint32_t handle = pick_any_handle(run, draw);
    put_handle(run, handle, w);
    put_sattr(run, w, draw, false);
    bool guarded = draw_permille(draw, 150);
    writer_u32(w, guarded);
    if (!guarded)
        return;
    struct fs_attr attr;
    fs_node node = ledger_handle_node(&run->ledger, handle);
    uint64_t ctime = 0;
    if (node != 0 && fs_attr(nfsd_fs(run->nfsd), node, &attr) && draw_permille(draw, 600))
        ctime = attr.ctime;
    writer_u32(w, (uint32_t)(ctime / PLAN_SEC));
    writer_u32(w, (uint32_t)(ctime % PLAN_SEC));
}

static void put_write(struct run *run, struct writer *w, struct draw *draw)
{
    static const uint8_t data[64];
    uint32_t count = (uint32_t)draw_between(draw, 1, sizeof data);
    put_handle(run, pick_handle(run, NF3REG, draw), w);
    writer_u64(w, draw_below(draw, PICK_SIZE_MAX));
    writer_u32(w, count);
    writer_u32(w, draw_permille(draw, 500) ? 0 : 2); /* UNSTABLE, FILE_SYNC */
    writer_opaque(w, (struct bytes){data, count});
}

static void put_create(struct run *run, struct writer *w, struct draw *draw)
{
    uint32_t mode = (uint32_t)draw_below(draw, 3);
    put_dirop(run, draw_permille(draw, 400), w, draw);
    writer_u32(w, mode);
    if (mode == NFS3_EXCLUSIVE)
        writer_u64(w, 1 + draw_below(draw, 2)); /* often the same verifier again */
    else
        put_sattr(run, w, draw, true);
}

static void put_mkdir(struct run *run, struct writer *w, struct draw *draw)
{
    put_dirop(run, draw_permille(draw, 200), w, draw);
    put_sattr(run, w, draw, true);
}

static void put_symlink(struct run *run, struct writer *w, struct draw *draw)
{
    put_mkdir(run, w, draw);
    put_text("a/b", w);
}

static void put_mknod(struct run *run, struct writer *w, struct draw *draw)
{
    put_dirop(run, false, w, draw);
    writer_u32(w, NF3FIFO);
    put_sattr(run, w, draw, true);
}

/* A name that is removed or moved: often the one that somebody else changed last, of which the cache may know something else. */
static void put_victim(struct run *run, struct writer *w, struct draw *draw)
{
    if (draw_permille(draw, 300) && put_recent_name(run, &run->outsider, w, draw))
        return;
    put_dirop(run, true, w, draw);
}

static void put_remove(struct run *run, struct writer *w, struct draw *draw)
{
    put_victim(run, w, draw);
}

static void put_rename(struct run *run, struct writer *w, struct draw *draw)
{
    put_victim(run, w, draw);
    put_dirop(run, draw_permille(draw, 500), w, draw);
}

static void put_link(struct run *run, struct writer *w, struct draw *draw)
{
    put_handle(run, pick_handle(run, NF3REG, draw), w);
    put_dirop(run, false, w, draw);
}

static void put_access(struct run *run, struct writer *w, struct draw *draw)
{
    put_handle(run, pick_any_handle(run, draw), w);
    writer_u32(w, draw_permille(draw, 500) ? NFS3_ACCESS_ALL
                                           : (uint32_t)draw_between(draw, 1, NFS3_ACCESS_ALL));
}

static void put_read(struct run *run, struct writer *w, struct draw *draw)
{
    put_handle(run, pick_handle(run, NF3REG, draw), w);
    writer_u64(w, draw_below(draw, 100));
    writer_u32(w, (uint32_t)draw_below(draw, 200));
}

static void put_commit(struct run *run, struct writer *w, struct draw *draw)
{
    put_handle(run, pick_handle(run, NF3REG, draw), w);
    writer_u64(w, 0);
    writer_u32(w, 0);
}

static void put_setacl(struct run *run, struct writer *w, struct draw *draw)
{
    put_handle(run, pick_any_handle(run, draw), w);
    writer_u32(w, 1); /* an access list, and no default list */
    writer_u32(w, 4);
    writer_u32(w, 4);
    const uint32_t entries[4][3] = {
        {0x01, 0, 6},
        {0x02, 2000, (uint32_t)draw_below(draw, 8) | pick_searchable(run)}, /* the named user */
        {0x04, 0, 4},
        {0x20, 0, (uint32_t)draw_below(draw, 8)},
    };
    for (unsigned i = 0; i < 4; i++) {
        for (unsigned j = 0; j < 3; j++)
            writer_u32(w, entries[i][j]);
    }
    writer_u32(w, 0);
    writer_u32(w, 0);
}

static void put_readdir(struct run *run, struct writer *w, struct draw *draw)
{
    put_handle(run, pick_handle(run, NF3DIR, draw), w);
    writer_u64(w, draw_permille(draw, 800) ? 0 : draw_below(draw, 4));
    writer_u64(w, 0); /* cookie verifier */
    writer_u32(w, 1024);
}

static void put_readdirplus(struct run *run, struct writer *w, struct draw *draw)
{
    put_readdir(run, w, draw);
    writer_u32(w, (uint32_t)draw_between(draw, 600, 4096));
}

static void put_getacl(struct run *run, struct writer *w, struct draw *draw)
{
    put_object(run, w, draw);
    writer_u32(w, 0x0f);
}

/* How often, and with which arguments. */
static const struct mixed {
    uint32_t procedure;
    unsigned weight;
    void (*put)(struct run *run, struct writer *w, struct draw *draw);
} mix[] = {
    {NFS3_GETATTR, 18, put_object},
    {NFS3_LOOKUP, 18, put_lookup},
    {NFS3_ACCESS, 12, put_access},
    {NFS3_SETATTR, 7, put_setattr},
    {NFS3_WRITE, 6, put_write},
    {NFS3_READ, 2, put_read},
    {NFS3_COMMIT, 2, put_commit},
    {NFS3_CREATE, 7, put_create},
    {NFS3_MKDIR, 5, put_mkdir},
    {NFS3_SYMLINK, 1, put_symlink},
    {NFS3_MKNOD, 1, put_mknod},
    {NFS3_REMOVE, 5, put_remove},
    {NFS3_RMDIR, 2, put_remove},
    {NFS3_RENAME, 6, put_rename},
    {NFS3_LINK, 5, put_link},
    {NFS3_READDIR, 1, put_readdir},
    {NFS3_READDIRPLUS, 4, put_readdirplus},
    {NFS3_READLINK, 1, put_object},
    {NFS3_FSSTAT, 1, put_object},
    {NFS3_FSINFO, 1, put_object},
    {NFS3_PATHCONF, 1, put_object},
    {FACTS_GETACL, 1, put_getacl},
    {FACTS_SETACL, 2, put_setacl},
};

static unsigned weight(const struct run *run, unsigned i)
{
    return is_read(mix[i].procedure) ? mix[i].weight * run->plan->reads : mix[i].weight;
}

static const struct mixed *draw_procedure(const struct run *run, struct draw *draw)
{
    unsigned total = 0, i = 0;
    for (unsigned j = 0; j < sizeof(mix) / sizeof(mix[0]); j++)
        total += weight(run, j);
    for (uint64_t at = draw_below(draw, total); at >= weight(run, i); i++)
        at -= weight(run, i);
    return &mix[i];
}

/* ---- looking at what has just changed ---- */

static bool put_recent(struct run *run, struct writer *w, struct draw *draw, uint32_t *procedure)
{
    const struct ref *ref = recent(run, draw);
    if (ref == NULL)
        return false;
    fs_node node = ref->kind == REF_HANDLE ? ledger_handle_node(&run->ledger, ref->a) : ref->a;
    uint32_t handle = pick_handle_of(run, node, draw);
    if (ref->kind == REF_HANDLE)
        handle = ref->a;
    if (handle == LEDGER_NO_HANDLE)
        return false;
    static const uint32_t looks[] = {NFS3_GETATTR, NFS3_GETATTR, NFS3_GETATTR,
                                     NFS3_ACCESS,  NFS3_ACCESS,  NFS3_FSINFO};
    *procedure = looks[draw_below(draw, sizeof(looks) / sizeof(looks[0]))];
    if (ref->kind == REF_NAME)
        *procedure = NFS3_LOOKUP;
    put_handle(run, handle, w);
    if (*procedure == NFS3_LOOKUP)
        put_text(run->ledger.text[ref->b], w);
    else if (*procedure == NFS3_ACCESS)
        writer_u32(w, NFS3_ACCESS_ALL);
    return true;
}

/* The same question again, of whoever it was or of somebody else. */
static bool put_repeated(const struct run *run, uint32_t number, struct writer *w,
                         struct draw *draw, uint32_t *procedure, uint32_t *who)
{
    const struct call_made *call = pick_earlier(run, number, draw);
    bool same = draw_permille(draw, 800);
    if (call == NULL || !is_read(call->read.procedure))
        return false;
    memcpy(writer_room(w, call->args.len), call->args.data, call->args.len);
    *procedure = call->read.procedure;
    *who = same ? call->who : *who;
    return true;
}

uint32_t choice_make(struct run *run, uint32_t number, struct writer *w, uint32_t *who)
{
    struct draw draw = run_draw(run, DECIDE_CALL, number, 0);
    const struct mixed *mixed = draw_procedure(run, &draw);
    uint32_t procedure = mixed->procedure;
    if (draw_permille(&draw, run->plan->repeats) &&
        put_repeated(run, number, w, &draw, &procedure, who))
        return procedure;
    if (draw_permille(&draw, run->plan->probes) && put_recent(run, w, &draw, &procedure))
        return procedure;
    mixed->put(run, w, &draw);
    return procedure;
}

bool choice_probe(struct run *run, uint32_t number, struct writer *w, uint32_t *procedure)
{
    struct ledger *ledger = &run->ledger;
    uint32_t handles = ledger->handles;
    if (number < 2 * handles) {
        put_handle(run, number / 2, w);
        *procedure = number % 2 ? NFS3_ACCESS : NFS3_GETATTR;
        if (number % 2)
            writer_u32(w, NFS3_ACCESS_ALL);
        return true;
    }
    uint32_t name = number - 2 * handles;
    if (name >= ledger->names)
        return false;
    struct draw draw = run_draw(run, DECIDE_CALL, number, 1);
    uint32_t dir = pick_handle_of(run, ledger->name[name].dir, &draw);
    /* A directory that nobody can ask about any more: the same name in the one of the first handle instead. */
    put_handle(run, dir != LEDGER_NO_HANDLE ? dir : 0, w);
    put_text(ledger->text[ledger->name[name].name], w);
    *procedure = NFS3_LOOKUP;
    return true;
}
