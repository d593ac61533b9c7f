#include "sim/choice.h"

#include <string.h>

#include "sim/crowd.h"
#include "sim/site.h"

#define SIZE_MAX_DRAWN 20000u
#define BACK_MAX       30u  /* calls */
#define DOTS           150u /* of a thousand LOOKUPs */

static const struct {
    uint32_t procedure;
    unsigned weight;
} mix[] = {
    {NFS3_GETATTR, 18},    {NFS3_LOOKUP, 18},  {NFS3_ACCESS, 12}, {NFS3_SETATTR, 7},
    {NFS3_WRITE, 6},       {NFS3_READ, 2},     {NFS3_COMMIT, 2},  {NFS3_CREATE, 7},
    {NFS3_MKDIR, 5},       {NFS3_SYMLINK, 1},  {NFS3_MKNOD, 1},   {NFS3_REMOVE, 5},
    {NFS3_RMDIR, 2},       {NFS3_RENAME, 6},   {NFS3_LINK, 5},    {NFS3_READDIR, 1},
    {NFS3_READDIRPLUS, 4}, {NFS3_READLINK, 1}, {NFS3_FSSTAT, 1},  {NFS3_FSINFO, 1},
    {NFS3_PATHCONF, 1},    {FACTS_GETACL, 1},  {FACTS_SETACL, 2},
};

static bool is_read(uint32_t procedure)
{
    return procedure == NFS3_GETATTR || procedure == NFS3_LOOKUP || procedure == NFS3_ACCESS;
}

static unsigned weight(const struct run *run, unsigned i)
{
    return is_read(mix[i].procedure) ? mix[i].weight * run->plan->reads : mix[i].weight;
}

static uint32_t draw_procedure(const struct run *run, struct draw *draw)
{
    unsigned total = 0, i = 0;
    for (unsigned j = 0; j < sizeof(mix) / sizeof(mix[0]); j++)
        total += weight(run, j);
    for (uint64_t at = draw_below(draw, total); at >= weight(run, i); i++)
        at -= weight(run, i);
    return mix[i].procedure;
}

/* ---- handles and names ---- */

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

/* A handle that is, or was, one of the node; LEDGER_NO_HANDLE where none is known. */
static uint32_t handle_of(const struct run *run, fs_node node, struct draw *draw)
{
    uint32_t found = LEDGER_NO_HANDLE;
    for (uint32_t i = 0; i < run->ledger.handles; i++) {
        if (has_led_to(&run->ledger.handle[i].node, node) &&
            (found == LEDGER_NO_HANDLE || draw_permille(draw, 500)))
            found = i;
    }
    return found;
}

static uint32_t any_handle(const struct run *run, struct draw *draw)
{
    uint32_t handles = run->ledger.handles;
    if (draw_permille(draw, run->plan->heat) && handles > run->plan->hot)
        return (uint32_t)draw_below(draw, run->plan->hot);
    return (uint32_t)draw_below(draw, handles);
}

/* Mostly of that type. */
static uint32_t some_handle(const struct run *run, enum nfs3_ftype type, struct draw *draw)
{
    uint32_t handle = any_handle(run, draw);
    for (unsigned i = 0; i < 8 && !is_type(run, handle, type); i++)
        handle = any_handle(run, draw);
    return handle;
}

static struct bytes handle_octets(const struct run *run, uint32_t handle)
{
    const struct handle *of = &run->ledger.handle[handle];
    return (struct bytes){of->octets, of->len};
}

static void put_handle(const struct run *run, uint32_t handle, struct writer *w)
{
    writer_opaque(w, handle_octets(run, handle));
}

static void put_text(const char *text, struct writer *w)
{
    writer_opaque(w, (struct bytes){(const uint8_t *)text, (uint32_t)strlen(text)});
}

