#include "tools/sweep_client.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>

#include <nfsc/libnfs.h>
#include <nfsc/libnfs-raw.h>
#include <nfsc/libnfs-raw-mount.h>
#include <nfsc/libnfs-raw-nfs.h>

#define PAGE_OCTETS    32768u
#define LOOKUP_EVERY   8u /* names of which the first sweep looks one up */
#define WAIT_MS        1000
#define WAIT_TURNS_MAX 60
/* What Linux 6.1 asks of a directory: READ LOOKUP MODIFY EXTEND DELETE. */
#define ACCESS_ASKED 0x1fu

enum task_kind {
    TASK_GETATTR,
    TASK_ACCESS,
    TASK_LOOKUP,
    TASK_PAGE,
    TASK_NONE,
};

struct sweep_task {
    enum task_kind kind;
    uint32_t object;
    uint64_t cookie;
    cookieverf3 verifier;
};

struct sweep_call {
    struct sweep_client *client;
    struct sweep_task task;
    struct sweep_call *next_idle;
};

static void fail(struct sweep_client *c, const char *what, const char *why)
{
    if (!c->failed)
        fprintf(stderr, "sweep: %s: %s\n", what, why);
    c->failed = true;
}

static void walk_add(struct sweep_client *c, enum task_kind kind, uint32_t object, uint64_t cookie,
                     const char *verifier)
{
    if (c->walk_count == c->walk_capacity) {
        c->walk_capacity = c->walk_capacity == 0 ? 1024 : c->walk_capacity * 2;
        c->walk = reallocarray(c->walk, c->walk_capacity, sizeof *c->walk);
        if (c->walk == NULL)
            abort();
    }
    struct sweep_task *task = &c->walk[c->walk_count++];
    *task = (struct sweep_task){.kind = kind, .object = object, .cookie = cookie};
    if (verifier != NULL)
        memcpy(task->verifier, verifier, sizeof task->verifier);
}

static void walk_add_directory(struct sweep_client *c, uint32_t object)
{
    c->objects.all[object].directory = true;
    walk_add(c, TASK_ACCESS, object, 0, NULL);
    walk_add(c, TASK_PAGE, object, 0, NULL);
}

/* Three questions belong to each object: its attributes, if a directory its verdict, and unless the
 * root its name. */
static struct sweep_task known_next(struct sweep_client *c)
{
    static const enum task_kind kinds[] = {TASK_GETATTR, TASK_ACCESS, TASK_LOOKUP};
    while (c->next < (uint64_t)c->objects.count * 3) {
        struct sweep_task task = {.kind = kinds[c->next % 3], .object = (uint32_t)(c->next / 3)};
        const struct object *object = &c->objects.all[task.object];
        c->next++;
        if ((task.kind == TASK_ACCESS && !object->directory) ||
            (task.kind == TASK_LOOKUP && object->parent == task.object))
            continue;
        return task;
    }
    return (struct sweep_task){.kind = TASK_NONE};
}

static struct sweep_task task_next(struct sweep_client *c)
{
    if (!c->first)
        return known_next(c);
    if (c->walk_head < c->walk_count)
        return c->walk[c->walk_head++];
    return (struct sweep_task){.kind = TASK_NONE};
}

static nfs_fh3 handle_of(struct sweep_client *c, uint32_t object)
{
    struct object *o = &c->objects.all[object];
    return (nfs_fh3){{.data_len = o->handle_len, .data_val = (char *)o->handle}};
}

static void saw_attributes(struct sweep_client *c, uint32_t object, const fattr3 *attributes)
{
    uint8_t fattr[OBJECT_FATTR_LEN];
    fattr3 copy = *attributes;
    ZDR zdr;
    zdrmem_create(&zdr, (caddr_t)fattr, sizeof fattr, ZDR_ENCODE);
    if (!zdr_fattr3(&zdr, &copy))
        abort();
    zdr_destroy(&zdr);
    objects_saw_fattr(&c->objects, object, fattr);
}

static void saw_post_op(struct sweep_client *c, uint32_t object, const post_op_attr *attributes)
{
    if (attributes->attributes_follow)
        saw_attributes(c, object, &attributes->post_op_attr_u.attributes);
}

