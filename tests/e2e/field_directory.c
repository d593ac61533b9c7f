/*
 * Cases about directories that are read page by page.
 */
#include "e2e/field_cases.h"
#include "e2e/field_nfs.h"

#include <stdio.h>

/* ---- K29 ---- */

#define ENTRIES      2500u
#define PAGE         20u
#define COOKIE       0xfedc000000000001ull /* of the first entry */
#define VERF         0x8877665544332211ull
#define PAGES_MAX    1000u
#define REMOVE_EVERY 9u  /* pages */
#define CHANGE_AT    60u /* page */

/* A large directory on the server, and what a client has read of it. */
struct listing {
    struct scene *scene;
    uint64_t verf;
    bool removed[ENTRIES];
    unsigned seen[ENTRIES];
};

struct listed {
    char name[16];
    struct file file;
};

static struct listed entry(const struct listing *l, unsigned i)
{
    struct listed e;
    char handle[40];
    snprintf(e.name, sizeof e.name, "entry %04u", i);
    snprintf(handle, sizeof handle, "world %u, entry %04u", l->scene->field->worlds, i);
    e.file = file_make(handle, NF3REG, ((uint64_t)l->scene->field->worlds << 16) + 1000 + i);
    return e;
}

/* What the server says; `*next` is where a client goes on after it. */
static struct body server_page(const struct listing *l, bool plus, struct position from,
                               struct position *next)
{
    const struct attr *dir = &scene_file(l->scene, FILE_D)->attr;
    unsigned i = from.cookie == 0 ? 0 : (unsigned)(from.cookie - COOKIE + 1), count = 0;
    if (from.cookie != 0 && from.verf != l->verf)
        return res_post_op(NFS3ERR_BAD_COOKIE, dir);
    struct body page = page_begin(dir, l->verf);
    for (; i < ENTRIES && count < PAGE; i++) {
        struct listed e = entry(l, i);
        if (l->removed[i])
            continue;
        page_entry(&page, e.file.attr.fileid, e.name, COOKIE + i);
        if (plus)
            page_plus(&page, &e.file);
        count++;
    }
    *next = (struct position){COOKIE + i - 1, l->verf};
    page_end(&page, i == ENTRIES);
    return page;
}

/* What the client makes of the page that the server has just sent. */
static void count_page(struct listing *l, struct position from, struct position next)
{
    unsigned first = from.cookie == 0 ? 0 : (unsigned)(from.cookie - COOKIE + 1);
    for (unsigned i = first; i <= next.cookie - COOKIE; i++)
        l->seen[i] += !l->removed[i];
}

/* As the client reads; nothing of it is the cache's. */
static bool read_page(struct listing *l, unsigned number, struct position *at)
{
    struct position next = {0, 0};
    const struct file *d = scene_file(l->scene, FILE_D);
    bool plus = number % 2;
    struct body page = server_page(l, plus, *at, &next);
    field_fetches(
        &l->scene->c1, plus ? NFS3_READDIRPLUS : NFS3_READDIR,
        plus ? args_readdirplus_from(d, *at, 1024, 4096) : args_readdir_from(d, *at, 1024), page);
    if (next.cookie == 0) { /* BAD_COOKIE: from the beginning */
        memset(l->seen, 0, sizeof l->seen);
        *at = next;
        return true;
    }
    count_page(l, *at, next);
    *at = next;
    return next.cookie != COOKIE + ENTRIES - 1;
}

/* Another client removes an entry; the proxy may have to ask what it is. */
static void remove_entry(struct listing *l, unsigned i)
{
    struct scene *s = l->scene;
    struct file *d = scene_file(s, FILE_D), old = *d;
    struct listed e = entry(l, i);
    struct body args = args_dirop(d, e.name);
    struct fake_call call = {.link = NULL};
    if (l->removed[i])
        return;
    uint32_t xid = field_call(&s->c2, NFS3_REMOVE, args);
    while (field_next(s->field, &call) && field_procedure(&call) == NFS3_LOOKUP)
        field_answer(&call, res_lookup(&e.file, &e.file.attr, &d->attr));
    l->removed[i] = true;
    file_write(d);
    field_answer(&call, res_wcc(NFS3_OK, wcc_full(&old, d)));
    field_told(&s->c2, xid, res_wcc(NFS3_OK, wcc_full(&old, d)));
    field_sees(&s->c1, NFS3_LOOKUP, args, res_post_op(NFS3ERR_NOENT, &d->attr));
    field_sees(&s->c1, NFS3_GETATTR, args_handle(&e.file), res_status(NFS3ERR_STALE));
    raw_free(&call.record);
}