static const char *some_name(const struct run *run, struct draw *draw)
{
    return crowd_name((unsigned)draw_below(draw, run->plan->names));
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

static bool put_recent_name(const struct run *run, struct writer *w, struct draw *draw)
{
    const struct ref *ref = recent(run, draw);
    if (ref == NULL || ref->kind != REF_NAME || run->ledger.text[ref->b][0] == '.')
        return false;
    uint32_t handle = handle_of(run, ref->a, draw);
    if (handle == LEDGER_NO_HANDLE)
        return false;
    put_handle(run, handle, w);
    put_text(run->ledger.text[ref->b], w);
    return true;
}

/* A name in a directory; `full`: mostly one that leads somewhere. */
static void put_dirop(const struct run *run, bool full, struct writer *w, struct draw *draw)
{
    if (draw_permille(draw, 250) && put_recent_name(run, w, draw))
        return;
    uint32_t dir = some_handle(run, NF3DIR, draw);
    const char *name = some_name(run, draw);
    fs_node node = ledger_handle_node(&run->ledger, dir);
    for (unsigned i = 0; i < 4 && node != 0; i++) {
        bool there = fs_behind(nfsd_fs(run->nfsd), node, name) != 0;
        if (there == full || draw_permille(draw, 200))
            break;
        name = some_name(run, draw);
    }
    put_handle(run, dir, w);
    put_text(name, w);
}

static void put_lookup(const struct run *run, struct writer *w, struct draw *draw)
{
    if (!draw_permille(draw, DOTS)) {
        put_dirop(run, draw_permille(draw, 700), w, draw);
        return;
    }
    put_handle(run, some_handle(run, NF3DIR, draw), w);
    put_text("..", w);
}

/* ---- attributes to set ---- */

static void put_choice(struct writer *w, bool set, uint32_t value)
{
    writer_u32(w, set);
    if (set)
        writer_u32(w, value);
}

/*
 * Where the server says PERM of what it has done, everybody may search everywhere: who is rightly refused a look, and then
 * told that nothing was done where something was, can't be helped.
 */
static bool searchable(const struct run *run)
{
    return run->plan->nfsd.fails_after > 0;
}

static void put_sattr(const struct run *run, struct writer *w, struct draw *draw, bool create)
{
    static const uint32_t modes[] = {0777, 0777, 0777, 0777, 0755, 0755, 0644, 0600, 0700, 0000};
    bool mode = create || draw_permille(draw, 600);
    uint32_t value = modes[draw_below(draw, sizeof(modes) / sizeof(modes[0]))];
    put_choice(w, mode, searchable(run) ? value | 0111 : value);
    put_choice(w, draw_permille(draw, 60), draw_permille(draw, 500) ? 1000 : 2000);
    put_choice(w, draw_permille(draw, 60), draw_permille(draw, 500) ? 100 : 200);
    bool size = !mode || draw_permille(draw, 250);
    writer_u32(w, size);
    if (size)
        writer_u64(w, draw_permille(draw, 500) ? 0 : draw_below(draw, SIZE_MAX_DRAWN));
    writer_u32(w, draw_permille(draw, 50)); /* atime: to the server's time */
    writer_u32(w, draw_permille(draw, 50));
}

/* ---- the arguments ---- */

static void put_setattr(struct run *run, struct writer *w, struct draw *draw)
{
    uint32_t handle = any_handle(run, draw);
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
    put_handle(run, some_handle(run, NF3REG, draw), w);
    writer_u64(w, draw_below(draw, SIZE_MAX_DRAWN));
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

static void put_mknod(struct run *run, struct writer *w, struct draw *draw)
{
    put_dirop(run, false, w, draw);
    writer_u32(w, NF3FIFO);
    put_sattr(run, w, draw, true);
}

static void put_made(struct run *run, uint32_t procedure, struct writer *w, struct draw *draw)
{
    put_dirop(run, draw_permille(draw, 200), w, draw);
    put_sattr(run, w, draw, true);
    if (procedure == NFS3_SYMLINK)
        put_text("a/b", w);
}

static void put_setacl(struct run *run, struct writer *w, struct draw *draw)
{
    put_handle(run, any_handle(run, draw), w);
    writer_u32(w, 1); /* an access list, and no default list */
    writer_u32(w, 4);
    writer_u32(w, 4);
    const uint32_t entries[4][3] = {
        {0x01, 0, 6},
        {0x02, 2000, (uint32_t)draw_below(draw, 8) | searchable(run)}, /* the named user */
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

static void put_readdir(struct run *run, uint32_t procedure, struct writer *w, struct draw *draw)
{
    put_handle(run, some_handle(run, NF3DIR, draw), w);
    writer_u64(w, draw_permille(draw, 800) ? 0 : draw_below(draw, 4));
    writer_u64(w, 0); /* cookie verifier */
    writer_u32(w, 1024);
    if (procedure == NFS3_READDIRPLUS)
        writer_u32(w, (uint32_t)draw_between(draw, 600, 4096));
}

static void put_args(struct run *run, uint32_t procedure, struct writer *w, struct draw *draw)
{
    switch (procedure) {
    case NFS3_SETATTR:
        put_setattr(run, w, draw);
        break;
    case NFS3_LOOKUP:
        put_lookup(run, w, draw);
        break;
    case NFS3_REMOVE:
    case NFS3_RMDIR:
        put_dirop(run, true, w, draw);
        break;
    case NFS3_ACCESS:
        put_handle(run, any_handle(run, draw), w);
        writer_u32(w, draw_permille(draw, 500) ? NFS3_ACCESS_ALL
                                               : (uint32_t)draw_between(draw, 1, NFS3_ACCESS_ALL));
        break;
    case NFS3_READ:
        put_handle(run, some_handle(run, NF3REG, draw), w);
        writer_u64(w, draw_below(draw, 100));
        writer_u32(w, (uint32_t)draw_below(draw, 200));
        break;
    case NFS3_WRITE:
        put_write(run, w, draw);
        break;
    case NFS3_COMMIT:
        put_handle(run, some_handle(run, NF3REG, draw), w);
        writer_u64(w, 0);
        writer_u32(w, 0);
        break;
    case NFS3_CREATE:
        put_create(run, w, draw);
        break;
    case NFS3_MKDIR:
    case NFS3_SYMLINK:
        put_made(run, procedure, w, draw);
        break;
    case NFS3_MKNOD:
        put_mknod(run, w, draw);
        break;
    case NFS3_RENAME:
        put_dirop(run, true, w, draw);
        put_dirop(run, draw_permille(draw, 500), w, draw);
        break;
    case NFS3_LINK:
        put_handle(run, some_handle(run, NF3REG, draw), w);
        put_dirop(run, false, w, draw);
        break;
    case NFS3_READDIR:
    case NFS3_READDIRPLUS:
        put_readdir(run, procedure, w, draw);
        break;
    case FACTS_GETACL:
        put_handle(run, any_handle(run, draw), w);
        writer_u32(w, 0x0f);
        break;
    case FACTS_SETACL:
        put_setacl(run, w, draw);
        break;
    default:
        put_handle(run, any_handle(run, draw), w);
        break;
    }
}

/* ---- looking at what has just changed ---- */

static bool put_recent(struct run *run, struct writer *w, struct draw *draw, uint32_t *procedure)
{
    const struct ref *ref = recent(run, draw);
    if (ref == NULL)
        return false;
    fs_node node = ref->kind == REF_HANDLE ? ledger_handle_node(&run->ledger, ref->a) : ref->a;
    uint32_t handle = handle_of(run, node, draw);
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
    uint32_t back = (uint32_t)draw_between(draw, 1, BACK_MAX);
    bool same = draw_permille(draw, 800);
    const struct call_made *call = number > back ? run->call[number - back] : NULL;
    if (call == NULL || call->octets == NULL || call->read.program != 0 ||
        !is_read(call->read.procedure))
        return false;
    memcpy(writer_room(w, call->args.len), call->args.data, call->args.len);
    *procedure = call->read.procedure;
    *who = same ? call->who : *who;
    return true;
}

uint32_t choice_make(struct run *run, uint32_t number, struct writer *w, uint32_t *who)
{
    struct draw draw = run_draw(run, DECIDE_CALL, number, 0);
    uint32_t procedure = draw_procedure(run, &draw);
    if (draw_permille(&draw, run->plan->repeats) &&
        put_repeated(run, number, w, &draw, &procedure, who))
        return procedure;
    if (draw_permille(&draw, run->plan->probes) && put_recent(run, w, &draw, &procedure))
        return procedure;
    put_args(run, procedure, w, &draw);
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
    uint32_t dir = handle_of(run, ledger->name[name].dir, &draw);
    /* A directory that nobody can ask about any more: the same name in the one of the first handle instead. */
    put_handle(run, dir != LEDGER_NO_HANDLE ? dir : 0, w);
    put_text(ledger->text[ledger->name[name].name], w);
    *procedure = NFS3_LOOKUP;
    return true;
}

/* ---- straight on the server ---- */

static fs_node some_node(const struct run *run, enum nfs3_ftype type, struct draw *draw)
{
    fs_node node = ledger_handle_node(&run->ledger, some_handle(run, type, draw));
    return node != 0 ? node : FS_ROOT;
}

static void change_attributes(struct run *run, struct draw *draw)
{
    static const struct fs_who root = {.uid = 0};
    struct fs *fs = nfsd_fs(run->nfsd);
    fs_node node = some_node(run, NF3REG, draw);
    struct fs_set set = {.mode = draw_permille(draw, 500)};
    set.mode_value = draw_permille(draw, 500) && !searchable(run) ? 0600 : 0777;
    set.size = !set.mode;
    set.size_value = draw_below(draw, SIZE_MAX_DRAWN);
    if (draw_permille(draw, 150))
        fs_setacl(fs, &root, node, true, 2000, (uint32_t)draw_below(draw, 8) | searchable(run),
                  site_now(run));
    else if (draw_permille(draw, 400))
        fs_write(fs, &root, node, draw_below(draw, SIZE_MAX_DRAWN), 10, true, site_now(run));
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
    uint32_t back = (uint32_t)draw_between(draw, 1, BACK_MAX);
    const struct call_made *call = number > back ? run->call[number - back] : NULL;
    if (call == NULL || call->octets == NULL || call->read.program != 0 ||
        call->read.procedure != NFS3_LOOKUP)
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
    fs_node dir = some_node(run, NF3DIR, draw), dir2 = some_node(run, NF3DIR, draw), made;
    const char *name = some_name(run, draw), *name2 = some_name(run, draw);
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
        fs_link(fs, &root, some_node(run, NF3REG, draw), dir, name, now);
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
    static const enum flip flips[] = {CREATE_IT, REMOVE_IT, RENAME_IT, REMOVE_IT,
                                      LINK_IT,   REMOVE_IT, MAKE_IT,   RMDIR_IT};
    const unsigned count = sizeof(flips) / sizeof(flips[0]);
    unsigned first = (unsigned)draw_below(draw, count);
    change_name(run, number, draw, flips[(first + time) % count]);
}

void choice_outside(struct run *run, uint32_t number, unsigned time)
{
    struct draw draw = run_draw(run, DECIDE_OUTSIDE, number, 0);
    site_begin_outside(run);
    if (draw_permille(&draw, 500))
        change_attributes(run, &draw);
    else
        change_names(run, number, &draw, time);
    site_end_outside(run);
}
