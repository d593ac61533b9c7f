/*
 * Every mutation, with every outcome, against everything that is cached: is it asked of the server
 * again, or served?
 *
 * Whatever is served must be what the server would say now: the server changes everything that a
 * mutation may change, also when it reports a failure.
 */
#include "track_rows.h"

#include <stdio.h>

/* ---- what the server does, and says ---- */

enum outcome {
    SUCCESS,           /* with all that a reply can say */
    SUCCESS_BARE,      /* no attributes, but a handle where there is one */
    SUCCESS_NO_HANDLE, /* attributes, and no handle */
    SUCCESS_NOTHING,   /* neither */
    ERROR_WCC,         /* and attributes */
    ERROR_BARE,
    ERROR_EXIST,
    RPC_FAILED,          /* SYSTEM_ERR */
    RPC_REFUSED,         /* AUTH_ERROR */
    UNREADABLE,          /* results that end early */
    CLIENT_LEFT,         /* SUCCESS, nobody to tell */
    OTHERS_ASKED,        /* SUCCESS, and others asked meanwhile */
    OTHERS_ASKED_ACROSS, /* likewise; they are answered only after the mutation's end */
    LOST_AND_RESENT,     /* SUCCESS, the second time */
    OUTCOMES,
};

static const char *const outcome_name[OUTCOMES] = {"success",
                                                   "success without attributes",
                                                   "success without handle",
                                                   "success with nothing",
                                                   "error with wcc",
                                                   "error without",
                                                   "EXIST",
                                                   "SYSTEM_ERR",
                                                   "AUTH_ERROR",
                                                   "unreadable",
                                                   "client left",
                                                   "others asked",
                                                   "others were answered later",
                                                   "lost and resent"};

static bool succeeds(enum outcome outcome)
{
    return outcome <= SUCCESS_NOTHING || outcome >= UNREADABLE;
}

/* Everything that the mutation may change is changed, whatever it says. */
static void execute(struct world *world, const struct row *row, enum outcome outcome)
{
    for (unsigned i = 0; i < WORLD_FILES; i++) {
        if (row->objects & 1u << i)
            file_write(&world->file[i]);
    }
    if (!succeeds(outcome))
        return;
    for (unsigned i = 0; i < WORLD_FILES; i++)
        world->gone[i] = row->stale & 1u << i;
    enum world_file child = row->made;
    if (row->old != NO_NAME) {
        child = world->child[row->old];
        world->child[row->old] = NOTHING;
    }
    if (row->procedure == NFS3_LINK)
        child = FILE_F;
    if (row->new != NO_NAME)
        world->child[row->new] = child;
    if (row->moves && child == FILE_S)
        world->child[NAME_SUP] = row->object2;
}

struct says {
    uint32_t status;
    bool attributes, handle;
};

static struct says what_it_says(enum outcome outcome)
{
    switch (outcome) {
    case SUCCESS_BARE:
        return (struct says){NFS3_OK, false, true};
    case SUCCESS_NO_HANDLE:
        return (struct says){NFS3_OK, true, false};
    case SUCCESS_NOTHING:
        return (struct says){NFS3_OK, false, false};
    case ERROR_WCC:
        return (struct says){NFS3ERR_IO, true, false};
    case ERROR_BARE:
        return (struct says){NFS3ERR_PERM, false, false};
    case ERROR_EXIST:
        return (struct says){NFS3ERR_EXIST, true, false};
    default:
        return (struct says){NFS3_OK, true, true};
    }
}

static struct wcc wcc_of(const struct world *before, const struct world *after,
                         enum world_file file, struct says says)
{
    if (!says.attributes)
        return (struct wcc){NULL, NULL};
    return (struct wcc){&before->file[file].attr, &after->file[file].attr};
}

static struct body results(const struct row *row, const struct world *before,
                           const struct world *after, struct says says)
{
    struct wcc wcc = wcc_of(before, after, row->object, says);
    struct wcc wcc2 = wcc_of(before, after, row->object2, says);
    switch (row->shape) {
    case SHAPE_WRITE:
        return says.status == NFS3_OK ? res_write(wcc, 6, "verifier") : res_wcc(says.status, wcc);
    case SHAPE_COMMIT:
        return says.status == NFS3_OK ? res_commit(wcc, "verifier") : res_wcc(says.status, wcc);
    case SHAPE_ACL:
        return res_post_op(says.status, wcc.after);
    case SHAPE_CREATE:
        if (says.status != NFS3_OK)
            break;
        return res_create(says.handle ? &after->file[row->made] : NULL,
                          says.attributes ? &after->file[row->made].attr : NULL, wcc);
    case SHAPE_RENAME:
        return res_rename(says.status, wcc, wcc2);
    case SHAPE_LINK:
        return res_link(says.status, wcc.after, wcc2);
    case SHAPE_WCC:
        break;
    }
    return res_wcc(says.status, wcc);
}

/* ---- what must be asked again ---- */

