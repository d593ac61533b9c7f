/*
 * hostile: bytes that no client should send. The daemon stays up, answers what the protocol has an answer for, closes
 * where it has none, and nobody else is disturbed.
 *
 * Usage: see session.h, and the port of a service that this machine may not connect to.
 */
#include "e2e/check.h"
#include "e2e/nfs_call.h"
#include "e2e/raw.h"
#include "e2e/session.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define WAIT_MS 10000
#define XID     0x1234u

struct hostile {
    struct session session;
    struct nfs_client good; /* its connection holds all the time */
    struct nfs_handle file;
    struct raw_buffer b;
};

static int connected(struct hostile *h)
{
    int fd = raw_connect(h->session.tested.port);
    check_must(fd >= 0, "can't connect: %s", strerror(-fd));
    return fd;
}

/* An old client's calls still go through, from cache and to the server; a new client is let in. */
static void others_are_fine(struct hostile *h)
{
    struct nfs_client another;
    struct nfs_reply r;
    check_ok(nfs_call_getattr(&h->good, &h->file, &r), &r, "another client's GETATTR");
    check_ok(nfs_call_write(&h->good, &h->file, 0, 2, "hi", UNSTABLE, &r), &r,
             "another client's WRITE");
    check(h->good.losses == 0, "another client's connection was lost");
    session_connect(&another, &h->session.tested);
    check_ok(nfs_call_getattr(&another, &h->file, &r), &r, "a new client's GETATTR");
    nfs_client_stop(&another);
}

/* ---- no RPC at all ---- */

/* Sent as they are; then the daemon closes, or, if `may_wait`, waits for more. */
static void octets(struct hostile *h, const char *what, const void *data, size_t len, bool may_wait)
{
    int fd = connected(h);
    int err = raw_send(fd, data, len);
    check(err == 0 || err == -EPIPE || err == -ECONNRESET, "%s: %s", what, strerror(-err));
    if (!may_wait) {
        err = raw_wait_closed(fd, WAIT_MS);
        check(err == 0, "%s: not closed: %s", what, strerror(-err));
    }
    close(fd);
}

static void no_rpc(struct hostile *h)
{
    static uint8_t noise[100000];
    uint32_t random = 1;
    check_begin("octets that are no RPC");
    for (size_t i = 0; i < sizeof noise; i++) {
        random = random * 1664525 + 1013904223;
        noise[i] = (uint8_t)(random >> 24);
    }
    noise[0] |= 0x80; /* a last fragment, with far too much in it */
    noise[0] |= 0x40;
    octets(h, "noise", noise, sizeof noise, false);
    octets(h, "HTTP", "GET / HTTP/1.1\r\nHost: nfs\r\n\r\n", 29, false);
    octets(h, "2^31-1 octets announced", "\xff\xff\xff\xff", 4, false);
    octets(h, "a record of one octet", "\x80\0\0\1x", 5, false);
    octets(h, "half a mark", "\x80\0", 2, true);
    octets(h, "half a record", "\x80\0\0\x64half of it", 14, true);
    octets(h, "a reply", "\x80\0\0\x0c\0\0\0\1\0\0\0\1\0\0\0\0", 16, false);
    others_are_fine(h);
    check_end();
}

static void fragments(struct hostile *h)
{
    static const uint8_t empty[4];
    check_begin("a call in fragments of one octet, and endless empty fragments");
    raw_clear(&h->b);
    raw_put_call(&h->b, XID, NFS_PROGRAM, NFS_V3, NFS3_GETATTR);
    raw_put_opaque(&h->b, h->file.octets, h->file.len);
    int fd = connected(h);
    for (size_t i = 0; i < h->b.len; i++) {
        bool last = i + 1 == h->b.len;
        uint8_t fragment[5] = {last ? 0x80 : 0, 0, 0, 1, h->b.data[i]};
        check_must(raw_send(fd, fragment, sizeof fragment) == 0, "can't send");
    }
    int err = raw_receive(fd, &h->b, WAIT_MS);
    check(err == 0 && raw_get_u32(&h->b) == XID && raw_get_u32(&h->b) == REPLY,
          "no reply to a call in fragments: %s", strerror(-err));
    close(fd);
    fd = connected(h);
    for (unsigned i = 0; i < 1000000 && err == 0; i++)
        err = raw_send(fd, empty, sizeof empty);
    check(err != 0, "a million empty fragments were taken");
    close(fd);
    others_are_fine(h);
    check_end();
}

