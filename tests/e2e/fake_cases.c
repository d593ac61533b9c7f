/*
 * fake_cases: what no real server can be brought to do, one case per run:
 *
 *   e2e-fake_cases CASE --port P [--port2 P] --server P --pid DAEMON --conf FILE --control SOCKET [--others P]
 *
 * --others: before anything else there are connections to that port, which share whatever ports can be shared.
 *
 * The daemon has one worker and two connections per service. A case that reloads renames FILE.next, which the caller
 * has written, to FILE.
 */
#include "e2e/check.h"
#include "e2e/fake_server.h"

#include <errno.h>
#include <getopt.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#define NFS      100003u
#define RPCBIND  100000u
#define GETPORT  3u
#define GETATTR  1u
#define REMOVE   12u
#define WAIT_MS  6000
#define QUIET_MS 300
#define SLICE_MS 50
#define CALLS    20u
#define IDLE_MAX 70u
#define CROWD    150u
#define OTHERS   90u
#define LINKS    6u /* of two services */

struct stage {
    int port, port2, server_port, others;
    pid_t daemon;
    const char *conf, *control;
    struct fake_server server;
};

static void pause_ms(int ms)
{
    nanosleep(&(struct timespec){.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000L}, NULL);
}

static void reload(const struct stage *s)
{
    char next[4096];
    snprintf(next, sizeof next, "%s.next", s->conf);
    check_must(rename(next, s->conf) == 0, "%s: %s", next, strerror(errno));
    check_must(kill(s->daemon, SIGHUP) == 0, "SIGHUP: %s", strerror(errno));
}

static int client(int port)
{
    int fd = raw_connect(port);
    check_must(fd >= 0, "can't connect to port %d: %s", port, strerror(-fd));
    return fd;
}

/* About the object of that number, or a name in it. */
static void send_call(int fd, uint32_t xid, uint32_t procedure, uint64_t object, const char *name)
{
    struct raw_buffer b = {.data = NULL};
    raw_put_call(&b, xid, NFS, 3, procedure);
    raw_put_opaque(&b, &object, sizeof object);
    if (name != NULL)
        raw_put_opaque(&b, name, strlen(name));
    check_must(raw_send_record(fd, &b) == 0, "can't send a call");
    raw_free(&b);
}

/* The next reply's xid; 0 when none came. */
static uint32_t reply_xid(int fd)
{
    struct raw_buffer b = {.data = NULL};
    int err = raw_receive(fd, &b, WAIT_MS);
    uint32_t xid = err == 0 ? raw_get_u32(&b) : 0;
    check(err == 0, "no reply: %s", strerror(-err));
    raw_free(&b);
    return xid;
}

static void next_call(struct stage *s, struct fake_call *call)
{
    check_must(fake_server_next(&s->server, call, WAIT_MS) == 0, "the server got no call");
}

/* What a server could say, and what makes no difference to these tests. */
static void answer(const struct fake_call *call)
{
    static const uint32_t noent = 2, acces = 13;
    if (call->procedure == GETATTR)
        fake_answer_attributes(call, 1);
    else if (call->procedure == REMOVE)
        fake_answer_changed(call, acces);
    else
        fake_answer_failed(call, noent);
}

/* Answers whatever comes, also the proxy's own questions, until the client has that reply. */
static void serve_until_reply(struct stage *s, int fd, struct fake_call *call, uint32_t xid)
{
    struct pollfd p = {.fd = fd, .events = POLLIN};
    for (int ms = 0; ms < WAIT_MS && poll(&p, 1, 0) == 0; ms += SLICE_MS) {
        if (fake_server_next(&s->server, call, SLICE_MS) == 0)
            answer(call);
    }
    check(reply_xid(fd) == xid, "another xid");
}

/* Nothing may come. */
static void quiet(struct stage *s, int ms)
{
    struct fake_call none = {.link = NULL};
    check(fake_server_next(&s->server, &none, ms) == -ETIMEDOUT, "a call that should wait: %u",
          none.procedure);
    raw_free(&none.record);
}

/* Waits for all connections of the proxy's; nobody makes calls meanwhile. */
static void all_links(struct stage *s)
{
    struct fake_call none = {.link = NULL};
    for (int ms = 0; ms < WAIT_MS && s->server.accepted < LINKS; ms += SLICE_MS)
        fake_server_next(&s->server, &none, SLICE_MS);
    check_must(s->server.accepted == LINKS, "%u connections, not %u", s->server.accepted, LINKS);
    raw_free(&none.record);
}

