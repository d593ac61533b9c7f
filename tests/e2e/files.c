/*
 * files: what clients write is what the server's disk holds, and what the disk holds is what clients read.
 *
 * Octets come from a formula of the file and the offset, so that any part of any file can be checked alone. On the
 * disk they are looked at with system calls, without NFS.
 *
 * Usage: see session.h, and the names of files that were made on the disk, in the folder "disk" of the export.
 */
#include "e2e/check.h"
#include "e2e/nfs_call.h"
#include "e2e/raw.h"
#include "e2e/session.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MIB     (1u << 20)
#define GIB     (1ull << 30)
#define BLOCK   MIB /* the most that libnfs takes in one reply */
#define READERS 2u
#define WRITERS 4u

struct files {
    struct session session;
    struct nfs_client writer, readers[READERS];
    struct nfs_handle dir;
    char folder[PATH_MAX]; /* the same on the disk */
    uint32_t read_max, write_max;
    uint8_t *octets, *got; /* BLOCK of each */
};

static uint8_t octet_at(uint32_t file, uint64_t offset)
{
    uint64_t x = (offset + 1) * 0x9e3779b97f4a7c15u ^ (uint64_t)file << 32;
    return (uint8_t)(x >> 56 ^ x >> 29);
}

static void fill(uint8_t *to, uint32_t file, uint64_t offset, uint32_t len)
{
    for (uint32_t i = 0; i < len; i++)
        to[i] = octet_at(file, offset + i);
}

static bool right(const uint8_t *got, uint32_t file, uint64_t offset, uint32_t len)
{
    for (uint32_t i = 0; i < len; i++) {
        if (got[i] != octet_at(file, offset + i))
            return check(false, "a wrong octet at %" PRIu64, offset + i);
    }
    return true;
}

static struct nfs_handle create(struct files *f, const char *name)
{
    struct nfs_reply r;
    check_ok(nfs_call_create(&f->writer, &f->dir, name, GUARDED, NULL, NULL, &r), &r, name);
    return r.handle;
}

/* All of it, whatever part of a WRITE the server takes. */
static void write_range(struct files *f, const struct nfs_handle *h, uint32_t file, uint64_t offset,
                        uint64_t len, uint32_t block, stable_how stable)
{
    struct nfs_reply r;
    while (len > 0) {
        uint32_t part = len < block ? (uint32_t)len : block;
        fill(f->octets, file, offset, part);
        check_ok(nfs_call_write(&f->writer, h, offset, part, f->octets, stable, &r), &r, "WRITE");
        check_must(r.count > 0 && r.count <= part, "WRITE took %u of %u", r.count, part);
        offset += r.count;
        len -= r.count;
    }
}

static void read_range(struct files *f, struct nfs_client *c, const struct nfs_handle *h,
                       uint32_t file, uint64_t offset, uint64_t len, uint32_t block)
{
    struct nfs_reply r;
    while (len > 0) {
        uint32_t part = len < block ? (uint32_t)len : block;
        check_ok(nfs_call_read(c, h, offset, part, f->got, &r), &r, "READ");
        check_must(r.count > 0, "READ at %" PRIu64 ": nothing", offset);
        if (!right(f->got, file, offset, r.count))
            return;
        offset += r.count;
        len -= r.count;
    }
}

static int open_on_disk(const struct files *f, const char *name)
{
    char path[PATH_MAX];
    int len = snprintf(path, sizeof path, "%s/%s", f->folder, name);
    check_must(len < (int)sizeof path, "a long path");
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    check_must(fd >= 0, "%s: %s", path, strerror(errno));
    return fd;
}

static void disk_range(struct files *f, const char *name, uint32_t file, uint64_t offset,
                       uint64_t len)
{
    int fd = open_on_disk(f, name);
    while (len > 0) {
        size_t part = len < BLOCK ? (size_t)len : BLOCK;
        ssize_t n = pread(fd, f->got, part, (off_t)offset);
        if (!check(n > 0, "%s on the disk ends at %" PRIu64, name, offset) ||
            !right(f->got, file, offset, (uint32_t)n))
            break;
        offset += (uint64_t)n;
        len -= (uint64_t)n;
    }
    close(fd);
}

