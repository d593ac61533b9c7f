#include "e2e/field.h"

#include <errno.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "e2e/check.h"

#define SETTLE_MS 200
#define SLICE_MS  50
#define HEADER    24u /* of a reply that was accepted: xid to status */
#define FIRST_XID 0x1000u

struct field_reply {
    struct field_reply *next;
    struct raw_buffer record;
};

/* ---- lines ---- */

void field_begin(struct field *field, const char *format, ...)
{
    char what[256];
    va_list args;
    va_start(args, format);
    vsnprintf(what, sizeof what, format, args);
    va_end(args);
    check_begin("%s", what);
    field->failed = false;
    field->of = "";
}

/* After a failure: what is still on its way. What the server held is answered in any case (field_tells). */
static void settle(struct field *field)
{
    while (fake_server_next(&field->server, &field->call, SETTLE_MS) == 0)
        fake_answer_failed(&field->call, NFS3ERR_IO);
}

void field_end(struct field *field)
{
    field_quiet(field);
    if (field->failed)
        settle(field);
    check_end();
}

struct field *field_here(struct field *field, const char *file, int line)
{
    field->file = file;
    field->line = line;
    return field;
}

bool field_check(struct field *field, bool good, const char *format, ...)
{
    char why[256];
    va_list args;
    if (good || field->failed)
        return good;
    va_start(args, format);
    vsnprintf(why, sizeof why, format, args);
    va_end(args);
    field->failed = true;
    return check(false, "%s:%d: %s%s", field->file, field->line, field->of, why);
}

static void octets_text(char text[80], struct bytes octets, uint32_t from)
{
    int at = 0;
    for (uint32_t i = from; i < octets.len && i < from + 24; i++)
        at += snprintf(text + at, 80 - (size_t)at, "%s%02x", i % 4 == 0 ? " " : "", octets.data[i]);
}

static bool same_octets(struct field *field, struct bytes actual, struct bytes expected,
                        const char *what)
{
    uint32_t at = 0;
    char is[80] = "", should[80] = "";
    if (bytes_equal(actual, expected))
        return true;
    while (at < actual.len && at < expected.len && actual.data[at] == expected.data[at])
        at++;
    at &= ~3u;
    octets_text(is, actual, at);
    octets_text(should, expected, at);
    return field_check(field, false, "%s: %u octets, not %u; from octet %u on%s, not%s", what,
                       actual.len, expected.len, at, is, should);
}

/* ---- clients ---- */

void field_connect(struct field_client *client, struct field *field, enum field_service service,
                   struct who who)
{
    *client = (struct field_client){
        .field = field, .fd = raw_connect(field->port[service]), .who = who, .xid = FIRST_XID};
    check_must(client->fd >= 0, "can't connect to port %d: %s", field->port[service],
               strerror(-client->fd));
}

void field_leave(struct field_client *client)
{
    if (client->fd >= 0)
        close(client->fd);
    client->fd = -1;
    while (client->replies != NULL) {
        struct field_reply *reply = client->replies;
        client->replies = reply->next;
        raw_free(&reply->record);
        free(reply);
    }
}

void field_call_as(struct field_client *client, uint32_t xid, unsigned procedure, struct body args)
{
    if (client->field->failed)
        return;
    struct body record = stage_record(xid, procedure, &client->who, &args);
    const struct raw_buffer b = {.data = record.data, .len = record.len};
    int err = raw_send_record(client->fd, &b);
    field_check(client->field, err == 0, "can't send a call: %s", strerror(-err));
}

uint32_t field_call(struct field_client *client, unsigned procedure, struct body args)
{
    field_call_as(client, ++client->xid, procedure, args);
    return client->xid;
}

static uint32_t reply_xid(const struct field_reply *reply)
{
    return reply->record.len < HEADER ? 0 : bytes_load_u32(reply->record.data);
}

/* The reply is the caller's then. */
static struct field_reply *reply_take(struct field_client *client, uint32_t xid)
{
    for (struct field_reply **at = &client->replies; *at != NULL; at = &(*at)->next) {
        struct field_reply *reply = *at;
        if (reply_xid(reply) != xid)
            continue;
        *at = reply->next;
        return reply;
    }
    return NULL;
}

