/*
 * nfsd_fixture: makes calls of a server, one at a time, and takes replies apart.
 */
#include "sim/nfsd_fixture.h"

#include <stdio.h>

#define HEADER_LEN 24u /* of a reply that was accepted: xid, type, stat, verifier (2), stat */
#define SECOND     1000000000u

const struct nfsd_options plain = {
    .fs = {.granularity = 1, .fsid = 0x77},
    .boot = 0x626f6f7462656566u, /* "bootbeef" */
    .handle_len = 32,
    .aliases = 1,
    .shows_handles = true,
};

static void tell(struct fixture *fx, const char *what)
{
    size_t len = strlen(fx->told), left = sizeof fx->told - len;
    assert_true((size_t)snprintf(fx->told + len, left, "%s ", what) < left);
}

static void on_node(void *context, fs_node node)
{
    char what[16];
    snprintf(what, sizeof what, "%u", node);
    tell(context, what);
}

static void on_name(void *context, fs_node dir, const char *name)
{
    char what[64];
    snprintf(what, sizeof what, "%u/%s", dir, name);
    tell(context, what);
}

static void on_handle(void *context, struct bytes handle, fs_node node)
{
    char what[32];
    snprintf(what, sizeof what, "h%u=%u", bytes_load_u32(handle.data + handle.len - 4), node);
    tell(context, what);
}

void fixture_options(struct fixture *fx, const struct nfsd_options *options)
{
    struct nfsd_watch watch = {.fs = {.context = fx, .node = on_node, .name = on_name},
                               .handle = on_handle};
    if (fx->nfsd)
        nfsd_destroy(fx->nfsd);
    fx->nfsd = nfsd_create(options, &watch);
    fx->now = 1000ull * SECOND + 5;
    fx->xid = 0;
    fx->connection = 1;
    fx->told[0] = '\0';
}

int fixture_setup(void **state)
{
    struct fixture *fx = calloc(1, sizeof *fx);
    if (!fx)
        return -1;
    fixture_options(fx, &plain);
    *state = fx;
    return 0;
}

int fixture_teardown(void **state)
{
    struct fixture *fx = *state;
    nfsd_destroy(fx->nfsd);
    free(fx);
    return 0;
}

struct draw fixture_draw(const struct fixture *fx)
{
    return draw_of(1, 0, fx->xid, fx->now);
}

void forget_told(struct fixture *fx)
{
    fx->told[0] = '\0';
}

void assert_told(struct fixture *fx, const char *told)
{
    size_t len = strlen(fx->told);
    if (len > 0)
        fx->told[len - 1] = '\0';
    assert_string_equal(fx->told, told);
    forget_told(fx);
}

fs_node make(struct fixture *fx, fs_node dir, const char *name, enum nfs3_ftype type, uint32_t mode)
{
    const struct fs_who who = {.uid = 1000, .gid = 100};
    struct fs_set set = {.mode = true, .mode_value = mode};
    struct fs *fs = nfsd_fs(fx->nfsd);
    fs_node node;
    enum nfs3_status status =
        type == NF3REG
            ? fs_create_file(fs, &who, dir, name, NFS3_GUARDED, &set, NULL, fx->now, &node)
            : fs_make(fs, &who, dir, name, type, &set, 5, fx->now, &node);
    assert_int_equal(status, NFS3_OK);
    forget_told(fx);
    return node;
}

static uint64_t wire_time(uint64_t time)
{
    return TIME(time / SECOND, time % SECOND);
}

struct file file_of(struct fixture *fx, fs_node node)
{
    struct file file = {0};
    struct fs_attr attr;
    struct draw draw = fixture_draw(fx);
    assert_true(fs_attr(nfsd_fs(fx->nfsd), node, &attr));
    file.handle_len = nfsd_handle(fx->nfsd, node, &draw, file.handle).len;
    file.attr = (struct attr){
        .type = attr.rights.type,
        .mode = attr.rights.mode,
        .nlink = attr.nlink,
        .uid = attr.rights.uid,
        .gid = attr.rights.gid,
        .size = attr.size,
        .used = attr.used,
        .fsid = 0x77,
        .fileid = attr.fileid,
        .atime = wire_time(attr.atime),
        .mtime = wire_time(attr.mtime),
        .ctime = wire_time(attr.ctime),
    };
    return file;
}

void execute_again(struct fixture *fx, unsigned procedure, const struct who *who,
                   const struct body *args)
{
    struct body record = stage_record(fx->xid, procedure, who, args);
    fx->now += SECOND;
    nfsd_execute(fx->nfsd, fx->connection, body_bytes(&record), fx->now, fixture_draw(fx),
                 &fx->executed);
}

void execute(struct fixture *fx, unsigned procedure, const struct who *who, const struct body *args)
{
    fx->xid++;
    execute_again(fx, procedure, who, args);
    assert_false(fx->executed.again);
}

struct bytes results(const struct fixture *fx)
{
    struct cursor c = cursor_over(fx->executed.reply, fx->executed.reply_len);
    struct rpc_reply reply;
    assert_true(rpc_reply_decode(&c, &reply));
    assert_int_equal(reply.xid, fx->xid);
    assert_int_equal(reply.stat, RPC_MSG_ACCEPTED);
    assert_int_equal(reply.verf_flavor, RPC_AUTH_NONE);
    assert_int_equal(reply.verf.len, 0);
    assert_int_equal(reply.accepted, RPC_SUCCESS);
    return (struct bytes){fx->executed.reply + HEADER_LEN, fx->executed.reply_len - HEADER_LEN};
}

uint32_t status_of(const struct fixture *fx)
{
    return bytes_load_u32(results(fx).data);
}

void assert_results(const struct fixture *fx, const struct body *expected)
{
    struct bytes got = results(fx);
    assert_int_equal(got.len, expected->len);
    assert_memory_equal(got.data, expected->data, got.len);
}

struct nfs3_res decoded(const struct fixture *fx, nfs3_res_decoder *decode)
{
    struct bytes got = results(fx);
    struct cursor c = cursor_over(got.data, got.len);
    struct nfs3_res res;
    assert_true(decode(&c, &res));
    if (res.status != NFS3_OK)
        assert_int_equal(cursor_left(&c), 0);
    return res;
}

void assert_attr_is(const uint8_t *fattr, const struct file *file)
{
    struct body expected = {0};
    body_attr(&expected, &file->attr);
    assert_non_null(fattr);
    assert_memory_equal(fattr, expected.data, NFS3_FATTR_LEN);
}