/* ---- connections to the server ---- */

/* A server whose connections are good for nothing is not tried again and again without a pause. */
static void case_manner(struct stage *s, enum fake_manner manner, const char *what)
{
    struct fake_call call = {.link = NULL};
    check_begin(
        "a server that %s is asked again after growing pauses, and served from when it stops",
        what);
    int fd = client(s->port);
    s->server.manner = manner;
    send_call(fd, 1, GETATTR, 1, NULL);
    fake_server_next(&s->server, &call, 0);
    fake_server_drop(&s->server, false);
    for (int i = 0; i < 20;
         i++) { /* calls that are sent before the proxy knows better stay unanswered */
        fake_server_next(&s->server, &call, 100);
    }
    check(s->server.accepted < 40, "%u connections in two seconds", s->server.accepted);
    check(s->server.accepted > 6, "only %u connections in two seconds", s->server.accepted);
    s->server.manner = FAKE_LISTENS;
    next_call(s, &call);
    check(fake_answer_attributes(&call, 5) == 0, "its connection broke");
    check(reply_xid(fd) == 1, "another xid");
    check_end();
    raw_free(&call.record);
    close(fd);
}

static void case_hangs_up(struct stage *s)
{
    case_manner(s, FAKE_HANGS_UP, "accepts and hangs up");
}

static void case_babbles(struct stage *s)
{
    case_manner(s, FAKE_BABBLES, "says what is no RPC");
}

struct sent {
    uint16_t port[CALLS];
    uint32_t xid[CALLS];
    struct fake_call last;
};

static void collect(struct stage *s, struct sent *sent, bool answer)
{
    for (unsigned i = 0; i < CALLS; i++) {
        next_call(s, &sent->last);
        sent->port[i] = sent->last.source_port;
        sent->xid[i] = sent->last.xid;
        if (answer)
            fake_answer_attributes(&sent->last, i + 1);
    }
}

/* The k-th call from a source port. */
static uint32_t xid_at(const struct sent *sent, uint16_t port, unsigned k)
{
    for (unsigned i = 0; i < CALLS; i++) {
        if (sent->port[i] == port && k-- == 0)
            return sent->xid[i];
    }
    return 0;
}

static void check_same(const struct sent *before, const struct sent *after)
{
    for (unsigned i = 0; i < CALLS; i++) {
        unsigned k = 0;
        for (unsigned j = 0; j < i; j++)
            k += before->port[j] == before->port[i];
        uint32_t xid = xid_at(after, before->port[i], k);
        check(xid == before->xid[i], "call %u of port %u: xid %x, then %x", k, before->port[i],
              before->xid[i], xid);
    }
}

/* What the server's duplicate request cache knows a call by stays: address, port, xid; so does the order. */
static void case_resends(struct stage *s)
{
    static const char *const ways[] = {"closes", "resets", "says nonsense on"};
    static const char nonsense[] = {'\x80', 0, 0, 4, 'h', 'u', 'h', '?'};
    struct sent before = {.last.link = NULL}, after = {.last.link = NULL};
    /* A connection that is made for the first time might get the port that another one leaves. */
    all_links(s);
    for (unsigned way = 0; way < 3; way++) {
        check_begin(
            "a server that %s connections with calls outstanding gets the same calls from the same ports",
            ways[way]);
        int fd = client(s->port);
        for (uint32_t i = 1; i <= CALLS; i++)
            send_call(fd, i, GETATTR, i + way * CALLS, NULL);
        collect(s, &before, false);
        if (way < 2) {
            fake_server_drop(&s->server, way == 1);
        } else {
            fake_server_say(&s->server, nonsense, sizeof nonsense);
        }
        collect(s, &after, true);
        check_same(&before, &after);
        for (uint32_t i = 1; i <= CALLS; i++)
            reply_xid(fd);
        check_end();
        close(fd);
    }
    raw_free(&before.last.record);
    raw_free(&after.last.record);
}

/* A client that has said all it wants to say is not one that has gone. */
static void case_half_close(struct stage *s)
{
    struct fake_call call = {.link = NULL};
    check_begin("a client that closes its side after a call gets the reply, then the end");
    int fd = client(s->port);
    send_call(fd, 77, GETATTR, 1, NULL);
    shutdown(fd, SHUT_WR);
    next_call(s, &call);
    pause_ms(QUIET_MS);
    fake_answer_attributes(&call, 5);
    check(reply_xid(fd) == 77, "another xid");
    check(raw_wait_closed(fd, WAIT_MS) == 0, "the connection stays");
    check_end();
    raw_free(&call.record);
    close(fd);
}