/* Takes the call back. False when it was no success. */
static bool replied(struct sweep_call *call, int status, const void *data, const char *what)
{
    struct sweep_client *c = call->client;
    call->next_idle = c->idle;
    c->idle = call;
    c->in_flight--;
    c->replies++;
    if (status != RPC_STATUS_SUCCESS) {
        fail(c, what,
             status == RPC_STATUS_ERROR && data != NULL ? data : "no reply, or an RPC error");
        return false;
    }
    /* Every NFS result begins with its status. */
    nfsstat3 result = *(const nfsstat3 *)data;
    if (result != NFS3_OK)
        fail(c, what, nfsstat3_to_str(result));
    return result == NFS3_OK;
}

static void on_getattr(struct rpc_context *rpc, int status, void *data, void *private_data)
{
    (void)rpc;
    struct sweep_call *call = private_data;
    const GETATTR3res *res = data;
    if (replied(call, status, data, "GETATTR"))
        saw_attributes(call->client, call->task.object, &res->GETATTR3res_u.resok.obj_attributes);
}

static void on_access(struct rpc_context *rpc, int status, void *data, void *private_data)
{
    (void)rpc;
    struct sweep_call *call = private_data;
    const ACCESS3res *res = data;
    if (!replied(call, status, data, "ACCESS"))
        return;
    saw_post_op(call->client, call->task.object, &res->ACCESS3res_u.resok.obj_attributes);
    objects_saw_access(&call->client->objects, call->task.object, res->ACCESS3res_u.resok.access);
}

static void on_lookup(struct rpc_context *rpc, int status, void *data, void *private_data)
{
    (void)rpc;
    struct sweep_call *call = private_data;
    struct sweep_client *c = call->client;
    uint32_t index = call->task.object;
    const LOOKUP3res *res = data;
    if (!replied(call, status, data, "LOOKUP"))
        return;
    const LOOKUP3resok *ok = &res->LOOKUP3res_u.resok;
    bool found = c->objects.all[index].handle_len == 0;
    objects_saw_handle(&c->objects, index, ok->object.data.data_val, ok->object.data.data_len);
    saw_post_op(c, index, &ok->obj_attributes);
    saw_post_op(c, c->objects.all[index].parent, &ok->dir_attributes);
    if (found && ok->obj_attributes.attributes_follow &&
        ok->obj_attributes.post_op_attr_u.attributes.type == NF3DIR)
        walk_add_directory(c, index);
}

static void saw_entry(struct sweep_client *c, uint32_t directory, const entryplus3 *entry)
{
    if (strcmp(entry->name, ".") == 0 || strcmp(entry->name, "..") == 0)
        return;
    uint32_t index = objects_add(&c->objects, directory, entry->name);
    const nfs_fh3 *handle = &entry->name_handle.post_op_fh3_u.handle;
    saw_post_op(c, index, &entry->name_attributes);
    bool whole = entry->name_handle.handle_follows && entry->name_attributes.attributes_follow;
    if (whole) {
        objects_saw_handle(&c->objects, index, handle->data.data_val, handle->data.data_len);
        if (entry->name_attributes.post_op_attr_u.attributes.type == NF3DIR)
            walk_add_directory(c, index);
    }
    if (!whole || c->names_seen++ % LOOKUP_EVERY == 0)
        walk_add(c, TASK_LOOKUP, index, 0, NULL);
}

static void on_page(struct rpc_context *rpc, int status, void *data, void *private_data)
{
    (void)rpc;
    struct sweep_call *call = private_data;
    struct sweep_client *c = call->client;
    const READDIRPLUS3res *res = data;
    if (!replied(call, status, data, "READDIRPLUS"))
        return;
    const READDIRPLUS3resok *ok = &res->READDIRPLUS3res_u.resok;
    uint32_t directory = call->task.object;
    uint64_t cookie = call->task.cookie;
    saw_post_op(c, directory, &ok->dir_attributes);
    entryplus3 entry;
    for (const void *at = ok->reply.entries; at != NULL; at = entry.nextentry) {
        memcpy(&entry, at, sizeof entry); /* libnfs does not align it */
        cookie = entry.cookie;
        saw_entry(c, directory, &entry);
    }
    if (!ok->reply.eof && cookie == call->task.cookie)
        fail(c, "READDIRPLUS", "a page without entries that is not the last one");
    else if (!ok->reply.eof)
        walk_add(c, TASK_PAGE, directory, cookie, ok->cookieverf);
}