/* Waits for it; what comes before it is kept. NULL: it did not come. */
static struct field_reply *reply_await(struct field_client *client, uint32_t xid)
{
    struct field_reply *reply = reply_take(client, xid);
    while (reply == NULL && !client->field->failed) {
        struct field_reply *came = calloc(1, sizeof *came);
        if (came == NULL)
            abort();
        int err = raw_receive(client->fd, &came->record, FIELD_WAIT_MS);
        came->next = client->replies;
        client->replies = came;
        field_check(client->field, err == 0, "no reply %x: %s", xid, strerror(-err));
        reply = reply_take(client, xid);
    }
    return reply;
}

static void reply_free(struct field_reply *reply)
{
    if (reply != NULL)
        raw_free(&reply->record);
    free(reply);
}

int64_t field_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

void field_pause(int ms)
{
    nanosleep(&(struct timespec){.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000L}, NULL);
}

/* ---- the server ---- */

unsigned field_procedure(const struct fake_call *call)
{
    switch (call->program) {
    case RPC_PROGRAM_MOUNT:
        return STAGE_MOUNT + call->procedure;
    case RPC_PROGRAM_NFSACL:
        return STAGE_NFSACL + call->procedure;
    default:
        return call->procedure;
    }
}

struct bytes field_args(const struct fake_call *call)
{
    const struct raw_buffer *b = &call->record;
    return (struct bytes){b->data + b->at, (uint32_t)(b->len - b->at)};
}

struct who field_who(const struct fake_call *call)
{
    struct who who = {.flavor = call->flavor};
    struct raw_buffer b = {.data = (uint8_t *)call->credential, .len = call->credential_len};
    if (call->flavor != RPC_AUTH_SYS)
        return who;
    raw_get_u32(&b);
    raw_get(&b, (raw_get_u32(&b) + 3) & ~3u); /* the machine's name */
    who.uid = raw_get_u32(&b);
    who.gid = raw_get_u32(&b);
    who.gid_count = raw_get_u32(&b);
    for (uint32_t i = 0; i < who.gid_count && i < sizeof who.gids / sizeof who.gids[0]; i++)
        who.gids[i] = raw_get_u32(&b);
    return who;
}

bool field_next(struct field *field, struct fake_call *call)
{
    return !field->failed &&
           field_check(field, fake_server_next(&field->server, call, FIELD_WAIT_MS) == 0,
                       "the server gets no call");
}

void field_answer(const struct fake_call *call, struct body results)
{
    const struct raw_buffer b = {.data = results.data, .len = results.len};
    if (call->link != NULL)
        fake_answer(call, &b);
}

void field_restart(struct field *field)
{
    unsigned wanted = field->server.accepted + field->links;
    if (field->failed)
        return;
    fake_server_drop(&field->server, true);
    for (int ms = 0; ms < FIELD_WAIT_MS && field->server.accepted < wanted; ms += SLICE_MS) {
        if (fake_server_next(&field->server, &field->call, SLICE_MS) == 0)
            field_check(field, false, "the server gets a call");
    }
    field_check(field, field->server.accepted == wanted, "%u connections do not come again",
                wanted - field->server.accepted);
}

void field_free(struct field_held *held)
{
    raw_free(&held->call.record);
}

/* ---- statements ---- */

bool field_is(struct field *field, const struct fake_call *call, unsigned procedure,
              const struct body *args)
{
    return field_check(field, field_procedure(call) == procedure,
                       "the server gets procedure %u, not %u", field_procedure(call), procedure) &&
           same_octets(field, field_args(call), body_bytes(args), "the arguments");
}

void field_takes_at(struct field *field, struct fake_call *call, unsigned procedure,
                    struct body args)
{
    if (field_next(field, call))
        field_is(field, call, procedure, &args);
}

void field_quiet_at(struct field *field)
{
    if (field->failed)
        return;
    bool asked = fake_server_next(&field->server, &field->call, 0) == 0;
    field_check(field, !asked, "the server gets procedure %u, and must get nothing",
                asked ? field_procedure(&field->call) : 0);
}

static struct body reply_record(uint32_t xid, uint32_t stat, const struct body *results)
{
    const uint32_t header[] = {xid, RPC_REPLY, RPC_MSG_ACCEPTED, RPC_AUTH_NONE, 0, stat};
    struct body record = {0};
    for (unsigned i = 0; i < sizeof header / sizeof header[0]; i++)
        body_u32(&record, header[i]);
    body_raw(&record, results->data, results->len);
    return record;
}

