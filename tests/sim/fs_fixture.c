/*
 * fs_fixture: notes what is told, so that a test can say all of it.
 */
#include "sim/fs_fixture.h"

#include <stdio.h>
#include <stdlib.h>

const struct fs_who root = {.uid = 0};
const struct fs_who alice = {.uid = 1000, .gid = 100};
const struct fs_who bob = {.uid = 2000, .gid = 200, .group_count = 1, .groups = {300}};

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

void fixture_options(struct fixture *fx, struct fs_options options)
{
    struct fs_watch watch = {.context = fx, .node = on_node, .name = on_name};
    if (fx->fs)
        fs_destroy(fx->fs);
    fx->fs = fs_create(&options, &watch);
}

int fixture_setup(void **state)
{
    struct fixture *fx = calloc(1, sizeof *fx);
    if (!fx)
        return -1;
    fx->now = 1000;
    fixture_options(fx, (struct fs_options){.granularity = 10, .fsid = 7});
    *state = fx;
    return 0;
}

int fixture_teardown(void **state)
{
    struct fixture *fx = *state;
    fs_destroy(fx->fs);
    free(fx);
    return 0;
}

void assert_told(struct fixture *fx, const char *told)
{
    size_t len = strlen(fx->told);
    if (len > 0)
        fx->told[len - 1] = '\0';
    assert_string_equal(fx->told, told);
    fx->told[0] = '\0';
}

fs_node make_file(struct fixture *fx, fs_node dir, const char *name, uint32_t mode)
{
    struct fs_set set = {.mode = true, .mode_value = mode};
    fs_node node;
    fx->now += 100;
    assert_int_equal(
        fs_create_file(fx->fs, &alice, dir, name, NFS3_GUARDED, &set, NULL, fx->now, &node),
        NFS3_OK);
    fx->told[0] = '\0';
    return node;
}

fs_node make_dir(struct fixture *fx, fs_node dir, const char *name, uint32_t mode)
{
    struct fs_set set = {.mode = true, .mode_value = mode};
    fs_node node;
    fx->now += 100;
    assert_int_equal(fs_make(fx->fs, &alice, dir, name, NF3DIR, &set, 0, fx->now, &node), NFS3_OK);
    fx->told[0] = '\0';
    return node;
}

struct fs_attr attr_of(const struct fixture *fx, fs_node node)
{
    struct fs_attr attr;
    assert_true(fs_attr(fx->fs, node, &attr));
    return attr;
}

bool is_gone(const struct fixture *fx, fs_node node)
{
    struct fs_attr attr;
    return !fs_attr(fx->fs, node, &attr);
}

void assert_times(const struct fixture *fx, fs_node node, uint64_t atime, uint64_t mtime,
                  uint64_t ctime)
{
    struct fs_attr attr = attr_of(fx, node);
    assert_int_equal(attr.atime, atime);
    assert_int_equal(attr.mtime, mtime);
    assert_int_equal(attr.ctime, ctime);
}
