/*
 * stream: a TCP connection that carries RPC records, on libuv. Under both kinds of connection:
 * clients' and the server's.
 *
 * In: whole records are handed to ops.record, in place where they came in one piece. Reading stops
 * while the stream is paused. Out: records are queued, and all queues are written once per turn of
 * the loop, so that as many replies as came up share a system call. Closing completes every queued
 * chunk (its `done` is called), then ops.closed.
 *
 * All functions are for the loop's own thread.
 */
#ifndef PROXY_STREAM_H
#define PROXY_STREAM_H

#include <uv.h>

#include "proxy/container.h"
#include "xdr/record.h"

struct stream;

/* What all streams of a loop share. */
struct stream_loop {
    uv_loop_t *uv;
    uv_prepare_t prepare; /* writes what is queued before the loop waits */
    struct list dirty;    /* streams with something to do then */
    uint8_t *input;       /* read into by whichever stream is readable */
    struct chunk *spare;  /* empty buffers, kept for reuse */
    unsigned spare_count;
};

int stream_loop_init(struct stream_loop *loop, uv_loop_t *uv);
/* All streams are closed. The loop must run once more afterwards. */
void stream_loop_close(struct stream_loop *loop);

/* A piece of output: up to three parts, sent one after the other. */
struct chunk {
    struct chunk *next;
    const uint8_t *part[3];
    uint32_t len[3];
    uint32_t sent; /* octets of all parts that are out */
    uint8_t mark[RECORD_MARK_LEN];
    uint32_t room; /* of a buffer: octets behind the struct; else 0 */
    /* Sent, or never will be. The memory is the callee's again. */
    void (*done)(struct chunk *chunk);
};

struct stream_ops {
    /* A record; what it does not own stands only during the call. The callee may pause or close the
     * stream. */
    void (*record)(struct stream *stream, struct record *record);
    /* Nothing more will come: 0 for a proper end, or a negative error (UV_… or -EPROTO, -EMSGSIZE,
     * -ENOMEM). The callee closes the stream: at once after an error, which may also follow a
     * proper end; else when it is through with its output. */
    void (*ended)(struct stream *stream, int error);
    /* Output has gone out: stream_queued is less now. May be NULL. */
    void (*drained)(struct stream *stream);
    /* Closed, and nothing refers to it any more: it may be freed. */
    void (*closed)(struct stream *stream);
};

struct stream {
    uv_tcp_t tcp;
    uv_write_t write;
    struct stream_loop *loop;
    const struct stream_ops *ops;
    struct record_reader reader;
    struct list dirty;
    struct chunk *first, *last;
    uint64_t queued;   /* octets */
    uint64_t in_write; /* of them, with libuv */
    uint8_t *held;     /* came in while paused, not looked at yet */
    size_t held_len;
    bool started, paused, reading, ended, closing;
};

/* An idle stream around a fresh socket handle: to be opened or connected by the caller, then
 * started, or closed. */
int stream_init(struct stream *stream, struct stream_loop *loop, const struct stream_ops *ops,
                uint32_t record_limit);
/* Begins to read. */
int stream_start(struct stream *stream);
/* Idempotent. */
void stream_close(struct stream *stream);

/* No record is handed out until stream_resume; that takes effect before the loop waits again. */
void stream_pause(struct stream *stream);
void stream_resume(struct stream *stream);

/* Room for a record of up to `size` octets; NULL without memory. Commit it before anything else, or
 * forget it. */
uint8_t *stream_reserve(struct stream *stream, uint32_t size);
void stream_commit(struct stream *stream, uint32_t len);
/* A record in memory of somebody else's: `chunk->done` is called when it is out. Parts 1 and 2 are
 * the record. */
void stream_send(struct stream *stream, struct chunk *chunk);
/* A record in malloc'ed memory, freed when it is out. -ENOMEM: it is freed already. */
int stream_pass(struct stream *stream, uint8_t *data, uint32_t len);

static inline uint64_t stream_queued(const struct stream *stream)
{
    return stream->queued;
}

#endif