static int call_send(struct sweep_client *c, struct sweep_call *call)
{
    const struct sweep_task *task = &call->task;
    uint32_t parent = c->objects.all[task->object].parent;
    GETATTR3args getattr;
    ACCESS3args access;
    LOOKUP3args lookup;
    READDIRPLUS3args page;
    switch (task->kind) {
    case TASK_GETATTR:
        getattr.object = handle_of(c, task->object);
        call_counts_add(&c->counts, NFS_PROGRAM, NFS_V3, NFS3_GETATTR);
        return rpc_nfs3_getattr_async(c->rpc, on_getattr, &getattr, call);
    case TASK_ACCESS:
        access = (ACCESS3args){.object = handle_of(c, task->object), .access = ACCESS_ASKED};
        call_counts_add(&c->counts, NFS_PROGRAM, NFS_V3, NFS3_ACCESS);
        return rpc_nfs3_access_async(c->rpc, on_access, &access, call);
    case TASK_LOOKUP:
        lookup.what =
            (diropargs3){.dir = handle_of(c, parent), .name = c->objects.all[task->object].name};
        call_counts_add(&c->counts, NFS_PROGRAM, NFS_V3, NFS3_LOOKUP);
        return rpc_nfs3_lookup_async(c->rpc, on_lookup, &lookup, call);
    default:
        page = (READDIRPLUS3args){.dir = handle_of(c, task->object),
                                  .cookie = task->cookie,
                                  .dircount = PAGE_OCTETS,
                                  .maxcount = PAGE_OCTETS};
        memcpy(page.cookieverf, task->verifier, sizeof page.cookieverf);
        call_counts_add(&c->counts, NFS_PROGRAM, NFS_V3, NFS3_READDIRPLUS);
        return rpc_nfs3_readdirplus_async(c->rpc, on_page, &page, call);
    }
}

static void pump(struct sweep_client *c)
{
    while (!c->failed && c->idle != NULL) {
        struct sweep_task task = task_next(c);
        if (task.kind == TASK_NONE)
            return;
        struct sweep_call *call = c->idle;
        c->idle = call->next_idle;
        call->task = task;
        c->in_flight++;
        if (call_send(c, call) != 0)
            fail(c, "sending a call", rpc_get_error(c->rpc));
    }
}

/* For one call at a time, while mounting. */
struct waited {
    struct sweep_client *client;
    const char *what;
    bool done;
};

static void on_waited(struct rpc_context *rpc, int status, void *data, void *private_data)
{
    (void)rpc;
    struct waited *w = private_data;
    w->done = true;
    if (status != RPC_STATUS_SUCCESS)
        fail(w->client, w->what, status == RPC_STATUS_ERROR && data != NULL ? data : "no reply");
}

static void on_mounted(struct rpc_context *rpc, int status, void *data, void *private_data)
{
    struct waited *w = private_data;
    struct objects *objects = &w->client->objects;
    const mountres3 *res = data;
    on_waited(rpc, status, data, private_data);
    if (status != RPC_STATUS_SUCCESS)
        return;
    if (res->fhs_status != MNT3_OK) {
        fail(w->client, w->what, mountstat3_to_str(res->fhs_status));
        return;
    }
    const fhandle3 *handle = &res->mountres3_u.mountinfo.fhandle;
    uint32_t root = objects_add(objects, 0, "");
    objects_saw_handle(objects, root, handle->fhandle3_val, handle->fhandle3_len);
}

static int wait_for(struct rpc_context *rpc, struct waited *w, int queued)
{
    if (queued != 0)
        fail(w->client, w->what, rpc_get_error(rpc));
    for (int turn = 0; !w->done && !w->client->failed; turn++) {
        struct pollfd p = {.fd = rpc_get_fd(rpc), .events = (short)rpc_which_events(rpc)};
        int n = poll(&p, 1, WAIT_MS);
        if (turn == WAIT_TURNS_MAX)
            fail(w->client, w->what, "no reply");
        else if (n > 0 && rpc_service(rpc, p.revents) != 0)
            fail(w->client, w->what, rpc_get_error(rpc));
    }
    return w->client->failed ? -EIO : 0;
}

