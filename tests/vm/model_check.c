#include "vm/model_check.h"

#include "vm/integrity.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

void check_contents(const struct node *file, const char *path)
{
    static uint8_t got[MODEL_OCTETS + 1];
    int fd = open(path, O_RDONLY | O_NOFOLLOW);
    hold(fd >= 0, "%s: open", path);
    ssize_t n = read(fd, got, sizeof got);
    hold(n == (ssize_t)file->size, "%s: %zd octets were read, not %zu", path, n, file->size);
    for (size_t i = 0; i < file->size; i++)
        hold(got[i] == file->octets[i], "%s: octet %zu is %02x, not %02x", path, i, got[i],
             file->octets[i]);
    close(fd);
}

static void check_link(const struct node *node, const char *path)
{
    char target[PATH_MAX] = "";
    hold(readlink(path, target, sizeof target - 1) > 0, "%s: readlink", path);
    hold(strcmp(target, node->target) == 0, "%s leads to %s, not %s", path, target, node->target);
}

static void check_attributes(const struct node *node, const struct stat *st, const char *path)
{
    static const mode_t types[] = {0, S_IFREG, S_IFDIR, S_IFLNK};
    hold((st->st_mode & S_IFMT) == types[node->kind], "%s: type %o, not %o", path,
         st->st_mode & S_IFMT, types[node->kind]);
    hold(st->st_uid == node->uid && st->st_gid == node->gid, "%s: owner %u:%u, not %u:%u", path,
         st->st_uid, st->st_gid, node->uid, node->gid);
    if (node->kind != LINK)
        hold((st->st_mode & 07777) == node->mode, "%s: mode %o, not %o", path, st->st_mode & 07777,
             node->mode);
    if (node->kind == FILE_)
        hold((size_t)st->st_size == node->size, "%s: size %jd, not %zu", path,
             (intmax_t)st->st_size, node->size);
    if (node->kind != FOLDER)
        hold(st->st_nlink == node->links, "%s: %ju links, not %u", path, (uintmax_t)st->st_nlink,
             node->links);
    if (node->timed)
        hold(st->st_mtim.tv_sec == node->mtime.tv_sec && st->st_mtim.tv_nsec == node->mtime.tv_nsec,
             "%s: mtime %jd.%09ld, not %jd.%09ld", path, (intmax_t)st->st_mtim.tv_sec,
             st->st_mtim.tv_nsec, (intmax_t)node->mtime.tv_sec, node->mtime.tv_nsec);
}

void check_spot(struct model *m, struct spot at, bool contents)
{
    char path[PATH_MAX];
    struct stat st;
    struct node *node = model_find(m, at);
    spot_path(m, at, path, sizeof path);
    if (node == NULL) {
        hold(lstat(path, &st) == -1 && errno == ENOENT, "%s: it is there, and should not be", path);
        return;
    }
    hold(lstat(path, &st) == 0, "%s: stat", path);
    check_attributes(node, &st, path);
    hold(node->ino == 0 || node->ino == st.st_ino, "%s: another file than its other name", path);
    node->ino = st.st_ino;
    if (node->kind == FILE_ && contents)
        check_contents(node, path);
    else if (node->kind == LINK)
        check_link(node, path);
}

static unsigned name_number(const char *name)
{
    unsigned i = 0;
    while (i < MODEL_NAMES && strcmp(model_names[i], name) != 0)
        i++;
    return i;
}

void check_folder(struct model *m, const struct node *folder)
{
    char path[PATH_MAX];
    unsigned seen[MODEL_NAMES] = {0};
    model_path(m, folder, path, sizeof path);
    DIR *dir = opendir(path);
    hold(dir != NULL, "%s: open directory", path);
    errno = 0;
    for (const struct dirent *e = readdir(dir); e != NULL; e = readdir(dir)) {
        if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0)
            continue;
        unsigned i = name_number(e->d_name);
        hold(i < MODEL_NAMES, "%s: %s is listed, and was never made", path, e->d_name);
        seen[i]++;
    }
    hold(errno == 0, "%s: readdir", path);
    closedir(dir);
    for (unsigned i = 0; i < MODEL_NAMES; i++) {
        unsigned want = model_find(m, (struct spot){(struct node *)folder, i}) != NULL;
        hold(seen[i] == want, "%s: %s is listed %u times, not %u", path, model_names[i], seen[i],
             want);
    }
}

void check_all(struct model *m)
{
    for (size_t i = 0; i < MODEL_NODES; i++) {
        m->nodes[i].ino = 0;
        if (m->nodes[i].kind == FOLDER)
            check_folder(m, &m->nodes[i]);
    }
    for (size_t i = 0; i < MODEL_ENTRIES; i++)
        if (m->entries[i].node != NULL)
            check_spot(m, m->entries[i].at, true);
}