static void disk_size(struct files *f, const char *name, uint64_t size)
{
    int fd = open_on_disk(f, name);
    off_t end = lseek(fd, 0, SEEK_END);
    check(end == (off_t)size, "%s has %jd octets on the disk, not %" PRIu64, name, (intmax_t)end,
          size);
    close(fd);
}

/* Its size, and that a READ at its end says so. */
static void end_of_file(struct files *f, struct nfs_client *c, const struct nfs_handle *h,
                        uint64_t size)
{
    struct nfs_reply r;
    check_ok(nfs_call_getattr(c, h, &r), &r, "GETATTR");
    check(r.object.value.size == size, "size %" PRIu64 ", not %" PRIu64, r.object.value.size, size);
    check_ok(nfs_call_read(c, h, size, 100, f->got, &r), &r, "READ at the end");
    check(r.count == 0 && r.eof, "READ at the end: %u octets, eof %d", r.count, r.eof);
    check_ok(nfs_call_read(c, h, size + GIB, 100, f->got, &r), &r, "READ beyond the end");
    check(r.count == 0 && r.eof, "READ beyond the end: %u octets, eof %d", r.count, r.eof);
}

static void sizes(struct files *f)
{
    static const uint64_t all[] = {0, 1, 4096, MIB + 1};
    static const uint32_t blocks[] = {BLOCK, 65536, 4093, 1 << 15};
    for (uint32_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        struct nfs_reply r;
        char name[32];
        check_begin("a file of %" PRIu64 " octets", all[i]);
        snprintf(name, sizeof name, "size-%" PRIu64, all[i]);
        struct nfs_handle h = create(f, name);
        write_range(f, &h, i, 0, all[i], blocks[i % 4], i % 2 == 0 ? UNSTABLE : FILE_SYNC);
        check_ok(nfs_call_commit(&f->writer, &h, &r), &r, "COMMIT");
        disk_size(f, name, all[i]);
        disk_range(f, name, i, 0, all[i]);
        for (unsigned j = 0; j < READERS; j++) {
            for (unsigned k = 0; k < sizeof blocks / sizeof blocks[0]; k++)
                read_range(f, &f->readers[j], &h, i, 0, all[i], blocks[k]);
            end_of_file(f, &f->readers[j], &h, all[i]);
        }
        check_end();
    }
}

static void sparse(struct files *f)
{
    static const struct {
        uint64_t offset, len;
    } parts[] = {{0, 4096}, {4 * GIB - 2048, 4096}, {5 * GIB + 3, 70000}};
    const uint32_t file = 77;
    struct nfs_reply r;
    check_begin("a sparse file beyond 4 GiB");
    struct nfs_handle h = create(f, "sparse");
    for (unsigned i = 0; i < 3; i++)
        write_range(f, &h, file, parts[i].offset, parts[i].len, 65536, UNSTABLE);
    check_ok(nfs_call_commit(&f->writer, &h, &r), &r, "COMMIT");
    disk_size(f, "sparse", 5 * GIB + 70003);
    for (unsigned i = 0; i < 3; i++) {
        disk_range(f, "sparse", file, parts[i].offset, parts[i].len);
        for (unsigned j = 0; j < READERS; j++)
            read_range(f, &f->readers[j], &h, file, parts[i].offset, parts[i].len, 4093);
    }
    check_ok(nfs_call_read(&f->readers[0], &h, 2 * GIB, 8192, f->got, &r), &r, "READ of a hole");
    for (uint32_t i = 0; i < r.count; i++)
        check_must(f->got[i] == 0, "an octet in a hole");
    end_of_file(f, &f->readers[1], &h, 5 * GIB + 70003);
    check_end();
}

/* Anywhere, any length: each answer is right as far as it goes. */
static void unaligned(struct files *f)
{
    const uint32_t file = 5, size = 3 * MIB + 17;
    uint64_t random = 1;
    check_begin("unaligned READs and WRITEs");
    struct nfs_handle h = create(f, "unaligned");
    write_range(f, &h, file, 0, size, 100003, UNSTABLE);
    for (unsigned i = 0; i < 200; i++) {
        random = random * 6364136223846793005u + 1442695040888963407u;
        uint64_t offset = (random >> 33) % size;
        uint64_t len = 1 + (random >> 20) % 200001;
        if (len > size - offset)
            len = size - offset;
        if (i % 4 == 0)
            write_range(f, &h, file, offset, len, 77777, i % 8 == 0 ? FILE_SYNC : UNSTABLE);
        read_range(f, &f->readers[i % READERS], &h, file, offset, len, BLOCK);
    }
    disk_size(f, "unaligned", size);
    disk_range(f, "unaligned", file, 0, size);
    check_end();
}

