/*
 * port: a link's way is LOCATING, CONNECTING, UP, then CLOSING and WAITING after any failure, and
 * round again.
 */
#include "proxy/port.h"

#include <assert.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <unistd.h>

#include "proxy/address.h"
#include "proxy/portmap.h"

/* What a server may send as one record: a READ of the largest size anybody announces. */
#define RECORD_MAX      ((64u << 20) + 4096u)
#define CONNECT_TIMEOUT 10000u /* ms */
#define RETRY_MAX       5000u  /* ms */
#define TICK            1000u  /* ms */
#define DEAD_AFTER      30000u /* ms without an acknowledgement for what was sent */
#define KEEPALIVE_IDLE  15     /* s */
#define PROVEN_AFTER    10     /* s: a connection that held for so long was of use, also unused */
#define COPY_MAX        4096u  /* calls up to this size are copied into the output buffer */

static void link_connect(struct link *link);
static void link_closed(struct link *link);

static void touch_clock(struct port *port)
{
    port->service->engine->now = uv_hrtime();
}

/* ---- what upstream asks for ---- */

static struct port *of_upstream(struct upstream *upstream)
{
    return container_of(upstream, struct port, upstream);
}

struct call_chunk {
    struct chunk chunk;
    struct port *port;
    struct upstream_call *call;
};

static void call_chunk_done(struct chunk *chunk)
{
    struct call_chunk *out = container_of(chunk, struct call_chunk, chunk);
    upstream_sent(&out->port->upstream, out->call);
    free(out);
}

static void link_reset(struct link *link);

static void send_small(struct link *link, struct upstream_call *call)
{
    uint32_t len = call->head_len + call->tail_len;
    uint8_t *room = stream_reserve(&link->stream, len);
    if (room != NULL) {
        memcpy(room, call->head, call->head_len);
        if (call->tail_len > 0)
            memcpy(room + call->head_len, call->tail, call->tail_len);
        stream_commit(&link->stream, len);
    }
    upstream_sent(&link->port->upstream, call);
    if (room == NULL)
        link_reset(link); /* without memory: all that is outstanding is sent again later */
}

static void on_send(struct upstream *upstream, unsigned number, struct upstream_call *call)
{
    struct port *port = of_upstream(upstream);
    struct link *link = &port->link[number];
    if (link->state != LINK_UP) { /* it broke while others were being sent: sent again later */
        upstream_sent(upstream, call);
        return;
    }
    if (call->head_len + call->tail_len <= COPY_MAX) {
        send_small(link, call);
        return;
    }
    struct call_chunk *out = calloc(1, sizeof(*out));
    if (out == NULL) {
        upstream_sent(upstream, call);
        link_reset(link);
        return;
    }
    out->port = port;
    out->call = call;
    out->chunk.part[1] = call->head;
    out->chunk.len[1] = call->head_len;
    out->chunk.part[2] = call->tail;
    out->chunk.len[2] = call->tail_len;
    out->chunk.done = call_chunk_done;
    stream_send(&link->stream, &out->chunk);
}

static void on_reset(struct upstream *upstream, unsigned number, enum upstream_reset why)
{
    struct port *port = of_upstream(upstream);
    log_line(port->log, SETTINGS_LOG_WARNING, "%s: server %s %s; connecting again",
             port->service->settings->name, port->host,
             why == UPSTREAM_GARBAGE ? "sent what is no RPC reply" : "leaves a call unanswered");
    link_reset(&port->link[number]);
}

static void on_doubt(struct upstream *upstream)
{
    struct port *port = of_upstream(upstream);
    const struct service *service = port->service;
    if (port->doubts)
        cache_doubt(port->cache, service->engine->now + service->settings->doubt);
}

static void server_text(const struct port *port, char *text, size_t size)
{
    snprintf(text, size, "%s (%s)", port->host, port->what);
}

static void on_responding(struct upstream *upstream, bool responding)
{
    struct port *port = of_upstream(upstream);
    char server[sizeof(port->host) + 32];
    server_text(port, server, sizeof(server));
    if (responding ? !silence_end(&port->log->silence, server)
                   : !silence_begin(&port->log->silence, server))
        return; /* another worker has said it, or will */
    log_line(port->log, SETTINGS_LOG_WARNING, "%s: server %s %s", port->service->settings->name,
             server, responding ? "OK" : "not responding, still trying");
}

