/*
 * stage_scene: what most tests of calls begin with: two clients on two workers, and a directory d
 * with the files f and g.
 */
#ifndef UNIT_STAGE_SCENE_H
#define UNIT_STAGE_SCENE_H

#include "stage.h"

#include "xdr/nfsacl3.h"

#define SETACL (STAGE_NFSACL + NFSACL3_SETACL)
#define GETACL (STAGE_NFSACL + NFSACL3_GETACL)

#define EXCLUSIVE "coherence = exclusive\n"
#define SHARED    "coherence = shared\n"

struct scene {
    struct stage *stage;
    struct stage_client c1, c2; /* both alice */
    struct file d, f, g;
};

static inline void scene_open(struct scene *scene, const char *keys)
{
    scene->stage = stage_create(keys, 2);
    stage_client_init(&scene->c1, scene->stage, 0, alice);
    stage_client_init(&scene->c2, scene->stage, 1, alice);
    scene->d = file_make("handle of d", NF3DIR, 1);
    scene->f = file_make("handle of f", NF3REG, 2);
    scene->g = file_make("handle of g", NF3REG, 3);
}

static inline void scene_close(struct scene *scene)
{
    stage_client_done(&scene->c1);
    stage_client_done(&scene->c2);
    stage_destroy(scene->stage);
}

/* Results that say all that there is to say. */
static inline struct body full_lookup(const struct file *child, const struct file *dir)
{
    return res_lookup(child, &child->attr, &dir->attr);
}

static inline struct body full_noent(const struct file *dir)
{
    return res_post_op(NFS3ERR_NOENT, &dir->attr);
}

static inline struct wcc full_wcc(const struct file *before, const struct file *after)
{
    return (struct wcc){&before->attr, &after->attr};
}

static const struct wcc no_wcc;

/* The cache learns: d/name leads to `child`. */
static inline void warm_name(struct scene *scene, const char *name, const struct file *child)
{
    stage_fetches(&scene->c1, NFS3_LOOKUP, args_dirop(&scene->d, name),
                  full_lookup(child, &scene->d));
}

static inline void warm_attributes(struct scene *scene, const struct file *file)
{
    stage_fetches(&scene->c1, NFS3_GETATTR, args_handle(file), res_getattr(&file->attr));
}

#endif