static void check_listing(struct listing *l, unsigned bad_cookies)
{
    struct scene *s = l->scene;
    for (unsigned i = 0; i < ENTRIES; i++) {
        field_check(s->field, l->seen[i] == 1 || (l->removed[i] && l->seen[i] == 0),
                    "entry %u was listed %u times", i, l->seen[i]);
        if (i % 100 != 0)
            continue;
        struct listed e = entry(l, i);
        const struct attr *dir = &scene_file(s, FILE_D)->attr;
        field_sees(&s->c2, NFS3_LOOKUP, args_dirop(scene_file(s, FILE_D), e.name),
                   l->removed[i] ? res_post_op(NFS3ERR_NOENT, dir)
                                 : res_lookup(&e.file, &e.file.attr, dir));
    }
    field_check(s->field, bad_cookies == 1, "BAD_COOKIE %u times", bad_cookies);
}

/* Protects: cookies, verifier, eof and BAD_COOKIE are the server's; a client that reads on while others remove finds all
 * that stays, once. */
static void k29_pages(struct scene *s)
{
    struct listing l = {.scene = s, .verf = VERF};
    struct position at = {0, 0};
    unsigned number = 0, bad_cookies = 0;
    for (bool more = true; more && !s->field->failed && number < PAGES_MAX; number++) {
        if (number == CHANGE_AT)
            l.verf++;
        bool begun = at.cookie != 0;
        more = read_page(&l, number, &at);
        bad_cookies += begun && at.cookie == 0;
        if (number % REMOVE_EVERY != 0)
            continue;
        remove_entry(&l, number * 11 % ENTRIES);
        remove_entry(&l, ENTRIES - 1 - number * 13 % ENTRIES);
    }
    check_listing(&l, bad_cookies);
}

/* ---- K30 ---- */

static void same_both_ways(struct scene *s, unsigned procedure, struct body args, struct body page)
{
    for (unsigned twice = 0; twice < 2; twice++)
        field_fetches(twice ? &s->c2 : &s->c1, procedure, args, page);
}

static struct body odd_page(struct scene *s, bool plus, unsigned entries, bool eof)
{
    const struct file *const files[] = {scene_file(s, FILE_F), scene_file(s, FILE_S)};
    static const char *const names[] = {"f", "s"};
    struct body page = page_begin(&scene_file(s, FILE_D)->attr, VERF);
    for (unsigned i = 0; i < entries; i++) {
        page_entry(&page, files[i]->attr.fileid, names[i], COOKIE + i);
        if (plus)
            page_plus(&page, files[i]);
    }
    page_end(&page, eof);
    return page;
}

/* Protects: what is odd about a page is the server's business; what it does not list may be there all the same. */
static void k30_odd_pages(struct scene *s)
{
    const struct file *d = scene_file(s, FILE_D);
    const struct position start = {0, 0};
    for (unsigned plus = 0; plus < 2; plus++) {
        unsigned procedure = plus ? NFS3_READDIRPLUS : NFS3_READDIR;
        struct body args =
            plus ? args_readdirplus_from(d, start, 1024, 4096) : args_readdir_from(d, start, 1024);
        struct body none =
            plus ? args_readdirplus_from(d, start, 0, 4096) : args_readdir_from(d, start, 0);
        same_both_ways(s, procedure, args, odd_page(s, plus, 2, false));
        same_both_ways(s, procedure, args, odd_page(s, plus, 0, false));
        same_both_ways(s, procedure, args, odd_page(s, plus, 0, true));
        same_both_ways(s, procedure, args, res_post_op(NFS3ERR_TOOSMALL, &d->attr));
        same_both_ways(s, procedure, args, res_post_op(NFS3ERR_TOOSMALL, NULL));
        same_both_ways(s, procedure, none, odd_page(s, plus, 2, true));
        same_both_ways(s, procedure, none, res_post_op(NFS3ERR_TOOSMALL, &d->attr));
    }
    scene_sees(s, &s->c1, ask_lookup(s, NAME_DF));
    scene_sees(s, &s->c1, ask_lookup(s, NAME_DX));
    scene_sees(s, &s->c1, ask_lookup(s, NAME_DN));
}

const struct field_case field_directory[] = {
    {"K29: 2,500 entries, page by page, with REMOVE between, and BAD_COOKIE", IN_BOTH_MODES,
     k29_pages},
    {"K30: pages without entries, without an end, too small", IN_BOTH_MODES, k30_odd_pages},
    {NULL, 0, NULL},
};