enum verdict {
    SERVED,
    ASKED,
    EITHER, /* the design allows both: only what is said must be right */
};

static bool lost(enum outcome outcome)
{
    return outcome == LOST_AND_RESENT;
}

static bool disturbed(enum outcome outcome)
{
    return outcome == OTHERS_ASKED || outcome == OTHERS_ASKED_ACROSS;
}

/* The reply says what these attributes are now, and may be believed. */
static bool shown(const struct row *row, enum outcome outcome, unsigned file)
{
    struct says says = what_it_says(outcome);
    if (!says.attributes || (outcome >= RPC_FAILED && outcome <= UNREADABLE))
        return false;
    if (file == row->object)
        return true;
    if ((row->shape == SHAPE_RENAME || row->shape == SHAPE_LINK) && file == row->object2)
        return true;
    return file == row->made && says.handle && says.status == NFS3_OK;
}

/* What the reply says is kept where nobody was shown anything else meanwhile. */
static enum verdict if_shown(enum outcome outcome)
{
    if (outcome == OTHERS_ASKED_ACROSS)
        return EITHER;
    return outcome == OTHERS_ASKED ? ASKED : SERVED;
}

static enum verdict attributes_after(const struct row *row, enum outcome outcome, unsigned file)
{
    if (lost(outcome))
        return ASKED;
    if (!(row->objects & 1u << file))
        return file == FILE_N ? ASKED : SERVED;
    if (file == FILE_N && disturbed(outcome))
        return EITHER; /* nobody could ask for it while it was made */
    if (!shown(row, outcome, file))
        return ASKED;
    return if_shown(outcome);
}

static enum verdict verdict_after(const struct row *row, enum outcome outcome, unsigned file)
{
    bool kept = !lost(outcome) && !(row->objects & 1u << file) && file != FILE_N;
    return kept ? SERVED : ASKED;
}

/* A name can lead to a handle of which something is kept. */
static bool handle_shown(const struct row *row, enum outcome outcome)
{
    struct says says = what_it_says(outcome);
    if (shown(row, outcome, row->made))
        return true;
    return row->made != FILE_N && says.handle && outcome < RPC_FAILED;
}

static unsigned files_of(const struct world *world, unsigned name)
{
    unsigned files = 1u << world_place[name].dir;
    if (world->child[name] != NOTHING)
        files |= 1u << world->child[name];
    return files;
}

static enum verdict name_after(const struct row *row, enum outcome outcome, bool shared,
                               const struct world *world, unsigned name)
{
    if (lost(outcome))
        return ASKED;
    if (row->emptied & 1u << world_place[name].dir)
        return outcome >= RPC_FAILED && outcome <= UNREADABLE ? EITHER : ASKED;
    /* Without wcc_data nobody knows whether others changed the directory. */
    if (shared && !(row->names & 1u << name) && row->objects & 1u << world_place[name].dir &&
        !what_it_says(outcome).attributes)
        return EITHER;
    if (!(row->names & 1u << name)) /* those asked for meanwhile may have been found too new */
        return disturbed(outcome) && row->objects & files_of(world, name) ? EITHER : SERVED;
    bool made = row->shape == SHAPE_CREATE && name == row->new;
    return made && handle_shown(row, outcome) ? if_shown(outcome) : ASKED;
}

/* While it is under way: whatever it may change, and every name that stands beside such a thing in
 * one reply. */
static enum verdict name_during(const struct row *row, const struct world *world, unsigned name)
{
    bool touched = row->names & 1u << name || row->objects & files_of(world, name);
    return touched ? ASKED : SERVED;
}

static void expect(enum verdict expected, bool asked, const struct row *row, enum outcome outcome,
                   const char *what, const char *of)
{
    if (expected == EITHER || asked == (expected == ASKED))
        return;
    fail_msg("%s, %s: %s of %s: %s", row->title, outcome_name[outcome], what, of,
             asked ? "asked again, and need not be" : "served, and must not be");
}

static void name_text(char text[16], unsigned name)
{
    snprintf(text, 16, "%s/%s", world_file_name[world_place[name].dir], world_place[name].text);
}

/* Attributes first: where these are fresh, a verdict or a name that is asked for was really
 * dropped. */
static void probe_after(const struct row *row, enum outcome outcome, bool shared,
                        const struct world *world, struct stage_client *client)
{
    char text[16];
    for (unsigned i = 0; i < WORLD_FILES; i++)
        expect(
            attributes_after(row, outcome, i),
            world_probe(world, client, NFS3_GETATTR, world_getattr_args(world, (enum world_file)i)),
            row, outcome, "attributes", world_file_name[i]);
    for (unsigned i = 0; i < WORLD_FILES; i++)
        expect(
            verdict_after(row, outcome, i),
            world_probe(world, client, NFS3_ACCESS, world_access_args(world, (enum world_file)i)),
            row, outcome, "verdict", world_file_name[i]);
    for (unsigned i = 0; i < WORLD_NAMES; i++) {
        name_text(text, i);
        expect(
            name_after(row, outcome, shared, world, i),
            world_probe(world, client, NFS3_LOOKUP, world_lookup_args(world, (enum world_name)i)),
            row, outcome, "name", text);
    }
}

