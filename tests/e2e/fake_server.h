/*
 * fake_server: an NFS server whose every move the test decides.
 *
 * It has no thread: fake_server_next accepts, reads, and yields the next call that has come whole. Nothing is
 * answered unless the test does it, with what it likes, when it likes; so calls can be held, and connections be
 * closed, reset, or fed with nonsense at any point. MOUNT may share the port.
 *
 * Connections belong to the server and stay valid until fake_server_close; one that has ended takes no more.
 */
#ifndef E2E_FAKE_SERVER_H
#define E2E_FAKE_SERVER_H

#include "e2e/raw.h"

struct fake_link; /* one connection of the proxy's */

/* What a connection finds that is accepted. */
enum fake_manner {
    FAKE_LISTENS,
    FAKE_HANGS_UP, /* it is closed at once */
    FAKE_BABBLES,  /* it is sent a record that is no RPC reply */
};

struct fake_server {
    int fd;
    enum fake_manner manner;
    unsigned accepted; /* connections, so far */
    struct fake_link *links;
};

struct fake_call {
    struct fake_link *link;
    uint16_t source_port;
    uint32_t xid, program, version, procedure;
    uint32_t flavor; /* of its credential, … */
    const uint8_t *credential;
    uint32_t credential_len;
    struct raw_buffer record; /* `at` is where the arguments begin; freed with raw_free */
};

/* Listens on 127.0.0.1. 0 or a negative errno. */
int fake_server_open(struct fake_server *server, int port);
void fake_server_close(struct fake_server *server);

/* Waits at most `ms` for a call. `call` is all zero, or was used before. 0, or -ETIMEDOUT. */
int fake_server_next(struct fake_server *server, struct fake_call *call, int ms);
/* Likewise; and -EAGAIN as soon as `fd`, which is the test's own, can be read and no call has come whole. */
int fake_server_next_or(struct fake_server *server, struct fake_call *call, int fd, int ms);
/* Ends all connections: as a server does that stops, or (`reset`) crashes. */
void fake_server_drop(struct fake_server *server, bool reset);
/* The same octets on every connection. */
void fake_server_say(struct fake_server *server, const void *data, size_t len);

/* 0, or a negative errno: -ENOTCONN when the connection has ended. */
int fake_link_send(struct fake_link *link, const void *data, size_t len);
void fake_link_end(struct fake_link *link, bool reset);

/* The call was executed, and `results` follow. */
int fake_answer(const struct fake_call *call, const struct raw_buffer *results);
/* Results that serve any test: GETATTR's, of a file with that number; a status and wcc_data that says nothing; a
 * status and attributes that are not there. */
int fake_answer_attributes(const struct fake_call *call, uint64_t fileid);
int fake_answer_changed(const struct fake_call *call, uint32_t status);
int fake_answer_failed(const struct fake_call *call, uint32_t status);

#endif
