#include "tools/relay_link.h"

#include <stdlib.h>
#include <string.h>
#include <sys/timerfd.h>
#include <unistd.h>

/* One way through a link: from the stream that is read to the one that is written. */
struct way {
    struct link *link;
    uv_tcp_t *from;
    uv_tcp_t *to;
    size_t pending; /* octets read from one and not yet written to the other */
    bool paused;
    bool ended; /* `from` has said that nothing more comes, and `to` has been told */
    struct call_scanner scanner;
    uv_shutdown_t shutdown;
};

struct link {
    LIST_ENTRY(link) entry;
    struct relay_links *links;
    uv_tcp_t client;
    uv_tcp_t server;
    struct way up;   /* client to server */
    struct way down; /* server to client */
    uv_connect_t connect;
    bool closing;
    unsigned users; /* streams not yet closed, and chunks; the last one to go frees the link */
};

/* What one read brought; without octets: the end of the stream. */
struct chunk {
    STAILQ_ENTRY(chunk) entry;
    struct way *way;
    uint64_t due;
    uv_write_t write;
    size_t len;
    char data[];
};

static void link_unuse(struct link *link)
{
    if (--link->users == 0)
        free(link);
}

static void on_closed(uv_handle_t *handle)
{
    link_unuse(handle->data);
}

static void link_end(struct link *link, bool reset)
{
    if (link->closing)
        return;
    link->closing = true;
    LIST_REMOVE(link, entry);
    uv_tcp_t *streams[] = {&link->client, &link->server};
    for (size_t i = 0; i < 2; i++) {
        /* A stream that is being shut down can't be reset. */
        if (!reset || uv_tcp_close_reset(streams[i], on_closed) != 0)
            uv_close((uv_handle_t *)streams[i], on_closed);
    }
}

static void link_reset(struct link *link)
{
    link_end(link, true);
}

static void chunk_free(struct chunk *chunk)
{
    struct link *link = chunk->way->link;
    free(chunk);
    link_unuse(link);
}

static void on_read(uv_stream_t *stream, ssize_t n, const uv_buf_t *buf);

static void give_buffer(uv_handle_t *handle, size_t suggested, uv_buf_t *buf)
{
    (void)suggested;
    struct link *link = handle->data;
    *buf = uv_buf_init(link->links->buffer, sizeof link->links->buffer);
}

static void on_written(uv_write_t *req, int status)
{
    struct chunk *chunk = req->data;
    struct way *way = chunk->way;
    struct link *link = way->link;
    way->pending -= chunk->len;
    if (status != 0) {
        link_reset(link);
    } else if (way->paused && !link->closing && way->pending < LINK_PENDING_MAX / 2) {
        way->paused = false;
        uv_read_start((uv_stream_t *)way->from, give_buffer, on_read);
    }
    chunk_free(chunk);
}

static void on_shutdown(uv_shutdown_t *req, int status)
{
    struct way *way = req->data;
    struct link *link = way->link;
    way->ended = true;
    if (status != 0)
        link_reset(link);
    else if (link->up.ended && link->down.ended)
        link_end(link, false);
}

static void chunk_deliver(struct chunk *chunk)
{
    struct way *way = chunk->way;
    struct link *link = way->link;
    int err = 0;
    if (!link->closing && chunk->len > 0) {
        uv_buf_t buf = uv_buf_init(chunk->data, (unsigned)chunk->len);
        chunk->write.data = chunk;
        err = uv_write(&chunk->write, (uv_stream_t *)way->to, &buf, 1, on_written);
        if (err == 0)
            return;
    } else if (!link->closing) {
        way->shutdown.data = way;
        err = uv_shutdown(&way->shutdown, (uv_stream_t *)way->to, on_shutdown);
    }
    if (err != 0)
        link_reset(link);
    chunk_free(chunk);
}

static void timer_set(const struct relay_links *links, uint64_t due)
{
    const uint64_t second = 1000000000;
    struct itimerspec at = {
        .it_value = {.tv_sec = (time_t)(due / second), .tv_nsec = (long)(due % second)}};
    timerfd_settime(links->timer_fd, TFD_TIMER_ABSTIME, &at, NULL);
}

static void queue_pump(struct relay_links *links)
{
    struct chunk *chunk;
    while (!links->held && (chunk = STAILQ_FIRST(&links->queue)) != NULL) {
        if (chunk->due > uv_hrtime()) {
            timer_set(links, chunk->due);
            return;
        }
        STAILQ_REMOVE_HEAD(&links->queue, entry);
        chunk_deliver(chunk);
    }
}

