#include "vm/tree_steps.h"

#include "vm/model_check.h"
#include "vm/replay.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define WRITE_MAX 6000u

/* A place, and the path of it while the step lasts. */
struct place {
    struct spot at;
    struct node *node;
    char path[PATH_MAX];
};

static struct node *some_folder(struct tree *t)
{
    struct node *folder;
    do
        folder = &t->model.nodes[draw(&t->draw, MODEL_NODES)];
    while (folder->kind != FOLDER);
    return folder;
}

/* Mostly where something is: of the kind that is asked for (FREE: any), if a few tries find one. */
static void pick(struct tree *t, struct place *p, enum kind kind)
{
    p->at = (struct spot){some_folder(t), draw(&t->draw, MODEL_NAMES)};
    if (draw(&t->draw, 8) != 0) {
        for (unsigned i = 0; i < 400; i++) {
            const struct entry *e = &t->model.entries[draw(&t->draw, MODEL_ENTRIES)];
            if (e->node != NULL && (kind == FREE || e->node->kind == kind)) {
                p->at = e->at;
                break;
            }
        }
    }
    p->node = model_find(&t->model, p->at);
    spot_path(&t->model, p->at, p->path, sizeof p->path);
}

/* A place for something new: mostly where nothing is. */
static void pick_new(struct tree *t, struct place *p)
{
    do {
        p->at = (struct spot){some_folder(t), draw(&t->draw, MODEL_NAMES)};
        p->node = model_find(&t->model, p->at);
    } while (p->node != NULL && draw(&t->draw, 6) != 0);
    spot_path(&t->model, p->at, p->path, sizeof p->path);
}

/* The operation was done, or refused, as it had to be. `again` is what it says when it was done before. */
static void outcome(int result, int error, int again, const char *what)
{
    if (error == 0 && again == 0)
        hold(result != -1, "%s failed", what);
    else if (error == 0)
        hold(replay_success(result, again), "%s failed", what);
    else
        hold(result == -1 && errno == error, "%s: result %d, not the error %s", what, result,
             strerror(error));
}

static void changed(struct tree *t, struct spot at, bool contents)
{
    t->changed[t->changed_count++ % SPOTS_MAX] = at;
    if (t->apply)
        check_spot(&t->model, at, contents);
}

static int apply_create(const struct place *p, int flags, mode_t mode, int error)
{
    int fd = open(p->path, O_WRONLY | O_CREAT | O_NOFOLLOW | flags, mode);
    outcome(fd, error, 0, "open");
    return fd;
}

/* New octets at one place of a file; where that is behind the end, zeros come in between. */
static void new_octets(struct tree *t, struct node *file, size_t offset, size_t length)
{
    if (offset + length > file->size)
        model_resize(file, offset + length);
    for (size_t i = 0; i < length; i += 4) {
        uint32_t octets = draw(&t->draw, UINT32_MAX);
        memcpy(file->octets + offset + i, &octets, length - i < 4 ? length - i : 4);
    }
    file->timed = false;
}

/* Opened as it comes, which may make or empty it, and written once. */
static void step_write(struct tree *t, bool fresh)
{
    static const int ways[] = {0, 0, O_TRUNC, O_APPEND, O_EXCL, O_SYNC};
    struct place p;
    int flags = ways[draw(&t->draw, 6)];
    mode_t mode = draw(&t->draw, 01000);
    if (fresh)
        pick_new(t, &p);
    else
        pick(t, &p, FILE_);
    size_t length = draw(&t->draw, WRITE_MAX), offset = draw(&t->draw, MODEL_OCTETS - WRITE_MAX);
    int error = model_create_error(&t->model, p.at, flags == O_EXCL);
    note("write %s: flags %o mode %o, %zu octets at %zu", p.path, flags, mode, length, offset);
    if (error == 0 && p.node == NULL && model_full(&t->model))
        return;
    int fd = t->apply ? apply_create(&p, flags, mode, error) : -1;
    if (error != 0)
        return;
    struct node *file = p.node != NULL ? p.node : model_make(&t->model, p.at, FILE_, mode);
    if (flags == O_TRUNC)
        model_resize(file, 0);
    if (flags == O_APPEND)
        offset = file->size;
    if (length > MODEL_OCTETS - offset)
        length = MODEL_OCTETS - offset;
    if (length > 0)
        new_octets(t, file, offset, length);
    if (t->apply) {
        ssize_t n = flags == O_APPEND ? write(fd, file->octets + offset, length)
                                      : pwrite(fd, file->octets + offset, length, (off_t)offset);
        hold(n == (ssize_t)length, "%zd octets were written, not %zu", n, length);
        hold(close(fd) == 0, "close");
    }
    changed(t, p.at, true);
}

static void step_truncate(struct tree *t)
{
    struct place p;
    pick(t, &p, FILE_);
    size_t size = draw(&t->draw, MODEL_OCTETS);
    int error = p.node == NULL || p.node->kind == LINK ? ENOENT
                : p.node->kind == FOLDER               ? EISDIR
                                                       : 0;
    note("truncate %s to %zu", p.path, size);
    if (t->apply)
        outcome(truncate(p.path, (off_t)size), error, 0, "truncate");
    if (error != 0)
        return;
    model_resize(p.node, size);
    changed(t, p.at, true);
}