static void gone_again(struct hostile *h)
{
    check_begin("connections that go before their replies come");
    for (unsigned i = 0; i < 200; i++) {
        raw_clear(&h->b);
        raw_put_call(&h->b, XID, NFS_PROGRAM, NFS_V3, i % 2 == 0 ? NFS3_GETATTR : NFS3_FSSTAT);
        raw_put_opaque(&h->b, h->file.octets, h->file.len);
        int fd = connected(h);
        check_must(raw_send_record(fd, &h->b) == 0, "can't send");
        close(fd);
    }
    others_are_fine(h);
    check_end();
}

/* ---- RPC that gets an RPC error ---- */

/* Sends what is in h->b; the reply's state, and where there is one its range of versions. */
static void refused(struct hostile *h, const char *what, uint32_t denied, uint32_t state,
                    uint32_t low, uint32_t high)
{
    int fd = connected(h);
    int err = raw_send_record(fd, &h->b);
    if (err == 0)
        err = raw_receive(fd, &h->b, WAIT_MS);
    close(fd);
    if (!check(err == 0, "%s: no reply: %s", what, strerror(-err)))
        return;
    struct raw_buffer *b = &h->b;
    check(raw_get_u32(b) == XID && raw_get_u32(b) == REPLY, "%s: no reply to it", what);
    uint32_t got_denied = raw_get_u32(b);
    if (got_denied == MSG_ACCEPTED) {
        raw_get_u32(b);
        raw_get(b, raw_get_u32(b));
    }
    uint32_t got = raw_get_u32(b);
    check(!b->bad && got_denied == denied && got == state, "%s: denied %u, state %u, not %u and %u",
          what, got_denied, got, denied, state);
    bool range = denied == MSG_DENIED ? state == RPC_MISMATCH : state == PROG_MISMATCH;
    if (!range)
        return;
    uint32_t got_low = raw_get_u32(b), got_high = raw_get_u32(b);
    check(!b->bad && got_low == low && got_high == high, "%s: versions %u to %u, not %u to %u",
          what, got_low, got_high, low, high);
}

static void call(struct hostile *h, uint32_t program, uint32_t version, uint32_t procedure)
{
    raw_clear(&h->b);
    raw_put_call(&h->b, XID, program, version, procedure);
}

static void other_versions(struct hostile *h)
{
    check_begin("programs, versions and procedures that there are not");
    call(h, NFS_PROGRAM, 4, 0);
    refused(h, "NFSv4 NULL", MSG_ACCEPTED, PROG_MISMATCH, 3, 3);
    call(h, NFS_PROGRAM, 4, 1);
    refused(h, "NFSv4 COMPOUND", MSG_ACCEPTED, PROG_MISMATCH, 3, 3);
    call(h, NFS_PROGRAM, 2, 1);
    refused(h, "NFSv2", MSG_ACCEPTED, PROG_MISMATCH, 3, 3);
    call(h, NFS_PROGRAM, 3, 22);
    refused(h, "NFSv3 procedure 22", MSG_ACCEPTED, PROC_UNAVAIL, 0, 0);
    call(h, 100005, 1, 1);
    refused(h, "MOUNT version 1", MSG_ACCEPTED, PROG_MISMATCH, 3, 3);
    call(h, 100005, 3, 6);
    refused(h, "MOUNT procedure 6", MSG_ACCEPTED, PROC_UNAVAIL, 0, 0);
    call(h, 100227, 2, 0);
    refused(h, "NFSACL version 2", MSG_ACCEPTED, PROG_MISMATCH, 3, 3);
    call(h, 100021, 4, 0);
    refused(h, "NLM", MSG_ACCEPTED, PROG_UNAVAIL, 0, 0);
    call(h, NFS_PROGRAM, NFS_V3, NFS3_GETATTR);
    memcpy(h->b.data + 8, "\0\0\0\3", 4);
    refused(h, "RPC version 3", MSG_DENIED, RPC_MISMATCH, 2, 2);
    others_are_fine(h);
    check_end();
}

