/*
 * Every mutation, with everything that a server may make of it, against everything that is cached.
 *
 * The rule: once its client has the reply, nobody is told anything older than the server's state now. While it is under
 * way, what it touches is asked of the server each time. What it does not touch is served all the while: coherence is not
 * to be bought by forgetting everything.
 *
 * The server changes all attributes and verdicts of what a mutation touches: whatever is old differs in its octets.
 */
#include "e2e/field_cases.h"

#include <stdio.h>

#include "unit/track_outcome.h"

/* ---- what a server may make of a mutation ---- */

enum way {
    AT_ONCE,
    OTHERS_ASK,    /* the reply is held meanwhile */
    LOST_EXECUTED, /* the mutation is executed, and the connection ends in place of the reply */
    LOST_BEFORE,   /* the connection ends before it is executed */
};

struct manner {
    const char *title;
    enum way way;
    struct says says; /* what its reply holds: a status; attributes? a handle? */
    bool nothing;     /* is changed */
    bool creates;     /* makes a difference only where the reply can hold a handle */
    bool again;       /* executed twice: the error is that of a name which is gone, or there */
    bool lingers;     /* handles of what is gone still lead to it */
};

static const struct manner manners[] = {
    {.title = "success", .says = {NFS3_OK, true, true}},
    {.title = "success without attributes", .says = {NFS3_OK, false, true}},
    {.title = "success without a handle", .says = {NFS3_OK, true, false}, .creates = true},
    {.title = "success without either", .says = {NFS3_OK, false, false}, .creates = true},
    {.title = "success, and what is gone still has its handle",
     .says = {NFS3_OK, true, true},
     .lingers = true},
    {.title = "an error with the change made (K03)", .says = {NFS3ERR_IO, false, false}},
    {.title = "an error with the change made and shown", .says = {NFS3ERR_IO, true, false}},
    {.title = "an error with nothing changed", .says = {NFS3ERR_IO, false, false}, .nothing = true},
    {.title = "an error with nothing changed, as shown",
     .says = {NFS3ERR_IO, true, false},
     .nothing = true},
    {.title = "success, held while others ask", .says = {NFS3_OK, true, true}, .way = OTHERS_ASK},
    {.title = "an error with the change made, held while others ask",
     .says = {NFS3ERR_IO, false, false},
     .way = OTHERS_ASK},
    {.title = "reply lost, executed (K03)", .says = {NFS3_OK, true, true}, .way = LOST_EXECUTED},
    {.title = "reply lost, executed twice",
     .says = {NFS3_OK, false, false},
     .way = LOST_EXECUTED,
     .again = true},
    {.title = "reply lost, not executed", .says = {NFS3_OK, true, true}, .way = LOST_BEFORE},
};

/* ---- a run ---- */

#define QUESTIONS (FILE_N + WORLD_NAMES)

/* Somebody to whom nothing was said yet: all that he asks goes to the server. */
struct asker {
    struct field_client client;
    struct field_held held[QUESTIONS];
};

struct run {
    const struct row *row;
    const struct manner *manner;
    struct scene scene;
    struct world before;
    struct asker carol, dave;
};

enum expected {
    SERVED,
    ASKED,
    EITHER, /* what is said is right, in any case */
};

static bool lost(const struct run *run)
{
    return run->manner->way == LOST_EXECUTED || run->manner->way == LOST_BEFORE;
}

static bool touches(const struct run *run, unsigned file)
{
    return run->row->objects & 1u << file;
}

/* A LOOKUP's reply shows the directory and what is in it, too. */
static bool touches_around(const struct run *run, unsigned name)
{
    enum world_file child = run->before.child[name];
    return touches(run, world_place[name].dir) || (child != NOTHING && touches(run, child));
}

static enum expected file_during(const struct run *run, unsigned file)
{
    if (touches(run, file))
        return ASKED;
    return lost(run) ? EITHER : SERVED;
}

static enum expected name_during(const struct run *run, unsigned name)
{
    if (run->row->names & 1u << name || touches_around(run, name))
        return ASKED;
    return lost(run) ? EITHER : SERVED;
}

