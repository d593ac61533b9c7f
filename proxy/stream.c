/*
 * stream: reading through a record reader, writing through a queue of chunks.
 */
#include "proxy/stream.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define INPUT_SIZE  (64u << 10)
#define BUFFER_SIZE (16u << 10)
#define SPARE_MAX   256u
#define IOV_MAX_USE 96u

static void on_prepare(uv_prepare_t *prepare);

int stream_loop_init(struct stream_loop *loop, uv_loop_t *uv)
{
    memset(loop, 0, sizeof(*loop));
    loop->uv = uv;
    list_init(&loop->dirty);
    loop->input = malloc(INPUT_SIZE);
    if (loop->input == NULL)
        return -ENOMEM;
    uv_prepare_init(uv, &loop->prepare);
    uv_prepare_start(&loop->prepare, on_prepare);
    return 0;
}

void stream_loop_close(struct stream_loop *loop)
{
    assert(list_empty(&loop->dirty));
    uv_close((uv_handle_t *)&loop->prepare, NULL);
    free(loop->input);
    while (loop->spare != NULL) {
        struct chunk *chunk = loop->spare;
        loop->spare = chunk->next;
        free(chunk);
    }
}

static void mark_dirty(struct stream *stream)
{
    if (list_empty(&stream->dirty))
        list_append(&stream->loop->dirty, &stream->dirty);
}

/* ---- chunks ---- */

static uint8_t *buffer_bytes(struct chunk *chunk)
{
    return (uint8_t *)(chunk + 1);
}

static void buffer_free(struct chunk *chunk)
{
    free(chunk);
}

static struct chunk *buffer_create(struct stream_loop *loop, uint32_t size)
{
    struct chunk *chunk = loop->spare;
    if (size <= BUFFER_SIZE && chunk != NULL) {
        loop->spare = chunk->next;
        loop->spare_count--;
    } else {
        uint32_t room = size <= BUFFER_SIZE ? BUFFER_SIZE : size;
        chunk = malloc(sizeof(*chunk) + room);
        if (chunk == NULL)
            return NULL;
        chunk->room = room;
    }
    chunk->next = NULL;
    chunk->part[0] = buffer_bytes(chunk);
    chunk->part[1] = chunk->part[2] = NULL;
    chunk->len[0] = chunk->len[1] = chunk->len[2] = 0;
    chunk->sent = 0;
    chunk->done = buffer_free;
    return chunk;
}

static void chunk_done(struct stream_loop *loop, struct chunk *chunk)
{
    if (chunk->room == BUFFER_SIZE && loop->spare_count < SPARE_MAX) {
        chunk->next = loop->spare;
        loop->spare = chunk;
        loop->spare_count++;
    } else {
        chunk->done(chunk);
    }
}

static uint32_t chunk_len(const struct chunk *chunk)
{
    return chunk->len[0] + chunk->len[1] + chunk->len[2];
}

static void queue_append(struct stream *stream, struct chunk *chunk)
{
    chunk->next = NULL;
    if (stream->last != NULL)
        stream->last->next = chunk;
    else
        stream->first = chunk;
    stream->last = chunk;
}

static struct chunk *queue_pop(struct stream *stream)
{
    struct chunk *chunk = stream->first;
    stream->first = chunk->next;
    if (stream->first == NULL)
        stream->last = NULL;
    return chunk;
}

/* So many octets are out: chunks that are through are done. */
static void queue_consume(struct stream *stream, uint64_t octets)
{
    stream->queued -= octets;
    while (stream->first != NULL) {
        struct chunk *chunk = stream->first;
        uint32_t left = chunk_len(chunk) - chunk->sent;
        if (octets < left) {
            chunk->sent += (uint32_t)octets;
            return;
        }
        octets -= left;
        chunk_done(stream->loop, queue_pop(stream));
    }
    assert(octets == 0);
}

static void queue_drop(struct stream *stream)
{
    while (stream->first != NULL)
        chunk_done(stream->loop, queue_pop(stream));
    stream->queued = 0;
}

/* ---- output ---- */

/* The parts of a chunk that are not out yet. */
static unsigned chunk_iov(const struct chunk *chunk, uv_buf_t *iov)
{
    unsigned count = 0;
    uint32_t skip = chunk->sent;
    for (unsigned i = 0; i < 3; i++) {
        if (skip >= chunk->len[i]) {
            skip -= chunk->len[i];
            continue;
        }
        iov[count++] =
            uv_buf_init((char *)(uintptr_t)(chunk->part[i] + skip), chunk->len[i] - skip);
        skip = 0;
    }
    return count;
}

