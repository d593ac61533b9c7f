#include "e2e/field_scene.h"

#include <errno.h>
#include <stdio.h>

void scene_renew(struct scene *scene)
{
    struct world *world = &scene->world;
    unsigned number = ++scene->field->worlds;
    world_init(world);
    for (unsigned i = 0; i < WORLD_FILES; i++) {
        struct file *file = &world->file[i];
        int len = snprintf((char *)file->handle, sizeof file->handle, "world %u, file %s", number,
                           world_file_name[i]);
        file->handle_len = (uint32_t)len;
        file->attr.fileid += (uint64_t)number << 16;
    }
}

void scene_open(struct scene *scene, struct field *field, enum field_service service)
{
    *scene = (struct scene){.field = field, .service = service};
    field_connect(&scene->c1, field, service, alice);
    field_connect(&scene->c2, field, service, alice);
    field_connect(&scene->c3, field, service, bob);
    scene_renew(scene);
}

void scene_close(struct scene *scene)
{
    field_leave(&scene->c1);
    field_leave(&scene->c2);
    field_leave(&scene->c3);
}

struct question ask_getattr(const struct scene *scene, enum world_file file)
{
    return (struct question){NFS3_GETATTR, world_getattr_args(&scene->world, file)};
}

struct question ask_access(const struct scene *scene, enum world_file file)
{
    return (struct question){NFS3_ACCESS, world_access_args(&scene->world, file)};
}

struct question ask_lookup(const struct scene *scene, enum world_name name)
{
    return (struct question){NFS3_LOOKUP, world_lookup_args(&scene->world, name)};
}

struct body scene_answer(const struct scene *scene, const struct field_client *client,
                         struct question question)
{
    return world_answer(&scene->world, client->who.uid, question.procedure,
                        body_bytes(&question.args));
}

bool scene_sees_at(struct scene *scene, struct field_client *client, struct question question)
{
    return field_sees_at(client, question.procedure, question.args,
                         scene_answer(scene, client, question));
}

void scene_fetches_at(struct scene *scene, struct field_client *client, struct question question)
{
    field_fetches_at(client, question.procedure, question.args,
                     scene_answer(scene, client, question));
}

void scene_serves_at(struct scene *scene, struct field_client *client, struct question question)
{
    field_serves_at(client, question.procedure, question.args,
                    scene_answer(scene, client, question));
}

/* ---- mutations ---- */

/* What the proxy asks for its own purposes. */
static bool is_question(const struct fake_call *call)
{
    unsigned procedure = field_procedure(call);
    return procedure == NFS3_LOOKUP || procedure == NFS3_GETATTR;
}

static void answer_question(const struct scene *scene, const struct fake_call *call)
{
    field_answer(call, world_answer(&scene->world, field_who(call).uid, field_procedure(call),
                                    field_args(call)));
}

void scene_takes_at(struct scene *scene, struct field_client *client, unsigned procedure,
                    struct body args, struct field_held *held)
{
    struct field *field = scene->field;
    *held = (struct field_held){.client = client};
    held->xid = field_call(client, procedure, args);
    while (field_next(field, &held->call) && is_question(&held->call))
        answer_question(scene, &held->call);
    if (!field->failed)
        field_is(field, &held->call, procedure, &args);
}

void scene_tells_at(struct scene *scene, struct field_held *held, struct body results)
{
    struct field *field = scene->field;
    field_answer(&held->call, results);
    while (!field->failed) {
        int err =
            fake_server_next_or(&field->server, &field->call, held->client->fd, FIELD_WAIT_MS);
        if (err == -EAGAIN)
            break;
        field_check(field, err == 0, "neither the reply nor a question comes");
        field_check(field, err != 0 || is_question(&field->call), "no question: procedure %u",
                    field_procedure(&field->call));
        field_untold_at(held->client, held->xid);
        if (!field->failed)
            answer_question(scene, &field->call);
    }
    field_told_at(held->client, held->xid, RPC_SUCCESS, results);
    field_free(held);
}

void scene_passes_at(struct scene *scene, struct field_client *client, unsigned procedure,
                     struct body args, struct body results)
{
    struct field_held held;
    scene_takes_at(scene, client, procedure, args, &held);
    scene_tells_at(scene, &held, results);
}