static enum expected file_after(const struct run *run, unsigned file)
{
    return touches(run, file) || file == FILE_N || lost(run) ? EITHER : SERVED;
}

/* Of a directory that is only behind a name, or moved, the reply says nothing. */
static bool is_argument(const struct row *row, enum world_file dir)
{
    bool two = row->shape == SHAPE_RENAME || row->shape == SHAPE_LINK;
    return (unsigned)dir == row->object || (two && (unsigned)dir == row->object2);
}

static enum expected name_after(const struct run *run, unsigned name)
{
    bool dir = touches(run, world_place[name].dir);
    if (run->row->names & 1u << name || run->row->emptied & 1u << world_place[name].dir ||
        lost(run))
        return EITHER;
    /* What others were told meanwhile of the things around it may have been too new. */
    if (run->manner->way == OTHERS_ASK && touches_around(run, name))
        return EITHER;
    /* Without wcc_data nobody knows whether others changed the directory. */
    bool shared = run->scene.service == FIELD_SHARED;
    bool told = run->manner->says.attributes && is_argument(run->row, world_place[name].dir);
    return shared && dir && !told ? EITHER : SERVED;
}

static void probe(struct run *run, struct field_client *client, struct question question,
                  enum expected expected)
{
    bool asked = scene_sees(&run->scene, client, question);
    field_check(run->scene.field, expected == EITHER || asked == (expected == ASKED), "%s",
                asked ? "asked, and need not be" : "served, and must not be");
}

typedef enum expected expectation(const struct run *run, unsigned thing);

static void probe_files(struct run *run, struct field_client *client, bool verdicts, unsigned count,
                        expectation *of)
{
    char text[64];
    for (unsigned i = 0; i < count; i++) {
        struct question question = verdicts ? ask_access(&run->scene, (enum world_file)i)
                                            : ask_getattr(&run->scene, (enum world_file)i);
        snprintf(text, sizeof text, "uid %u, %s of %s: ", client->who.uid,
                 verdicts ? "verdict" : "attributes", world_file_name[i]);
        run->scene.field->of = text;
        probe(run, client, question, of(run, i));
        run->scene.field->of = "";
    }
}

static void probe_names(struct run *run, struct field_client *client, expectation *of)
{
    char text[64];
    for (unsigned i = 0; i < WORLD_NAMES; i++) {
        snprintf(text, sizeof text, "uid %u, name %s/%s: ", client->who.uid,
                 world_file_name[world_place[i].dir], world_place[i].text);
        run->scene.field->of = text;
        probe(run, client, ask_lookup(&run->scene, (enum world_name)i), of(run, i));
        run->scene.field->of = "";
    }
}

/* Attributes first: where these are fresh, a verdict or a name that is asked for was really dropped. */
static void probe_all(struct run *run, unsigned files, expectation *of_file, expectation *of_name)
{
    struct field_client *alice_too = &run->scene.c2, *other = &run->scene.c3;
    probe_files(run, alice_too, false, files, of_file);
    probe_files(run, alice_too, true, files, of_file);
    probe_files(run, other, true, files, of_file);
    probe_names(run, alice_too, of_name);
    probe_names(run, other, of_name);
}

static enum expected first_time(const struct run *run, unsigned thing)
{
    (void)run;
    (void)thing;
    return EITHER;
}

static enum expected is_there(const struct run *run, unsigned thing)
{
    (void)run;
    (void)thing;
    return SERVED;
}

static void warm(struct run *run)
{
    probe_all(run, FILE_N, first_time, first_time);
    probe_all(run, FILE_N, is_there, is_there);
}

/* ---- others ask ---- */

static struct question asker_question(const struct run *run, unsigned i)
{
    return i < FILE_N ? ask_access(&run->scene, (enum world_file)i)
                      : ask_lookup(&run->scene, (enum world_name)(i - FILE_N));
}

static void asker_asks(struct run *run, struct asker *asker)
{
    for (unsigned i = 0; i < QUESTIONS; i++) {
        struct question question = asker_question(run, i);
        field_asks(&asker->client, question.procedure, question.args, &asker->held[i]);
    }
}