static unsigned queue_iov(const struct stream *stream, uv_buf_t iov[IOV_MAX_USE], uint64_t *octets)
{
    unsigned count = 0;
    *octets = 0;
    for (const struct chunk *chunk = stream->first; chunk != NULL && count + 3 <= IOV_MAX_USE;
         chunk = chunk->next) {
        count += chunk_iov(chunk, iov + count);
        *octets += chunk_len(chunk) - chunk->sent;
    }
    return count;
}

/* Also after a proper end of the input: whoever waits for the output to drain must hear of it. */
static void output_broken(struct stream *stream, int error)
{
    if (stream->closing)
        return;
    stream->ended = true;
    stream->ops->ended(stream, error);
}

static void flush(struct stream *stream);

static void on_written(uv_write_t *write, int status)
{
    struct stream *stream = container_of(write, struct stream, write);
    uint64_t octets = stream->in_write;
    stream->in_write = 0;
    if (status < 0) {
        output_broken(stream, status);
        return;
    }
    queue_consume(stream, octets);
    flush(stream);
    if (!stream->closing && stream->ops->drained != NULL)
        stream->ops->drained(stream);
}

/* Writes what the socket takes at once; the rest goes to libuv, which comes back when it is out. */
static void flush(struct stream *stream)
{
    uv_buf_t iov[IOV_MAX_USE];
    uint64_t octets;
    while (stream->first != NULL && stream->in_write == 0 && !stream->closing) {
        unsigned count = queue_iov(stream, iov, &octets);
        if (count == 0) {
            queue_consume(stream, 0); /* buffers that were reserved and forgotten */
            continue;
        }
        int n = uv_try_write((uv_stream_t *)&stream->tcp, iov, count);
        if (n < 0 && n != UV_EAGAIN) {
            output_broken(stream, n);
            return;
        }
        if (n > 0)
            queue_consume(stream, (uint64_t)n);
        if (n >= 0 && (uint64_t)n == octets)
            continue;
        count = queue_iov(stream, iov, &octets);
        int err = uv_write(&stream->write, (uv_stream_t *)&stream->tcp, iov, count, on_written);
        if (err != 0) {
            output_broken(stream, err);
            return;
        }
        stream->in_write = octets;
    }
}

uint8_t *stream_reserve(struct stream *stream, uint32_t size)
{
    uint32_t need = RECORD_MARK_LEN + size;
    struct chunk *chunk = stream->last;
    if (chunk == NULL || chunk->room == 0 || chunk->room - chunk->len[0] < need) {
        chunk = buffer_create(stream->loop, need);
        if (chunk == NULL)
            return NULL;
        queue_append(stream, chunk);
    }
    return buffer_bytes(chunk) + chunk->len[0] + RECORD_MARK_LEN;
}

void stream_commit(struct stream *stream, uint32_t len)
{
    struct chunk *chunk = stream->last;
    assert(chunk->room - chunk->len[0] >= RECORD_MARK_LEN + len);
    record_mark(buffer_bytes(chunk) + chunk->len[0], len);
    chunk->len[0] += RECORD_MARK_LEN + len;
    stream->queued += RECORD_MARK_LEN + len;
    mark_dirty(stream);
}

void stream_send(struct stream *stream, struct chunk *chunk)
{
    record_mark(chunk->mark, chunk->len[1] + chunk->len[2]);
    chunk->part[0] = chunk->mark;
    chunk->len[0] = RECORD_MARK_LEN;
    chunk->sent = 0;
    chunk->room = 0;
    queue_append(stream, chunk);
    stream->queued += chunk_len(chunk);
    mark_dirty(stream);
}

/* A malloc'ed record. */
static void passed_done(struct chunk *chunk)
{
    free((void *)(uintptr_t)chunk->part[1]);
    free(chunk);
}

int stream_pass(struct stream *stream, uint8_t *data, uint32_t len)
{
    struct chunk *chunk = calloc(1, sizeof(*chunk));
    if (chunk == NULL) {
        free(data);
        return -ENOMEM;
    }
    chunk->part[1] = data;
    chunk->len[1] = len;
    chunk->done = passed_done;
    stream_send(stream, chunk);
    return 0;
}

/* ---- input ---- */

static void input_ended(struct stream *stream, int error)
{
    if (stream->ended || stream->closing)
        return;
    stream->ended = true;
    if (stream->reading) {
        uv_read_stop((uv_stream_t *)&stream->tcp);
        stream->reading = false;
    }
    stream->ops->ended(stream, error);
}

static bool may_hand_out(const struct stream *stream)
{
    return !stream->paused && !stream->closing && !stream->ended;
}

