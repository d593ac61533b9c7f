/*
 * stage_probe: a question that clients ask again and again, with what the server says to it: is it
 * answered from the cache, and until when?
 */
#ifndef UNIT_STAGE_PROBE_H
#define UNIT_STAGE_PROBE_H

#include "stage_scene.h"

#define STAGE_MSEC   (STAGE_SECOND / 1000)
#define LENGTH_OF(a) (sizeof(a) / sizeof((a)[0]))

struct probe {
    unsigned procedure;
    struct body args, results;
};

static inline struct probe probe_getattr(const struct file *file)
{
    return (struct probe){NFS3_GETATTR, args_handle(file), res_getattr(&file->attr)};
}

/* All bits are asked for. */
static inline struct probe probe_access(const struct file *file, uint32_t granted)
{
    return (struct probe){NFS3_ACCESS, args_access(file, 0x3f), res_access(&file->attr, granted)};
}

/* `child` NULL: it is not there. */
static inline struct probe probe_name(const struct file *dir, const char *name,
                                      const struct file *child)
{
    return (struct probe){NFS3_LOOKUP, args_dirop(dir, name),
                          child != NULL ? full_lookup(child, dir) : full_noent(dir)};
}

/* The cache answers the client. */
#define probe_serves(client, ...) probe_serves_at((client), (__VA_ARGS__), __FILE__, __LINE__)
/* The server is asked, and the client gets its answer. */
#define probe_fetches(client, ...) probe_fetches_at((client), (__VA_ARGS__), __FILE__, __LINE__)
/*
 * For `age` ns from now, to the last one, the cache answers every client with `old`; then the server
 * is asked, and what it says is told to everybody at once. Afterwards the clock stands there.
 */
#define probe_lasts(scene, age, old, now) \
    probe_lasts_at((scene), (age), (old), (now), __FILE__, __LINE__)

static inline void probe_serves_at(struct stage_client *client, struct probe probe,
                                   const char *file, int line)
{
    stage_serves_at(client, probe.procedure, probe.args, probe.results, file, line);
}

static inline void probe_fetches_at(struct stage_client *client, struct probe probe,
                                    const char *file, int line)
{
    stage_fetches_at(client, probe.procedure, probe.args, probe.results, file, line);
}

static inline void probe_lasts_at(struct scene *s, uint64_t age, struct probe old, struct probe now,
                                  const char *file, int line)
{
    stage_advance(s->stage, age - 1);
    probe_serves_at(&s->c1, old, file, line);
    probe_serves_at(&s->c2, old, file, line);
    stage_advance(s->stage, 1);
    probe_fetches_at(&s->c2, now, file, line);
    probe_serves_at(&s->c1, now, file, line);
}

/* The server is asked for the file's attributes whatever is cached: FSINFO is never answered here. */
static inline void scene_revalidate(struct scene *s, const struct file *file)
{
    stage_fetches(&s->c1, NFS3_FSINFO, args_handle(file), res_post_op(NFS3_OK, &file->attr));
}

#endif
