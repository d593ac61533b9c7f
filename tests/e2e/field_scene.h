/*
 * field_scene: what most of the field's cases begin with: three clients, and a small world of files that is the server's
 * truth (unit/stage_world.h).
 *
 * A case changes the world, and has clients ask: whatever they are told must be what the world says now.
 */
#ifndef E2E_FIELD_SCENE_H
#define E2E_FIELD_SCENE_H

#include "e2e/field.h"
#include "unit/stage_world.h"

struct scene {
    struct field *field;
    enum field_service service;
    struct field_client c1, c2; /* both alice */
    struct field_client c3;     /* bob */
    struct world world;
};

void scene_open(struct scene *scene, struct field *field, enum field_service service);
void scene_close(struct scene *scene);
/* The same, once more, with files that nobody has seen. */
void scene_renew(struct scene *scene);

static inline struct wcc wcc_full(const struct file *before, const struct file *after)
{
    return (struct wcc){&before->attr, &after->attr};
}

static const struct wcc wcc_none;

static inline struct file *scene_file(struct scene *scene, enum world_file file)
{
    return &scene->world.file[file];
}

/* What a client can ask of the world. */
struct question {
    unsigned procedure;
    struct body args;
};

struct question ask_getattr(const struct scene *scene, enum world_file file);
struct question ask_access(const struct scene *scene, enum world_file file); /* all bits */
struct question ask_lookup(const struct scene *scene, enum world_name name);

/* What the world says to that client now. */
struct body scene_answer(const struct scene *scene, const struct field_client *client,
                         struct question question);

/* As field_sees, field_fetches and field_serves, of what the world says. */
#define scene_sees(scene, client, question) \
    (FIELD_HERE((scene)->field), scene_sees_at((scene), (client), (question)))
#define scene_fetches(scene, client, question) \
    (FIELD_HERE((scene)->field), scene_fetches_at((scene), (client), (question)))
#define scene_serves(scene, client, question) \
    (FIELD_HERE((scene)->field), scene_serves_at((scene), (client), (question)))

/* The server gets this mutation; what the proxy asks it before is answered. */
#define scene_takes(scene, client, procedure, args, held) \
    (FIELD_HERE((scene)->field), scene_takes_at((scene), (client), (procedure), (args), (held)))
/* The server answers it, and what the proxy asks then; the client is told only after that. */
#define scene_tells(scene, held, results) \
    (FIELD_HERE((scene)->field), scene_tells_at((scene), (held), (results)))
/* Both of these. */
#define scene_passes(scene, client, procedure, args, results) \
    (FIELD_HERE((scene)->field), scene_passes_at((scene), (client), (procedure), (args), (results)))

bool scene_sees_at(struct scene *scene, struct field_client *client, struct question question);
void scene_fetches_at(struct scene *scene, struct field_client *client, struct question question);
void scene_serves_at(struct scene *scene, struct field_client *client, struct question question);
void scene_takes_at(struct scene *scene, struct field_client *client, unsigned procedure,
                    struct body args, struct field_held *held);
void scene_tells_at(struct scene *scene, struct field_held *held, struct body results);
void scene_passes_at(struct scene *scene, struct field_client *client, unsigned procedure,
                     struct body args, struct body results);

#endif