static const struct upstream_ops operations = {
    .send = on_send,
    .reset = on_reset,
    .doubt = on_doubt,
    .responding = on_responding,
};

/* ---- a link's socket ---- */

static struct link *of_stream(struct stream *stream)
{
    return container_of(stream, struct link, stream);
}

static void on_record(struct stream *stream, struct record *record)
{
    struct link *link = of_stream(stream);
    touch_clock(link->port);
    upstream_receive(&link->port->upstream, link->number, record);
    if (link->state == LINK_UP)
        link->failures = 0; /* it was a reply */
}

/* So that the source port is free at once: a connection that this side closes would keep it for a
 * minute. What is lost of the output is sent again. */
static void close_without_delay(struct link *link)
{
    uv_os_fd_t fd;
    struct linger none = {.l_onoff = 1, .l_linger = 0};
    if (uv_fileno((uv_handle_t *)&link->stream.tcp, &fd) == 0)
        setsockopt(fd, SOL_SOCKET, SO_LINGER, &none, sizeof(none));
}

/* The link is down from now on; its calls wait for the next connection. */
static void link_down(struct link *link)
{
    if (link->state != LINK_UP && link->state != LINK_CONNECTING)
        return;
    bool was_up = link->state == LINK_UP;
    link->state = LINK_CLOSING;
    touch_clock(link->port);
    if (was_up) {
        if (link->port->service->engine->now - link->up_since >= PROVEN_AFTER * 1000000000ull)
            link->failures = 0;
        upstream_link_down(&link->port->upstream, link->number);
        close_without_delay(link);
    }
    stream_close(&link->stream);
}

static void link_reset(struct link *link)
{
    link_down(link);
}

static void on_ended(struct stream *stream, int error)
{
    struct link *link = of_stream(stream);
    if (link->state == LINK_UP)
        log_line(link->port->log, SETTINGS_LOG_INFO, "%s: connection to server %s (%s) lost: %s",
                 link->port->service->settings->name, link->port->host, link->port->what,
                 error == 0 ? "closed by the server" : uv_strerror(error));
    link_down(link);
}

static void on_stream_closed(struct stream *stream)
{
    link_closed(of_stream(stream));
}

static const struct stream_ops stream_operations = {
    .record = on_record,
    .ended = on_ended,
    .closed = on_stream_closed,
};

/* ---- source ports ---- */

static int bind_to(int fd, int family, uint16_t port)
{
    struct sockaddr_storage any = {.ss_family = (sa_family_t)family};
    address_set_port(&any, port);
    return bind(fd, (struct sockaddr *)&any, address_len(family)) == 0 ? 0 : -errno;
}

/*
 * The port the link had before, or a reserved one, or any: as the settings say. Also any port is
 * bound rather than left to connect: that might choose one which others use for other destinations,
 * and such a port could not be bound again after a loss.
 */
static int bind_source(struct link *link, int fd, int family)
{
    int yes = 1;
    if (link->source_port != 0) {
        /* Not for the others: then two links could get the same port. */
        setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes));
        if (bind_to(fd, family, link->source_port) == 0)
            return 0;
        link->source_port = 0;
    }
    if (link->port->source_ports != SETTINGS_PORTS_ANY) {
        int err = portmap_bind_reserved(fd, family);
        if (err != -EACCES || link->port->source_ports != SETTINGS_PORTS_AUTO)
            return err;
    }
    bind_to(fd, family, 0); /* where there is none left of its own, connect finds one to share */
    return 0;
}

static void remember_source_port(struct link *link)
{
    struct sockaddr_storage own;
    int len = sizeof(own);
    if (uv_tcp_getsockname(&link->stream.tcp, (struct sockaddr *)&own, &len) != 0)
        return;
    link->source_port = address_port(&own);
}

static void set_socket_options(struct link *link)
{
    uv_os_fd_t fd;
    unsigned dead = DEAD_AFTER;
    uv_tcp_nodelay(&link->stream.tcp, 1);
    uv_tcp_keepalive(&link->stream.tcp, 1, KEEPALIVE_IDLE);
    if (uv_fileno((uv_handle_t *)&link->stream.tcp, &fd) == 0)
        setsockopt(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, &dead, sizeof(dead));
}

