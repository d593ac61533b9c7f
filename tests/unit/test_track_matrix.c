/*
 * Every mutation, with every outcome, against everything that is cached: is it asked of the server
 * again, or served?
 *
 * Whatever is served must be what the server would say now: the server changes everything that a
 * mutation may change, also when it reports a failure.
 */
#include "stage.h"

#include "track_outcome.h"

#include <stdio.h>

/* ---- the cache and the world ---- */

/* Calls, and has the world answer if the server is asked. The client must get the world's answer in
 * either case. True when the server was asked. */
static bool world_probe(const struct world *world, struct stage_client *client, unsigned procedure,
                        struct body args)
{
    struct stage *stage = client->worker->stage;
    struct body expected = world_answer(world, client->who.uid, procedure, body_bytes(&args));
    stage_quiet(stage);
    uint32_t xid = stage_call(client, procedure, args);
    bool asked = stage_waiting(stage) > 0;
    if (asked)
        stage_answer(stage_takes(stage, procedure, args), expected);
    stage_quiet(stage);
    stage_told(client, xid, expected);
    return asked;
}

/* Everything that is there: attributes, verdicts, names. */
static void world_warm(const struct world *world, struct stage_client *client)
{
    for (unsigned i = 0; i < FILE_N; i++) {
        world_probe(world, client, NFS3_GETATTR, world_getattr_args(world, (enum world_file)i));
        world_probe(world, client, NFS3_ACCESS, world_access_args(world, (enum world_file)i));
    }
    for (unsigned i = 0; i < WORLD_NAMES; i++)
        world_probe(world, client, NFS3_LOOKUP, world_lookup_args(world, (enum world_name)i));
    /* It is all there. */
    for (unsigned i = 0; i < FILE_N; i++) {
        assert_false(
            world_probe(world, client, NFS3_ACCESS, world_access_args(world, (enum world_file)i)));
    }
    for (unsigned i = 0; i < WORLD_NAMES; i++)
        assert_false(
            world_probe(world, client, NFS3_LOOKUP, world_lookup_args(world, (enum world_name)i)));
}

/* ---- what must be asked again ---- */

enum verdict {
    SERVED,
    ASKED,
    EITHER, /* the design allows both: only what is said must be right */
};

struct run {
    const struct row *row;
    enum outcome outcome;
    bool shared;
};

static bool lost(const struct run *run)
{
    return run->outcome == LOST_AND_RESENT;
}

static bool disturbed(const struct run *run)
{
    return run->outcome == OTHERS_ASKED || run->outcome == OTHERS_ASKED_ACROSS;
}

/* No results came that could be read. */
static bool silent(const struct run *run)
{
    return run->outcome >= RPC_FAILED && run->outcome <= UNREADABLE;
}

/* In shared the proxy asks what a CREATE met, and then may have been told too much to keep it. */
static bool asks_what_it_met(const struct run *run)
{
    return run->shared && run->row->procedure == NFS3_CREATE;
}

/* The reply says what these attributes are now, and may be believed. */
static bool shown(const struct run *run, unsigned file)
{
    const struct row *row = run->row;
    struct says says = outcome_says(run->outcome);
    if (!says.attributes || silent(run))
        return false;
    if (row->shape == SHAPE_ACL)
        return false; /* those of NFSACL are not trusted */
    if (file == row->object)
        return true;
    if ((row->shape == SHAPE_RENAME || row->shape == SHAPE_LINK) && file == row->object2)
        return true;
    return file == row->made && says.handle && says.status == NFS3_OK;
}

/* What the reply says is kept where nobody was shown anything else meanwhile. */
static enum verdict if_shown(const struct run *run)
{
    if (run->outcome == OTHERS_ASKED_ACROSS)
        return EITHER;
    return run->outcome == OTHERS_ASKED ? ASKED : SERVED;
}

static enum verdict attributes_after(const struct run *run, unsigned file)
{
    if (lost(run))
        return ASKED;
    if (!(run->row->objects & 1u << file))
        return file == FILE_N ? ASKED : SERVED;
    if (file == FILE_N && disturbed(run))
        return EITHER; /* nobody could ask for it while it was made */
    if (file == run->row->made && asks_what_it_met(run))
        return EITHER;
    return shown(run, file) ? if_shown(run) : ASKED;
}

