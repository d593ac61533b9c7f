/*
 * connection: from records to calls, from replies to the queue.
 */
#include "proxy/connection.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <unistd.h>

#include "proxy/call.h"

static struct connection *of_client(struct client *client)
{
    return container_of(client, struct connection, client);
}

static struct connection *of_stream(struct stream *stream)
{
    return container_of(stream, struct connection, stream);
}

/* ---- back-pressure ---- */

static uint64_t octets(const struct connection *connection)
{
    return connection->client.cost + stream_queued(&connection->stream);
}

static bool above_limit(const struct connection *connection)
{
    return connection->client.inflight >= CONNECTION_INFLIGHT_MAX ||
           octets(connection) >= CONNECTION_OCTETS_MAX;
}

/* Half the limits, so that reading does not stop and start at every reply. */
static bool below_half(const struct connection *connection)
{
    return connection->client.inflight <= CONNECTION_INFLIGHT_MAX / 2 &&
           octets(connection) <= CONNECTION_OCTETS_MAX / 2;
}

static bool idle(const struct connection *connection)
{
    return connection->client.inflight == 0 && stream_queued(&connection->stream) == 0;
}

static void relieve(struct connection *connection)
{
    if (connection->draining) {
        if (idle(connection))
            stream_close(&connection->stream);
    } else if (below_half(connection)) {
        stream_resume(&connection->stream);
    }
}

/* ---- the client that call.c sees ---- */

static uint8_t *client_reserve(struct client *client, uint32_t size)
{
    return stream_reserve(&of_client(client)->stream, size);
}

static void client_commit(struct client *client, uint32_t len)
{
    stream_commit(&of_client(client)->stream, len);
}

static void client_fail(struct client *client)
{
    connection_close(of_client(client));
}

static void client_pass(struct client *client, uint8_t *data, uint32_t len)
{
    if (stream_pass(&of_client(client)->stream, data, len) != 0)
        client_fail(client);
}

static void client_relieved(struct client *client)
{
    relieve(of_client(client));
}

static const struct client_ops client_operations = {
    .reserve = client_reserve,
    .commit = client_commit,
    .pass = client_pass,
    .fail = client_fail,
    .relieved = client_relieved,
};

/* ---- the stream ---- */

static void log_bad_record(struct connection *connection, int error)
{
    log_limited(connection->owner->log, connection->owner->bad_records,
                connection->service->engine->now, SETTINGS_LOG_WARNING,
                "%s: closed the connection of %s: %s", connection->service->settings->name,
                connection->peer,
                error == -EMSGSIZE ? "a record is too long"
                : error == -EPROTO ? "what it sent is no RPC call"
                                   : strerror(-error));
}

static void on_record(struct stream *stream, struct record *record)
{
    struct connection *connection = of_stream(stream);
    connection->service->engine->now = uv_hrtime();
    int err = call_receive(connection->service, &connection->client, record);
    if (err != 0) {
        log_bad_record(connection, err);
        connection_close(connection);
        return;
    }
    if (above_limit(connection))
        stream_pause(stream);
}

/* A client that says it has no more calls still gets its replies; one that is cut off does not. */
static void on_ended(struct stream *stream, int error)
{
    struct connection *connection = of_stream(stream);
    if (error == -EMSGSIZE || error == -EPROTO) {
        counter_add(&connection->service->counters.bad_records, 1);
        log_bad_record(connection, error);
    }
    if (error != 0)
        connection_close(connection);
    else
        connection_drain(connection);
}

static void on_drained(struct stream *stream)
{
    relieve(of_stream(stream));
}

static void on_closed(struct stream *stream)
{
    struct connection *connection = of_stream(stream);
    struct connection_owner *owner = connection->owner;
    list_remove(&connection->node);
    counter_add(&connection->service->counters.connections, (uint64_t)-1);
    free(connection);
    owner->closed(owner);
}

static const struct stream_ops stream_operations = {
    .record = on_record,
    .ended = on_ended,
    .drained = on_drained,
    .closed = on_closed,
};

/* ---- life ---- */

static void peer_text(struct connection *connection)
{
    struct settings_address address;
    int len = sizeof(address.addr);
    snprintf(connection->peer, sizeof(connection->peer), "?");
    if (uv_tcp_getpeername(&connection->stream.tcp, (struct sockaddr *)&address.addr, &len) != 0)
        return;
    address.len = (socklen_t)len;
    settings_address_text(&address, connection->peer, sizeof(connection->peer));
}

int connection_open(struct stream_loop *loop, struct service *service,
                    struct connection_owner *owner, struct list *list, int fd)
{
    struct connection *connection = calloc(1, sizeof(*connection));
    if (connection == NULL) {
        close(fd);
        owner->closed(owner);
        return -ENOMEM;
    }
    client_init(&connection->client, &client_operations);
    connection->service = service;
    connection->owner = owner;
    list_append(list, &connection->node);
    counter_add(&service->counters.connections, 1);
    int err = stream_init(&connection->stream, loop, &stream_operations, CONNECTION_RECORD_MAX);
    if (err != 0) {
        list_remove(&connection->node);
        counter_add(&service->counters.connections, (uint64_t)-1);
        free(connection);
        close(fd);
        owner->closed(owner);
        return err;
    }
    err = uv_tcp_open(&connection->stream.tcp, fd);
    if (err != 0) {
        close(fd);
        stream_close(&connection->stream);
        return err;
    }
    uv_tcp_nodelay(&connection->stream.tcp, 1);
    uv_tcp_keepalive(&connection->stream.tcp, 1, 60);
    peer_text(connection);
    err = stream_start(&connection->stream);
    if (err != 0)
        stream_close(&connection->stream);
    return err;
}

void connection_drain(struct connection *connection)
{
    connection->draining = true;
    stream_pause(&connection->stream);
    relieve(connection);
}

void connection_close(struct connection *connection)
{
    call_client_gone(&connection->client);
    stream_close(&connection->stream);
}
