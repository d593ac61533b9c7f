/*
 * load: clients that work without a break until they are told to stop (SIGTERM), while servers and proxies come and go.
 *
 *   e2e-load ... [CLIENTS [replays]]     session.h; --seconds: patience without a connection (nfs_client.h)
 *
 * Each client makes, writes, reads, renames and removes files in a folder of its own, asks for attributes, names and
 * verdicts, and knows what must come back. One error, or one wrong answer, ends it as failed. In the end what it
 * kept is compared with what the server says itself.
 *
 * NFSv3 has one ambiguity that a client must live with: a call was executed, its reply was lost, and when it is sent
 * again its work is done already: CREATE, MKDIR: EXIST, REMOVE, RENAME: NOENT. That is taken for a success, as the
 * Linux client and others do, but only after a call that was sent more than once; where the server may have been
 * restarted (`replays`), in which case the proxy sends again and the client can't know, once per call. Either
 * way the state that follows must be right.
 */
#include "e2e/check.h"
#include "e2e/nfs_call.h"
#include "e2e/nfs_reply.h"
#include "e2e/session.h"

#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define CLIENTS_MAX 32
#define DATA_LEN    40000u
#define KEEP_EVERY  8u /* of so many files one is kept */
#define WAIT_MAX_S  30.0

struct worker {
    struct session *session;
    bool replays; /* the proxy may send calls again */
    unsigned number;
    struct nfs_client c;
    struct nfs_handle dir, first; /* from the beginning to the end */
    uint64_t first_fileid;
    unsigned files, kept;
    uint64_t calls, again, rewrites;
    double since, longest;
    uint8_t data[DATA_LEN], got[DATA_LEN];
};

static volatile sig_atomic_t stop_asked;

static void on_term(int number)
{
    (void)number;
    stop_asked = 1;
}

/* ---- counting calls and their time ---- */

static void replied(struct worker *w, int err, const struct nfs_reply *r, const char *what)
{
    double now = nfs_client_now();
    if (now - w->since > w->longest)
        w->longest = now - w->since;
    w->since = now;
    w->calls++;
    check_must(err == 0, "client %u: %s: no reply: %s", w->number, what, r->why);
}

static void succeeded(struct worker *w, int err, const struct nfs_reply *r, const char *what)
{
    replied(w, err, r, what);
    check_must(r->status == NFS3_OK, "client %u, file %u: %s: %s", w->number, w->files, what,
               nfsstat3_to_str(r->status));
}

/* A success, or, if the call may have been executed before, `done_before`. */
static void succeeded_or(struct worker *w, int err, const struct nfs_reply *r, nfsstat3 done_before,
                         const char *what)
{
    if (err == 0 && r->status == done_before && (r->sent > 1 || w->replays)) {
        w->again++;
        replied(w, err, r, what);
        return;
    }
    succeeded(w, err, r, what);
}

static void looked_up(struct worker *w, const char *name, nfsstat3 status, struct nfs_reply *r)
{
    replied(w, nfs_call_lookup(&w->c, &w->dir, name, r), r, "LOOKUP");
    check_must(r->status == status, "client %u: LOOKUP %s: %s, not %s", w->number, name,
               nfsstat3_to_str(r->status), nfsstat3_to_str(status));
}

/* ---- one file's life ---- */

static void file_data(struct worker *w, unsigned file)
{
    for (unsigned i = 0; i < DATA_LEN; i++)
        w->data[i] = (uint8_t)((i + 1) * 2654435761u >> 16 ^ file * 31 ^ w->number);
}

/* Unstable data may be lost with the server; its verifier says so. */
static void write_data(struct worker *w, const struct nfs_handle *h)
{
    struct nfs_reply r;
    uint8_t verifier[8];
    bool same;
    do {
        same = true;
        for (uint32_t at = 0; at < DATA_LEN; at += r.count) {
            uint32_t part = DATA_LEN - at < 16384 ? DATA_LEN - at : 16384;
            succeeded(w, nfs_call_write(&w->c, h, at, part, w->data + at, UNSTABLE, &r), &r,
                      "WRITE");
            check_must(r.count > 0 && r.count <= part, "WRITE took %u", r.count);
            if (at > 0 && memcmp(verifier, r.verifier, sizeof verifier) != 0)
                same = false;
            memcpy(verifier, r.verifier, sizeof verifier);
        }
        succeeded(w, nfs_call_commit(&w->c, h, &r), &r, "COMMIT");
        same = same && memcmp(verifier, r.verifier, sizeof verifier) == 0;
        w->rewrites += !same;
    } while (!same);
}

static void read_data(struct worker *w, struct nfs_client *c, const struct nfs_handle *h)
{
    struct nfs_reply r;
    for (uint32_t at = 0; at < DATA_LEN; at += r.count) {
        succeeded(w, nfs_call_read(c, h, at, DATA_LEN - at, w->got + at, &r), &r, "READ");
        check_must(r.count > 0, "client %u: READ at %u: nothing", w->number, at);
    }
    check_must(memcmp(w->got, w->data, DATA_LEN) == 0, "client %u: READ: other data", w->number);
}