static enum verdict verdict_after(const struct run *run, unsigned file)
{
    bool kept = !lost(run) && !(run->row->objects & 1u << file) && file != FILE_N;
    return kept ? SERVED : ASKED;
}

/* A name can lead to a handle of which something is kept. */
static bool handle_shown(const struct run *run)
{
    if (shown(run, run->row->made))
        return true;
    return run->row->made != FILE_N && outcome_says(run->outcome).handle && !silent(run);
}

static unsigned files_of(const struct world *world, unsigned name)
{
    unsigned files = 1u << world_place[name].dir;
    if (world->child[name] != NOTHING)
        files |= 1u << world->child[name];
    return files;
}

/* A name that the mutation does not change, but may have things to do with. */
static enum verdict other_name_after(const struct run *run, const struct world *world,
                                     unsigned name)
{
    /* Those that others asked for meanwhile may have been found too new. */
    if (disturbed(run) && run->row->objects & files_of(world, name))
        return EITHER;
    /* Without wcc_data nobody knows whether others changed the directory. */
    enum world_file dir = world_place[name].dir;
    bool unknown = run->shared && !shown(run, dir);
    return unknown && run->row->objects & 1u << dir ? ASKED : SERVED;
}

static enum verdict name_after(const struct run *run, const struct world *world, unsigned name)
{
    const struct row *row = run->row;
    if (lost(run))
        return ASKED;
    if (row->emptied & 1u << world_place[name].dir)
        return silent(run) ? EITHER : ASKED;
    if (!(row->names & 1u << name))
        return other_name_after(run, world, name);
    if (row->shape != SHAPE_CREATE || name != row->new)
        return ASKED;
    if (asks_what_it_met(run))
        return EITHER;
    /* Over a file: what others were shown meanwhile is the very object that the reply names. */
    if (run->outcome == OTHERS_ASKED && row->made != FILE_N)
        return SERVED;
    return handle_shown(run) ? if_shown(run) : ASKED;
}

/* While it is under way: whatever it may change, and every name that stands beside such a thing in
 * one reply. */
static enum verdict name_during(const struct row *row, const struct world *world, unsigned name)
{
    bool touched = row->names & 1u << name || row->objects & files_of(world, name);
    return touched ? ASKED : SERVED;
}

static void expect(const struct run *run, enum verdict expected, bool asked, const char *what,
                   const char *of)
{
    if (expected == EITHER || asked == (expected == ASKED))
        return;
    fail_msg("%s: %s, %s: %s of %s: %s", run->shared ? "shared" : "exclusive", run->row->title,
             outcome_name[run->outcome], what, of,
             asked ? "asked again, and need not be" : "served, and must not be");
}

static void name_text(char text[16], unsigned name)
{
    snprintf(text, 16, "%s/%s", world_file_name[world_place[name].dir], world_place[name].text);
}

/* Attributes first: where these are fresh, a verdict or a name that is asked for was really
 * dropped. */
static void probe_after(const struct run *run, const struct world *world,
                        struct stage_client *client)
{
    char text[16];
    for (unsigned i = 0; i < WORLD_FILES; i++) {
        struct body args = world_getattr_args(world, (enum world_file)i);
        expect(run, attributes_after(run, i), world_probe(world, client, NFS3_GETATTR, args),
               "attributes", world_file_name[i]);
    }
    for (unsigned i = 0; i < WORLD_FILES; i++) {
        struct body args = world_access_args(world, (enum world_file)i);
        expect(run, verdict_after(run, i), world_probe(world, client, NFS3_ACCESS, args), "verdict",
               world_file_name[i]);
    }
    for (unsigned i = 0; i < WORLD_NAMES; i++) {
        struct body args = world_lookup_args(world, (enum world_name)i);
        name_text(text, i);
        expect(run, name_after(run, world, i), world_probe(world, client, NFS3_LOOKUP, args),
               "name", text);
    }
}