/* The server had looked before the mutation was executed. */
static void asker_told(struct run *run, struct asker *asker)
{
    for (unsigned i = 0; i < QUESTIONS; i++) {
        struct question question = asker_question(run, i);
        struct body old = world_answer(&run->before, asker->client.who.uid, question.procedure,
                                       body_bytes(&question.args));
        field_tells(&asker->held[i], old);
    }
}

static void askers_probe(struct run *run)
{
    struct asker *askers[] = {&run->carol, &run->dave};
    for (unsigned i = 0; i < 2; i++) {
        probe_files(run, &askers[i]->client, true, FILE_N, first_time);
        probe_names(run, &askers[i]->client, first_time);
    }
}

/* ---- the mutation ---- */

static void execute(struct run *run)
{
    struct world *world = &run->scene.world;
    if (run->manner->nothing)
        return;
    outcome_change(world, run->row);
    outcome_move(world, run->row);
    if (!run->manner->lingers)
        return;
    for (unsigned i = 0; i < WORLD_FILES; i++) {
        if (run->row->stale & 1u << i)
            world->gone[i] = false;
    }
    for (unsigned i = 0; i < WORLD_NAMES; i++) {
        if (run->row->emptied & 1u << world_place[i].dir)
            world->child[i] = NOTHING;
    }
}

static struct body reply(const struct run *run)
{
    struct says says = run->manner->says;
    bool adds = run->row->shape == SHAPE_CREATE || run->row->shape == SHAPE_LINK;
    if (run->manner->again && run->row->names != 0)
        says.status = adds ? NFS3ERR_EXIST : NFS3ERR_NOENT;
    return outcome_results(run->row, &run->before, &run->scene.world, says);
}

static void mutate(struct run *run)
{
    struct field_held held;
    enum way way = run->manner->way;
    if (way == OTHERS_ASK)
        asker_asks(run, &run->carol);
    scene_takes(&run->scene, &run->scene.c1, run->row->procedure, run->row->args(run->before.file),
                &held);
    if (way == LOST_EXECUTED)
        execute(run);
    if (lost(run))
        field_loses(&held);
    if (way != AT_ONCE)
        probe_all(run, FILE_N, file_during, name_during);
    if (way == OTHERS_ASK)
        asker_asks(run, &run->dave);
    if (way != LOST_EXECUTED)
        execute(run);
    scene_tells(&run->scene, &held, reply(run));
    if (way != OTHERS_ASK)
        return;
    asker_told(run, &run->carol);
    asker_told(run, &run->dave);
}

static void run_one(struct field *field, enum field_service service, const struct row *row,
                    const struct manner *manner)
{
    static const struct who carol = {.flavor = RPC_AUTH_SYS, .uid = 3000, .gid = 100};
    static const struct who dave = {.flavor = RPC_AUTH_SYS, .uid = 4000, .gid = 100};
    struct run run = {.row = row, .manner = manner};
    scene_open(&run.scene, field, service);
    field_connect(&run.carol.client, field, service, carol);
    field_connect(&run.dave.client, field, service, dave);
    run.before = run.scene.world;

    warm(&run);
    mutate(&run);
    probe_all(&run, WORLD_FILES, file_after, name_after);
    if (manner->way == OTHERS_ASK)
        askers_probe(&run);

    field_leave(&run.carol.client);
    field_leave(&run.dave.client);
    scene_close(&run.scene);
}

static bool applies(const struct manner *manner, const struct row *row)
{
    return (!manner->creates || row->shape == SHAPE_CREATE) &&
           (!manner->lingers || row->stale != 0);
}

void field_matrix(struct field *field)
{
    for (unsigned r = 0; r < track_rows_count; r++) {
        for (unsigned m = 0; m < sizeof manners / sizeof manners[0]; m++) {
            if (!applies(&manners[m], &track_rows[r]))
                continue;
            field_begin(field, "%s: %s", track_rows[r].title, manners[m].title);
            run_one(field, FIELD_SHARED, &track_rows[r], &manners[m]);
            run_one(field, FIELD_EXCLUSIVE, &track_rows[r], &manners[m]);
            field_end(field);
        }
    }
}
