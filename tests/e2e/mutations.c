/* Usage: see session.h. */
#include "e2e/mutations.h"

#include "e2e/nfs_reply.h"
#include "e2e/session.h"

#include <stdio.h>

#define OWNER 1001u

sattr3 set_mode(uint32_t mode)
{
    return (sattr3){.mode = {.set_it = 1, .set_mode3_u.mode = mode}};
}

sattr3 set_size(uint64_t size)
{
    return (sattr3){.size = {.set_it = 1, .set_size3_u.size = size}};
}

static sattr3 owned(uint32_t mode)
{
    sattr3 attributes = set_mode(mode);
    attributes.uid = (set_uid3){.set_it = 1, .set_uid3_u.uid = OWNER};
    attributes.gid = (set_gid3){.set_it = 1, .set_gid3_u.gid = OWNER};
    return attributes;
}

struct nfs_handle stage_file(struct stage *s, const struct nfs_handle *dir, const char *name)
{
    sattr3 attributes = owned(0640);
    check_ok(nfs_call_create(&s->a, dir, name, GUARDED, &attributes, NULL, &s->r), &s->r, name);
    struct nfs_handle handle = s->r.handle;
    check_ok(nfs_call_write(&s->a, &handle, 0, 5, "hello", FILE_SYNC, &s->r), &s->r, name);
    return handle;
}

struct nfs_handle stage_dir(struct stage *s, const struct nfs_handle *dir, const char *name)
{
    sattr3 attributes = owned(0755);
    check_ok(nfs_call_mkdir(&s->a, dir, name, &attributes, &s->r), &s->r, name);
    return s->r.handle;
}

struct nfs_handle stage_link(struct stage *s, const struct nfs_handle *file,
                             const struct nfs_handle *dir, const char *name)
{
    check_ok(nfs_call_link(&s->a, file, dir, name, &s->r), &s->r, name);
    return *file;
}

void stage_warm(struct stage *s)
{
    watch_warm(&s->watch);
}

void stage_changed(struct stage *s, int err, nfsstat3 status, const char *what)
{
    if (!check(err == 0, "%s: no reply: %d %s", what, err, s->r.why))
        return;
    check(s->r.status == status, "%s: %s, not %s", what, nfsstat3_to_str(s->r.status),
          nfsstat3_to_str(status));
    char when[160];
    watch_compare(&s->watch, what);
    snprintf(when, sizeof when, "%s, asked again", what);
    watch_compare(&s->watch, when);
}

static void run_cases(struct stage *s, const struct nfs_handle *top,
                      const struct mutation_case *cases)
{
    for (const struct mutation_case *m = cases; m->name != NULL; m++) {
        check_begin("%s", m->name);
        watch_nothing(&s->watch);
        nfs_client_be_user(&s->a, 0, 0);
        s->dir = stage_dir(s, top, m->name);
        m->run(s);
        check_end();
    }
}

int main(int argc, char **argv)
{
    struct session session;
    struct stage s = {.watch.viewer_count = 2};
    session_parse(&session, argc, argv);
    session_connect(&s.a, &session.tested);
    session_connect(&s.b, &session.tested);
    session_connect(&s.c, &session.tested);
    session_connect(&s.direct, &session.direct);
    s.watch.viewers[0] = &s.b;
    s.watch.viewers[1] = &s.c;
    s.watch.direct = &s.direct;
    s.watch.stat = session.stat;
    s.watch.service = session.service;
    s.watch.lingers = session.lingers;

    check_begin("a folder for the cases");
    struct nfs_handle top = session_folder(&session, &s.a, "mutations");
    run_cases(&s, &top, mutations_object);
    run_cases(&s, &top, mutations_name);
    run_cases(&s, &top, mutations_rename);
    run_cases(&s, &top, mutations_field);

    nfs_client_stop(&s.a);
    nfs_client_stop(&s.b);
    nfs_client_stop(&s.c);
    nfs_client_stop(&s.direct);
    return check_status();
}