/* ---- rpcbind ---- */

/*
 * The server here is its rpcbind, on port 111 of a network of the test's own. What is asked for NFS is answered;
 * what is asked for MOUNT is not, and must not keep the daemon from ending.
 */
static void case_rpcbind(struct stage *s)
{
    struct fake_call call = {.link = NULL};
    struct raw_buffer port = {.data = NULL};
    struct fake_server nfs;
    check_begin("the port of a server is what its rpcbind says");
    check_must(fake_server_open(&nfs, s->port2) == 0, "can't listen on port %d", s->port2);
    raw_put_u32(&port, (uint32_t)s->port2);
    while (fake_server_next(&s->server, &call, QUIET_MS) == 0) {
        uint32_t program = raw_get_u32(&call.record), version = raw_get_u32(&call.record);
        check(call.program == RPCBIND && call.version == 2 && call.procedure == GETPORT &&
                  raw_get_u32(&call.record) == IPPROTO_TCP && version == 3,
              "another question: program %u, procedure %u", call.program, call.procedure);
        if (program == NFS)
            fake_answer(&call, &port);
    }
    int fd = client(s->port);
    send_call(fd, 1, GETATTR, 1, NULL);
    check(fake_server_next(&nfs, &call, WAIT_MS) == 0, "the server got no call");
    fake_answer_attributes(&call, 1);
    check(reply_xid(fd) == 1, "another xid");
    check_end();
    kill(s->daemon, SIGTERM); /* while it is being asked for MOUNT's port */
    close(fd);
    pause_ms(QUIET_MS);
    fake_server_close(&nfs);
    raw_free(&port);
    raw_free(&call.record);
}

/* ---- reloads ---- */

/* Two services, one name: the second one's mutation waits for its turn, and has nothing outstanding meanwhile. */
static void case_removed(struct stage *s)
{
    struct fake_call first = {.link = NULL}, second = {.link = NULL};
    check_begin("a mutation that waits for its turn is still sent when its service is removed");
    int one = client(s->port), two = client(s->port2);
    send_call(one, 3, GETATTR, 1, NULL); /* which file the directory is is not asked below, then */
    next_call(s, &first);
    answer(&first);
    check(reply_xid(one) == 3, "another xid");
    send_call(one, 1, REMOVE, 1, "name");
    next_call(s, &first);
    send_call(two, 2, REMOVE, 1, "name");
    quiet(s, QUIET_MS);
    reload(s);
    quiet(s, 2500); /* for longer than a retired port stays without calls */
    answer(&first);
    serve_until_reply(s, one, &second, 1);
    serve_until_reply(s, two, &second, 2);
    check(raw_wait_closed(two, WAIT_MS) == 0, "the removed service keeps its client");
    check_end();
    raw_free(&first.record);
    raw_free(&second.record);
    close(one);
    close(two);
}

/* The caller then looks how long the daemon takes to stop. */
static void case_retired(struct stage *s)
{
    struct fake_call call = {.link = NULL};
    check_begin("a call that a server never answers, and a reload that names another one");
    int fd = client(s->port);
    send_call(fd, 1, GETATTR, 1, NULL);
    next_call(s, &call);
    reload(s);
    pause_ms(1500);
    kill(s->daemon, SIGTERM);
    check(raw_wait_closed(fd, WAIT_MS) == 0, "the client is not let go");
    pause_ms(QUIET_MS); /* the server's side stays open until after that */
    check_end();
    raw_free(&call.record);
    close(fd);
}

/* ---- descriptors ---- */

static void control_case(const struct stage *s, const char *request, size_t len,
                         const char *expect);

/* The daemon may have 128 descriptors. */
static void case_crowd(struct stage *s)
{
    struct fake_call call = {.link = NULL};
    int crowd[CROWD];
    check_begin("clients that take all descriptors leave enough for the server and for stat");
    int fd = client(s->port);
    send_call(fd, 1, GETATTR, 1, NULL);
    serve_until_reply(s, fd, &call, 1);
    all_links(s);
    for (unsigned i = 0; i < CROWD; i++)
        crowd[i] = client(s->port);
    pause_ms(QUIET_MS);
    fake_server_drop(&s->server, true);
    s->server.accepted = 0;
    all_links(s);
    send_call(fd, 2, GETATTR, 2, NULL);
    serve_until_reply(s, fd, &call, 2);
    control_case(s, "stat\n", 5, "{\"services\"");
    for (unsigned i = 0; i < CROWD; i++)
        close(crowd[i]);
    check_end();
    check_begin("clients that waited for others to leave are served");
    int late = client(s->port2);
    send_call(late, 3, GETATTR, 3, NULL);
    serve_until_reply(s, late, &call, 3);
    check_end();
    raw_free(&call.record);
    close(late);
    close(fd);
}