void field_told_at(struct field_client *client, uint32_t xid, uint32_t stat, struct body results)
{
    struct field_reply *reply = reply_await(client, xid);
    struct body expected = reply_record(xid, stat, &results);
    if (client->field->failed) {
        reply_free(reply);
        return;
    }
    same_octets(client->field, (struct bytes){reply->record.data, (uint32_t)reply->record.len},
                body_bytes(&expected), "the reply");
    reply_free(reply);
}

/* What the proxy has sent before it gets this NULL comes before that is answered. */
void field_untold_at(struct field_client *client, uint32_t xid)
{
    reply_free(reply_await(client, field_call(client, NFS3_NULL, (struct body){0})));
    struct field_reply *reply = reply_take(client, xid);
    field_check(client->field, reply == NULL, "the client has its reply, and must not yet");
    reply_free(reply);
}

void field_asks_at(struct field_client *client, unsigned procedure, struct body args,
                   struct field_held *held)
{
    *held = (struct field_held){.client = client};
    held->xid = field_call(client, procedure, args);
    field_takes_at(client->field, &held->call, procedure, args);
}

void field_loses_at(struct field_held *held)
{
    struct field *field = held->client->field;
    uint32_t xid = held->call.xid;
    if (field->failed)
        return;
    struct bytes args = field_args(&held->call);
    struct body same = {0};
    body_raw(&same, args.data, args.len);
    unsigned procedure = field_procedure(&held->call);
    fake_link_end(held->call.link, false);
    field_takes_at(field, &held->call, procedure, same);
    field_check(field, held->call.xid == xid, "the call comes again with xid %x, not %x",
                held->call.xid, xid);
}

void field_tells_at(struct field_held *held, struct body results)
{
    field_answer(&held->call, results);
    field_told_at(held->client, held->xid, RPC_SUCCESS, results);
    field_free(held);
}

/* The server, if it is asked, answers `results`. True where it was. */
static bool answer_if_asked(struct field_client *client, unsigned procedure,
                            const struct body *args, const struct body *results)
{
    struct field *field = client->field;
    bool asked = false;
    while (!field->failed) {
        int err = fake_server_next_or(&field->server, &field->call, client->fd, FIELD_WAIT_MS);
        if (err == -EAGAIN)
            break;
        field_check(field, err == 0, "neither a reply nor a question comes");
        field_check(field, !asked, "the server is asked twice");
        asked = true;
        if (!field->failed && field_is(field, &field->call, procedure, args))
            field_answer(&field->call, *results);
    }
    return asked;
}

bool field_sees_at(struct field_client *client, unsigned procedure, struct body args,
                   struct body results)
{
    uint32_t xid = field_call(client, procedure, args);
    bool asked = answer_if_asked(client, procedure, &args, &results);
    field_told_at(client, xid, RPC_SUCCESS, results);
    return asked;
}

bool field_sees_either_at(struct field_client *client, unsigned procedure, struct body args,
                          struct body old, struct body now)
{
    uint32_t xid = field_call(client, procedure, args);
    answer_if_asked(client, procedure, &args, &now);
    struct field_reply *reply = reply_await(client, xid);
    if (client->field->failed) {
        reply_free(reply);
        return false;
    }
    struct bytes actual = {reply->record.data, (uint32_t)reply->record.len};
    struct body then = reply_record(xid, RPC_SUCCESS, &old);
    struct body expected = reply_record(xid, RPC_SUCCESS, &now);
    bool is_old = bytes_equal(actual, body_bytes(&then));
    bool is_now = !is_old && same_octets(client->field, actual, body_bytes(&expected), "the reply");
    reply_free(reply);
    return is_now;
}

void field_fetches_at(struct field_client *client, unsigned procedure, struct body args,
                      struct body results)
{
    bool asked = field_sees_at(client, procedure, args, results);
    field_check(client->field, asked, "the cache answers, and must not");
}

void field_serves_at(struct field_client *client, unsigned procedure, struct body args,
                     struct body results)
{
    bool asked = field_sees_at(client, procedure, args, results);
    field_check(client->field, !asked, "the server is asked, and need not be");
}
