/*
 * field: the real daemon between clients on plain sockets and a fake server, all driven by one thread.
 *
 * A test is made of statements: what a client sends, what the server must have got and answers, what the client must
 * have been told, octet by octet. Where a client is told something and the server was not asked, the cache has answered.
 *
 *   field_asks(&c1, NFS3_GETATTR, args, &held);    // the server gets it, and holds the reply
 *   field_tells(&held, results);                   // now it answers, and c1 gets exactly that
 *   field_serves(&c2, NFS3_GETATTR, args, results) // the cache answers
 *
 * The first statement that does not hold is told with its line, and sticks: those after it do nothing until
 * field_begin. Files, calls and octets are those of the unit tests (unit/stage_nfs.h).
 */
#ifndef E2E_FIELD_H
#define E2E_FIELD_H

#include "e2e/fake_server.h"
#include "unit/stage_nfs.h"

/* One server, and so one cache, behind all of them. */
enum field_service {
    FIELD_SHARED,    /* nothing ages */
    FIELD_EXCLUSIVE, /* likewise */
    FIELD_QUICK,     /* shared; all ages are FIELD_AGE_MS */
    FIELD_QUICK_EXCLUSIVE,
    FIELD_SERVICES,
};

#define FIELD_AGE_MS 300
/* What was told before then is too old, also for a daemon that reads its clock once for all that comes at once. */
#define FIELD_AGED_MS (FIELD_AGE_MS + 20)

#define FIELD_WAIT_MS 20000 /* for what must come; a sanitizer and a busy machine are slow */

struct field {
    int port[FIELD_SERVICES];
    struct fake_server server;
    struct fake_call call; /* the last one that was answered at once */
    unsigned links;        /* connections that the daemon keeps */
    unsigned worlds;       /* made so far: no two have files in common */
    bool failed;           /* the line that was begun */
    const char *file;      /* of the statement … */
    int line;
    const char *of; /* what it is about, if that is not its line's to say */
};

struct field_client {
    struct field *field;
    int fd;
    struct who who;
    uint32_t xid;                /* of its last call; every client counts from the same number */
    struct field_reply *replies; /* that came while another was waited for */
};

/* A call that the server has, and has not answered. */
struct field_held {
    struct field_client *client;
    uint32_t xid; /* the client's */
    struct fake_call call;
};

/* A line of its own (check.h), which is not ok if any statement of it does not hold. */
__attribute__((format(printf, 2, 3))) void field_begin(struct field *field, const char *format,
                                                       ...);
/* That the server is asked something more is a failure. */
void field_end(struct field *field);

/* Remembers where the statements below stand. */
struct field *field_here(struct field *field, const char *file, int line);
#define FIELD_HERE(field) field_here((field), __FILE__, __LINE__)

/* Returns `good`. */
__attribute__((format(printf, 3, 4))) bool field_check(struct field *field, bool good,
                                                       const char *format, ...);

void field_connect(struct field_client *client, struct field *field, enum field_service service,
                   struct who who);
void field_leave(struct field_client *client);

/* Procedures are numbered as in unit/stage_nfs.h. Returns the call's xid. */
uint32_t field_call(struct field_client *client, unsigned procedure, struct body args);
/* With an xid of the test's choice. */
void field_call_as(struct field_client *client, uint32_t xid, unsigned procedure, struct body args);

/* Milliseconds of the clock that the daemon's ages are measured on. */
int64_t field_now(void);
void field_pause(int ms);

/* ---- the server ---- */

unsigned field_procedure(const struct fake_call *call);
struct bytes field_args(const struct fake_call *call);
struct who field_who(const struct fake_call *call);
/* Whether it is this one; a statement. */
bool field_is(struct field *field, const struct fake_call *call, unsigned procedure,
              const struct body *args);
/* The next call, whatever it is. False when none came. */
bool field_next(struct field *field, struct fake_call *call);
/* Does nothing where there is no call: one that a failed statement should have got. */
void field_answer(const struct fake_call *call, struct body results);
/* It ends all connections, as one does that restarts; all come again. No call is under way. */
void field_restart(struct field *field);
void field_free(struct field_held *held);

/* ---- statements ---- */

/* The server gets this call. */
#define field_takes(field, call, procedure, args) \
    field_takes_at(FIELD_HERE(field), (call), (procedure), (args))
/* The server gets nothing. */
#define field_quiet(field) field_quiet_at(FIELD_HERE(field))
/* The client gets this reply. */
#define field_told(client, xid, results) \
    (FIELD_HERE((client)->field), field_told_at((client), (xid), RPC_SUCCESS, (results)))
/* The client gets a reply, but no results. */
#define field_refused(client, xid, stat) \
    (FIELD_HERE((client)->field), field_told_at((client), (xid), (stat), (struct body){0}))
/* The client has no such reply. */
#define field_untold(client, xid) (FIELD_HERE((client)->field), field_untold_at((client), (xid)))
/* The server is asked, this one thing, and holds its reply. */
#define field_asks(client, procedure, args, held) \
    (FIELD_HERE((client)->field), field_asks_at((client), (procedure), (args), (held)))
/* The server answers what it holds, and the client gets that. */
#define field_tells(held, results) \
    (FIELD_HERE((held)->client->field), field_tells_at((held), (results)))
/* The client gets this from wherever; the server would say so too. True where it was asked. */
#define field_sees(client, procedure, args, results) \
    (FIELD_HERE((client)->field), field_sees_at((client), (procedure), (args), (results)))
/* Likewise, and it may be what the server would have said once. True where it is what it says now. */
#define field_sees_either(client, procedure, args, old, now) \
    (FIELD_HERE((client)->field), field_sees_either_at((client), (procedure), (args), (old), (now)))
/* The connection that the call came over ends; the call comes again. */
#define field_loses(held) (FIELD_HERE((held)->client->field), field_loses_at(held))
/* The server is asked. */
#define field_fetches(client, procedure, args, results) \
    (FIELD_HERE((client)->field), field_fetches_at((client), (procedure), (args), (results)))
/* The cache answers. */
#define field_serves(client, procedure, args, results) \
    (FIELD_HERE((client)->field), field_serves_at((client), (procedure), (args), (results)))

void field_takes_at(struct field *field, struct fake_call *call, unsigned procedure,
                    struct body args);
void field_quiet_at(struct field *field);
void field_told_at(struct field_client *client, uint32_t xid, uint32_t stat, struct body results);
void field_untold_at(struct field_client *client, uint32_t xid);
void field_asks_at(struct field_client *client, unsigned procedure, struct body args,
                   struct field_held *held);
void field_tells_at(struct field_held *held, struct body results);
bool field_sees_at(struct field_client *client, unsigned procedure, struct body args,
                   struct body results);
bool field_sees_either_at(struct field_client *client, unsigned procedure, struct body args,
                          struct body old, struct body now);
void field_loses_at(struct field_held *held);
void field_fetches_at(struct field_client *client, unsigned procedure, struct body args,
                      struct body results);
void field_serves_at(struct field_client *client, unsigned procedure, struct body args,
                     struct body results);

#endif