static void probe_during(const struct run *run, const struct world *world,
                         struct stage_client *client)
{
    char text[16];
    for (unsigned i = 0; i < FILE_N; i++) {
        enum verdict expected = run->row->objects & 1u << i ? ASKED : SERVED;
        struct body args = world_getattr_args(world, (enum world_file)i);
        expect(run, expected, world_probe(world, client, NFS3_GETATTR, args),
               "under way: attributes", world_file_name[i]);
        args = world_access_args(world, (enum world_file)i);
        expect(run, expected, world_probe(world, client, NFS3_ACCESS, args), "under way: verdict",
               world_file_name[i]);
    }
    for (unsigned i = 0; i < WORLD_NAMES; i++) {
        struct body args = world_lookup_args(world, (enum world_name)i);
        name_text(text, i);
        expect(run, name_during(run->row, world, i), world_probe(world, client, NFS3_LOOKUP, args),
               "under way: name", text);
    }
}

/* ---- bob, to whom nothing was said yet: all that he asks goes to the server ---- */

#define ASKS (FILE_N + WORLD_NAMES)

struct asker {
    struct stage_client client;
    struct stage_sent *sent[ASKS];
};

static void asker_asks(struct asker *asker, const struct world *world)
{
    for (unsigned i = 0; i < FILE_N; i++)
        asker->sent[i] =
            stage_asks(&asker->client, NFS3_ACCESS, world_access_args(world, (enum world_file)i));
    for (unsigned i = 0; i < WORLD_NAMES; i++)
        asker->sent[FILE_N + i] =
            stage_asks(&asker->client, NFS3_LOOKUP, world_lookup_args(world, (enum world_name)i));
}

static void asker_told(struct asker *asker, const struct world *world)
{
    for (unsigned i = 0; i < ASKS; i++)
        stage_tells(&asker->client, asker->sent[i],
                    world_answer(world, asker->client.who.uid,
                                 i < FILE_N ? NFS3_ACCESS : NFS3_LOOKUP, asker->sent[i]->args));
}

/* What he was told that overlapped the mutation was not kept. */
static void asker_probes(const struct run *run, const struct world *world, struct asker *asker)
{
    for (unsigned i = 0; i < FILE_N; i++) {
        struct body args = world_access_args(world, (enum world_file)i);
        expect(run, run->row->objects & 1u << i ? ASKED : SERVED,
               world_probe(world, &asker->client, NFS3_ACCESS, args), "bob's verdict",
               world_file_name[i]);
    }
}

/* ---- the run ---- */

/* The next call that is not a question of the proxy's own: those are answered. In exclusive all that
 * could be asked is known here. */
static struct stage_sent *next_of_client(const struct run *run, struct stage *stage,
                                         const struct world *world)
{
    struct stage_sent *sent;
    while ((sent = stage_next(stage)) != NULL) {
        bool question = sent->rpc.program == RPC_PROGRAM_NFS &&
                        (sent->rpc.procedure == NFS3_LOOKUP || sent->rpc.procedure == NFS3_GETATTR);
        if (!question)
            break;
        if (!run->shared)
            fail_msg("%s, %s: a question that is needless", run->row->title,
                     outcome_name[run->outcome]);
        stage_answer(sent, world_answer(world, alice.uid, sent->rpc.procedure, sent->args));
    }
    return sent;
}

static const struct rpc_reply failed = {.stat = RPC_MSG_ACCEPTED, .accepted = RPC_SYSTEM_ERR};
static const struct rpc_reply refused = {
    .stat = RPC_MSG_DENIED, .rejected = RPC_AUTH_ERROR, .auth = RPC_AUTH_REJECTEDCRED};

/* The mutation's reply comes, in the way of the outcome. */
static void answer(const struct run *run, struct stage_client *client, struct stage_sent *sent,
                   struct body reply)
{
    struct stage *stage = client->worker->stage;
    switch (run->outcome) {
    case RPC_FAILED:
        stage_answer_rpc(sent, failed);
        return;
    case RPC_REFUSED:
        stage_answer_rpc(sent, refused);
        return;
    case CLIENT_LEFT:
        stage_client_leave(client);
        break;
    case LOST_AND_RESENT:
        stage_link_down(stage, 0);
        stage_link_up(stage, 0);
        sent = stage_next(stage);
        assert_non_null(sent);
        break;
    default:
        break;
    }
    stage_answer(sent, reply);
}

