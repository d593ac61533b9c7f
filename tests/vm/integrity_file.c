/*
 * integrity_file: random reads, writes, maps and truncates of one file, in every way in which a process can make them, each
 * compared with what the file must have.
 */
#include "vm/integrity.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define SIZE_MAX_  (256u * 1024)
#define LENGTH_MAX (40u * 1024)
#define PAGE       4096u
#define DROP_EVERY 400u

struct file {
    char path[4096];
    int fd, direct; /* the second one is read and written past the cache */
    bool apply;
    struct draw draw;
    size_t size;
    uint8_t model[SIZE_MAX_];
    uint8_t got[SIZE_MAX_ + 1];
};

static void open_both(struct file *f)
{
    f->fd = open(f->path, O_RDWR | O_CREAT, 0644);
    hold(f->fd >= 0, "open");
    f->direct = open(f->path, O_RDWR | O_DIRECT);
    hold(f->direct >= 0, "open past the cache");
}

static void close_both(struct file *f)
{
    hold(close(f->fd) == 0 && close(f->direct) == 0, "close");
}

/* `n` octets from `offset` are as they should be. */
static void compare(struct file *f, const uint8_t *got, size_t offset, size_t n)
{
    if (memcmp(got, f->model + offset, n) == 0)
        return;
    size_t i = 0;
    while (got[i] == f->model[offset + i])
        i++;
    hold(false, "octet %zu is %02x, not %02x; size %zu", offset + i, got[i], f->model[offset + i],
         f->size);
}

static void check_size(struct file *f)
{
    struct stat st;
    hold(fstat(f->fd, &st) == 0, "fstat");
    hold((size_t)st.st_size == f->size, "the size is %jd, not %zu", (intmax_t)st.st_size, f->size);
}

static void step_read(struct file *f, bool direct)
{
    size_t offset = draw(&f->draw, SIZE_MAX_), length = 1 + draw(&f->draw, LENGTH_MAX);
    size_t want = offset >= f->size ? 0 : length < f->size - offset ? length : f->size - offset;
    note("%s %zu octets at %zu", direct ? "direct read" : "read", length, offset);
    if (!f->apply)
        return;
    ssize_t n = pread(direct ? f->direct : f->fd, f->got, length, (off_t)offset);
    hold(n == (ssize_t)want, "%zd octets were read, not %zu", n, want);
    compare(f, f->got, offset, want);
}

/* New octets for a piece of the file; behind the end the file grows, over zeros if need be. */
static void new_octets(struct file *f, size_t offset, size_t length)
{
    if (offset > f->size)
        memset(f->model + f->size, 0, offset - f->size);
    for (size_t i = 0; i < length; i += 4) {
        uint32_t octets = draw(&f->draw, UINT32_MAX);
        memcpy(f->model + offset + i, &octets, length - i < 4 ? length - i : 4);
    }
    if (offset + length > f->size)
        f->size = offset + length;
}

static void step_write(struct file *f, bool direct)
{
    size_t offset = draw(&f->draw, SIZE_MAX_), length = 1 + draw(&f->draw, LENGTH_MAX);
    if (length > SIZE_MAX_ - offset)
        length = SIZE_MAX_ - offset;
    new_octets(f, offset, length);
    note("%s %zu octets at %zu", direct ? "direct write" : "write", length, offset);
    if (!f->apply)
        return;
    ssize_t n = pwrite(direct ? f->direct : f->fd, f->model + offset, length, (off_t)offset);
    hold(n == (ssize_t)length, "%zd octets were written, not %zu", n, length);
    check_size(f);
}

static void step_truncate(struct file *f)
{
    size_t size = draw(&f->draw, 8) == 0 ? 0 : draw(&f->draw, SIZE_MAX_);
    note("truncate from %zu to %zu", f->size, size);
    if (size > f->size)
        memset(f->model + f->size, 0, size - f->size);
    f->size = size;
    if (!f->apply)
        return;
    hold(ftruncate(f->fd, (off_t)size) == 0, "truncate");
    check_size(f);
}

/* Of a map of the whole file, one piece is read or written. */
static void step_map(struct file *f, bool write)
{
    if (f->size == 0)
        return;
    size_t offset = draw(&f->draw, (uint32_t)f->size), length = 1 + draw(&f->draw, LENGTH_MAX);
    if (length > f->size - offset)
        length = f->size - offset;
    bool sync = draw(&f->draw, 2) == 0;
    note("map %s %zu octets at %zu%s", write ? "write" : "read", length, offset,
         sync ? ", msync" : "");
    if (write)
        new_octets(f, offset, length);
    if (!f->apply)
        return;
    uint8_t *map =
        mmap(NULL, f->size, write ? PROT_READ | PROT_WRITE : PROT_READ, MAP_SHARED, f->fd, 0);
    hold(map != MAP_FAILED, "mmap");
    if (write)
        memcpy(map + offset, f->model + offset, length);
    compare(f, map + offset, offset, length);
    for (size_t i = f->size; i % PAGE != 0; i++)
        hold(map[i] == 0, "behind the end of the map is %02x", map[i]);
    hold(!sync || msync(map, f->size, MS_SYNC) == 0, "msync");
    hold(munmap(map, f->size) == 0, "munmap");
}

/* Dirty octets are written first: what goes past the cache does not see those of a map. */
static void step_direct(struct file *f)
{
    if (f->apply)
        hold(fsync(f->fd) == 0, "fsync");
    if (draw(&f->draw, 2) == 0)
        step_read(f, true);
    else
        step_write(f, true);
}

/* What this machine has kept is forgotten, or the file is closed and opened again. */
static void step_forget(struct file *f, unsigned step)
{
    unsigned how = draw(&f->draw, 3);
    static const char *const names[] = {"close and open", "fsync and forget", "fsync"};
    note("%s", names[how]);
    if (!f->apply)
        return;
    if (how == 0) {
        close_both(f);
        open_both(f);
    } else {
        hold(fsync(f->fd) == 0, "fsync");
        if (how == 1)
            hold(posix_fadvise(f->fd, 0, 0, POSIX_FADV_DONTNEED) == 0, "fadvise");
        if (how == 1 && step % DROP_EVERY < DROP_EVERY / 20)
            drop_caches();
    }
    check_size(f);
}

static void step(struct file *f, unsigned i)
{
    unsigned kind = draw(&f->draw, 100);
    if (kind < 22)
        step_read(f, false);
    else if (kind < 46)
        step_write(f, false);
    else if (kind < 58)
        step_map(f, false);
    else if (kind < 72)
        step_map(f, true);
    else if (kind < 80)
        step_truncate(f);
    else if (kind < 90)
        step_direct(f);
    else
        step_forget(f, i);
}

/* From the beginning to the end, as whoever opens it sees it. */
static void verify(struct file *f)
{
    open_both(f);
    check_size(f);
    ssize_t n = pread(f->fd, f->got, sizeof f->got, 0);
    hold(n == (ssize_t)f->size, "%zd octets are there, not %zu", n, f->size);
    compare(f, f->got, 0, f->size);
    close_both(f);
}

void integrity_file(const struct plan *plan)
{
    struct file *f = calloc(1, sizeof *f);
    hold(f != NULL, "memory");
    snprintf(f->path, sizeof f->path, "%s/file", plan->folder);
    f->draw = draw_from(plan->seed);
    f->apply = plan->apply;
    if (f->apply)
        open_both(f);
    for (unsigned i = 0; i < plan->steps; i++)
        step(f, i);
    if (f->apply)
        close_both(f);
    verify(f);
    free(f);
}
