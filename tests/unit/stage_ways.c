#include "stage_ways.h"

struct way {
    unsigned procedure;
    uint32_t status;
};

static const struct way ways[WAYS_OF_DIRECTORY] = {
    [BY_GETATTR] = {NFS3_GETATTR, NFS3_OK},
    [BY_ACCESS] = {NFS3_ACCESS, NFS3_OK},
    [BY_FAILED_ACCESS] = {NFS3_ACCESS, NFS3ERR_IO},
    [BY_READ] = {NFS3_READ, NFS3_OK},
    [BY_FAILED_READ] = {NFS3_READ, NFS3ERR_ACCES},
    [BY_READLINK] = {NFS3_READLINK, NFS3_OK},
    [BY_FSSTAT] = {NFS3_FSSTAT, NFS3_OK},
    [BY_FSINFO] = {NFS3_FSINFO, NFS3_OK},
    [BY_PATHCONF] = {NFS3_PATHCONF, NFS3_OK},
    [BY_LOOKUP_CHILD] = {NFS3_LOOKUP, NFS3_OK},
    [BY_READDIRPLUS_ENTRY] = {NFS3_READDIRPLUS, NFS3_OK},
    [BY_LOOKUP_DIR] = {NFS3_LOOKUP, NFS3_OK},
    [BY_NOENT_DIR] = {NFS3_LOOKUP, NFS3ERR_NOENT},
    [BY_FAILED_LOOKUP_DIR] = {NFS3_LOOKUP, NFS3ERR_ACCES},
    [BY_READDIR] = {NFS3_READDIR, NFS3_OK},
    [BY_READDIRPLUS_DIR] = {NFS3_READDIRPLUS, NFS3_OK},
};

static struct body args_of(enum stage_way way, const struct file *file, const struct file *parent,
                           const char *name)
{
    switch (ways[way].procedure) {
    case NFS3_ACCESS:
        return args_access(file, 0x01);
    case NFS3_READ:
        return args_read(file, 0, 9);
    case NFS3_READDIR:
        return args_readdir(file);
    case NFS3_READDIRPLUS:
        return args_readdirplus(way == BY_READDIRPLUS_ENTRY ? parent : file);
    case NFS3_LOOKUP:
        return way == BY_LOOKUP_CHILD ? args_dirop(parent, name) : args_dirop(file, "another name");
    default:
        return args_handle(file);
    }
}

static struct body results_of(enum stage_way way, const struct file *file,
                              const struct file *parent, const char *name)
{
    const struct file another = file_make("handle of another", NF3REG, 99);
    const struct dirent3 page[] = {{name, file, true, true}};
    switch (way) {
    case BY_GETATTR:
        return res_getattr(&file->attr);
    case BY_ACCESS:
        return res_access(&file->attr, 0x01);
    case BY_LOOKUP_CHILD:
        return full_lookup(file, parent);
    case BY_READDIRPLUS_ENTRY:
        return res_readdirplus(&parent->attr, page, 1);
    case BY_LOOKUP_DIR:
        return full_lookup(&another, file);
    case BY_READDIRPLUS_DIR:
        return res_readdirplus(&file->attr, NULL, 0);
    default:
        return res_post_op(ways[way].status, &file->attr);
    }
}

void stage_shows(struct stage_client *client, enum stage_way way, const struct file *file,
                 const struct file *parent, const char *name)
{
    stage_fetches(client, ways[way].procedure, args_of(way, file, parent, name),
                  results_of(way, file, parent, name));
}