static void mutate(const struct run *run, const struct world *before, struct world *after,
                   struct stage_client *mutator, struct stage_client *reader, struct asker *asker)
{
    struct stage *stage = mutator->worker->stage;
    struct body args = run->row->args(before->file);
    uint32_t xid = stage_call(mutator, run->row->procedure, args);
    struct stage_sent *sent = next_of_client(run, stage, before);
    assert_non_null(sent);
    wire_assert_bytes(sent->args, body_bytes(&args));
    outcome_execute(after, run->row, run->outcome);
    if (run->outcome == OTHERS_ASKED) {
        probe_during(run, before, reader);
        asker_told(asker, before);
    }
    struct body reply = outcome_results(run->row, before, after, outcome_says(run->outcome));
    if (run->outcome == UNREADABLE)
        reply.len = 4;
    answer(run, mutator, sent, reply);
    assert_null(next_of_client(run, stage, after));
    if (run->outcome == RPC_FAILED || run->outcome == RPC_REFUSED)
        assert_non_null(stage_reply_find(mutator, xid));
    else if (run->outcome != CLIENT_LEFT)
        stage_told(mutator, xid, reply);
}

static void run_one(const struct run *run)
{
    struct stage *stage =
        stage_create(run->shared ? "coherence = shared\n" : "coherence = exclusive\n", 2);
    struct stage_client mutator, reader;
    struct asker asker;
    struct world before;
    stage_client_init(&mutator, stage, 0, alice);
    stage_client_init(&reader, stage, 1, alice);
    stage_client_init(&asker.client, stage, 1, bob);
    world_init(&before);
    world_warm(&before, &mutator);
    if (disturbed(run))
        asker_asks(&asker, &before);

    struct world after = before;
    mutate(run, &before, &after, &mutator, &reader, &asker);
    if (run->outcome == OTHERS_ASKED_ACROSS)
        asker_told(&asker, &before);
    probe_after(run, &after, &reader);
    if (disturbed(run))
        asker_probes(run, &after, &asker);

    stage_client_done(&mutator);
    stage_client_done(&reader);
    stage_client_done(&asker.client);
    stage_destroy(stage);
}

static void run_all(enum outcome outcome)
{
    for (unsigned i = 0; i < 2 * track_rows_count; i++)
        run_one(&(struct run){&track_rows[i / 2], outcome, i & 1});
}

/* Protects: C1, C3, C7, C8 for every mutation; K03, K05, K06 and K37 among them. */
static void test_success(void **state)
{
    (void)state;
    run_all(SUCCESS);
    run_all(CLIENT_LEFT);
}

/* Protects: what the reply does not say is asked. */
static void test_success_that_says_less(void **state)
{
    (void)state;
    run_all(SUCCESS_BARE);
    run_all(SUCCESS_NO_HANDLE);
    run_all(SUCCESS_NOTHING);
}

/* Protects: a failure is no proof that nothing was changed. */
static void test_errors(void **state)
{
    (void)state;
    run_all(ERROR_WCC);
    run_all(ERROR_BARE);
    run_all(ERROR_EXIST);
}

/* Protects: the same for failures of the RPC layer, and for octets that can't be read. */
static void test_rpc_errors(void **state)
{
    (void)state;
    run_all(RPC_FAILED);
    run_all(RPC_REFUSED);
    run_all(UNREADABLE);
}

/* Protects: while it is under way nothing that it may change is served, and nothing that anybody
 * was told then is kept. */
static void test_others_ask_meanwhile(void **state)
{
    (void)state;
    run_all(OTHERS_ASKED);
}

/* Protects: nor what was asked before it began and answered after it ended. */
static void test_others_ask_across(void **state)
{
    (void)state;
    run_all(OTHERS_ASKED_ACROSS);
}

/* Protects: after a loss nothing is trusted, and a mutation that was sent twice proves nothing. */
static void test_lost_and_resent(void **state)
{
    (void)state;
    run_all(LOST_AND_RESENT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_success),
        cmocka_unit_test(test_success_that_says_less),
        cmocka_unit_test(test_errors),
        cmocka_unit_test(test_rpc_errors),
        cmocka_unit_test(test_others_ask_meanwhile),
        cmocka_unit_test(test_others_ask_across),
        cmocka_unit_test(test_lost_and_resent),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
