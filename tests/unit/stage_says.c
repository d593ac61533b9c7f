/*
 * stage_says: the statements that tests are made of.
 */
#include "stage.h"

#include <stdio.h>

static void print_octets(const char *title, struct bytes octets)
{
    fprintf(stderr, "%s, %u octets:", title, octets.len);
    for (uint32_t i = 0; i < octets.len && i < 160; i++)
        fprintf(stderr, "%s%02x", i % 4 == 0 ? " " : "", octets.data[i]);
    fprintf(stderr, "\n");
}

static void expect_octets(struct bytes actual, struct bytes expected, const char *what,
                          const char *file, int line)
{
    if (bytes_equal(actual, expected))
        return;
    print_octets("expected", expected);
    print_octets("  actual", actual);
    print_error("other octets than expected: %s\n", what);
    _fail(file, line);
}

static void expect(bool holds, const char *what, const char *file, int line)
{
    if (holds)
        return;
    print_error("not so: %s\n", what);
    _fail(file, line);
}

struct stage_sent *stage_takes_at(struct stage *stage, unsigned procedure, struct body args,
                                  const char *file, int line)
{
    struct stage_sent *sent = stage_next(stage);
    if (sent == NULL) {
        expect(false, "the server gets a call", file, line);
        return NULL;
    }
    if (sent->rpc.procedure != procedure % 100) {
        print_error("procedure %u, not %u\n", sent->rpc.procedure, procedure % 100);
        _fail(file, line);
    }
    expect_octets(sent->args, body_bytes(&args), "the arguments", file, line);
    return sent;
}

void stage_quiet_at(const struct stage *stage, const char *file, int line)
{
    expect(stage_waiting(stage) == 0, "the server gets nothing", file, line);
}

void stage_told_at(const struct stage_client *client, uint32_t xid, struct body results,
                   const char *file, int line)
{
    const struct stage_reply *reply = stage_reply_find(client, xid);
    struct body expected = {0};
    const uint32_t header[] = {xid, RPC_REPLY, RPC_MSG_ACCEPTED, RPC_AUTH_NONE, 0, RPC_SUCCESS};
    if (reply == NULL) {
        expect(false, "the client has a reply", file, line);
        return;
    }
    for (unsigned i = 0; i < sizeof(header) / sizeof(header[0]); i++)
        body_u32(&expected, header[i]);
    body_raw(&expected, results.data, results.len);
    expect_octets((struct bytes){reply->data, reply->len}, body_bytes(&expected), "the reply", file,
                  line);
}

void stage_untold_at(const struct stage_client *client, uint32_t xid, const char *file, int line)
{
    expect(stage_reply_find(client, xid) == NULL, "the client has no reply yet", file, line);
}

void stage_serves_at(struct stage_client *client, unsigned procedure, struct body args,
                     struct body results, const char *file, int line)
{
    stage_quiet_at(client->worker->stage, file, line);
    uint32_t xid = stage_call(client, procedure, args);
    stage_quiet_at(client->worker->stage, file, line);
    stage_told_at(client, xid, results, file, line);
}

struct stage_sent *stage_asks_at(struct stage_client *client, unsigned procedure, struct body args,
                                 const char *file, int line)
{
    stage_quiet_at(client->worker->stage, file, line);
    uint32_t xid = stage_call(client, procedure, args);
    stage_untold_at(client, xid, file, line);
    struct stage_sent *sent = stage_takes_at(client->worker->stage, procedure, args, file, line);
    sent->for_xid = xid;
    stage_quiet_at(client->worker->stage, file, line);
    return sent;
}

void stage_tells_at(struct stage_client *client, struct stage_sent *sent, struct body results,
                    const char *file, int line)
{
    stage_answer(sent, results);
    stage_told_at(client, sent->for_xid, results, file, line);
}

void stage_fetches_at(struct stage_client *client, unsigned procedure, struct body args,
                      struct body results, const char *file, int line)
{
    struct stage_sent *sent = stage_asks_at(client, procedure, args, file, line);
    stage_tells_at(client, sent, results, file, line);
}
