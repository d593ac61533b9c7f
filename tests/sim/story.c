/*
 * story: handles are told by their number in the ledger and by what they lead to.
 */
#include "sim/story.h"

#include <stdarg.h>
#include <stdio.h>

#include "proxy/procedure.h"
#include "xdr/rpc.h"

#define TEXTS 256u
#define TEXT  512u

/* This is a test program with one thread, and these are for its messages only. */
static char *next_text(void)
{
    static char text[TEXTS][TEXT];
    static unsigned next;
    char *room = text[next++ % TEXTS];
    room[0] = '\0';
    return room;
}

void story_line(const struct run *run, const char *format, ...)
{
    va_list list;
    printf("%12.6f ", (double)run->now / 1e9);
    va_start(list, format);
    vprintf(format, list);
    va_end(list);
    putchar('\n');
}

static const char *kind_of(enum nfs3_ftype type)
{
    switch (type) {
    case NF3DIR:
        return "dir";
    case NF3LNK:
        return "link";
    case NF3REG:
        return "file";
    default:
        return "node";
    }
}

const char *story_handle(const struct run *run, uint32_t handle)
{
    char *text = next_text();
    struct fs_attr attr;
    if (handle == LEDGER_NO_HANDLE) {
        snprintf(text, TEXT, "no handle");
        return text;
    }
    fs_node node = ledger_handle_node(&run->ledger, handle);
    if (node == 0 || !fs_attr(nfsd_fs(run->nfsd), node, &attr))
        snprintf(text, TEXT, "h%u=gone", handle);
    else
        snprintf(text, TEXT, "h%u=%s%u", handle, kind_of(attr.rights.type), node);
    return text;
}

const char *story_call(const struct run *run, const struct call_read *call)
{
    const struct nfs3_args *args = &call->args;
    bool acl = call->program == FACTS_NFSACL;
    const struct program *program = &programs[acl ? PROGRAM_NFSACL : PROGRAM_NFS];
    char *text = next_text();
    int len = snprintf(text, TEXT, "%s", program->procedures[call->procedure].name);
    if (args->object.len > 0)
        len += snprintf(text + len, TEXT - (size_t)len, " %s",
                        story_handle(run, ledger_handle(&run->ledger, args->object)));
    if (args->name.len > 0)
        len += snprintf(text + len, TEXT - (size_t)len, " %.*s", (int)args->name.len,
                        (const char *)args->name.data);
    if (args->object2.len > 0)
        len += snprintf(text + len, TEXT - (size_t)len, " to %s",
                        story_handle(run, ledger_handle(&run->ledger, args->object2)));
    if (args->name2.len > 0)
        len += snprintf(text + len, TEXT - (size_t)len, " %.*s", (int)args->name2.len,
                        (const char *)args->name2.data);
    if (args->access != 0)
        snprintf(text + len, TEXT - (size_t)len, " 0x%x", args->access);
    return text;
}

const char *story_fattr(const uint8_t *fattr)
{
    char *text = next_text();
    snprintf(text, TEXT, "fileid %llu mode %04o nlink %u uid %u size %llu ctime %u.%09u",
             (unsigned long long)nfs3_fattr_fileid(fattr), nfs3_fattr_mode(fattr),
             nfs3_fattr_nlink(fattr), nfs3_fattr_uid(fattr),
             (unsigned long long)nfs3_fattr_size(fattr),
             (unsigned)(nfs3_fattr_ctime(fattr) >> 32) - (unsigned)(RUN_WALL_START / PLAN_SEC),
             (unsigned)nfs3_fattr_ctime(fattr));
    return text;
}

static int put_fact(const struct run *run, const struct fact *fact, char *text, size_t size)
{
    switch (fact->kind) {
    case FACT_ATTR:
        return snprintf(text, size, "; %s: %s", story_handle(run, fact->handle),
                        story_fattr(fact->fattr));
    case FACT_NAME:
        return snprintf(text, size, "; %s is %s", run->ledger.text[fact->name],
                        fact->absent ? "nothing" : story_handle(run, fact->child));
    case FACT_ACCESS:
        return snprintf(text, size, "; granted 0x%x of 0x%x", fact->granted, fact->asked);
    case FACT_SEARCH:
    case FACT_GONE:
        break;
    }
    return 0;
}

const char *story_facts(const struct run *run, const struct facts *facts)
{
    char *text = next_text();
    if (!facts->accepted) {
        snprintf(text, TEXT, "an RPC error");
        return text;
    }
    const char *name = nfs3_status_name(facts->status);
    int len = snprintf(text, TEXT, "%s", name != NULL ? name : "?");
    for (unsigned i = 0; i < facts->count && len < (int)TEXT - 1; i++)
        len += put_fact(run, &facts->fact[i], text + len, TEXT - (size_t)len);
    return text;
}

void story_told(struct run *run, const struct call_made *call, struct bytes reply, bool local)
{
    struct facts facts;
    if (!run->telling)
        return;
    /* Of names that the run has met already: a run that is told goes as one that is not. */
    facts_of(&facts, &run->ledger, &call->read, reply);
    story_line(run, "c%u is told%s, of number %u: %s", call->client, local ? " from the cache" : "",
               call->number, story_facts(run, &facts));
}