/* Several clients write parts of one file, all at the same time. */
static void together(struct files *f)
{
    enum {
        STRIP = 9001,
        STRIPS = 64
    };
    static struct nfs_call calls[WRITERS];
    static uint8_t strips[WRITERS][STRIP];
    struct nfs_client clients[WRITERS], *all[WRITERS];
    const uint32_t file = 9;
    check_begin("several clients write one file at the same time");
    struct nfs_handle h = create(f, "together");
    for (unsigned i = 0; i < WRITERS; i++) {
        session_connect(&clients[i], &f->session.tested);
        all[i] = &clients[i];
    }
    for (unsigned s = 0; s < STRIPS; s++) {
        for (unsigned i = 0; i < WRITERS; i++) {
            uint64_t offset = (uint64_t)(s * WRITERS + i) * STRIP;
            fill(strips[i], file, offset, STRIP);
            calls[i] = (struct nfs_call){.procedure = NFS3_WRITE};
            calls[i].args.write =
                (WRITE3args){.file = nfs_call_handle(&h),
                             .offset = offset,
                             .count = STRIP,
                             .data = {.data_len = STRIP, .data_val = (char *)strips[i]}};
            nfs_client_send(&clients[i], &calls[i]);
        }
        for (unsigned i = 0; i < WRITERS; i++) {
            int err = nfs_client_wait(&clients[i], &calls[i]);
            check_ok(err, &calls[i].reply, "WRITE");
            check(calls[i].reply.count == STRIP, "took %u", calls[i].reply.count);
        }
        nfs_client_poll(all, WRITERS, 0);
    }
    disk_size(f, "together", (uint64_t)STRIPS * WRITERS * STRIP);
    disk_range(f, "together", file, 0, (uint64_t)STRIPS * WRITERS * STRIP);
    read_range(f, &f->readers[0], &h, file, 0, (uint64_t)STRIPS * WRITERS * STRIP, BLOCK);
    end_of_file(f, &f->readers[1], &h, (uint64_t)STRIPS * WRITERS * STRIP);
    for (unsigned i = 0; i < WRITERS; i++)
        nfs_client_stop(&clients[i]);
    check_end();
}

/* ---- as much in one call as the server says it takes ---- */

#define REPLY_WAIT_MS 30000

static void expect_success(struct raw_buffer *b, const char *what)
{
    uint32_t xid = raw_get_u32(b), type = raw_get_u32(b), denied = raw_get_u32(b);
    raw_get_u32(b);
    raw_get(b, raw_get_u32(b));
    uint32_t rpc = raw_get_u32(b), status = raw_get_u32(b);
    check_must(!b->bad && xid == 1 && type == 1 && denied == 0 && rpc == 0 && status == 0,
               "%s: denied %u, RPC %u, status %u", what, denied, rpc, status);
}

static void skip_attributes(struct raw_buffer *b, size_t len)
{
    if (raw_get_u32(b) != 0)
        raw_get(b, len);
}

static void raw_call(int fd, struct raw_buffer *b, const char *what)
{
    int err = raw_send_record(fd, b);
    if (err == 0)
        err = raw_receive(fd, b, REPLY_WAIT_MS);
    check_must(err == 0, "%s: %s", what, strerror(-err));
    expect_success(b, what);
}

