/*
 * worker: brings services, connections and ports to life on its loop, and to their end.
 */
#include "proxy/worker.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "proxy/call.h"

#define POLL_INTERVAL 20u /* ms */

static struct worker *of_engine(struct engine *engine)
{
    return container_of(engine, struct worker, engine);
}

static void touch_clock(struct worker *worker)
{
    worker->engine.now = uv_hrtime();
}

/* ---- mail ---- */

static void deliver_job(struct mailbox *mailbox, struct list *mail)
{
    struct worker *worker = container_of(mailbox, struct worker, jobs);
    struct worker_job *job = container_of(mail, struct worker_job, mail);
    touch_clock(worker);
    job->run(worker, job);
}

static void deliver_granted(struct mailbox *mailbox, struct list *mail)
{
    touch_clock(container_of(mailbox, struct worker, granted));
    call_granted(call_of_mail(mail));
}

static void wake(struct engine *engine, struct call *call)
{
    mailbox_post(&of_engine(engine)->granted, call_mail(call));
}

void worker_post(struct worker *worker, struct worker_job *job)
{
    list_init(&job->mail);
    mailbox_post(&worker->jobs, &job->mail);
}

/* ---- services ---- */

static void service_maybe_free(struct worker_service *ws)
{
    if (!ws->removed || ws->ports > 0 || ws->connected > 0 || ws->worker->engine.calls > 0)
        return;
    list_remove(&ws->node);
    snapshot_drop(ws->snapshot);
    free(ws);
}

static void on_connection_closed(struct connection_owner *owner)
{
    struct worker_service *ws = container_of(owner, struct worker_service, owner);
    ws->connected--;
    atomic_fetch_sub(&ws->worker->load, 1);
    service_maybe_free(ws);
}

static void on_port_closed(struct port *port)
{
    struct worker_service *ws = port->owner;
    ws->ports--;
    service_maybe_free(ws);
}

static struct port *open_port(struct worker_service *ws, unsigned program)
{
    struct port *port = port_open(&(struct port_options){
        .service = &ws->service,
        .loop = &ws->worker->streams,
        .log = ws->worker->log,
        .program = &programs[program],
        .closed = on_port_closed,
        .owner = ws,
    });
    if (port != NULL)
        ws->ports++;
    else
        log_line(ws->worker->log, SETTINGS_LOG_ERROR, "%s: no memory for connections to the server",
                 ws->name);
    return port;
}

/* The port that the settings ask for: the one that is open, or another one in its place. */
static void renew_port(struct worker_service *ws, struct port **port, struct upstream **upstream,
                       unsigned program)
{
    if (*port != NULL && !port_differs(*port, ws->service.settings))
        return;
    struct port *old = *port;
    *port = open_port(ws, program);
    *upstream = *port != NULL ? &(*port)->upstream : NULL;
    if (old != NULL)
        port_retire(old);
}

static void service_configure(struct worker_service *ws, struct snapshot *snapshot, unsigned index)
{
    struct snapshot *old = ws->snapshot;
    ws->snapshot = snapshot_take(snapshot);
    service_apply(&ws->service, &snapshot->settings->services[index]);
    if (ws->service.cache != snapshot->servers[index]) {
        ws->service.cache = snapshot->servers[index];
        ws->service.write_verf_known = false;
    }
    renew_port(ws, &ws->nfs, &ws->service.nfs, PROGRAM_NFS);
    renew_port(ws, &ws->mount, &ws->service.mount, PROGRAM_MOUNT);
    snapshot_drop(old);
}

static struct worker_service *service_find(struct worker *worker, const char *name)
{
    for (struct list *node = worker->services.next; node != &worker->services; node = node->next) {
        struct worker_service *ws = container_of(node, struct worker_service, node);
        if (!ws->removed && strcmp(ws->name, name) == 0)
            return ws;
    }
    return NULL;
}

static struct worker_service *service_add(struct worker *worker, const char *name)
{
    struct worker_service *ws = calloc(1, sizeof(*ws));
    if (ws == NULL) {
        log_line(worker->log, SETTINGS_LOG_ERROR, "%s: no memory for the service", name);
        return NULL;
    }
    ws->worker = worker;
    snprintf(ws->name, sizeof(ws->name), "%s", name);
    ws->service.engine = &worker->engine;
    ws->owner.log = worker->log;
    ws->owner.bad_records = &worker->bad_records;
    ws->owner.closed = on_connection_closed;
    list_init(&ws->connections);
    list_append(&worker->services, &ws->node);
    return ws;
}

static void drain_connections(struct worker_service *ws)
{
    struct list *next;
    for (struct list *node = ws->connections.next; node != &ws->connections; node = next) {
        next = node->next;
        connection_drain(container_of(node, struct connection, node));
    }
}

/* Its connections are answered what they asked; its ports close when that is done. */
static void service_remove(struct worker_service *ws)
{
    ws->removed = true;
    drain_connections(ws);
    if (ws->nfs != NULL)
        port_retire(ws->nfs);
    if (ws->mount != NULL)
        port_retire(ws->mount);
    service_maybe_free(ws);
}