static void step_make(struct tree *t, enum kind kind)
{
    struct place p;
    char target[sizeof p.node->target];
    pick_new(t, &p);
    mode_t mode = draw(&t->draw, 01000);
    snprintf(target, sizeof target, "nowhere/%u", draw(&t->draw, 1000000));
    int error = model_make_error(&t->model, p.at);
    note("%s %s: mode %o, target %s", kind == FOLDER ? "mkdir" : "symlink", p.path, mode, target);
    if (error == 0 && (model_full(&t->model) || model_depth(&t->model, p.at.folder) >= MODEL_DEPTH))
        return;
    if (t->apply)
        outcome(kind == FOLDER ? mkdir(p.path, mode) : symlink(target, p.path), error, EEXIST,
                kind == FOLDER ? "mkdir" : "symlink");
    if (error != 0)
        return;
    struct node *node = model_make(&t->model, p.at, kind, mode);
    memcpy(node->target, target, sizeof target);
    changed(t, p.at, true);
}

static void step_link(struct tree *t)
{
    struct place from, to;
    pick(t, &from, FILE_);
    pick_new(t, &to);
    int error = model_link_error(&t->model, from.at, to.at);
    if ((from.node != NULL && from.node->kind == LINK) || (error == 0 && model_full(&t->model)))
        return;
    note("link %s to %s", from.path, to.path);
    if (t->apply)
        outcome(link(from.path, to.path), error, EEXIST, "link");
    if (error != 0)
        return;
    model_link(&t->model, from.node, to.at);
    changed(t, from.at, false);
    changed(t, to.at, false);
}

/* A folder with all that is below it may become too deep; that is one more level at a time, and rare. */
static void step_rename(struct tree *t)
{
    struct place from, to;
    pick(t, &from, FREE);
    if (draw(&t->draw, 3) == 0)
        pick(t, &to, from.node == NULL ? FREE : from.node->kind);
    else
        pick_new(t, &to);
    int error = model_rename_error(&t->model, from.at, to.at);
    if (error == 0 && from.node->kind == FOLDER &&
        model_depth(&t->model, to.at.folder) >= MODEL_DEPTH - 1)
        return;
    note("rename %s to %s", from.path, to.path);
    if (t->apply)
        outcome(rename(from.path, to.path), error, ENOENT, "rename");
    if (error != 0)
        return;
    model_rename(&t->model, from.at, to.at);
    changed(t, to.at, true);
    changed(t, from.at, false);
}

static void step_remove(struct tree *t, bool folder)
{
    struct place p;
    pick(t, &p, folder ? FOLDER : FREE);
    int error = folder ? model_rmdir_error(&t->model, p.at) : model_unlink_error(&t->model, p.at);
    note("%s %s", folder ? "rmdir" : "unlink", p.path);
    if (t->apply)
        outcome(folder ? rmdir(p.path) : unlink(p.path), error, ENOENT,
                folder ? "rmdir" : "unlink");
    if (error != 0)
        return;
    model_remove(&t->model, p.at);
    changed(t, p.at, false);
}

static void step_chmod(struct tree *t)
{
    struct place p;
    pick(t, &p, FREE);
    mode_t mode = draw(&t->draw, 01000);
    int error = p.node == NULL || p.node->kind == LINK ? ENOENT : 0;
    note("chmod %s %o", p.path, mode);
    if (t->apply)
        outcome(chmod(p.path, mode), error, 0, "chmod");
    if (error != 0)
        return;
    p.node->mode = mode;
    changed(t, p.at, false);
}

static void step_chown(struct tree *t)
{
    struct place p;
    pick(t, &p, FREE);
    uid_t uid = draw(&t->draw, 5000);
    gid_t gid = draw(&t->draw, 5000);
    note("chown %s %u:%u", p.path, uid, gid);
    if (t->apply)
        outcome(lchown(p.path, uid, gid), p.node == NULL ? ENOENT : 0, 0, "chown");
    if (p.node == NULL)
        return;
    p.node->uid = uid;
    p.node->gid = gid;
    changed(t, p.at, false);
}

static void step_times(struct tree *t)
{
    struct place p;
    pick(t, &p, FREE);
    struct timespec set[2] = {{draw(&t->draw, UINT32_MAX), 5},
                              {draw(&t->draw, UINT32_MAX), draw(&t->draw, 1000000000)}};
    int error = p.node == NULL || p.node->kind == LINK ? ENOENT : 0;
    note("utimens %s %jd.%09ld", p.path, (intmax_t)set[1].tv_sec, set[1].tv_nsec);
    if (t->apply)
        outcome(utimensat(AT_FDCWD, p.path, set, 0), error, 0, "utimens");
    if (error != 0)
        return;
    p.node->timed = true;
    p.node->mtime = set[1];
    changed(t, p.at, false);
}

/* Nothing is changed; what is there is looked at. */
static void step_look(struct tree *t)
{
    struct place p;
    pick(t, &p, FREE);
    unsigned how = draw(&t->draw, 40);
    struct node *folder = some_folder(t);
    note("look at %s", p.path);
    if (!t->apply)
        return;
    if (how == 0)
        drop_caches();
    if (how % 3 == 0)
        check_folder(&t->model, folder);
    check_spot(&t->model, p.at, true);
}

void tree_step(struct tree *t)
{
    unsigned kind = draw(&t->draw, 100);
    if (kind < 12)
        step_write(t, true);
    else if (kind < 26)
        step_write(t, false);
    else if (kind < 32)
        step_truncate(t);
    else if (kind < 39)
        step_make(t, FOLDER);
    else if (kind < 43)
        step_make(t, LINK);
    else if (kind < 49)
        step_link(t);
    else if (kind < 61)
        step_rename(t);
    else if (kind < 69)
        step_remove(t, false);
    else if (kind < 73)
        step_remove(t, true);
    else if (kind < 79)
        step_chmod(t);
    else if (kind < 82)
        step_chown(t);
    else if (kind < 86)
        step_times(t);
    else
        step_look(t);
}