static void look_at(struct worker *w, const struct nfs_handle *h)
{
    struct nfs_reply r;
    succeeded(w, nfs_call_getattr(&w->c, h, &r), &r, "GETATTR");
    check_must(r.object.value.size == DATA_LEN, "client %u: size %" PRIu64, w->number,
               r.object.value.size);
    succeeded(w, nfs_call_access(&w->c, h, 0x3f, &r), &r, "ACCESS");
    succeeded(w, nfs_call_getattr(&w->c, &w->first, &r), &r, "GETATTR of the first handle");
    check_must(r.object.value.fileid == w->first_fileid, "client %u: another fileid", w->number);
    succeeded(w, nfs_call_access(&w->c, &w->dir, 0x1f, &r), &r, "ACCESS");
}

static void life_of_a_file(struct worker *w)
{
    struct nfs_reply r;
    char name[32], final[32];
    snprintf(name, sizeof name, "new-%u", w->files);
    snprintf(final, sizeof final, "file-%u", w->files);
    file_data(w, w->files);
    looked_up(w, name, NFS3ERR_NOENT, &r);
    succeeded_or(w, nfs_call_create(&w->c, &w->dir, name, GUARDED, NULL, NULL, &r), &r,
                 NFS3ERR_EXIST, "CREATE");
    looked_up(w, name, NFS3_OK, &r);
    struct nfs_handle h = r.handle;
    write_data(w, &h);
    look_at(w, &h);
    read_data(w, &w->c, &h);
    succeeded_or(w, nfs_call_rename(&w->c, &w->dir, name, &w->dir, final, &r), &r, NFS3ERR_NOENT,
                 "RENAME");
    looked_up(w, name, NFS3ERR_NOENT, &r);
    looked_up(w, final, NFS3_OK, &r);
    check_must(nfs_handle_same(&r.handle, &h), "client %u: RENAME changed the handle", w->number);
    if (w->files % KEEP_EVERY == 0) {
        w->kept++;
    } else {
        succeeded_or(w, nfs_call_remove(&w->c, &w->dir, final, &r), &r, NFS3ERR_NOENT, "REMOVE");
        looked_up(w, final, NFS3ERR_NOENT, &r);
    }
    w->files++;
}

/* ---- the end ---- */

static void count_entry(void *context, const struct nfs_entry *entry)
{
    unsigned *count = context;
    *count += strcmp(entry->name, ".") != 0 && strcmp(entry->name, "..") != 0;
}

static void compare_with_server(struct worker *w)
{
    struct nfs_client direct;
    struct nfs_reply r;
    char name[32];
    unsigned count = 0;
    session_connect(&direct, &w->session->direct);
    for (unsigned file = 0; file < w->files; file += KEEP_EVERY) {
        snprintf(name, sizeof name, "file-%u", file);
        check_ok(nfs_call_lookup(&direct, &w->dir, name, &r), &r, name);
        struct nfs_handle h = r.handle;
        file_data(w, file);
        read_data(w, &direct, &h);
    }
    check_ok(nfs_call_readdir(&direct, &w->dir, 4096, count_entry, &count, &r), &r, "READDIR");
    check_must(count == w->kept + 1, "client %u: %u files are left, not %u", w->number, count,
               w->kept + 1);
    nfs_client_stop(&direct);
}

static int work(struct session *session, unsigned number)
{
    static struct worker w;
    struct nfs_reply r;
    char name[32];
    w.session = session;
    w.number = number;
    w.replays = session->rest_count > 1 && strcmp(session->rest[1], "replays") == 0;
    check_begin("client %u", number);
    session_connect(&w.c, &session->tested);
    snprintf(name, sizeof name, "load-%d-%u", (int)getppid(), number);
    w.dir = session_folder(session, &w.c, name);
    check_ok(nfs_call_create(&w.c, &w.dir, "first", GUARDED, NULL, NULL, &r), &r, "CREATE");
    w.first = r.handle;
    check_ok(nfs_call_getattr(&w.c, &w.first, &r), &r, "GETATTR");
    w.first_fileid = r.object.value.fileid;
    w.since = nfs_client_now();
    while (!stop_asked)
        life_of_a_file(&w);
    check_begin("client %u: %" PRIu64 " calls, the longest took %.1f s, connected again %u times, "
                "%" PRIu64 " calls had been executed before, %" PRIu64 " times written again",
                number, w.calls, w.longest, w.c.losses, w.again, w.rewrites);
    check(w.longest < WAIT_MAX_S, "a call took too long");
    compare_with_server(&w);
    check_end();
    nfs_client_stop(&w.c);
    return check_status();
}

int main(int argc, char **argv)
{
    struct session session;
    struct sigaction action = {.sa_handler = on_term};
    pid_t pids[CLIENTS_MAX];
    int status, result = EXIT_SUCCESS;
    session_parse(&session, argc, argv);
    session.tested.patience = session.seconds;
    long clients = session.rest_count > 0 ? strtol(session.rest[0], NULL, 10) : 4;
    if (clients < 1 || clients > CLIENTS_MAX) {
        fprintf(stderr, "1 to %d clients\n", CLIENTS_MAX);
        return 2;
    }
    sigaction(SIGTERM, &action, NULL);
    for (int i = 0; i < clients; i++) {
        pids[i] = fork();
        if (pids[i] == 0)
            return work(&session, (unsigned)i);
        check_must(pids[i] > 0, "can't fork");
    }
    for (long left = clients; left > 0;) {
        if (wait(&status) > 0) {
            left--;
            if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
                result = EXIT_FAILURE;
        } else if (stop_asked) {
            for (int i = 0; i < clients; i++)
                kill(pids[i], SIGTERM);
        }
    }
    return result;
}
