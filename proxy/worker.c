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
#include "proxy/violation.h"

#define POLL_INTERVAL 20u /* ms */

static void touch_clock(struct worker *worker)
{
    uint64_t now = uv_hrtime();
    for (struct list *node = worker->services.next; node != &worker->services; node = node->next)
        container_of(node, struct worker_service, node)->engine.now = now;
}

/* ---- mail ---- */

static void deliver_job(struct mailbox *mailbox, struct list *mail)
{
    struct worker *worker = container_of(mailbox, struct worker, jobs);
    struct worker_job *job = container_of(mail, struct worker_job, mail);
    touch_clock(worker);
    job->run(worker, job);
}

static void free_unused(struct worker *worker);

static void deliver_granted(struct mailbox *mailbox, struct list *mail)
{
    struct worker *worker = container_of(mailbox, struct worker, granted);
    touch_clock(worker);
    call_granted(call_of_mail(mail));
    free_unused(worker); /* it may have been the last call of a service that has no port any more */
}

static void wake(struct engine *engine, struct call *call)
{
    struct worker_service *ws = container_of(engine, struct worker_service, engine);
    mailbox_post(&ws->worker->granted, call_mail(call));
}

static void violated(struct engine *engine, const struct violation *violation)
{
    struct worker *worker = container_of(engine, struct worker_service, engine)->worker;
    char text[VIOLATION_TEXT_MAX];
    violation_text(violation, text, sizeof(text));
    log_limited(worker->log, &worker->violations, engine->now, SETTINGS_LOG_ERROR, "%s", text);
}

void worker_post(struct worker *worker, struct worker_job *job)
{
    list_init(&job->mail);
    mailbox_post(&worker->jobs, &job->mail);
}

/* ---- services ---- */

static void service_maybe_free(struct worker_service *ws)
{
    if (!ws->removed || !list_empty(&ws->ports) || ws->connected > 0 || ws->engine.calls > 0)
        return;
    list_remove(&ws->node);
    snapshot_drop(ws->snapshot);
    free(ws);
}

static void free_unused(struct worker *worker)
{
    struct list *next;
    for (struct list *node = worker->services.next; node != &worker->services; node = next) {
        next = node->next;
        service_maybe_free(container_of(node, struct worker_service, node));
    }
}

/* The ports of a service that is not configured any more have to stay for as long as a client waits:
 * a mutation that waits for its turn has not been sent yet. */
static void retire_unused_ports(struct worker_service *ws)
{
    if (!ws->removed || ws->connected > 0)
        return;
    for (struct list *node = ws->ports.next; node != &ws->ports; node = node->next)
        port_retire(container_of(node, struct port, node));
}

static void on_connection_closed(struct connection_owner *owner)
{
    struct worker_service *ws = container_of(owner, struct worker_service, owner);
    ws->connected--;
    atomic_fetch_sub(&ws->worker->load, 1);
    retire_unused_ports(ws);
    service_maybe_free(ws);
}

/* Calls whose clients have gone may still wait for their turn: they find no port then. */
static void forget_port(struct worker_service *ws, const struct port *port)
{
    if (ws->nfs == port) {
        ws->nfs = NULL;
        ws->service.nfs = NULL;
    }
    if (ws->mount == port) {
        ws->mount = NULL;
        ws->service.mount = NULL;
    }
}

static void on_port_closed(struct port *port)
{
    struct worker_service *ws = port->owner;
    list_remove(&port->node);
    forget_port(ws, port);
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
        list_append(&ws->ports, &port->node);
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
    ws->engine.cache = worker->cache;
    ws->engine.order = worker->order;
    ws->engine.wake = wake;
    ws->engine.violated = violated;
    ws->engine.now = uv_hrtime();
    ws->service.engine = &ws->engine;
    list_init(&ws->ports);
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
    retire_unused_ports(ws);
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
    struct list *next;
    for (struct list *node = ws->ports.next; node != &ws->ports; node = next) {
        struct port *port = container_of(node, struct port, node);
        next = node->next;
        forget_port(ws, port); /* whatever goes on now is not sent any more */
        port_close(port);
    }
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
    worker->cache = options->cache;
    worker->order = options->order;
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
