#include "e2e/fake_server.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define LINKS_MAX   256
#define HEADER_LEN  24u /* xid to procedure */
#define REPLY_TYPE  1u
#define FRAGMENT(m) ((m) & ~RAW_MARK_LAST)

struct fake_link {
    struct fake_link *next;
    int fd; /* -1: ended */
    uint16_t source_port;
    struct raw_buffer input; /* octets from `at` on are not used yet */
};

int fake_server_open(struct fake_server *server, int port)
{
    struct sockaddr_in address = {.sin_family = AF_INET,
                                  .sin_port = htons((uint16_t)port),
                                  .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int yes = 1;
    *server = (struct fake_server){.fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)};
    if (server->fd < 0)
        return -errno;
    setsockopt(server->fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    if (bind(server->fd, (struct sockaddr *)&address, sizeof address) != 0 ||
        listen(server->fd, LINKS_MAX) != 0) {
        int err = -errno;
        close(server->fd);
        return err;
    }
    return 0;
}

void fake_server_close(struct fake_server *server)
{
    fake_server_drop(server, false);
    close(server->fd);
    while (server->links != NULL) {
        struct fake_link *link = server->links;
        server->links = link->next;
        raw_free(&link->input);
        free(link);
    }
}

void fake_link_end(struct fake_link *link, bool reset)
{
    struct linger none = {.l_onoff = 1};
    if (link->fd < 0)
        return;
    if (reset)
        setsockopt(link->fd, SOL_SOCKET, SO_LINGER, &none, sizeof none);
    close(link->fd);
    link->fd = -1;
}

void fake_server_drop(struct fake_server *server, bool reset)
{
    for (struct fake_link *link = server->links; link != NULL; link = link->next)
        fake_link_end(link, reset);
}

int fake_link_send(struct fake_link *link, const void *data, size_t len)
{
    return link->fd < 0 ? -ENOTCONN : raw_send(link->fd, data, len);
}

void fake_server_say(struct fake_server *server, const void *data, size_t len)
{
    for (struct fake_link *link = server->links; link != NULL; link = link->next)
        fake_link_send(link, data, len);
}

/* ---- what comes ---- */

static void link_accept(struct fake_server *server)
{
    static const char babble[] = {'\x80', 0, 0, 8, 'b', 'a', 'b', 'b', 'l', 'e', '!', '!'};
    struct sockaddr_in peer = {.sin_port = 0};
    socklen_t len = sizeof peer;
    int yes = 1;
    int fd = accept4(server->fd, (struct sockaddr *)&peer, &len, SOCK_CLOEXEC);
    if (fd < 0)
        return;
    server->accepted++;
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
    if (server->manner == FAKE_HANGS_UP) {
        close(fd);
        return;
    }
    struct fake_link *link = calloc(1, sizeof *link);
    if (link == NULL)
        abort();
    link->fd = fd;
    link->source_port = ntohs(peer.sin_port);
    link->next = server->links;
    server->links = link;
    if (server->manner == FAKE_BABBLES)
        fake_link_send(link, babble, sizeof babble);
}

static void link_read(struct fake_link *link)
{
    uint8_t data[65536];
    ssize_t n = recv(link->fd, data, sizeof data, 0);
    if (n <= 0) {
        fake_link_end(link, false);
        return;
    }
    if (link->input.at == link->input.len)
        raw_clear(&link->input);
    raw_put(&link->input, data, (size_t)n);
}

/* Whether a record has come whole; the proxy sends each as one fragment. */
static bool link_take(struct fake_link *link, struct fake_call *call)
{
    struct raw_buffer *in = &link->input;
    size_t begin = in->at;
    uint32_t len = FRAGMENT(raw_get_u32(in));
    const uint8_t *record = in->bad ? NULL : raw_get(in, len);
    if (record == NULL) {
        in->at = begin;
        in->bad = false;
        return false;
    }
    raw_clear(&call->record);
    raw_put(&call->record, record, len);
    call->link = link;
    call->source_port = link->source_port;
    return true;
}

static const uint8_t *opaque_auth(struct raw_buffer *b, uint32_t *flavor, uint32_t *len)
{
    *flavor = raw_get_u32(b);
    *len = raw_get_u32(b);
    return raw_get(b, (*len + 3) & ~3u);
}

static void call_decode(struct fake_call *call)
{
    struct raw_buffer *b = &call->record;
    uint32_t verifier, verifier_len;
    call->xid = raw_get_u32(b);
    raw_get(b, 8); /* the kind of message, and RPC's version */
    call->program = raw_get_u32(b);
    call->version = raw_get_u32(b);
    call->procedure = raw_get_u32(b);
    call->credential = opaque_auth(b, &call->flavor, &call->credential_len);
    opaque_auth(b, &verifier, &verifier_len);
}

static int64_t now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

/* Waits for whatever comes first, and takes in what is the server's. 0, or as fake_server_next_or. */
static int wait_for_input(struct fake_server *server, int fd, int ms)
{
    struct pollfd fds[LINKS_MAX + 2] = {{.fd = server->fd, .events = POLLIN},
                                        {.fd = fd, .events = POLLIN}};
    struct fake_link *of[LINKS_MAX + 2] = {NULL};
    nfds_t count = 2;
    for (struct fake_link *link = server->links; link != NULL && count < LINKS_MAX + 2;
         link = link->next) {
        if (link->fd < 0)
            continue;
        of[count] = link;
        fds[count++] = (struct pollfd){.fd = link->fd, .events = POLLIN};
    }
    int ready = poll(fds, count, ms);
    if (ready <= 0)
        return -ETIMEDOUT;
    for (nfds_t i = 2; i < count; i++) {
        if (fds[i].revents != 0)
            link_read(of[i]);
    }
    if (fds[0].revents != 0)
        link_accept(server);
    return ready == 1 && fds[1].revents != 0 ? -EAGAIN : 0;
}

int fake_server_next(struct fake_server *server, struct fake_call *call, int ms)
{
    return fake_server_next_or(server, call, -1, ms);
}

int fake_server_next_or(struct fake_server *server, struct fake_call *call, int fd, int ms)
{
    int64_t end = now_ms() + ms;
    for (;;) {
        for (struct fake_link *link = server->links; link != NULL; link = link->next) {
            if (link->fd >= 0 && link_take(link, call)) {
                call_decode(call);
                return 0;
            }
        }
        int64_t left = end - now_ms();
        int err = left < 0 ? -ETIMEDOUT : wait_for_input(server, fd, (int)left);
        if (err != 0)
            return err;
    }
}

/* ---- what goes out ---- */

int fake_answer(const struct fake_call *call, const struct raw_buffer *results)
{
    const uint32_t head[] = {
        RAW_MARK_LAST | (uint32_t)(HEADER_LEN + results->len), call->xid, REPLY_TYPE, 0, 0, 0, 0};
    struct raw_buffer b = {.data = NULL};
    for (size_t i = 0; i < sizeof head / sizeof head[0]; i++)
        raw_put_u32(&b, head[i]);
    raw_put(&b, results->data, results->len);
    int err = fake_link_send(call->link, b.data, b.len);
    raw_free(&b);
    return err;
}

int fake_answer_attributes(const struct fake_call *call, uint64_t fileid)
{
    struct raw_buffer b = {.data = NULL};
    const uint32_t type_to_gid[] = {1, 0644, 1, 0, 0};
    raw_put_u32(&b, 0); /* NFS3_OK */
    for (size_t i = 0; i < sizeof type_to_gid / sizeof type_to_gid[0]; i++)
        raw_put_u32(&b, type_to_gid[i]);
    raw_put_u64(&b, 100); /* size, used, rdev, fsid */
    raw_put_u64(&b, 512);
    raw_put_u64(&b, 0);
    raw_put_u64(&b, 7);
    raw_put_u64(&b, fileid);
    for (unsigned i = 0; i < 3; i++)
        raw_put_u64(&b, 1000); /* atime, mtime, ctime */
    int err = fake_answer(call, &b);
    raw_free(&b);
    return err;
}

static int answer_words(const struct fake_call *call, const uint32_t *words, size_t count)
{
    struct raw_buffer b = {.data = NULL};
    for (size_t i = 0; i < count; i++)
        raw_put_u32(&b, words[i]);
    int err = fake_answer(call, &b);
    raw_free(&b);
    return err;
}

int fake_answer_changed(const struct fake_call *call, uint32_t status)
{
    return answer_words(call, (const uint32_t[]){status, 0, 0}, 3);
}

int fake_answer_failed(const struct fake_call *call, uint32_t status)
{
    return answer_words(call, (const uint32_t[]){status, 0}, 2);
}