/* ---- a link's life ---- */

/* Said once for each new reason, not at each try. */
static void log_failure(struct link *link, int error)
{
    if (error == link->last_error)
        return;
    link->last_error = error;
    log_line(link->port->log, SETTINGS_LOG_WARNING,
             "%s: can't connect to server %s (%s), still trying: %s",
             link->port->service->settings->name, link->port->host, link->port->what,
             error == -ENOENT ? "its rpcbind does not know the program" : uv_strerror(error));
}

/* It could not connect: another address of the server's, and where it was its own port that was
 * refused, another one of these, may do better. */
static void link_failed(struct link *link, int error)
{
    log_failure(link, error);
    link->locate.attempt++;
    if (error == UV_EADDRNOTAVAIL || error == UV_EADDRINUSE)
        link->source_port = 0;
    link_down(link);
}

static void on_timer(uv_timer_t *timer)
{
    struct link *link = container_of(timer, struct link, timer);
    if (link->state == LINK_WAITING)
        link_connect(link);
    else if (link->state == LINK_CONNECTING)
        link_failed(link, UV_ETIMEDOUT);
}

/* At once after the loss of a connection that served, then with a delay that doubles, a random part
 * of it so that not all come together. */
static void link_wait(struct link *link)
{
    uint32_t random = 0;
    uint64_t delay = 0;
    if (link->failures > 0) {
        uint64_t most = 100u << (link->failures < 7 ? link->failures : 7);
        if (most > RETRY_MAX)
            most = RETRY_MAX;
        uv_random(NULL, NULL, &random, sizeof(random), 0, NULL);
        delay = most / 2 + random % (most / 2);
    }
    link->failures++;
    link->state = LINK_WAITING;
    uv_timer_start(&link->timer, on_timer, delay, 0);
}

static void on_handle_closed(struct port *port)
{
    if (--port->handles > 0)
        return;
    port->closed(port);
    upstream_destroy(&port->upstream);
    free(port);
}

static void on_timer_closed(uv_handle_t *handle)
{
    on_handle_closed(container_of((uv_timer_t *)handle, struct link, timer)->port);
}

static void link_gone(struct link *link)
{
    link->state = LINK_GONE;
    uv_close((uv_handle_t *)&link->timer, on_timer_closed);
}

/* The socket is closed, or never was open. */
static void link_closed(struct link *link)
{
    uv_timer_stop(&link->timer);
    if (link->port->closing)
        link_gone(link);
    else
        link_wait(link);
}

static void on_connect(uv_connect_t *connect, int status)
{
    struct link *link = container_of(connect, struct link, connect);
    if (link->state != LINK_CONNECTING)
        return; /* closed meanwhile: the stream's closed callback comes */
    uv_timer_stop(&link->timer);
    if (status == 0)
        status = stream_start(&link->stream);
    if (status != 0) {
        link_failed(link, status);
        return;
    }
    set_socket_options(link);
    remember_source_port(link);
    link->last_error = 0;
    link->state = LINK_UP;
    touch_clock(link->port);
    link->up_since = link->port->service->engine->now;
    log_line(link->port->log, SETTINGS_LOG_INFO, "%s: connected to server %s (%s)",
             link->port->service->settings->name, link->port->host, link->port->what);
    upstream_link_up(&link->port->upstream, link->number);
}