static bool configured(const struct snapshot *snapshot, const char *name)
{
    for (unsigned i = 0; i < snapshot->settings->service_count; i++) {
        if (strcmp(snapshot->settings->services[i].name, name) == 0)
            return true;
    }
    return false;
}

void worker_apply(struct worker *worker, struct snapshot *snapshot)
{
    struct list *next;
    for (struct list *node = worker->services.next; node != &worker->services; node = next) {
        next = node->next;
        struct worker_service *ws = container_of(node, struct worker_service, node);
        if (!ws->removed && !configured(snapshot, ws->name))
            service_remove(ws);
    }
    for (unsigned i = 0; i < snapshot->settings->service_count; i++) {
        const char *name = snapshot->settings->services[i].name;
        struct worker_service *ws = service_find(worker, name);
        if (ws == NULL)
            ws = service_add(worker, name);
        if (ws != NULL)
            service_configure(ws, snapshot, i);
    }
}

void worker_adopt(struct worker *worker, const char *service, int fd)
{
    struct worker_service *ws = service_find(worker, service);
    if (ws == NULL || worker->draining) {
        atomic_fetch_sub(&worker->load, 1);
        close(fd);
        return;
    }
    ws->connected++;
    int err = connection_open(&worker->streams, &ws->service, &ws->owner, &ws->connections, fd);
    if (err != 0)
        log_line(worker->log, SETTINGS_LOG_WARNING, "%s: can't take a connection: %s", ws->name,
                 strerror(-err));
}

/* ---- the end ---- */

static void close_ports(struct worker_service *ws)
{
    ws->service.nfs = NULL;
    ws->service.mount = NULL;
    if (ws->nfs != NULL)
        port_close(ws->nfs);
    if (ws->mount != NULL)
        port_close(ws->mount);
    ws->nfs = NULL;
    ws->mount = NULL;
}

static void close_everything(struct worker *worker)
{
    struct list *next;
    for (struct list *node = worker->services.next; node != &worker->services; node = next) {
        next = node->next;
        struct worker_service *ws = container_of(node, struct worker_service, node);
        struct list *next_connection;
        for (struct list *c = ws->connections.next; c != &ws->connections; c = next_connection) {
            next_connection = c->next;
            connection_close(container_of(c, struct connection, node));
        }
        ws->removed = true;
        close_ports(ws);
        service_maybe_free(ws);
    }
}

static bool is_connected(const struct worker *worker)
{
    for (struct list *node = worker->services.next; node != &worker->services; node = node->next) {
        if (container_of(node, struct worker_service, node)->connected > 0)
            return true;
    }
    return false;
}

/* Everything that was accepted has ended: the loop may end too. */
static void worker_finish(struct worker *worker)
{
    if (worker->mailboxes_closed)
        return;
    worker->mailboxes_closed = true;
    mailbox_close(&worker->jobs);
    mailbox_close(&worker->granted);
    stream_loop_close(&worker->streams);
    uv_close((uv_handle_t *)&worker->deadline, NULL);
    uv_close((uv_handle_t *)&worker->poll, NULL);
}

static void on_poll(uv_timer_t *timer)
{
    struct worker *worker = container_of(timer, struct worker, poll);
    touch_clock(worker);
    if (is_connected(worker) && uv_is_active((uv_handle_t *)&worker->deadline))
        return;
    close_everything(worker);
    if (list_empty(&worker->services))
        worker_finish(worker);
}

static void on_deadline(uv_timer_t *timer)
{
    struct worker *worker = container_of(timer, struct worker, deadline);
    log_line(worker->log, SETTINGS_LOG_WARNING,
             "some calls were not answered in time; their clients will send them again");
}

void worker_drain(struct worker *worker, uint64_t patience)
{
    worker->draining = true;
    for (struct list *node = worker->services.next; node != &worker->services; node = node->next)
        drain_connections(container_of(node, struct worker_service, node));
    uv_timer_start(&worker->deadline, on_deadline, patience, 0);
    uv_timer_start(&worker->poll, on_poll, 0, POLL_INTERVAL);
}

/* ---- the thread ---- */

static void run(void *arg)
{
    struct worker *worker = arg;
    uv_run(&worker->uv, UV_RUN_DEFAULT);
    int err = uv_loop_close(&worker->uv);
    assert(err == 0);
}

int worker_start(struct worker *worker, const struct worker_options *options)
{
    memset(worker, 0, sizeof(*worker));
    worker->number = options->number;
    worker->log = options->log;
    worker->engine.cache = options->cache;
    worker->engine.order = options->order;
    worker->engine.wake = wake;
    list_init(&worker->services);
    int err = uv_loop_init(&worker->uv);
    if (err != 0)
        return err;
    err = stream_loop_init(&worker->streams, &worker->uv);
    if (err != 0)
        return err;
    err = mailbox_open(&worker->jobs, &worker->uv, deliver_job);
    if (err != 0)
        return err;
    err = mailbox_open(&worker->granted, &worker->uv, deliver_granted);
    if (err != 0)
        return err;
    uv_timer_init(&worker->uv, &worker->deadline);
    uv_timer_init(&worker->uv, &worker->poll);
    return uv_thread_create(&worker->thread, run, worker);
}

void worker_join(struct worker *worker)
{
    uv_thread_join(&worker->thread);
}
