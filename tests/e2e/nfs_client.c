#include "e2e/nfs_client.h"

#include "e2e/nfs_call.h"

#include <arpa/inet.h>
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <nfsc/libnfs-raw-mount.h>

#define CONNECT_S   10.0
#define RETRY_MS    50
#define CLIENTS_MAX 64u

double nfs_client_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void copy_text(char *to, size_t size, const char *from)
{
    snprintf(to, size, "%s", from != NULL ? from : "no reason given");
}

/* ---- one step after the other: connecting and mounting ---- */

struct step {
    bool done;
    int status;
    char error[128];
    struct nfs_handle *handle; /* MNT: where it goes */
};

static void on_connected(struct rpc_context *rpc, int status, void *data, void *private_data)
{
    (void)rpc;
    struct step *step = private_data;
    step->done = true;
    step->status = status;
    if (status == RPC_STATUS_ERROR)
        copy_text(step->error, sizeof step->error, data);
}

static void on_mounted(struct rpc_context *rpc, int status, void *data, void *private_data)
{
    struct step *step = private_data;
    on_connected(rpc, status, data, private_data);
    if (status != RPC_STATUS_SUCCESS)
        return;
    const mountres3 *res = data;
    const fhandle3 *handle = &res->mountres3_u.mountinfo.fhandle;
    if (res->fhs_status != MNT3_OK || handle->fhandle3_len > NFS_CLIENT_HANDLE_MAX) {
        step->status = RPC_STATUS_ERROR;
        copy_text(step->error, sizeof step->error, mountstat3_to_str(res->fhs_status));
        return;
    }
    step->handle->len = handle->fhandle3_len;
    memcpy(step->handle->octets, handle->fhandle3_val, handle->fhandle3_len);
}

static int step_wait(struct rpc_context *rpc, struct step *step, int queued)
{
    double end = nfs_client_now() + CONNECT_S;
    if (queued != 0) {
        copy_text(step->error, sizeof step->error, rpc_get_error(rpc));
        return -EIO;
    }
    while (!step->done) {
        struct pollfd p = {.fd = rpc_get_fd(rpc), .events = (short)rpc_which_events(rpc)};
        int n = poll(&p, 1, RETRY_MS);
        if (n > 0 && rpc_service(rpc, p.revents) != 0 && !step->done) {
            copy_text(step->error, sizeof step->error, rpc_get_error(rpc));
            return -EIO;
        }
        if (nfs_client_now() > end) {
            copy_text(step->error, sizeof step->error, "timed out");
            return -ETIMEDOUT;
        }
    }
    return step->status == RPC_STATUS_SUCCESS ? 0 : -EIO;
}

static int mount_export(struct nfs_client *c)
{
    const struct nfs_client_target *t = &c->target;
    struct step connecting = {.done = false}, mounting = {.handle = &c->root};
    struct rpc_context *rpc = rpc_init_context();
    if (rpc == NULL)
        return -ENOMEM;
    int err = step_wait(rpc, &connecting,
                        rpc_connect_port_async(rpc, t->host, t->mount_port, MOUNT_PROGRAM, MOUNT_V3,
                                               on_connected, &connecting));
    if (err == 0)
        err =
            step_wait(rpc, &mounting,
                      rpc_mount3_mnt_async(rpc, on_mounted, (char *)(uintptr_t)t->path, &mounting));
    if (err != 0)
        fprintf(stderr, "mount %s:%d %s: %s %s\n", t->host, t->mount_port, t->path,
                connecting.error, mounting.error);
    rpc_destroy_context(rpc);
    return err;
}

/* ---- sending ---- */

static void set_identity(struct nfs_client *c, const struct nfs_client_who *who)
{
    uint32_t groups[NFS_CLIENT_GROUPS_MAX];
    memcpy(groups, who->groups, sizeof groups);
    struct AUTH *auth =
        who->none ? authnone_create()
                  : authunix_create("client", who->uid, who->gid, who->group_count, groups);
    if (auth == NULL)
        abort();
    /* The stamp is the time; without it a call that is sent again is the same, octet for octet. */
    if (!who->none)
        memset(auth->ah_cred.oa_base, 0, sizeof(uint32_t));
    rpc_set_auth(c->rpc, auth);
}

static void call_end(struct nfs_call *call, int error)
{
    struct nfs_call **at = &call->client->calls;
    while (*at != call)
        at = &(*at)->next;
    *at = call->next;
    call->error = error;
    call->done = true;
}

static void on_reply(struct rpc_context *rpc, int status, void *data, void *private_data)
{
    (void)rpc;
    struct nfs_call *call = private_data;
    if (call->client->handing_over)
        return;
    if (status == RPC_STATUS_SUCCESS) {
        call_end(call, nfs_call_take_reply(call, data));
        return;
    }
    /* An RPC error, or the connection was lost: nfs_client_poll knows in a moment. */
    call->error = -EPROTO;
    copy_text(call->reply.why, sizeof call->reply.why, status == RPC_STATUS_ERROR ? data : NULL);
}

static void transmit(struct nfs_client *c, struct nfs_call *call)
{
    call->sent++;
    call->error = 0;
    set_identity(c, &call->who);
    rpc_set_next_xid(c->rpc, call->xid);
    if (nfs_call_queue(c->rpc, call, on_reply) != 0) {
        fprintf(stderr, "can't queue a call: %s\n", rpc_get_error(c->rpc));
        abort();
    }
}