/* Opens, binds and connects; on an error the stream is being closed. */
static int link_open(struct link *link)
{
    const struct sockaddr *address = (const struct sockaddr *)&link->locate.address.addr;
    int fd = socket(address->sa_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return -errno;
    int err = bind_source(link, fd, address->sa_family);
    if (err == 0)
        err = uv_tcp_open(&link->stream.tcp, fd);
    if (err != 0) {
        close(fd);
        return err;
    }
    return uv_tcp_connect(&link->connect, &link->stream.tcp, address, on_connect);
}

static void on_located(struct locate *locate)
{
    struct link *link = container_of(locate, struct link, locate);
    if (link->port->closing) {
        link_gone(link);
        return;
    }
    int err = locate->error;
    if (err == 0)
        err = stream_init(&link->stream, link->port->loop, &stream_operations, RECORD_MAX);
    if (err != 0) {
        log_failure(link, err);
        link_wait(link);
        return;
    }
    link->state = LINK_CONNECTING;
    err = link_open(link);
    if (err != 0) {
        link_failed(link, err);
        return;
    }
    uv_timer_start(&link->timer, on_timer, CONNECT_TIMEOUT, 0);
}

static void link_connect(struct link *link)
{
    struct port *port = link->port;
    link->state = LINK_LOCATING;
    memcpy(link->locate.host, port->host, sizeof(link->locate.host));
    link->locate.port = port->port;
    link->locate.program = port->program;
    link->locate.version = port->version;
    link->locate.done = on_located;
    locate_start(&link->locate, port->loop->uv);
}

/* ---- the port ---- */

static void on_tick(uv_timer_t *timer)
{
    struct port *port = container_of(timer, struct port, tick);
    touch_clock(port);
    upstream_tick(&port->upstream, port->service->engine->now);
    if (port->retiring && port->upstream.outstanding == 0)
        port_close(port);
}

static unsigned port_number(const struct settings_service *settings, const struct program *program)
{
    return program->mount ? settings->mount_port : settings->nfs_port;
}

struct port *port_open(const struct port_options *options)
{
    const struct settings_service *settings = options->service->settings;
    /* MOUNT sees a few calls an hour: one connection is enough. */
    unsigned links = options->program->mount ? 1 : settings->connections;
    struct port *port = calloc(1, sizeof(*port) + links * sizeof(struct link));
    if (port == NULL)
        return NULL;
    list_init(&port->node);
    port->service = options->service;
    port->cache = options->service->cache;
    port->loop = options->loop;
    port->log = options->log;
    port->what = options->program->name;
    port->program = options->program->number;
    port->version = options->program->version;
    port->doubts = !options->program->mount;
    port->closed = options->closed;
    port->owner = options->owner;
    port->port = port_number(settings, options->program);
    port->source_ports = settings->source_ports;
    port->links = links;
    snprintf(port->host, sizeof(port->host), "%s", settings->server);

    uint32_t first_xid = 0;
    uv_random(NULL, NULL, &first_xid, sizeof(first_xid), 0, NULL);
    if (upstream_init(&port->upstream, &operations, links, first_xid, &port->service->counters) !=
        0) {
        free(port);
        return NULL;
    }
    uv_timer_init(port->loop->uv, &port->tick);
    uv_timer_start(&port->tick, on_tick, TICK, TICK);
    port->handles = 1 + links;
    for (unsigned i = 0; i < links; i++) {
        port->link[i].port = port;
        port->link[i].number = i;
        uv_timer_init(port->loop->uv, &port->link[i].timer);
    }
    for (unsigned i = 0; i < links; i++)
        link_connect(&port->link[i]);
    return port;
}

static void on_tick_closed(uv_handle_t *handle)
{
    on_handle_closed(container_of((uv_timer_t *)handle, struct port, tick));
}

void port_close(struct port *port)
{
    if (port->closing)
        return;
    port->closing = true;
    for (unsigned i = 0; i < port->links; i++) {
        struct link *link = &port->link[i];
        if (link->state == LINK_WAITING)
            link_gone(link);
        else if (link->state == LINK_LOCATING)
            locate_cancel(&link->locate); /* then, or soon, it ends by itself; as CLOSING does */
        else
            link_down(link);
    }
    if (port->upstream.not_responding) {
        char server[sizeof(port->host) + 32];
        server_text(port, server, sizeof(server));
        port->upstream.not_responding = false;
        silence_end(&port->log->silence, server);
    }
    upstream_abandon(&port->upstream);
    uv_close((uv_handle_t *)&port->tick, on_tick_closed);
}

void port_retire(struct port *port)
{
    port->retiring = true;
}

bool port_differs(const struct port *port, const struct settings_service *settings)
{
    unsigned links = port->doubts ? settings->connections : 1;
    unsigned number = port->doubts ? settings->nfs_port : settings->mount_port;
    return port->links != links || port->port != number ||
           port->source_ports != settings->source_ports ||
           strcmp(port->host, settings->server) != 0;
}

unsigned port_links_up(const struct port *port)
{
    unsigned up = 0;
    for (unsigned i = 0; i < port->links; i++)
        up += port->link[i].state == LINK_UP;
    return up;
}
