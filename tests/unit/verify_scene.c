#include "verify_scene.h"

#include <inttypes.h>

struct verify_told verify_told;

static void on_violated(struct engine *engine, const struct violation *violation)
{
    (void)engine;
    verify_told.count++;
    violation_text(violation, verify_told.text, sizeof(verify_told.text));
}

void verify_open(struct scene *s, const char *keys)
{
    scene_open(s, keys);
    verify_told.count = 0;
    for (unsigned i = 0; i < s->stage->workers; i++)
        s->stage->worker[i].engine.violated = on_violated;
}

void expect_counts_at(const struct scene *s, unsigned procedure, const uint64_t expected[6],
                      const char *file, int line)
{
    uint64_t sum[6] = {0};
    for (unsigned i = 0; i < s->stage->workers; i++) {
        const struct verify_counters *c = &s->stage->worker[i].service.counters.verify[procedure];
        const counter *all[] = {&c->verified,   &c->equal,   &c->outdated,
                                &c->violations, &c->unclear, &c->skipped};
        for (unsigned k = 0; k < 6; k++)
            sum[k] += counter_read(all[k]);
    }
    for (unsigned k = 0; k < 6; k++) {
        if (sum[k] == expected[k])
            continue;
        print_error("count %u is %lu, not %lu\n", k, (unsigned long)sum[k],
                    (unsigned long)expected[k]);
        _fail(file, line);
    }
}

struct stage_sent *hit_at(struct stage_client *client, unsigned procedure, struct body args,
                          struct body results, const char *file, int line)
{
    stage_quiet_at(client->worker->stage, file, line);
    uint32_t xid = stage_call(client, procedure, args);
    stage_told_at(client, xid, results, file, line);
    struct stage_sent *sent = stage_takes_at(client->worker->stage, procedure, args, file, line);
    stage_quiet_at(client->worker->stage, file, line);
    return sent;
}

struct stage_sent *hit_getattr(struct stage_client *client, const struct file *file)
{
    return hit(client, NFS3_GETATTR, args_handle(file), res_getattr(&file->attr));
}

void asked_again(struct stage_client *client, const struct file *file)
{
    stage_fetches(client, NFS3_GETATTR, args_handle(file), res_getattr(&file->attr));
}

void still_served(struct stage_client *client, const struct file *file)
{
    stage_answer(hit_getattr(client, file), res_getattr(&file->attr));
}

void verify_warm(struct scene *s)
{
    warm_name(s, "f", &s->f);
    stage_fetches(&s->c1, NFS3_LOOKUP, args_dirop(&s->d, "n"), full_noent(&s->d));
    stage_fetches(&s->c1, NFS3_ACCESS, args_access(&s->f, 0x3f), res_access(&s->f.attr, 0x0d));
}

void verify_set_attributes(struct file *file)
{
    file->attr = (struct attr){.type = NF3REG,
                               .mode = 0640,
                               .nlink = 1,
                               .uid = 1002,
                               .gid = 103,
                               .size = 100,
                               .used = 4096,
                               .rdev = {1, 2},
                               .fsid = 7,
                               .fileid = 2,
                               .atime = TIME(9, 19),
                               .mtime = TIME(10, 20),
                               .ctime = TIME(11, 21)};
}