void nfs_client_send(struct nfs_client *c, struct nfs_call *call)
{
    call->client = c;
    call->who = c->who;
    call->xid = c->next_xid++;
    call->sent = 0;
    call->done = false;
    call->error = 0;
    memset(&call->reply, 0, sizeof call->reply);
    call->next = NULL;
    struct nfs_call **at = &c->calls;
    while (*at != NULL)
        at = &(*at)->next;
    *at = call;
    if (c->connected)
        transmit(c, call);
}

/* ---- the connection ---- */

static void disconnect(struct nfs_client *c)
{
    c->handing_over = true;
    if (c->rpc != NULL)
        rpc_destroy_context(c->rpc);
    c->rpc = NULL;
    c->handing_over = false;
    c->connected = false;
}

static int connect_once(struct nfs_client *c, char *error, size_t size)
{
    struct step step = {.done = false};
    c->rpc = rpc_init_context();
    if (c->rpc == NULL)
        return -ENOMEM;
    int err =
        step_wait(c->rpc, &step,
                  rpc_connect_async(c->rpc, c->target.host, c->target.port, on_connected, &step));
    if (err != 0) {
        copy_text(error, size, step.error);
        disconnect(c);
        return err;
    }
    c->connected = true;
    return 0;
}

static void lost(struct nfs_client *c, const char *why)
{
    if (c->lost_at == 0) {
        c->lost_at = nfs_client_now();
        c->losses++;
    }
    disconnect(c);
    if (nfs_client_now() - c->lost_at < c->target.patience)
        return;
    while (c->calls != NULL) {
        copy_text(c->calls->reply.why, sizeof c->calls->reply.why, why);
        call_end(c->calls, -EIO);
    }
}

/* Sends everything again that has no reply. */
static void connect_again(struct nfs_client *c)
{
    char error[128] = "";
    if (connect_once(c, error, sizeof error) != 0) {
        lost(c, error);
        return;
    }
    c->lost_at = 0;
    for (struct nfs_call *call = c->calls; call != NULL; call = call->next)
        transmit(c, call);
}

static void serve(struct nfs_client *c, short events)
{
    struct nfs_call *next;
    if (rpc_service(c->rpc, events) != 0) {
        char error[128];
        copy_text(error, sizeof error, rpc_get_error(c->rpc));
        lost(c, error);
        return;
    }
    for (struct nfs_call *call = c->calls; call != NULL; call = next) {
        next = call->next;
        if (call->error != 0)
            call_end(call, call->error);
    }
}

void nfs_client_poll(struct nfs_client *const *clients, unsigned count, int ms)
{
    struct pollfd fds[CLIENTS_MAX];
    if (count > CLIENTS_MAX)
        abort();
    for (unsigned i = 0; i < count; i++) {
        struct nfs_client *c = clients[i];
        if (!c->connected && c->calls != NULL)
            connect_again(c);
        fds[i] = (struct pollfd){.fd = -1};
        if (c->connected)
            fds[i] = (struct pollfd){.fd = rpc_get_fd(c->rpc),
                                     .events = (short)rpc_which_events(c->rpc)};
        else if (ms > RETRY_MS)
            ms = RETRY_MS;
    }
    if (poll(fds, count, ms) <= 0)
        return;
    for (unsigned i = 0; i < count; i++) {
        if (fds[i].fd >= 0 && fds[i].revents != 0)
            serve(clients[i], fds[i].revents);
    }
}

int nfs_client_wait(struct nfs_client *c, struct nfs_call *call)
{
    double end = nfs_client_now() + NFS_CLIENT_WAIT_S;
    while (!call->done) {
        nfs_client_poll(&c, 1, 1000);
        if (!call->done && nfs_client_now() > end) {
            copy_text(call->reply.why, sizeof call->reply.why, "no reply");
            call_end(call, -ETIMEDOUT);
            disconnect(c); /* libnfs still knows the call */
        }
    }
    return call->error;
}

/* ---- start and stop ---- */

void nfs_client_be(struct nfs_client *c, const struct nfs_client_who *who)
{
    c->who = *who;
}

void nfs_client_be_user(struct nfs_client *c, uint32_t uid, uint32_t gid)
{
    c->who = (struct nfs_client_who){.uid = uid, .gid = gid};
}

void nfs_client_set_xid(struct nfs_client *c, uint32_t xid)
{
    c->next_xid = xid;
}

/* As a kernel does, so that two clients rarely have the same ones at the same time. */
static uint32_t first_xid(const struct nfs_client *c)
{
    struct timespec t;
    clock_gettime(CLOCK_REALTIME, &t);
    return (uint32_t)t.tv_nsec * 2654435761u ^ (uint32_t)getpid() << 16 ^
           (uint32_t)((uintptr_t)c >> 4);
}

int nfs_client_start(struct nfs_client *c, const struct nfs_client_target *target)
{
    char error[128] = "";
    *c = (struct nfs_client){.target = *target};
    c->next_xid = first_xid(c);
    int err = mount_export(c);
    if (err != 0)
        return err;
    err = connect_once(c, error, sizeof error);
    if (err != 0)
        fprintf(stderr, "connecting to %s:%d: %s\n", target->host, target->port, error);
    return err;
}

void nfs_client_stop(struct nfs_client *c)
{
    disconnect(c);
    c->calls = NULL;
}