static void largest(struct files *f)
{
    const uint32_t file = 11;
    struct raw_buffer b = {.data = NULL};
    check_begin("READ and WRITE of as much as FSINFO says: %u and %u", f->read_max, f->write_max);
    struct nfs_handle h = create(f, "largest");
    uint8_t *octets = malloc(f->write_max);
    int fd = raw_connect(f->session.tested.port);
    check_must(octets != NULL && fd >= 0, "can't begin");
    fill(octets, file, 0, f->write_max);

    raw_put_call(&b, 1, NFS_PROGRAM, NFS_V3, NFS3_WRITE);
    raw_put_opaque(&b, h.octets, h.len);
    raw_put_u64(&b, 0);
    raw_put_u32(&b, f->write_max);
    raw_put_u32(&b, UNSTABLE);
    raw_put_opaque(&b, octets, f->write_max);
    raw_call(fd, &b, "WRITE");
    skip_attributes(&b, 24);
    skip_attributes(&b, NFS_CLIENT_FATTR_LEN);
    uint32_t count = raw_get_u32(&b);
    check(count == f->write_max, "WRITE took %u", count);
    disk_range(f, "largest", file, 0, count);

    raw_clear(&b);
    raw_put_call(&b, 1, NFS_PROGRAM, NFS_V3, NFS3_READ);
    raw_put_opaque(&b, h.octets, h.len);
    raw_put_u64(&b, 0);
    raw_put_u32(&b, f->read_max);
    raw_call(fd, &b, "READ");
    skip_attributes(&b, NFS_CLIENT_FATTR_LEN);
    count = raw_get_u32(&b);
    check(count == (f->read_max < f->write_max ? f->read_max : f->write_max), "READ gave %u",
          count);
    raw_get_u32(&b);
    check(raw_get_u32(&b) == count, "READ's data have another length");
    const uint8_t *got = raw_get(&b, count);
    if (check(got != NULL, "READ's reply is cut off"))
        right(got, file, 0, count);
    close(fd);
    raw_free(&b);
    free(octets);
    check_end();
}

/* What was made on the disk before any client asked. */
static void from_disk(struct files *f, const char *name)
{
    struct nfs_reply r;
    check_begin("%s, made on the disk, is read as it is there", name);
    snprintf(f->folder, sizeof f->folder, "%s/disk", f->session.tested.path);
    check_ok(nfs_call_lookup(&f->readers[0], &f->readers[0].root, "disk", &r), &r, "disk");
    struct nfs_handle dir = r.handle;
    check_ok(nfs_call_lookup(&f->readers[0], &dir, name, &r), &r, name);
    struct nfs_handle h = r.handle;
    int fd = open_on_disk(f, name);
    uint64_t size = (uint64_t)lseek(fd, 0, SEEK_END);
    for (uint64_t offset = 0; offset < size;) {
        check_ok(nfs_call_read(&f->readers[1], &h, offset, 70001, f->got, &r), &r, "READ");
        ssize_t n = pread(fd, f->octets, r.count, (off_t)offset);
        check_must(r.count > 0 && n == (ssize_t)r.count, "cut off at %" PRIu64, offset);
        if (!check(memcmp(f->got, f->octets, r.count) == 0, "differs after %" PRIu64, offset))
            break;
        offset += r.count;
    }
    end_of_file(f, &f->readers[0], &h, size);
    close(fd);
    check_end();
}

int main(int argc, char **argv)
{
    static struct files f;
    struct nfs_reply r;
    session_parse(&f.session, argc, argv);
    session_connect(&f.writer, &f.session.tested);
    for (unsigned i = 0; i < READERS; i++)
        session_connect(&f.readers[i], &f.session.tested);
    check_begin("a folder");
    f.dir = session_folder(&f.session, &f.writer, "files");
    snprintf(f.folder, sizeof f.folder, "%s/files-%s", f.session.tested.path,
             f.session.stat != NULL ? f.session.service : "straight");
    f.octets = malloc(BLOCK);
    f.got = malloc(BLOCK);
    check_must(f.octets != NULL && f.got != NULL, "no memory");
    check_ok(nfs_call_fsinfo(&f.writer, &f.writer.root, &r), &r, "FSINFO");
    f.read_max = r.fsinfo.rtmax;
    f.write_max = r.fsinfo.wtmax;

    sizes(&f);
    sparse(&f);
    unaligned(&f);
    together(&f);
    largest(&f);
    for (int i = 0; i < f.session.rest_count; i++)
        from_disk(&f, f.session.rest[i]);

    nfs_client_stop(&f.writer);
    for (unsigned i = 0; i < READERS; i++)
        nfs_client_stop(&f.readers[i]);
    free(f.octets);
    free(f.got);
    return check_status();
}