static void probe_during(const struct row *row, const struct world *world,
                         struct stage_client *client)
{
    char text[16];
    for (unsigned i = 0; i < FILE_N; i++) {
        enum world_file file = (enum world_file)i;
        enum verdict expected = row->objects & 1u << i ? ASKED : SERVED;
        expect(expected, world_probe(world, client, NFS3_GETATTR, world_getattr_args(world, file)),
               row, OTHERS_ASKED, "under way: attributes", world_file_name[i]);
        expect(expected, world_probe(world, client, NFS3_ACCESS, world_access_args(world, file)),
               row, OTHERS_ASKED, "under way: verdict", world_file_name[i]);
    }
    for (unsigned i = 0; i < WORLD_NAMES; i++) {
        name_text(text, i);
        expect(
            name_during(row, world, i),
            world_probe(world, client, NFS3_LOOKUP, world_lookup_args(world, (enum world_name)i)),
            row, OTHERS_ASKED, "under way: name", text);
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
        stage_tells(
            &asker->client, asker->sent[i],
            world_answer(world, i < FILE_N ? NFS3_ACCESS : NFS3_LOOKUP, asker->sent[i]->args));
}

/* What he was told that overlapped the mutation was not kept. */
static void asker_probes(const struct row *row, enum outcome outcome, const struct world *world,
                         struct asker *asker)
{
    for (unsigned i = 0; i < FILE_N; i++)
        expect(row->objects & 1u << i ? ASKED : SERVED,
               world_probe(world, &asker->client, NFS3_ACCESS,
                           world_access_args(world, (enum world_file)i)),
               row, outcome, "bob's verdict", world_file_name[i]);
}

/* ---- the run ---- */

static const struct rpc_reply failed = {.stat = RPC_MSG_ACCEPTED, .accepted = RPC_SYSTEM_ERR};
static const struct rpc_reply refused = {
    .stat = RPC_MSG_DENIED, .rejected = RPC_AUTH_ERROR, .auth = RPC_AUTH_REJECTEDCRED};

/* The mutation's reply comes, in the way of the outcome. */
static void conclude(enum outcome outcome, struct stage_client *client, struct stage_sent *sent,
                     struct body reply, struct body args)
{
    struct stage *stage = client->worker->stage;
    switch (outcome) {
    case RPC_FAILED:
    case RPC_REFUSED:
        stage_answer_rpc(sent, outcome == RPC_FAILED ? failed : refused);
        assert_non_null(stage_reply_find(client, sent->for_xid));
        return;
    case UNREADABLE:
        reply.len = 4;
        break;
    case CLIENT_LEFT:
        stage_client_leave(client);
        stage_answer(sent, reply);
        return;
    case LOST_AND_RESENT: {
        uint32_t xid = sent->for_xid;
        stage_link_down(stage, 0);
        stage_link_up(stage, 0);
        sent = stage_takes(stage, sent->rpc.procedure, args);
        sent->for_xid = xid;
        break;
    }
    default:
        break;
    }
    stage_tells(client, sent, reply);
}

static void run(const struct row *row, enum outcome outcome, bool shared)
{
    struct stage *stage =
        stage_create(shared ? "coherence = shared\n" : "coherence = exclusive\n", 2);
    struct stage_client mutator, reader;
    struct asker asker;
    struct world before, after;
    stage_client_init(&mutator, stage, 0, alice);
    stage_client_init(&reader, stage, 1, alice);
    stage_client_init(&asker.client, stage, 1, bob);
    world_init(&before);
    world_warm(&before, &mutator);
    if (disturbed(outcome))
        asker_asks(&asker, &before);

    struct body args = row->args(before.file);
    struct stage_sent *sent = stage_asks(&mutator, row->procedure, args);
    after = before;
    execute(&after, row, outcome);
    if (outcome == OTHERS_ASKED) {
        probe_during(row, &before, &reader);
        asker_told(&asker, &before);
    }
    conclude(outcome, &mutator, sent, results(row, &before, &after, what_it_says(outcome)), args);
    stage_quiet(stage);
    if (outcome == OTHERS_ASKED_ACROSS)
        asker_told(&asker, &before);
    probe_after(row, outcome, shared, &after, &reader);
    if (disturbed(outcome))
        asker_probes(row, outcome, &after, &asker);

    stage_client_done(&mutator);
    stage_client_done(&reader);
    stage_client_done(&asker.client);
    stage_destroy(stage);
}

static void run_all(enum outcome outcome)
{
    for (unsigned i = 0; i < track_rows_count; i++) {
        run(&track_rows[i], outcome, false);
        run(&track_rows[i], outcome, true);
    }
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