static void bad_arguments(struct hostile *h)
{
    static const uint8_t zeros[70000];
    check_begin("arguments that are cut off, too long, or not there");
    call(h, NFS_PROGRAM, NFS_V3, NFS3_GETATTR);
    refused(h, "GETATTR without a handle", MSG_ACCEPTED, GARBAGE_ARGS, 0, 0);
    call(h, NFS_PROGRAM, NFS_V3, NFS3_GETATTR);
    raw_put_opaque(&h->b, zeros, 65);
    refused(h, "a handle of 65 octets", MSG_ACCEPTED, GARBAGE_ARGS, 0, 0);
    call(h, NFS_PROGRAM, NFS_V3, NFS3_GETATTR);
    raw_put_u32(&h->b, 0xffffffffu);
    raw_put(&h->b, zeros, 64);
    refused(h, "a handle of 2^32-1 octets", MSG_ACCEPTED, GARBAGE_ARGS, 0, 0);
    call(h, NFS_PROGRAM, NFS_V3, NFS3_LOOKUP);
    raw_put_opaque(&h->b, h->file.octets, h->file.len);
    raw_put_u32(&h->b, 0x7fffffffu);
    refused(h, "a name that is not there", MSG_ACCEPTED, GARBAGE_ARGS, 0, 0);
    call(h, NFS_PROGRAM, NFS_V3, NFS3_WRITE);
    raw_put_opaque(&h->b, h->file.octets, 3);
    refused(h, "WRITE, cut off", MSG_ACCEPTED, GARBAGE_ARGS, 0, 0);
    others_are_fine(h);
    check_end();
}

/* A credential longer than the protocol allows, and one with 17 groups: an error, or the server's own answer. */
static void bad_credentials(struct hostile *h)
{
    check_begin("credentials that are too long");
    for (unsigned i = 0; i < 2; i++) {
        raw_clear(&h->b);
        const uint32_t head[] = {XID, 0, 2, NFS_PROGRAM, NFS_V3, NFS3_GETATTR, 1};
        for (size_t j = 0; j < sizeof head / sizeof head[0]; j++)
            raw_put_u32(&h->b, head[j]);
        uint32_t words = i == 0 ? 101 : 5 + 17;
        raw_put_u32(&h->b, words * 4);
        for (uint32_t j = 0; j < words; j++)
            raw_put_u32(&h->b, i == 1 && j == 4 ? 17 : 0);
        raw_put_u64(&h->b, 0);
        raw_put_opaque(&h->b, h->file.octets, h->file.len);
        int fd = connected(h);
        int err = raw_send_record(fd, &h->b);
        if (err == 0)
            err = raw_receive(fd, &h->b, WAIT_MS);
        check(err == 0 || err == -ECONNRESET, "neither a reply nor the end: %s", strerror(-err));
        close(fd);
    }
    others_are_fine(h);
    check_end();
}

static void not_allowed(struct hostile *h, int port)
{
    check_begin("a client that may not connect");
    for (unsigned i = 0; i < 3; i++) {
        int fd = raw_connect(port);
        if (fd < 0)
            continue;
        call(h, NFS_PROGRAM, NFS_V3, NFS3_NULL);
        raw_send_record(fd, &h->b);
        int err = raw_wait_closed(fd, WAIT_MS);
        check(err == 0, "not closed: %s", strerror(-err));
        close(fd);
    }
    others_are_fine(h);
    check_end();
}

int main(int argc, char **argv)
{
    static struct hostile h;
    struct nfs_reply r;
    session_parse(&h.session, argc, argv);
    if (h.session.rest_count != 1)
        return 2;
    check_begin("a client that does no harm");
    session_connect(&h.good, &h.session.tested);
    struct nfs_handle dir = session_folder(&h.session, &h.good, "hostile");
    check_ok(nfs_call_create(&h.good, &dir, "file", GUARDED, NULL, NULL, &r), &r, "CREATE");
    h.file = r.handle;
    no_rpc(&h);
    fragments(&h);
    gone_again(&h);
    other_versions(&h);
    bad_arguments(&h);
    bad_credentials(&h);
    not_allowed(&h, session_port(h.session.rest[0]));
    nfs_client_stop(&h.good);
    raw_free(&h.b);
    return check_status();
}
