/*
 * upstream_port: a port of the server for the tests of upstream, and the calls that go there.
 */
#ifndef UNIT_UPSTREAM_PORT_H
#define UNIT_UPSTREAM_PORT_H

#include "proxy/upstream.h"

#include "wire.h"
#include "xdr/rpc.h"

/* A port of the server, and what it saw. */
struct port {
    struct upstream upstream;
    struct counters counters;
    bool keep_in_socket;
    struct {
        unsigned link;
        struct upstream_call *call;
        uint32_t xid;
    } sent[16];
    unsigned sends; /* ever; the first 16 stand above */
    unsigned resets, reset_link, doubts;
    enum upstream_reset reset_why;
    int responding[8];
    unsigned said;
};

/* A call, and what became of it. */
struct job {
    struct upstream_call call;
    uint8_t head[12];
    unsigned replied, released, abandoned;
    uint32_t reply_xid, reply_len;
    bool reply_owned;
};

static inline struct port *port_of(struct upstream *upstream)
{
    return container_of(upstream, struct port, upstream);
}

static inline void op_send(struct upstream *upstream, unsigned link, struct upstream_call *call)
{
    struct port *port = port_of(upstream);
    assert_true(call->in_socket);
    assert_int_equal(rpc_xid(call->head), call->xid);
    if (port->sends < 16) {
        port->sent[port->sends].link = link;
        port->sent[port->sends].call = call;
        port->sent[port->sends].xid = call->xid;
    }
    port->sends++;
    if (!port->keep_in_socket)
        upstream_sent(upstream, call);
}

static inline void op_reset(struct upstream *upstream, unsigned link, enum upstream_reset why)
{
    port_of(upstream)->reset_why = why;
    port_of(upstream)->resets++;
    port_of(upstream)->reset_link = link;
}

static inline void op_doubt(struct upstream *upstream)
{
    port_of(upstream)->doubts++;
}

static inline void op_responding(struct upstream *upstream, bool responding)
{
    port_of(upstream)->responding[port_of(upstream)->said++] = responding;
}

static const struct upstream_ops port_ops = {
    .send = op_send, .reset = op_reset, .doubt = op_doubt, .responding = op_responding};

static inline void job_replied(struct upstream_call *call, struct record *reply)
{
    struct job *job = container_of(call, struct job, call);
    assert_int_equal(job->released, 0);
    job->replied++;
    if (reply == NULL) {
        job->abandoned++;
        return;
    }
    job->reply_xid = rpc_xid(reply->data);
    job->reply_len = reply->len;
    job->reply_owned = reply->owned;
    if (reply->owned)
        free(reply->data);
}

static inline void job_release(struct upstream_call *call)
{
    struct job *job = container_of(call, struct job, call);
    assert_int_equal(job->replied, 1);
    assert_false(call->in_socket);
    job->released++;
}

static inline struct port *port_new(unsigned links, uint32_t first_xid)
{
    struct port *port = calloc(1, sizeof(*port));
    assert_non_null(port);
    assert_int_equal(upstream_init(&port->upstream, &port_ops, links, first_xid, &port->counters),
                     0);
    return port;
}

static inline void port_free(struct port *port)
{
    upstream_destroy(&port->upstream);
    free(port);
}

static inline int submit(struct port *port, struct job *job, uint64_t now)
{
    memset(job, 0, sizeof(*job));
    memcpy(job->head, "xxxx\0\0\0\0body", 12);
    job->call.head = job->head;
    job->call.head_len = sizeof job->head;
    job->call.replied = job_replied;
    job->call.release = job_release;
    return upstream_submit(&port->upstream, &job->call, now);
}

static inline void submit_ok(struct port *port, struct job *job)
{
    assert_int_equal(submit(port, job, 0), 0);
}

static inline void receive(struct port *port, unsigned link, uint32_t xid, bool owned)
{
    uint8_t octets[12] = {0};
    bytes_store_u32(octets, xid);
    bytes_store_u32(octets + 4, RPC_REPLY);
    struct record record = {owned ? wire_exact(octets, 12) : octets, 12, owned};
    upstream_receive(&port->upstream, link, &record);
}

#endif