/* ---- the control socket ---- */

static int control_client(const struct stage *s)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    snprintf(address.sun_path, sizeof address.sun_path, "%s", s->control);
    check_must(fd >= 0 && connect(fd, (struct sockaddr *)&address, sizeof address) == 0,
               "can't connect to %s: %s", s->control, strerror(errno));
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &(struct timeval){.tv_sec = 5}, sizeof(struct timeval));
    return fd;
}

static void control_case(const struct stage *s, const char *request, size_t len, const char *expect)
{
    char answer[64] = "";
    int fd = control_client(s);
    raw_send(fd, request, len);
    ssize_t n = recv(fd, answer, sizeof answer - 1, 0);
    check(n > 0 && strncmp(answer, expect, strlen(expect)) == 0, "%s: %s", request,
          n < 0 ? strerror(errno) : answer);
    close(fd);
}

static void case_control(struct stage *s)
{
    int idle[IDLE_MAX];
    char long_line[1000];
    memset(long_line, 'a', sizeof long_line);
    check_begin("the control socket answers whatever it is sent");
    control_case(s, "\0stat\n", 6, "{\"error\"");
    control_case(s, "flush \xff\xfe\n", 9, "{\"error\"");
    control_case(s, "flush nobody\n", 13, "{\"error\"");
    control_case(s, long_line, sizeof long_line, "{\"error\"");
    control_case(s, "stat\n", 5, "{\"services\"");
    check_end();
    check_begin("connections that say nothing keep nobody from the control socket");
    for (unsigned i = 0; i < IDLE_MAX; i++)
        idle[i] = control_client(s);
    control_case(s, "stat\n", 5, "{\"services\"");
    check_end();
    for (unsigned i = 0; i < IDLE_MAX; i++)
        close(idle[i]);
}

/* ---- */

static const struct {
    const char *name;
    void (*run)(struct stage *s);
} cases[] = {
    {"hangs-up", case_hangs_up},     {"babbles", case_babbles}, {"resends", case_resends},
    {"half-close", case_half_close}, {"removed", case_removed}, {"retired", case_retired},
    {"control", case_control},       {"crowd", case_crowd},     {"rpcbind", case_rpcbind},
};

static void parse(struct stage *s, int argc, char **argv)
{
    static const struct option options[] = {
        {"port", required_argument, NULL, 'p'},   {"port2", required_argument, NULL, 'q'},
        {"server", required_argument, NULL, 's'}, {"pid", required_argument, NULL, 'd'},
        {"conf", required_argument, NULL, 'c'},   {"control", required_argument, NULL, 'u'},
        {"others", required_argument, NULL, 'o'}, {NULL, 0, NULL, 0}};
    int c;
    while ((c = getopt_long(argc, argv, "", options, NULL)) != -1) {
        int number = optarg != NULL ? (int)strtol(optarg, NULL, 10) : 0;
        switch (c) {
        case 'p':
            s->port = number;
            break;
        case 'q':
            s->port2 = number;
            break;
        case 's':
            s->server_port = number;
            break;
        case 'd':
            s->daemon = number;
            break;
        case 'o':
            s->others = number;
            break;
        case 'c':
            s->conf = optarg;
            break;
        case 'u':
            s->control = optarg;
            break;
        default:
            exit(2);
        }
    }
    check_must(optind == argc - 1, "one case, please");
}

/* They stay until the process ends. */
static void connect_others(int port)
{
    struct fake_server other;
    check_must(fake_server_open(&other, port) == 0, "can't listen on port %d", port);
    for (unsigned i = 0; i < OTHERS; i++)
        client(port);
}

int main(int argc, char **argv)
{
    struct stage s = {.conf = "", .control = ""};
    signal(SIGPIPE, SIG_IGN);
    parse(&s, argc, argv);
    check_must(s.daemon > 0 && s.port > 0, "--port and --pid are missing");
    if (s.others > 0)
        connect_others(s.others);
    check_must(fake_server_open(&s.server, s.server_port) == 0, "can't listen on port %d",
               s.server_port);
    for (unsigned i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        if (strcmp(cases[i].name, argv[optind]) == 0)
            cases[i].run(&s);
    }
    fake_server_close(&s.server);
    return check_status();
}