/* Hands out the records in `data`; returns how many octets were left when the stream was paused. */
static size_t feed(struct stream *stream, uint8_t *data, size_t len)
{
    while (len > 0 && may_hand_out(stream)) {
        struct record record;
        int n = record_next(&stream->reader, &data, &len, &record);
        if (n == 0)
            return 0;
        if (n < 0) {
            input_ended(stream, n);
            return 0;
        }
        stream->ops->record(stream, &record);
    }
    return stream->paused && !stream->closing ? len : 0;
}

static void hold(struct stream *stream, const uint8_t *data, size_t len)
{
    uint8_t *held = malloc(len);
    if (held == NULL) {
        input_ended(stream, -ENOMEM);
        return;
    }
    memcpy(held, data, len);
    free(stream->held);
    stream->held = held;
    stream->held_len = len;
}

static void on_alloc(uv_handle_t *handle, size_t suggested, uv_buf_t *buf)
{
    (void)suggested;
    struct stream *stream = container_of((uv_tcp_t *)handle, struct stream, tcp);
    uint8_t *where;
    size_t want = record_want(&stream->reader, &where);
    if (want > 0)
        *buf = uv_buf_init((char *)where, (unsigned)want);
    else
        *buf = uv_buf_init((char *)stream->loop->input, INPUT_SIZE);
}

static void on_read(uv_stream_t *tcp, ssize_t nread, const uv_buf_t *buf)
{
    struct stream *stream = container_of((uv_tcp_t *)tcp, struct stream, tcp);
    if (nread == 0)
        return;
    if (nread < 0) {
        input_ended(stream, nread == UV_EOF ? 0 : (int)nread);
        return;
    }
    uint8_t *data = (uint8_t *)buf->base;
    if (data == stream->loop->input) {
        size_t left = feed(stream, data, (size_t)nread);
        if (left > 0)
            hold(stream, data + nread - left, left);
        return;
    }
    struct record record;
    int n = record_wrote(&stream->reader, (size_t)nread, &record);
    if (n < 0)
        input_ended(stream, n);
    else if (n > 0)
        stream->ops->record(stream, &record);
}

/* What was held back first, then the socket. */
static void read_on(struct stream *stream)
{
    if (!stream->started || !may_hand_out(stream))
        return;
    if (stream->held != NULL) {
        uint8_t *held = stream->held;
        size_t len = stream->held_len;
        stream->held = NULL;
        size_t left = feed(stream, held, len);
        if (left > 0)
            hold(stream, held + len - left, left);
        free(held);
        if (!may_hand_out(stream))
            return;
    }
    if (stream->reading)
        return;
    int err = uv_read_start((uv_stream_t *)&stream->tcp, on_alloc, on_read);
    if (err != 0)
        input_ended(stream, err);
    else
        stream->reading = true;
}

/* Streams that became dirty while this runs are done in the same round: a resumed one may have
 * replies at once. */
static void on_prepare(uv_prepare_t *prepare)
{
    struct stream_loop *loop = container_of(prepare, struct stream_loop, prepare);
    while (!list_empty(&loop->dirty)) {
        struct stream *stream = container_of(loop->dirty.next, struct stream, dirty);
        list_remove(&stream->dirty);
        read_on(stream);
        flush(stream);
        if (!stream->closing && stream->ops->drained != NULL)
            stream->ops->drained(stream);
    }
}

/* ---- life ---- */

int stream_init(struct stream *stream, struct stream_loop *loop, const struct stream_ops *ops,
                uint32_t record_limit)
{
    memset(stream, 0, sizeof(*stream));
    stream->loop = loop;
    stream->ops = ops;
    list_init(&stream->dirty);
    record_reader_init(&stream->reader, record_limit);
    return uv_tcp_init(loop->uv, &stream->tcp);
}

int stream_start(struct stream *stream)
{
    stream->started = true;
    stream->reading = true;
    return uv_read_start((uv_stream_t *)&stream->tcp, on_alloc, on_read);
}

static void on_closed(uv_handle_t *handle)
{
    struct stream *stream = container_of((uv_tcp_t *)handle, struct stream, tcp);
    list_remove(&stream->dirty);
    queue_drop(stream);
    record_reader_clear(&stream->reader);
    free(stream->held);
    stream->held = NULL;
    stream->ops->closed(stream);
}

void stream_close(struct stream *stream)
{
    if (stream->closing)
        return;
    stream->closing = true;
    uv_close((uv_handle_t *)&stream->tcp, on_closed);
}

void stream_pause(struct stream *stream)
{
    stream->paused = true;
    if (stream->reading) {
        uv_read_stop((uv_stream_t *)&stream->tcp);
        stream->reading = false;
    }
}

void stream_resume(struct stream *stream)
{
    if (!stream->paused)
        return;
    stream->paused = false;
    mark_dirty(stream);
}