static void on_timer(uv_poll_t *poll, int status, int events)
{
    (void)status;
    (void)events;
    struct relay_links *links = poll->data;
    uint64_t expirations;
    if (read(links->timer_fd, &expirations, sizeof expirations) > 0)
        queue_pump(links);
}

static void queue_put(struct way *way, const char *data, size_t len)
{
    struct link *link = way->link;
    struct relay_links *links = link->links;
    struct chunk *chunk = malloc(sizeof *chunk + len);
    if (chunk == NULL) {
        link_reset(link);
        return;
    }
    uint64_t due = uv_hrtime() + links->delay;
    if (due < links->last_due)
        due = links->last_due; /* the delay was made shorter */
    links->last_due = due;
    *chunk = (struct chunk){.way = way, .due = due, .len = len};
    memcpy(chunk->data, data, len);
    link->users++;
    way->pending += len;
    bool first = STAILQ_EMPTY(&links->queue);
    STAILQ_INSERT_TAIL(&links->queue, chunk, entry);
    if (first)
        queue_pump(links);
}

static void on_read(uv_stream_t *stream, ssize_t n, const uv_buf_t *buf)
{
    struct link *link = stream->data;
    struct way *way = stream == (uv_stream_t *)&link->client ? &link->up : &link->down;
    if (n == UV_EOF) {
        queue_put(way, buf->base, 0);
    } else if (n < 0) {
        link_reset(link);
    } else if (n > 0) {
        if (way == &link->up)
            call_scanner_feed(&way->scanner, (const uint8_t *)buf->base, (size_t)n,
                              &link->links->counts);
        queue_put(way, buf->base, (size_t)n);
        if (!link->closing && way->pending > LINK_PENDING_MAX) {
            way->paused = true;
            uv_read_stop(stream);
        }
    }
}

static void on_connected(uv_connect_t *req, int status)
{
    struct link *link = req->data;
    if (link->closing)
        return;
    if (status != 0) {
        link_reset(link);
        return;
    }
    uv_tcp_nodelay(&link->client, 1);
    uv_tcp_nodelay(&link->server, 1);
    uv_read_start((uv_stream_t *)&link->client, give_buffer, on_read);
    uv_read_start((uv_stream_t *)&link->server, give_buffer, on_read);
}

void relay_links_accept(struct relay_links *links, uv_stream_t *listener,
                        const struct sockaddr *target)
{
    struct link *link = calloc(1, sizeof *link);
    if (link == NULL)
        return; /* it stays open and unread, and libuv takes no further one */
    link->links = links;
    link->up = (struct way){.link = link, .from = &link->client, .to = &link->server};
    link->down = (struct way){.link = link, .from = &link->server, .to = &link->client};
    uv_tcp_init(links->loop, &link->client);
    uv_tcp_init(links->loop, &link->server);
    link->client.data = link;
    link->server.data = link;
    link->connect.data = link;
    link->users = 2;
    LIST_INSERT_HEAD(&links->links, link, entry);
    if (uv_accept(listener, (uv_stream_t *)&link->client) != 0 ||
        uv_tcp_connect(&link->connect, &link->server, target, on_connected) != 0)
        link_reset(link);
}

void relay_links_delay(struct relay_links *links, uint64_t delay_ns)
{
    links->delay = delay_ns;
}

void relay_links_hold(struct relay_links *links, bool held)
{
    links->held = held;
    queue_pump(links);
}

void relay_links_drop(struct relay_links *links)
{
    while (!LIST_EMPTY(&links->links))
        link_reset(LIST_FIRST(&links->links));
}

int relay_links_init(struct relay_links *links, uv_loop_t *loop, uint64_t delay_ns)
{
    memset(links, 0, sizeof *links);
    links->loop = loop;
    links->delay = delay_ns;
    STAILQ_INIT(&links->queue);
    LIST_INIT(&links->links);
    /* libuv's own timers are rounded to milliseconds: too coarse for halves of small delays. */
    links->timer_fd = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
    if (links->timer_fd < 0)
        return -errno;
    links->timer.data = links;
    int err = uv_poll_init(loop, &links->timer, links->timer_fd);
    if (err == 0)
        err = uv_poll_start(&links->timer, UV_READABLE, on_timer);
    if (err != 0)
        close(links->timer_fd);
    return err;
}