static int connect_to(struct sweep_client *c, struct rpc_context *rpc, int port, int program,
                      const char *what)
{
    struct waited w = {.client = c, .what = what};
    const uint32_t null_procedure = 0;
    /* libnfs sends a NULL call once it is connected. */
    call_counts_add(&c->counts, (uint32_t)program, 3, null_procedure);
    return wait_for(rpc, &w,
                    rpc_connect_port_async(rpc, c->target->host, port, program, 3, on_waited, &w));
}

static int mount_root(struct sweep_client *c)
{
    struct waited w = {.client = c, .what = "MNT"};
    struct rpc_context *rpc = rpc_init_context();
    if (rpc == NULL)
        return -ENOMEM;
    int err = connect_to(c, rpc, c->target->mount_port, MOUNT_PROGRAM, "connecting to MOUNT");
    if (err == 0) {
        call_counts_add(&c->counts, MOUNT_PROGRAM, MOUNT_V3, MOUNT3_MNT);
        err = wait_for(rpc, &w, rpc_mount3_mnt_async(rpc, on_mounted, c->target->path, &w));
    }
    rpc_destroy_context(rpc);
    return err;
}

/* As the Linux client does after MNT. */
static int ask_limits(struct sweep_client *c)
{
    struct waited w = {.client = c, .what = "FSINFO"};
    FSINFO3args fsinfo = {.fsroot = handle_of(c, 0)};
    call_counts_add(&c->counts, NFS_PROGRAM, NFS_V3, NFS3_FSINFO);
    int err = wait_for(c->rpc, &w, rpc_nfs3_fsinfo_async(c->rpc, on_waited, &fsinfo, &w));
    if (err != 0)
        return err;
    w = (struct waited){.client = c, .what = "PATHCONF"};
    PATHCONF3args pathconf = {.object = handle_of(c, 0)};
    call_counts_add(&c->counts, NFS_PROGRAM, NFS_V3, NFS3_PATHCONF);
    return wait_for(c->rpc, &w, rpc_nfs3_pathconf_async(c->rpc, on_waited, &pathconf, &w));
}

int sweep_client_start(struct sweep_client *c, const struct sweep_target *target)
{
    *c = (struct sweep_client){.target = target, .first = true};
    c->calls = calloc(target->window, sizeof *c->calls);
    c->rpc = rpc_init_context();
    if (c->calls == NULL || c->rpc == NULL)
        return -ENOMEM;
    for (unsigned i = 0; i < target->window; i++) {
        c->calls[i] = (struct sweep_call){.client = c, .next_idle = c->idle};
        c->idle = &c->calls[i];
    }
    int err = mount_root(c);
    if (err == 0)
        err = connect_to(c, c->rpc, target->port, NFS_PROGRAM, "connecting to NFS");
    if (err == 0)
        err = ask_limits(c);
    return err;
}

void sweep_client_begin(struct sweep_client *c)
{
    c->first = c->objects.count == 1;
    c->next = 0;
    if (c->first) {
        walk_add(c, TASK_GETATTR, 0, 0, NULL);
        walk_add_directory(c, 0);
    }
    pump(c);
}

bool sweep_client_busy(const struct sweep_client *c)
{
    return c->in_flight > 0 && !c->failed;
}

int sweep_client_fd(const struct sweep_client *c)
{
    return rpc_get_fd(c->rpc);
}

short sweep_client_events(const struct sweep_client *c)
{
    return (short)rpc_which_events(c->rpc);
}

void sweep_client_service(struct sweep_client *c, short events)
{
    if (rpc_service(c->rpc, events) != 0)
        fail(c, "connection", rpc_get_error(c->rpc));
    pump(c);
}

void sweep_client_stop(struct sweep_client *c)
{
    c->failed = true; /* the calls that are cancelled now are no news */
    if (c->rpc != NULL)
        rpc_destroy_context(c->rpc);
    objects_free(&c->objects);
    free(c->walk);
    free(c->calls);
}
